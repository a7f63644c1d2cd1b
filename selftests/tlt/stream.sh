#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What TCP delivers under TLT is what was sent, byte for byte, over a path that loses,
# reorders and doubles packets, important ones too, whatever options TCP has.
#
# usage: stream.sh [SEED [CASE...]]
# TURNPIKE_STREAM_BYTES=N: about so many bytes in all; 10 GB take some ten minutes.

# shellcheck source=selftests/tlt/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

seed=${1:-1}
shift
total=${TURNPIKE_STREAM_BYTES:-300000000}
# The debug kernel takes some ten times as long.
[ "${TURNPIKE_DEBUG:-0}" = 0 ] || total=$((total / 10))
went_through=${TMPDIR:-/tmp}/tlt-stream.$$

rough="delay 200us loss 1% reorder 1% duplicate 1%"

# knob NAME VALUE: of TCP, at both ends
knob() {
	in_a sysctl -q -w "net.ipv4.$1=$2" && in_b sysctl -q -w "net.ipv4.$1=$2"
}

# Each case has other bytes.
case_seed() { echo $((seed * 1000000 + $(echo "$_case" | cksum | cut -d' ' -f1) % 1000000)); }

# arrives PERMILLE [OPTION...]: so much of all bytes. TO names another address.
arrives() {
	_bytes=$((total / 1000 * $1))
	[[ " $* " != *" both "* ]] || _bytes=$((_bytes / 2))
	_said=$(in_a "$stream" send "${TO:-10.1.0.2}" --port $port --seed "$(case_seed)" \
		--bytes $_bytes "${@:2}")
	_status=$?
	echo "$_said"
	[ $_status = 0 ] && field bytes "$_said" >> "$went_through"
	return $_status
}

# many_arrive PERMILLE CONNECTIONS [OPTION...]: the same, cut into so many connections
many_arrive() {
	total=$((total / $2)) arrives "$1" --repeat "$2" "${@:3}"
}

# with NAME VALUE DEFAULT COMMAND...: while the knob has that value
with() {
	knob "$1" "$2" || return 1
	"${@:4}"
	_result=$?
	knob "$1" "$3"
	return $_result
}

# over "NETEM..." COMMAND...: while the path is like that
over() {
	# shellcheck disable=SC2086  # words
	path $1 || return 1
	"${@:2}"
	_result=$?
	# shellcheck disable=SC2086
	path $rough
	return $_result
}

# received_by "OPTION..." COMMAND...: by such a receiver, beside the other
received_by() {
	port=5101
	# shellcheck disable=SC2086  # words
	start_server --port $port $1 || return 1
	"${@:2}"
	_result=$?
	stop_server
	return $_result
}

# offload on|off SEGMENTS: and how many a burst has, which TCP makes without offload, too
offload() {
	for _netns in $a $b; do
		ip netns exec "$_netns" ethtool -K veth0 tso "$1" gso "$1" &&
			ip -n "$_netns" link set veth0 gso_max_segs "$2" || return 1
	done
}

# Seconds, simulated, of the middle one of connections one after the other: one that loses
# its SYN waits for a second, and one that loses the ACK which opens a window for .2 or more.
short_ones() {
	field median "$(in_a "$stream" send 10.1.0.2 --port $port --seed "$(case_seed)" --repeat 30 --bytes 400000)"
}

# With TLT they take no more than twice as long.
no_slower() {
	tlt_off || return 1
	_without=$(short_ones)
	tlt_on || return 1
	_with=$(short_ones)
	echo "seconds without TLT $_without with $_with"
	awk -v without="$_without" -v with="$_with" 'BEGIN { exit !(without > 0 && with > 0 && with <= 2 * without) }'
}

without_offload() {
	command -v ethtool > /dev/null || { echo "ethtool is missing"; return 4; }
	offload off 1 > /dev/null || return 1
	"$@"
	_result=$?
	offload on 65535 > /dev/null
	return $_result
}

# IPv4 and IPv6 share these knobs.
without_timestamps() { with tcp_timestamps 0 1 "$@"; }
without_sack() { with tcp_sack 0 1 "$@"; }
without_scaling() { with tcp_window_scaling 0 1 "$@"; }
# A receiver's window is of the time when it began to listen.
tiny_windows() { with tcp_rmem "4096 4096 4096" "4096 131072 6291456" received_by "" "$@"; }

