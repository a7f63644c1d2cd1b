#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Receivers whose timestamps do not count microseconds, though the sender's do: they are
# found out, receipts serve in their place, and nobody else is taken for one.

# shellcheck source=selftests/sch_onramp/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

command -v turnpike > /dev/null || skip_all "needs the turnpike command"

# Bytes per second of a flow that has to last: a debug kernel is slow.
[ "${TURNPIKE_DEBUG:-0}" = 1 ] && lasting=200000 || lasting=1000000

# The path has no past.
new_hosts() {
	tcp_has_usec || { echo "TCP timestamps do not count microseconds before Linux 6.7"; return 4; }
	drop_hosts
	slow_hosts && in_a turnpike usec-ts on 10.1.0.0/24
}

report() { echo "coarse $(counter coarse) by timestamps $(counter tcpts) by receipts $(counter orack)"; show; }

auto__receipts_serve_in_their_place() {
	new_hosts || return
	acker on && onramp threshold 200us && background 2 && sleep 1 && report || return 1
	[ "$(counter coarse)" = 4 ] && [ "$(counter tcpts)" = 0 ] && [ "$(counter orack)" = 4 ] &&
		[ "$(counter samples_orack)" -gt 100 ] && flows_were_held
	status=$?
	stop_sender
	wait_for "the flows' end" no_flow_is_left && return $status
}

# Flows of the same hosts, later: by receipts from the first, since nothing new was found.
auto__later_flows_know() {
	new_hosts && acker on && onramp threshold 200us && send 0.4 && onramp threshold 200us || return
	send 0.4 && report || return 1
	[ "$(counter coarse)" = 0 ] && flows_were_held &&
		[ "$(counter samples)" = "$(counter samples_orack)" ]
}

# Announcements go on while flows by receipts are all there is: those of a peer are forgotten
# after half a minute.
auto__receipts_go_on() {
	new_hosts && acker on && onramp threshold 200us || return
	start_sender --seconds 100 --max-pacing $lasting
	sleep 90
	before=$(counter samples_orack)
	sleep 2
	report
	[ "$(counter samples_orack)" -gt $((before + 20)) ] && [ "$(counter orack)" = 1 ]
	status=$?
	stop_sender
	wait_for "the flows' end" no_flow_is_left && return $status
}

tcpts__flows_are_left_alone() {
	new_hosts && acker on && onramp threshold 200us feedback tcpts && background 2 && sleep 0.5 || return
	samples=$(counter samples) held=$(counter held)
	sleep 0.5
	report
	[ "$(counter coarse)" = 4 ] && [ "$(counter controlled)" = 0 ] &&
		[ "$(counter samples)" = "$samples" ] && [ "$(counter held)" = "$held" ]
	status=$?
	stop_sender
	wait_for "the flows' end" no_flow_is_left && return $status
}

memory__ends_after_a_minute() {
	new_hosts && onramp threshold 200us && send 0.4 && [ "$(counter coarse)" = 4 ] || return
	usec_ts on && onramp threshold 200us && send 0.4 && report && [ "$(counter samples)" = 0 ] || return 1
	sleep 60
	onramp threshold 200us && send 0.4 && report && [ "$(counter coarse)" = 0 ] && flows_were_held
}

# fine TITLE NETEM-OPTION...: microseconds are not taken for less, whatever ACKs meet
fine() {
	new_hosts && usec_ts on && in_b tc qdisc replace dev veth0 root netem "$@" || return
	onramp threshold 200us && send 0.4 && report && [ "$(counter coarse)" = 0 ] && flows_were_held
}

fine__way_back_of_twenty_ms() { fine delay 20ms 19ms; }

fine__way_back_that_loses_and_reorders() { fine delay 2ms 1ms loss 20% reorder 30% 50%; }

fine__way_back_that_stalls() { fine slot 30ms 50ms delay 20us; }

ktap_start
need_module
trap 'drop_hosts; unload_module' EXIT
run_cases "$@"
finish_hosts
