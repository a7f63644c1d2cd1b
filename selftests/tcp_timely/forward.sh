#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# signal=forward: used where the receiver's timestamps count microseconds, the RTT where
# not, and each is told from the other.

# shellcheck source=selftests/tcp_timely/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

signal() {
	for variant in "" _patched _pi; do
		in_a sh -c "echo $1 > /proc/sys/$settings$variant/signal" || return 1
	done
}

# At 1 Gbit/s, since it is not throughput that is tested here.
slow_flows() {
	for variant in "" _patched _pi; do
		in_a sh -c "echo 1000000000 > /proc/sys/$settings$variant/max_rate_bps" || return 1
	done
}

# way_back NETEM-OPTION...: what ACKs meet
way_back() { in_b tc qdisc replace dev veth0 root netem "$@"; }

# send ALGORITHM [OPTION...]: what the sender prints is in $out; counters stand still after
send() {
	out=$(in_a "$traffic" send 10.1.0.2 --cc "$1" --seconds 0.1 "${@:2}")
	status=$?
	echo "$out"
	wait_for "the flow's end" no_flow_is_left && return $status
}

# driven_by_rtt ALGORITHM [OPTION...]: although signal=forward
driven_by_rtt() {
	forward=$(counter source_forward) unknown=$(counter forward_unknown)
	samples=$(counter samples)
	signal forward && send "$@" || return 1
	[ "$(counter source_forward)" = "$forward" ] ||
		{ echo "source_forward grew"; return 1; }
	[ $(($(counter forward_unknown) - unknown)) = $(($(counter samples) - samples)) ] ||
		{ echo "not all samples are in forward_unknown"; return 1; }
	counter_moved samples "$samples"
}

# driven_by_forward ALGORITHM [OPTION...]
driven_by_forward() {
	forward=$(counter source_forward)
	signal forward && send "$@" && counter_moved source_forward "$forward"
}

forward__where_timestamps_count_microseconds() {
	need_usec_ts || return
	driven_by_forward timely && driven_by_forward timely_patched && driven_by_forward timely_pi
}

forward__receivers_timestamps_are_enough() {
	need_usec_ts && in_a turnpike usec-ts off 10.1.0.0/24 || return
	driven_by_forward timely
}

forward__senders_timestamps_are_not() {
	need_usec_ts && in_b turnpike usec-ts off 10.1.0.0/24 || return
	driven_by_rtt timely
}

forward__rtt_where_timestamps_count_milliseconds() {
	! tcp_has_usec || usec_ts off || return 1
	driven_by_rtt timely && driven_by_rtt timely_patched && driven_by_rtt timely_pi
}

forward__rtt_where_there_are_no_timestamps() {
	in_b sysctl -q -w net.ipv4.tcp_timestamps=0
	driven_by_rtt timely
	status=$?
	in_b sysctl -q -w net.ipv4.tcp_timestamps=1
	return $status
}

rtt__leaves_timestamps_alone() {
	need_usec_ts || return
	forward=$(counter source_forward) unknown=$(counter forward_unknown)
	signal rtt && send timely && [ "$(counter source_forward)" = "$forward" ] &&
		[ "$(counter forward_unknown)" = "$unknown" ]
}

# A queue that comes and goes: what jumps from packet to packet is noise to the RTT, too.
sway() {
	while :; do
		for delay in 120 220 320 420 320 220 120 20; do
			way_back delay ${delay}us
			sleep 0.01
		done
	done
}

forward__queue_of_the_way_back_is_no_congestion() {
	need_usec_ts || return
	sway &
	swaying=$!
	for signal in rtt forward; do
		signal $signal && send timely --seconds 0.5 || break
		eval "bytes_$signal=$(field bytes "$out")"
	done
	kill $swaying
	wait $swaying 2> /dev/null
	way_back delay 20us
	# shellcheck disable=SC2154  # eval sets them
	[ "$bytes_forward" -gt $((8 * bytes_rtt)) ]
}

forward__queue_of_the_way_there_is() {
	need_usec_ts && in_a tc qdisc replace dev veth0 root netem delay 120us 100us || return
	high=$(counter events_high)
	driven_by_forward timely --seconds 0.5 && counter_moved events_high "$high"
	status=$?
	in_a tc qdisc del dev veth0 root
	return $status
}

trace__has_the_source() {
	need_usec_ts && signal forward || return
	tracing=/sys/kernel/tracing
	[ -d $tracing/events/timely ] || { echo "no tracefs"; return 4; }
	echo > $tracing/trace
	echo 1 > $tracing/events/timely/timely_decision/enable
	send timely
	echo 0 > $tracing/events/timely/timely_decision/enable
	grep -m 1 'timely_decision: .* source=tcp_ns' $tracing/trace &&
		grep -m 1 'timely_decision: .* source=forward' $tracing/trace
}

signal__changed_under_traffic() {
	need_usec_ts || return
	forward=$(counter source_forward)
	start_sender --flows 4 --seconds 0.5
	for _ in $(seq 10); do
		signal forward && signal rtt || return 1
		sleep 0.03
	done
	signal forward
	wait "$sender" && wait_for "the flows' end" no_flow_is_left &&
		counter_moved source_forward "$forward"
}

loss__recovers_with_forward() {
	need_usec_ts || return
	in_a tc qdisc replace dev veth0 root netem loss 0.5%
	driven_by_forward timely --seconds 0.3
	status=$?
	in_a tc qdisc del dev veth0 root
	return $status
}

begin_on_path
slow_flows
run_against_sink "$@"
