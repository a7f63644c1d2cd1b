#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Flows of all congestion controls: over IPv4 and IPv6, with and without fq, with
# and without segmentation offload; what can be seen of them; slow ends.

# shellcheck source=selftests/tcp_timely/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

algorithms="timely timely_patched timely_pi"

# A debug kernel takes ten times as long for a packet.
[ "${TURNPIKE_DEBUG:-0}" = 1 ] && lasting=0.01 || lasting=0.03

# sends ADDRESS ALGORITHM [OPTION...]: that moves a megabyte at least
sends() {
	out=$(in_a "$traffic" send "$1" --cc "$2" --seconds $lasting "${@:3}") || return 1
	echo "$out"
	[ "$(field bytes "$out")" -gt 1000000 ]
}

all_ways() {
	for algorithm in $algorithms; do
		samples=$(counter samples)
		sends 10.1.0.2 $algorithm && sends fd01::2 $algorithm &&
			counter_moved samples "$samples" || return 1
	done
}

send__without_fq() {
	in_a tc qdisc del dev veth0 root 2>/dev/null
	all_ways
}

send__with_fq() {
	in_a tc qdisc replace dev veth0 root fq || return 4
	all_ways
	status=$?
	in_a tc qdisc del dev veth0 root
	return $status
}

send__fq_left_to_pace() {
	in_a tc qdisc replace dev veth0 root fq || return 4
	in_a sh -c "echo 0 > /proc/sys/$settings/own_pacing"
	all_ways
	status=$?
	in_a sh -c "echo 1 > /proc/sys/$settings/own_pacing"
	in_a tc qdisc del dev veth0 root
	return $status
}

send__without_segmentation_offload() {
	command -v ethtool > /dev/null || { echo "ethtool is missing"; return 4; }
	in_a ethtool -K veth0 tso off gso off
	all_ways
	status=$?
	in_a ethtool -K veth0 tso on gso on
	return $status
}

send__over_loopback() {
	ip netns exec "$a" "$traffic" sink --port 5002 > /dev/null 2>&1 &
	local_sink=$!
	sleep 0.5
	for algorithm in $algorithms; do
		sends 127.0.0.1 $algorithm --port 5002 --seconds 0.005 || break
	done
	status=$?
	kill $local_sink
	wait $local_sink 2>/dev/null
	return $status
}

# For TCP a rate of nothing is "not paced".
send__application_limit_of_nothing_is_none() {
	for algorithm in $algorithms; do
		sends 10.1.0.2 $algorithm --max-pacing 0 || return 1
	done
}

start__second_flow_takes_half() {
	start_sender --seconds 0.1
	wait_for "the first flow" flow_is_up || return 1
	out=$(in_a "$traffic" send 10.1.0.2 --cc timely --write 100 --interval 0.02 --seconds 0.05)
	echo "$out"
	wait "$sender"
	# C / (N + 1) of 10 Gbit/s with one flow there: 625 MB/s less headers
	[ "$(field pacing "$out")" -lt 626000000 ] && [ "$(field pacing "$out")" -gt 580000000 ]
}

# Established alone: the flow of the case before may still be closing.
flows_shown() { in_a ss -Htin state established dport = 5001; }
flow_is_up() { flows_shown | grep -q 'bytes_acked:[0-9]\{6\}'; }

ss__shows_rate_and_rtt() {
	start_sender --seconds 0.1
	wait_for "a flow" flow_is_up || return 1
	shown=$(flows_shown)
	wait "$sender"
	echo "$shown"
	echo "$shown" | grep -q ' timely ' &&
		echo "$shown" | grep -q 'bbr:(bw:[0-9]*bps,mrtt:[0-9.]*,pacing_gain:[0-9.]*,cwnd_gain:[0-9.]*)'
}

trace__has_a_line_per_decision() {
	tracing=/sys/kernel/tracing
	[ -d $tracing/events/timely ] || { echo "no tracefs"; return 4; }
	echo > $tracing/trace
	echo 1 > $tracing/events/timely/timely_decision/enable
	sends 10.1.0.2 timely
	echo 0 > $tracing/events/timely/timely_decision/enable
	grep -m 1 'timely_decision: src=10.1.0.1:[0-9]* dst=10.1.0.2:5001 rate_bps=[0-9]* rtt_ns=[0-9]*' \
		$tracing/trace
}

ss__shows_timely_pi_at_its_reference() {
	start_sender --seconds 0.1 --cc timely_pi
	wait_for "a flow" flow_is_up || return 1
	shown=$(flows_shown)
	wait "$sender"
	echo "$shown"
	echo "$shown" | grep -q ' timely_pi ' && echo "$shown" | grep -q 'bbr:(bw:[0-9]*bps,mrtt:[0-9.]*'
}

receiver__slow_reader_is_no_congestion() {
	high=$(counter events_high)
	ip netns exec "$b" "$traffic" sink --port 5003 --stop-after 0.55 --stop-for 0.05 \
		> /dev/null 2>&1 &
	slow_sink=$!
	sleep 0.5
	in_a "$traffic" send 10.1.0.2 --port 5003 --cc timely --seconds 0.15
	kill $slow_sink
	wait $slow_sink 2>/dev/null
	[ $(($(counter events_high) - high)) -le 2 ]
}

# What a sender that has ended left to its socket is still on its way.
nothing_is_sent() { [ -z "$(in_a ss -Htn dport = 5001)" ]; }

# p_seen ALGORITHM: the largest p of a flow's decisions, in thousandths; of no flow of before
p_seen() {
	wait_for "the end of what was sent before" nothing_is_sent || return 1
	echo > $tracing/trace
	echo 1 > $tracing/events/timely/timely_decision/enable
	sends 10.1.0.2 "$1" > /dev/null
	echo 0 > $tracing/events/timely/timely_decision/enable
	sed -n 's/.* p_milli=//p' $tracing/trace | sort -n | tail -1
}

trace__has_p_of_timely_pi_alone() {
	tracing=/sys/kernel/tracing
	[ -d $tracing/events/timely ] || { echo "no tracefs"; return 4; }
	none=$(p_seen timely) pi=$(p_seen timely_pi)
	echo "p of timely_pi $pi, of timely $none"
	[ "$pi" -gt 0 ] && [ "$none" = 0 ]
}

writer__lone_frames_are_no_congestion() {
	wait_for "the end of what was sent before" nothing_is_sent || return 1
	high=$(counter events_high)
	in_a "$traffic" send 10.1.0.2 --cc timely --write 500 --interval 0.001 --seconds 0.3
	[ "$(counter events_high)" = "$high" ]
}

loss__recovers_without_collapse() {
	losses=$(counter losses)
	in_b tc qdisc replace dev veth0 root netem delay 20us
	in_a tc qdisc replace dev veth0 root netem loss 0.5%
	sends 10.1.0.2 timely && counter_moved losses "$losses"
	status=$?
	in_a tc qdisc del dev veth0 root
	return $status
}

loss__marks_are_seen() {
	cwrs=$(counter cwrs)
	in_a sysctl -q -w net.ipv4.tcp_ecn=1 && in_a tc qdisc replace dev veth0 root netem loss 1% ecn || return 1
	sends 10.1.0.2 timely && counter_moved cwrs "$cwrs"
	status=$?
	in_a tc qdisc del dev veth0 root
	in_a sysctl -q -w net.ipv4.tcp_ecn=2
	return $status
}

begin_on_path
run_against_sink "$@"
