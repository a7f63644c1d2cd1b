#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The qdisc on a stock kernel and two processors: traffic, pauses where the kernel has
# feedback, and everything coming and going under it.

# shellcheck source=selftests/lib/ktap.sh
. /ktap.sh
# shellcheck source=selftests/qemu/pair.sh
. /pair.sh

export TC_LIB_DIR=/tc

# 6.1 has no microseconds in TCP's timestamps, and with them no feedback.
has_feedback() {
	case $(uname -r) in
	6.[0-6].*) return 1 ;;
	esac
}

make_onramp_pair() {
	make_pair fq && onramp replace threshold 20us || return 1
	has_feedback || return 0
	for netns in a b; do
		ip netns exec $netns turnpike usec-ts on 10.0.0.0/24 || return 1
	done
}

start_four_flows() { start_flows "$1" cubic cubic cubic cubic; }

onramp() { ip netns exec a tc qdisc "$1" dev eth0 root onramp "${@:2}"; }

sampled() {
	test "$(in_a tc -s qdisc show dev eth0 | sed -n 's/.* samples \([0-9]*\).*/\1/p')" "$@"
}

traffic_is_sampled_where_it_can_be() {
	insmod /modules/sch_onramp.ko && make_onramp_pair || return 1
	if has_feedback; then
		start_four_flows 100
		soon sampled -gt 100
		good=$?
		end_flows
	else
		in_a flow send 10.0.0.2 5000 2 cubic 1048576 > /run/sent
		[ "$(cat /run/sent)" -ge 1048576 ] && sampled -eq 0
		good=$?
	fi
	in_a tc -s qdisc show dev eth0
	drop_pair
	unload sch_onramp && [ $good = 0 ]
}

qdisc_changes_under_traffic() {
	insmod /modules/sch_onramp.ko && make_onramp_pair || return 1
	start_four_flows 4
	for _ in $(seq 5); do
		onramp replace nopause && onramp replace pause && onramp replace buckets 64 &&
			onramp replace buckets 2048 gate on && onramp replace gate off || return 1
		ip netns exec a tc qdisc replace dev eth0 root fq && onramp replace || return 1
	done
	# shellcheck disable=SC2086
	wait $flows
	drop_pair
	unload sch_onramp
}

reload_under_traffic() {
	insmod /modules/sch_onramp.ko && make_onramp_pair || return 1
	start_four_flows 4
	for _ in $(seq 5); do
		rmmod sch_onramp 2>/dev/null && { echo "unloaded under its qdisc"; return 1; }
		ip netns exec a tc qdisc del dev eth0 root && unload sch_onramp &&
			insmod /modules/sch_onramp.ko && onramp add || return 1
	done
	# shellcheck disable=SC2086
	wait $flows
	drop_pair
	unload sch_onramp
}

link_and_namespace_go_under_traffic() {
	insmod /modules/sch_onramp.ko || return 1
	for _ in 1 2 3; do
		make_onramp_pair || return 1
		start_four_flows 5
		sleep 0.5
		ip netns exec a ip link set eth0 down
		ip netns exec a ip link set eth0 up
		sleep 0.2
		drop_pair
		# shellcheck disable=SC2086
		kill $flows 2>/dev/null
	done
	unload sch_onramp
}

# stat NETNS NAME: a counter of OR-ACKs
stat() { ip netns exec "$1" turnpike onramp stats -j | json_lines | sed -n "s/^$2 //p"; }

receipts_tell() { [ "$(stat "$1" samples)" -gt 0 ]; }

key() { ip netns exec "$1" turnpike onramp key "${@:2}"; }

# Both ends send data and receipts; whatever either has comes and goes.
receipts_under_changes() {
	echo 00112233445566778899aabbccddeeff > /run/key
	insmod /modules/sch_onramp.ko && make_pair onramp threshold 20us feedback orack || return 1
	ip netns exec a flow serve 5000 > /dev/null 2>&1 &
	other_server=$!
	start_four_flows 600
	ip netns exec b flow send 10.0.0.1 5000 600 cubic > /dev/null 2>&1 &
	flows="$flows $!"
	for netns in a b; do
		soon receipts_tell $netns || return 1
	done
	for _ in $(seq 3); do
		key a add 1 /run/key && key b add 1 /run/key && key a del 1 && key b del 1 || return 1
		for netns in a b; do
			ip netns exec $netns tc qdisc replace dev eth0 root fq &&
				ip netns exec $netns tc qdisc replace dev eth0 root onramp feedback orack ||
				return 1
		done
		ip netns exec a tc qdisc del dev eth0 root && ip netns exec b tc qdisc del dev eth0 root &&
			unload sch_onramp && insmod /modules/sch_onramp.ko || return 1
		for netns in a b; do
			ip netns exec $netns tc qdisc add dev eth0 root onramp feedback orack || return 1
		done
	done
	soon receipts_tell a
}

receipts_while_all_comes_and_goes() {
	receipts_under_changes
	good=$?
	for netns in a b; do
		ip netns exec $netns turnpike onramp stats -j | json_lines | tr '\n' ' '
		ip netns exec $netns turnpike onramp peers
	done
	flows="$flows $other_server" end_flows
	drop_pair
	unload sch_onramp && [ $good = 0 ]
}

more_samples() { [ "$(stat a samples)" -gt $((before + 100)) ]; }

# Receipts are made on the processor that takes the data, and their timer is its own.
goes_and_comes() {
	soon receipts_tell a || return 1
	for online in 0 1 0 1 0 1; do
		echo $online > /sys/devices/system/cpu/cpu1/online || return 1
		before=$(stat a samples)
		soon more_samples || return 1
	done
}

a_processor_goes_and_comes_under_receipts() {
	insmod /modules/sch_onramp.ko && make_pair onramp threshold 20us feedback orack || return 1
	start_four_flows 600
	goes_and_comes
	good=$?
	end_flows
	drop_pair
	unload sch_onramp && [ $good = 0 ]
}

beside_timely_in_any_order() {
	for order in "sch_onramp tcp_timely" "tcp_timely sch_onramp"; do
		for module in $order; do
			insmod /modules/$module.ko || return 1
		done
		# Neither keeps the other.
		for module in $order; do
			rmmod $module || return 1
		done
	done
}

ktap_start
ktap_case "traffic is sampled where the kernel can" traffic_is_sampled_where_it_can_be
ktap_case "the qdisc changes under traffic" qdisc_changes_under_traffic
ktap_case "unload and reload under traffic" reload_under_traffic
ktap_case "link and namespace go under traffic" link_and_namespace_go_under_traffic
ktap_case "receipts while all comes and goes" receipts_while_all_comes_and_goes
ktap_case "a processor goes and comes under receipts" a_processor_goes_and_comes_under_receipts
ktap_case "beside tcp_timely in any order" beside_timely_in_any_order
ktap_finish
