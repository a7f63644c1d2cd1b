#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Loading, unloading and losing namespaces while both processors send.

# shellcheck source=selftests/lib/ktap.sh
. /ktap.sh
# shellcheck source=selftests/qemu/pair.sh
. /pair.sh

# Connected, too: a socket that its server refuses, as it does not listen yet, is closed.
in_use() {
	in_a grep -q ' 01 ' /proc/net/tcp && ! grep -q '^tcp_timely [0-9]* 0 ' /proc/modules
}

unload_is_refused_in_use() {
	insmod /modules/tcp_timely.ko && make_pair fq || return 1
	start_timely_flows 100
	soon in_use || return 1
	if rmmod tcp_timely 2>/dev/null; then
		echo "unloaded under its own flows"
		return 1
	fi
	end_flows
	drop_pair
	unload tcp_timely
}

reload_between_flows() {
	for round in 1 2 3 4 5; do
		insmod /modules/tcp_timely.ko && make_pair fq || return 1
		start_timely_flows 0.7
		sleep 0.3
		# shellcheck disable=SC2086
		kill $flows
		drop_pair
		unload tcp_timely || return 1
		echo "round $round"
	done
}

reload_under_other_traffic() {
	make_pair fq || return 1
	ip netns exec a flow send 10.0.0.2 5000 6 cubic 1048576 > /run/sent &
	other=$!
	for _ in $(seq 10); do
		insmod /modules/tcp_timely.ko || return 1
		rmmod tcp_timely || return 1
	done
	wait $other
	drop_pair
	[ "$(cat /run/sent)" -ge 1048576 ]
}

namespace_goes_under_traffic() {
	insmod /modules/tcp_timely.ko || return 1
	for _ in 1 2 3; do
		make_pair fq || return 1
		start_timely_flows 5
		sleep 0.5
		ip netns exec a ip link set eth0 down
		drop_pair
		# shellcheck disable=SC2086
		kill $flows 2>/dev/null
	done
	unload tcp_timely
}

writes_race_with_flows() {
	insmod /modules/tcp_timely.ko && make_pair fq || return 1
	start_timely_flows 4
	ip netns exec a sh -c '
		knobs=/proc/sys/net/ipv4/tcp_timely
		for i in $(seq 300); do
			echo $((30 + i % 20)) > $knobs/t_low_us
			echo default > $knobs/preset
		done' || return 1
	# shellcheck disable=SC2086
	wait $flows
	drop_pair
	unload tcp_timely
}

# Flows ask it for samples on both processors all the while.
nicstamp_comes_and_goes_under_traffic() {
	insmod /modules/tcp_timely.ko && make_pair fq || return 1
	start_timely_flows 6
	for _ in $(seq 20); do
		insmod /modules/nicstamp.ko || return 1
		sleep 0.1
		rmmod nicstamp || return 1
	done
	# shellcheck disable=SC2086
	wait $flows
	drop_pair
	unload tcp_timely
}

# Each may be the first to go, and both may go at once.
nicstamp_and_timely_go_together() {
	for _ in $(seq 10); do
		insmod /modules/nicstamp.ko && insmod /modules/tcp_timely.ko || return 1
		unload nicstamp &
		one=$!
		rmmod tcp_timely && wait $one || return 1
	done
}

ktap_start
ktap_case "unload is refused while flows use it" unload_is_refused_in_use
ktap_case "unload and reload after killed flows" reload_between_flows
ktap_case "load and unload under other traffic" reload_under_other_traffic
ktap_case "link down and namespace removal under traffic" namespace_goes_under_traffic
ktap_case "settings written while two processors send" writes_race_with_flows
ktap_case "nicstamp comes and goes under traffic" nicstamp_comes_and_goes_under_traffic
ktap_case "nicstamp and tcp_timely are unloaded at once" nicstamp_and_timely_go_together
ktap_finish
