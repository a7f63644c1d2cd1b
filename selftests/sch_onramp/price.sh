#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Prices: flows of timely_pi to one receiver agree on p, by reports and answers of sch_onramp; who
# has none, and what happens when either module or the receiver's qdisc comes and goes.
# How well they agree is what scenarios/pi-agree.yaml measures.

# shellcheck source=selftests/sch_onramp/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

command -v turnpike > /dev/null || skip_all "needs the turnpike command"

# stat NAME [NETNS]
stat() { json_value "$1" "$(ip netns exec "${2:-$a}" turnpike onramp stats -j)"; }

# exchanged COMMAND...: $sent and $answered at the sender, $taken at the receiver, while it runs
exchanged() {
	_sent=$(stat prices_sent) _answered=$(stat prices_answered) _taken=$(stat prices_taken "$b")
	"$@" || return 1
	sent=$(($(stat prices_sent) - _sent)) answered=$(($(stat prices_answered) - _answered))
	taken=$(($(stat prices_taken "$b") - _taken))
	echo "sent $sent, taken $taken, answered $answered"
}

# send_by CC SECONDS: four flows
send_by() {
	# shellcheck disable=SC2086  # words
	send "$2" --cc "$1" $rate
}

# Half a second has 125 windows of 4 ms, of which the first ones teach who answers.
were_exchanged() { [ "$sent" -gt 30 ] && [ "$taken" -gt 30 ] && [ "$answered" -gt 25 ]; }

prices__are_exchanged_by_flows_of_timely_pi() {
	acker on && onramp feedback orack && exchanged send_by timely_pi 0.5 && were_exchanged &&
		# a report and its answer in 4 ms at most
		[ "$sent" -le 130 ]
}

prices__are_exchanged_over_ipv6() {
	acker on && onramp feedback orack && to=fd01::2 exchanged send_by timely_pi 0.5 && were_exchanged
}

prices__none_of_other_congestion_controls() {
	acker on && onramp feedback orack && exchanged send_by timely 0.3 && [ "$sent" = 0 ] &&
		exchanged send_by cubic 0.3 && [ "$sent" = 0 ]
}

prices__none_to_a_receiver_without_the_qdisc() {
	acker off && onramp feedback orack && exchanged send_by timely_pi 0.5 && [ "$sent" = 0 ]
}

# Receipts are asked for, and no delay is taken from them.
prices__are_exchanged_by_flows_with_timestamps() {
	need_usec_ts || return
	acker on && onramp || return 1
	_receipts=$(stat receipts_sent "$b")
	exchanged send_by timely_pi 0.5
	_status=$?
	usec_ts off || return 1
	_receipts=$(($(stat receipts_sent "$b") - _receipts))
	echo "receipts $_receipts"
	[ $_status = 0 ] && were_exchanged && [ "$(counter samples_orack)" = 0 ] && [ "$(counter samples)" -gt 100 ] &&
		# sparse ones, one in 5 ms, once the path was empty for a while: all of them are 6000
		[ $_receipts -lt 3000 ]
}

prices__none_where_hosts_may_not_ask() {
	need_usec_ts || return
	acker on && onramp feedback tcpts && exchanged send_by timely_pi 0.3
	_status=$?
	usec_ts off && [ $_status = 0 ] && [ "$sent" = 0 ]
}

# The flows go on by their own p.
prices__end_with_the_receivers_qdisc() {
	acker on && onramp feedback orack && start_sender --flows 4 --seconds 2 --cc timely_pi || return 1
	wait_for "flows" flows_are_up && sleep 0.4
	_answered=$(stat prices_answered)
	acker off && sleep 0.1 && exchanged sleep 0.4
	_status=$?
	wait "$sender" || _status=1
	wait_for "the flows' end" no_flow_is_left || return 1
	# It is asked less and less often.
	[ $_status = 0 ] && [ "$_answered" -gt 0 ] && [ "$answered" = 0 ] && [ "$sent" -lt 15 ]
}

begins_at() { in_a sysctl -qw net.ipv4.tcp_timely_pi.init_rate_bps="$1"; }

# two_apart SECONDS: two flows, that begin at other rates, of processes $later and $sender. The path
# is empty when either begins: each knows its base.
two_apart() {
	begins_at 300000000 && start_sender --flows 1 --seconds "$1" --abort --cc timely_pi || return 1
	later=$sender
	sleep 0.001
	begins_at 30000000 && start_sender --flows 1 --seconds "$1" --abort --cc timely_pi
}

