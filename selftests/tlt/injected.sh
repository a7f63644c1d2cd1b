#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What clocking injects, packet by packet, held against what TCP itself has sent and received by
# then: bytes, sequence and acknowledgement, window, timestamps, SACK blocks, flags, IP header.
#
#	netns $a  veth0 (watched) ------ veth0  netns $b
#	                                 netem: what arrives (by ifb0) and what leaves

# shellcheck source=selftests/tlt/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

command -v ethtool > /dev/null || skip_all "ethtool is missing"

seen=${TMPDIR:-/tmp}/tlt-injected.$$
# judged ADDRESS STREAMS BYTES OPTION...: such streams; $bytes and so on are what was injected, and all of
# it is right. Packets are as on a wire, with checksums.
judged() {
	watches injected.py "$a" "$seen" || return 1
	in_a "$stream" send "$1" --seed 1 --repeat "$2" --bytes "${@:3}" --timeout 300
	_status=$?
	watches_no_more
	head -n 20 "$seen"
	bytes=$(said bytes) segments=$(said segments) last=$(said last) sacks=$(said sacks)
	urgent=$(said urgent) accecn=$(said accecn)
	[ $_status = 0 ] && ! grep -q '^wrong' "$seen"
}

said() { sed -n "s/^$1 //p" "$seen"; }

both_kinds() { [ "$bytes" -gt 0 ] && [ "$segments" -gt 0 ]; }

# with SYSCTL=VALUE... -- COMMAND...: net.ipv4.tcp_SYSCTL at both ends
with() {
	_before=
	while [ "$1" != -- ]; do
		_before="$_before net.ipv4.tcp_${1%=*}=$(in_a sysctl -n "net.ipv4.tcp_${1%=*}")"
		in_a sysctl -q -w "net.ipv4.tcp_$1" && in_b sysctl -q -w "net.ipv4.tcp_$1" || return 1
		shift
	done
	"${@:2}"
	_result=$?
	# shellcheck disable=SC2086  # a list
	in_a sysctl -q -w $_before && in_b sysctl -q -w $_before
	return $_result
}

injected__ipv4() { judged 10.1.0.2 8 300000 && both_kinds; }
injected__ipv6() { judged fd01::2 8 300000 && both_kinds; }

# As by a switch's threshold: half of the unimportant packets, and no other. By a queue of
# their own without delay, so that none overtakes another.
loses_plain() {
	in_b tc qdisc change dev ifb0 root netem limit 10000 &&
		in_b ip link add ifb1 type ifb && in_b ip link set ifb1 up &&
		in_b tc qdisc add dev ifb1 root netem limit 10000 loss 50% &&
		in_b tc filter add dev veth0 ingress protocol ip prio 1 u32 \
			match ip dsfield 0x5c 0xfc action mirred egress redirect dev ifb1
}

injected__last_segment_where_more_is_lost() {
	path_behind delay 400us && loses_plain && judged 10.1.0.2 50 30000 && [ "$last" -gt 0 ]
	_result=$?
	in_b ip link del ifb1
	path_behind delay 200us loss 3%
	return $_result
}

injected__without_timestamps() {
	with timestamps=0 -- judged 10.1.0.2 8 300000 && both_kinds &&
		with timestamps=0 -- judged fd01::2 8 300000 && both_kinds
}

# Which segments TCP has is then not known: only the first is sent.
injected__without_sack() {
	with sack=0 -- judged 10.1.0.2 8 300000 && both_kinds && [ "$last" = 0 ] &&
		with sack=0 timestamps=0 -- judged fd01::2 8 300000 && both_kinds && [ "$last" = 0 ]
}

# What the host lacks of the other's data is told as TCP would.
injected__with_sack_blocks() {
	judged 10.1.0.2 20 300000 --way both && both_kinds && [ "$sacks" -gt 0 ] &&
		judged fd01::2 20 300000 --way both && both_kinds && [ "$sacks" -gt 0 ]
}

injected__with_more_sack_blocks_without_timestamps() {
	with timestamps=0 -- judged 10.1.0.2 20 300000 --way both && both_kinds && [ "$sacks" -gt 0 ]
}

injected__with_urgent_data() {
	judged 10.1.0.2 10 100000 --way urgent && both_kinds && [ "$urgent" -gt 0 ]
}

# The window does not say what TCP has not said yet.
injected__windows_not_scaled() {
	with window_scaling=0 -- judged 10.1.0.2 20 300000 --way both && both_kinds
}

injected__with_ecn() {
	with ecn=1 -- judged 10.1.0.2 8 300000 && both_kinds && [ "$accecn" = 0 ]
}

injected__with_accecn() {
	in_a sysctl -q -w net.ipv4.tcp_ecn=3 2> /dev/null || { echo "this kernel has no AccECN"; return 4; }
	in_a sysctl -q -w net.ipv4.tcp_ecn=2
	with ecn=3 -- judged 10.1.0.2 8 300000 && both_kinds && [ "$accecn" -gt 0 ]
}

# Lost packets and TLT's own are counted as they leave.
flows__count_what_is_injected() {
	watches watch.py "$a" "$seen" || return 1
	in_a "$stream" send 10.1.0.2 --seed 2 --bytes 2000000
	_status=$?
	watches_no_more
	[ $_status = 0 ] && counts_of_flow_are_right "$seen" "$a" && grep -q '^dscp 11 data' "$seen"
}

ktap_start
need_module
make_hosts
trap 'drop_hosts; unload_module' EXIT
for netns in $a $b; do
	ip netns exec "$netns" ethtool -K veth0 tso off gso off tx off > /dev/null
done
path_behind delay 200us loss 3% || ktap_fail "path__made"
tlt_on || ktap_fail "tlt__set"
start_server || ktap_fail "receiver__starts"
run_cases "$@"
finish_hosts
