#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What a pause holds, for how long, and what passes it. Receipts are made by hand (hold.py), so
# that a pause is as long as a case wants it.

# shellcheck source=selftests/sch_onramp/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

# A pause of 100 ms is neither cut nor given up; one millisecond is all that fq's pacing, timers
# and a receipt's way have.
long="threshold 50us feedback orack pause_max 900ms feedback_timeout 900ms"

# held CASE OPTION...: $said is what hold.py says of it
held() {
	_case=$1
	shift
	# What the last one learned of the path is over.
	sleep 1
	onramp "$@" && said=$("$here/hold.py" "$_case" "$a" "$b") || return 1
	echo "$said"
	show
}

# within NAME LEAST MOST: milliseconds
within() {
	_value=$(field "$1" "$said")
	[ -n "$_value" ] && [ "${_value%.*}" -ge "$2" ] && [ "${_value%.*}" -lt "$3" ] && return
	echo "$1 is ${_value:-missing}, not $2 to $3"
	return 1
}

data__is_held_and_the_rest_overtakes() {
	# With a rate that is never met 6.12 has no fast path past all flows, as 6.1 has none.
	# shellcheck disable=SC2086  # words
	held overtake maxrate 100gbit $long || return 1
	echo "bypassed $(counter bypassed)"
	within data_ms 99 102 && within ack_ms 0 1 && within udp_ms 0 1 && within syn_ms 0 1 &&
		within other_ms 0 1 && [ "$(counter bypassed)" -ge 1 ] && [ "$(counter held)" = 1 ]
}

# After the data, and within the millisecond.
fin__stays_behind_held_data() {
	# shellcheck disable=SC2086  # words
	held fin $long || return 1
	within data_ms 99 102 && within fin_ms 99 103 && [ "$(field fin_bytes "$said")" = 0 ] &&
		[ "$(field fin_ms "$said" | tr -d .)" -ge "$(field data_ms "$said" | tr -d .)" ] &&
		within alone_ms 0 1
}

rst__overtakes_held_data() {
	# shellcheck disable=SC2086  # words
	held rst $long && within data_ms 99 102 && within rst_ms 0 1
}

feedback__that_stops_ends_the_pause() {
	held lasts threshold 50us feedback orack pause_max 900ms feedback_timeout 25ms || return 1
	within data_ms 24 26 && within again_ms 0 1 && [ "$(counter timeouts)" = 1 ] &&
		[ "$(counter capped)" = 0 ]
}

feedback__timeout_is_the_one_given() {
	held lasts threshold 50us feedback orack pause_max 900ms feedback_timeout 70ms || return 1
	within data_ms 69 71 && [ "$(counter timeouts)" = 1 ]
}

# What the one sample asked for is not more than is allowed.
bound__ends_one_long_pause() {
	held lasts threshold 50us feedback orack pause_max 20ms feedback_timeout 900ms || return 1
	within data_ms 19 21 && within again_ms 0 1 && [ "$(counter capped)" -ge 1 ] &&
		[ "$(counter timeouts)" = 0 ]
}

bound__ends_pauses_that_go_on() {
	held goes_on threshold 50us feedback orack pause_max 20ms feedback_timeout 900ms || return 1
	within data_ms 19 21 && [ "$(counter capped)" -ge 1 ]
}

bound__begins_anew_with_each_packet() {
	held two_in_turn threshold 50us feedback orack pause_max 20ms feedback_timeout 900ms || return 1
	within data_ms 19 21 && within second_ms 0 21 && within third_ms 19 21
}

# Of a sender that hands over no less than leaves at its own rate.
wait__is_over_after_a_while() {
	# shellcheck disable=SC2086  # words
	held limited $long || return 1
	within data_ms 29 32 && [ "$(field held "$said")" -ge 2 ] && [ "$(field packets "$said")" -ge 40 ] &&
		[ "$(field more "$said")" = 0 ] && [ "$(field and_more "$said")" = 0 ]
}

