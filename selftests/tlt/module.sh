#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module comes and goes, and so do configurations, devices and namespaces, with
# marked packets of many flows in flight.

# shellcheck source=selftests/tlt/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

again() {
	drop_hosts
	make_hosts && path delay 200us loss 1% rate 200mbit && tlt_on && start_server --parallel
}

rules__replaced_under_traffic() {
	background || return 1
	for i in $(seq 20); do
		tlt_on --map local --period "$i" && tlt_on --map vma --rule port=5100 &&
			tlt_on --rule port=9 && tlt_on --rule uid=0-9,port=5100 || return 1
	done
	tlt_on && background_ends_well
}

switched__off_and_on_under_traffic() {
	background || return 1
	for _ in $(seq 10); do
		tlt_off && tlt_on || return 1
	done
	background_ends_well
}

peer__switched_off_and_on_under_traffic() {
	background || return 1
	for _ in $(seq 10); do
		in_b "$turnpike" tlt off && sleep 0.002 && in_b "$turnpike" tlt set --all || return 1
	done
	background_ends_well
}

unload__under_traffic() {
	background || return 1
	for _ in 1 2 3; do
		unload_module && load_module && tlt_on || return 1
	done
	background_ends_well
}

device__down_and_up_under_traffic() {
	background || return 1
	for _ in 1 2 3; do
		ip -n "$a" link set veth0 down
		ip -n "$a" link set veth0 up
	done
	background_ends_well
}

device__removed_under_traffic() {
	background || return 1
	ip -n "$a" link del veth0
	background_ends
	again
}

netns__removed_under_traffic() {
	background || return 1
	ip netns del "$a"
	ip netns del "$b"
	background_ends
	again
}

flows__are_shown_and_forgotten() {
	background 4 || return 1
	shown=$(tlt_flows "$a")
	echo "$shown" | head -n 4
	background_ends_well
	echo "$shown" | grep -q 'remote 10.1.0.2 remote_port 5100 peer tlt' || return 1
	sleep 15
	[ "$(in_a "$turnpike" tlt flows -j)" = "[]" ]
}

peer__without_tlt_is_shown() {
	in_b "$turnpike" tlt off
	in_a "$stream" send 10.1.0.2 --seed 5 --bytes 1000000 || return 1
	shown=$(tlt_flows "$a")
	echo "$shown"
	in_b "$turnpike" tlt set --all
	echo "$shown" | grep -q 'peer deaf' && [ "$(counter deaf)" -gt 0 ]
}

# The flow of an idle connection is kept, but for where there are too many.
flows__idle_ones_are_kept_if_few() {
	background 2 100000000 || return 1
	# shellcheck disable=SC2086  # a list
	kill -STOP $senders
	sleep 15
	few=$(tlt_flows "$a" | grep -c remote_port)
	echo 2 > /sys/module/tlt/parameters/max_flows
	sleep 15
	many=$(tlt_flows "$a" | grep -c remote_port)
	echo 1000000 > /sys/module/tlt/parameters/max_flows
	# shellcheck disable=SC2086
	kill -CONT $senders
	background_ends
	echo "kept $few of 2, and $many where there were too many"
	[ "$few" = 2 ] && [ "$many" = 0 ]
}

ktap_start
need_module
trap 'drop_hosts; unload_module' EXIT
again || ktap_fail "hosts__made"
run_cases "$@"
finish_hosts