stream__plain() { arrives 139; }
stream__over_ipv6() { TO=fd01::2 arrives 100; }
stream__without_offload() { without_offload arrives 100; }
stream__without_offload_over_ipv6() { TO=fd01::2 without_offload arrives 50; }
stream__without_timestamps() { without_timestamps arrives 80; }
stream__without_sack() { without_sack arrives 50; }
stream__without_options() { without_timestamps without_sack without_scaling arrives 30; }
stream__without_scaling() { without_scaling arrives 50; }
stream__tiny_windows() { tiny_windows arrives 2; }
# A window is what of a packet in memory is data: one cut in two must not count twice.
stream__tiny_windows_are_no_slower() { tiny_windows no_slower; }
stream__tiny_windows_without_timestamps() { tiny_windows without_timestamps arrives 2; }
stream__small_receive_buffer() { received_by "--receive-buffer 8192" arrives 10; }
stream__slow_reader() { received_by "--slow 0.005" arrives 5; }
stream__both_ways() { arrives 100 --way both; }
stream__both_ways_over_ipv6() { TO=fd01::2 arrives 50 --way both; }
stream__both_ways_without_offload() { without_offload arrives 30 --way both; }
stream__both_ways_in_tiny_windows() { tiny_windows arrives 2 --way both; }
stream__urgent_data() { arrives 10 --way urgent; }
stream__urgent_data_inline() { arrives 10 --way inline; }
stream__urgent_data_over_ipv6() { TO=fd01::2 arrives 5 --way urgent; }
stream__urgent_data_without_offload() { without_offload arrives 5 --way urgent; }
stream__fin_in_flight() { many_arrive 15 40 --way shut; }
stream__closed_at_once() { many_arrive 15 40 --way close; }
stream__short_and_closed_at_once() { many_arrive 5 200 --way close; }
stream__closed_without_sack() { without_sack many_arrive 5 20 --way close; }
stream__in_small_writes() { arrives 10 --write 3000 --pause 0.0001; }
stream__much_out_of_order() { over "delay 200us 50us loss 1%" arrives 50; }
stream__damaged() { over "delay 200us loss 1% corrupt 1%" arrives 30; }

# marked: packets that TCP at either end was told to have been marked by a queue
marked() {
	for _netns in $a $b; do
		ip netns exec "$_netns" awk '$1 == "TcpExt:" && !count { for (i = 2; i <= NF; i++) name[i] = $i; count = NF; next }
			$1 == "TcpExt:" { for (i = 2; i <= NF; i++) if (name[i] == "TCPDeliveredCE") print $i }' /proc/net/netstat
	done | awk '{ sum += $1 } END { print sum + 0 }'
}

# Its three flags are a count of marks (Linux 6.18), and nothing on this path makes any.
stream__with_accurate_ecn() {
	in_a sysctl -q -w net.ipv4.tcp_ecn=3 2> /dev/null || { echo "this TCP has no accurate ECN"; return 4; }
	in_b sysctl -q -w net.ipv4.tcp_ecn=3 || return 1
	before=$(marked)
	arrives 20 --way both
	_result=$?
	knob tcp_ecn 2
	echo "marked: $(($(marked) - before))"
	[ $_result = 0 ] && [ "$(marked)" = "$before" ]
}

stream__one_end_without_tlt() {
	in_b "$turnpike" tlt off
	arrives 20
	_result=$?
	in_b "$turnpike" tlt set --all
	return $_result
}

# The path did what these cases are about.
zz__clocking_took_place() {
	in_a "$turnpike" tlt stats -v
	[ "$(counter injected_byte)" -gt 0 ] && [ "$(counter injected_segment)" -gt 0 ] &&
		[ "$(counter cuts)" -gt 0 ]
}

# What clocking sends leaves marked as such, however the path has treated the flow.
zz__injected_is_clock_data() {
	sent=$(sent clock)
	injected=$(($(counter injected_byte) + $(counter injected_segment) - $(counter inject_failed)))
	echo "clock data $sent injected $injected"
	[ "$injected" -gt 0 ] && [ "$sent" = "$injected" ]
}

cases="$*"
ktap_start
need_module
make_hosts
trap 'rm -f "$went_through"; drop_hosts; unload_module' EXIT
# shellcheck disable=SC2086  # words
path $rough || ktap_fail "netem"
tlt_on || ktap_fail "tlt__set"
start_server || ktap_fail "receiver__starts"
: > "$went_through"
# shellcheck disable=SC2086  # a list
run_cases $cases
ktap_note "bytes that were compared: $(awk '{ sum += $1 } END { printf "%.0f", sum }' "$went_through")"
finish_hosts