# with_timely_and_tlt CASE: of hold.py, with each burst cut; $cuts
with_timely_and_tlt() {
	load_beside tcp_timely && load_beside tlt && in_a turnpike tlt set --all --sender rate --period 1 &&
		in_b turnpike tlt set --all || return 4
	# shellcheck disable=SC2086  # words
	held "$1" nogovernor $long
	status=$?
	cuts=$(in_a turnpike tlt stats -j | json_lines | sed -n 's/^cuts //p')
	in_a turnpike tlt off && in_b turnpike tlt off
	for module in tlt tcp_timely; do
		wait_for "the last of $module" rmmod $module 2> /dev/null || status=1
	done
	return $status
}

# Else the pause, 50 ms, would be a queue to timely.
timely__knows_the_hold_of_a_burst_that_was_cut() {
	with_timely_and_tlt cut_in_two || return
	echo "cuts $cuts"
	within data_ms 49 52 && [ "$cuts" -ge 3 ] && [ "$(field packets "$said")" -ge 10 ] && within most_rtt_ms 0 10
}

# A drop here would halve the sender's window for what the pause made wait.
limit__of_a_flow_is_in_bursts_that_nobody_cut() {
	# shellcheck disable=SC2086  # words
	held many flow_limit 5 $long || return 1
	echo "flows_plimit $(counter flows_plimit)"
	[ "$(field early "$said")" = 0 ] && [ "$(field packets "$said")" -gt 5 ] &&
		[ "$(counter flows_plimit)" = 0 ]
}

# Each of 20 packets that nothing follows, and of 20 that are answered after a while.
late__acks_cause_no_pause() {
	need_usec_ts || return
	held delayed threshold 50us feedback tcpts || return 1
	echo "ignored_late $(counter ignored_late)"
	within data_ms 0 1 && [ "$(counter pauses)" = 0 ] && [ "$(counter held)" = 0 ] &&
		[ "$(counter ignored_late)" = 40 ]
}

# Eight of them are what a coarse clock would show.
stranger__cannot_have_timestamps_taken_for_coarse() {
	need_usec_ts || return
	held constant threshold 50us feedback tcpts || return 1
	[ "$(field coarse "$said")" = 0 ] && [ "$(field samples "$said")" -ge 8 ]
}

memory__new_flows_begin_paused() {
	in_b ip addr add 10.1.0.3/24 dev veth0 2>/dev/null
	in_a ip neigh replace 10.1.0.3 lladdr 02:00:00:00:00:02 dev veth0 nud permanent
	# shellcheck disable=SC2086  # words
	held recall $long || return 1
	within first_ms 99 102 && within second_ms 98 102 && within elsewhere_ms 0 1 &&
		within later_ms 0 1 && [ "$(field during "$said")" = 1 ] && [ "$(field recalled "$said")" = 1 ]
}

# A parent at 200 kbit/s asks for nothing while it waits to send the packet that it took: a
# control block of four goes just then. Without the kick data leaves after 400 ms.
kick__outlasts_the_control_block_of_another_flow() {
	in_a tc qdisc del dev veth0 root 2> /dev/null
	# shellcheck disable=SC2086  # words
	in_a tc qdisc add dev veth0 root handle 1: tbf rate 200kbit burst 8000 limit 100000 &&
		in_a tc qdisc add dev veth0 parent 1:1 onramp mode strawman $long &&
		said=$("$here/hold.py" kicked "$a" "$b") || return 1
	_all=$(tc -n "$a" -j -s qdisc show dev veth0 parent 1:1)
	in_a tc qdisc del dev veth0 root
	echo "$said controlled $(counter controlled "$_all")"
	[ "$(counter controlled "$_all")" = 3 ] && within comer_ms 40 300 && within data_ms 40 300
}

ktap_start
need_module
trap 'drop_hosts; unload_module' EXIT
make_path || ktap_fail "hosts__set_up"
run_cases "$@"
finish_hosts