# p_of_two: the mean p, in thousandths, of each in the next tenth of a second: $first and $second
p_of_two() {
	tracing=/sys/kernel/tracing
	echo > $tracing/trace
	echo 1 > $tracing/events/timely/timely_decision/enable
	sleep 0.1
	echo 0 > $tracing/events/timely/timely_decision/enable
	# shellcheck disable=SC2046  # words
	set -- $(sed -n 's/.* src=[^ ]*:\([0-9]*\) .* p_milli=\([0-9]*\).*/\1 \2/p' $tracing/trace |
		awk '{ p[$1] += $2; n[$1]++ } END { for (port in p) print int(p[port] / n[port]) }' | sort -n)
	[ $# = 2 ] && first=$1 second=$2 && echo "p of the two: $first and $second"
}

# have_one_p APART: a third of that, and a fifth of their p
have_one_p() { p_of_two && [ $((3 * (second - first))) -lt "$1" ] && [ $((5 * (second - first))) -lt "$second" ]; }

# By the paper's law the two keep the difference in p that they began with.
agreement__gives_flows_one_p() {
	[ -d /sys/kernel/tracing/events/timely ] || { echo "no tracefs"; return 4; }
	[ "${TURNPIKE_DEBUG:-0}" = 0 ] || { echo "ten seconds of a flow take minutes on a debug kernel"; return 4; }
	# The queue moves p by little in a second: it stays what the first rate gave, or what others say.
	_shipped=$(in_a sysctl net.ipv4.tcp_timely_pi.pi_{droop_milli,k1_milli,k2_per_s} | tr -d ' ')
	in_a sysctl -qw net.ipv4.tcp_timely_pi.pi_{droop_milli=0,k1_milli=0,k2_per_s=2}
	# A queue by the frame, not by bursts of 16 KB.
	in_b tc qdisc replace dev ifb0 root netem rate 1gbit limit 1000
	# Without receipts there is no agreement.
	acker on && onramp feedback orack && in_a turnpike onramp set --ask 10.2.0.0/16 && two_apart 8 || return 1
	sleep 1
	p_of_two && _apart=$((second - first)) && in_a turnpike onramp set --ask all &&
		wait_for "one p" have_one_p $_apart
	_status=$?
	kill "$later"
	wait "$later" 2> /dev/null
	stop_sender
	begins_at 0
	# shellcheck disable=SC2086  # words
	in_a sysctl -qw $_shipped
	wait_for "the flows' end" no_flow_is_left || return 1
	[ $_status = 0 ] && [ $_apart -gt 3000 ]
}

# With flows in mid-air sch_onramp goes, and comes again.
modules__come_and_go() {
	acker on && onramp feedback orack && exchanged send_by timely_pi 0.3 && [ "$sent" -gt 10 ] &&
		start_sender --flows 4 --seconds 1.5 --cc timely_pi || return 1
	wait_for "flows" flows_are_up
	in_a tc qdisc del dev veth0 root && acker off && wait_for "the last of $module" rmmod $module 2> /dev/null
	_status=$?
	# What tcp_timely still had of it would be in nobody's memory now.
	sleep 0.2
	[ $_status = 0 ] && need_module && acker on && onramp feedback orack
	_status=$?
	wait "$sender" || _status=1
	wait_for "the flows' end" no_flow_is_left || return 1
	[ $_status = 0 ] && exchanged send_by timely_pi 0.5 && were_exchanged
}

keys__sign_prices() {
	echo 00112233445566778899aabbccddeeff > "$TMPDIR/key"
	acker on && onramp feedback orack && in_a turnpike onramp key add 1 "$TMPDIR/key" &&
		in_b turnpike onramp key add 1 "$TMPDIR/key" && exchanged send_by timely_pi 0.5
	_status=$?
	in_a turnpike onramp key del 1
	in_b turnpike onramp key del 1
	[ $_status = 0 ] && were_exchanged
}

ktap_start
need_module
load_beside tcp_timely
trap 'drop_hosts; unload_module; rmmod tcp_timely' EXIT
slow_hosts || ktap_fail "hosts__set_up"
run_cases "$@"
finish_hosts
