#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A Linux box as a switch for TLT, as Documentation/tlt-switch.rst has it: gred drops
# unimportant packets when the queue of the port to the client holds K bytes, others
# when it holds B.
#
#	netns $h1 .. $h4  veth0 ----.
#	10.2.0.1 .. 4               |  netns $sw: bridge, p1 .. p4, pc  ---- veth0 netns $cl
#	                            '  pc: 1 Gbit/s (htb), under it gred     10.2.0.9
#	                                   for TLT's, and a queue for others

# shellcheck source=selftests/tlt/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

sw=tlt-sw-$$
cl=tlt-cl-$$
hosts=$(for i in 1 2 3 4; do echo "tlt-h$i-$$"; done)
k_bytes=40000
buffer_bytes=400000
streams=48

in_sw() { ip netns exec "$sw" "$@"; }

# join NETNS ADDRESS PORT: a host and its cable to the switch; frames as on a wire
join() {
	ip netns add "$1" && ip link add veth0 netns "$1" type veth peer name "$3" netns "$sw" &&
		ip -n "$1" addr add "$2/24" dev veth0 &&
		ip -n "$1" addr add "fd02::${2##*.}/64" dev veth0 nodad && ip -n "$1" link set veth0 up &&
		ip -n "$1" link set lo up && ip -n "$sw" link set "$3" master br0 up &&
		ip netns exec "$1" ethtool -K veth0 tso off gso off gro off > /dev/null &&
		in_sw ethtool -K "$3" tso off gso off gro off > /dev/null
}

make_rack() {
	ip netns add "$sw" && ip -n "$sw" link add br0 type bridge && ip -n "$sw" link set br0 up ||
		return 1
	_number=0
	for netns in $hosts; do
		_number=$((_number + 1))
		join "$netns" 10.2.0.$_number p$_number || return 1
	done
	join "$cl" 10.2.0.9 pc && wait_for "the rack" rack_is_up
}

rack_is_up() {
	for netns in $hosts $cl; do
		ip -n "$netns" link show veth0 | grep -q 'state UP' || return 1
	done
}

drop_rack() {
	end_receiver
	for netns in $hosts $cl $sw; do
		ip netns del "$netns" 2>/dev/null
	done
	return 0
}

# The link is shared between TLT's packets, 1:1, and all others.
port_is_shared() {
	in_sw tc qdisc replace dev pc root handle 1: htb default 2 &&
		share 1: 1:9 rate 1gbit && share 1:9 1:1 rate 500mbit ceil 1gbit quantum 15000 &&
		share 1:9 1:2 rate 500mbit ceil 1gbit quantum 15000 &&
		in_sw tc filter add dev pc parent 1: protocol ip prio 1 u32 \
			match ip dsfield 0x0c 0x0c classid 1:1 &&
		in_sw tc filter add dev pc parent 1: protocol ipv6 prio 2 u32 \
			match ip6 priority 0x0c 0x0c classid 1:1 &&
		in_sw tc qdisc replace dev pc parent 1:2 handle 3: bfifo limit $buffer_bytes
}

share() { in_sw tc class replace dev pc parent "$1" classid "$2" htb "${@:3}" burst 5kb cburst 5kb; }

# One queue for all: what the recipe is not.
port_is_not_shared() {
	in_sw tc filter del dev pc parent 1: && in_sw tc filter add dev pc parent 1: protocol ip prio 1 u32 \
		match ip dsfield 0 0 classid 1:1
}

# The recipe. RED's own thresholds lie above the buffer, so that only the limits drop.
color_queue() {
	_red="min $((buffer_bytes + 100000)) max $((2 * buffer_bytes + 200000)) avpkt 1500"
	_red="$_red burst $((buffer_bytes / 1000 + 100)) bandwidth 1gbit probability 0.1 prio 1"
	in_sw tc qdisc del dev pc root 2> /dev/null
	port_is_shared && in_sw tc qdisc replace dev pc parent 1:1 handle 2: \
		gred setup vqs 3 default 1 grio limit $buffer_bytes || return 1
	# shellcheck disable=SC2086  # a list of words
	in_sw tc qdisc change dev pc handle 2: parent 1:1 \
		gred limit $buffer_bytes vq 1 $_red || return 1
	# shellcheck disable=SC2086
	in_sw tc qdisc change dev pc handle 2: parent 1:1 gred limit "$1" vq 2 $_red
}

color_filters() {
	in_sw tc qdisc add dev pc clsact &&
		in_sw tc filter add dev pc egress protocol ip prio 1 u32 \
			match ip dsfield 0x5c 0xfc classid :2 action ok &&
		in_sw tc filter add dev pc egress protocol ipv6 prio 2 u32 \
			match ip6 priority 0x5c 0xfc classid :2 action ok
}

# vq NUMBER WHAT: a counter of a virtual queue
vq() {
	in_sw tc -s qdisc show dev pc | sed -n "/vq $1 /,/vq [^$1]/p" |
		grep -o "$2 [0-9]*" | head -n 1 | cut -d' ' -f2
}

in_hosts() {
	for netns in $hosts; do
		ip netns exec "$netns" "$@" || return 1
	done
}

hosts_count() {
	in_hosts "$turnpike" tlt stats -j | json_lines | sed -n "s/^$1 //p" | awk '{ sum += $1 } END { print sum }'
}

# incast [ADDRESS]: synchronized streams from all hosts; all of them must be right
incast() {
	_pids=
	for _number in $(seq $streams); do
		netns=$(echo "$hosts" | sed -n "$((_number % 4 + 1))p")
		ip netns exec "$netns" "$stream" send "${1:-10.2.0.9}" --seed "$_number" --bytes 60000 \
			> /dev/null &
		_pids="$_pids $!"
	done
	_bad=0
	for pid in $_pids; do
		wait "$pid" || _bad=1
	done
	return $_bad
}

switch__drops_only_unimportant_packets() {
	color_queue $k_bytes || return 1
	incast || return 1
	in_sw tc -s qdisc show dev pc
	echo "rtos $(hosts_count rtos)"
	[ "$(vq 2 pdrop)" -gt 0 ] && [ "$(vq 1 pdrop)" = 0 ] && [ "$(hosts_count rtos)" = 0 ]
}

# hits PROTOCOL: packets that the recipe's filter of it has found
hits() {
	in_sw tc -s filter show dev pc egress | sed -n "/protocol $1 /,\$p" |
		sed -n 's/.*bytes \([0-9]*\) pkt.*/\1/p' | head -n 1
}

switch__drops_only_unimportant_packets_ipv6() {
	color_queue $k_bytes || return 1
	_six=$(hits ipv6)
	incast fd02::9 || return 1
	in_sw tc -s filter show dev pc egress
	in_sw tc -s qdisc show dev pc
	echo "rtos $(hosts_count rtos), found $(($(hits ipv6) - _six))"
	[ $(($(hits ipv6) - _six)) -gt 1000 ] && [ "$(vq 2 pdrop)" -gt 0 ] &&
		[ "$(vq 1 pdrop)" = 0 ] && [ "$(hosts_count rtos)" = 0 ]
}

# What the recipe is for: with one limit for all important packets are lost too.
switch__without_colors_drops_all_kinds() {
	buffer_bytes=$k_bytes color_queue $k_bytes || return 1
	incast || return 1
	in_sw tc -s qdisc show dev pc
	[ "$(vq 2 pdrop)" -gt 0 ] && [ "$(vq 1 pdrop)" -gt 0 ]
}

# others_begin, others_end: three streams from each of the last two hosts, which have no TLT
others_begin() {
	others=
	for netns in $(echo "$hosts" | tail -n 2); do
		ip netns exec "$netns" "$turnpike" tlt off || return 1
		for _seed in 1 2 3; do
			ip netns exec "$netns" "$stream" send 10.2.0.9 --seed $_seed --bytes 1000000000 \
				--timeout 300 > /dev/null 2>&1 &
			others="$others $!"
		done
	done
	sleep 0.2
}

others_end() {
	# shellcheck disable=SC2086  # a list
	kill $others 2> /dev/null
	# shellcheck disable=SC2086
	wait $others 2> /dev/null
	in_hosts "$turnpike" tlt set --all
}

first_host() { ip netns exec "${hosts%%[[:space:]]*}" "$@"; }

# took: how long a stream from the first host takes
took() {
	_said=$(first_host "$stream" send 10.2.0.9 --seed 9 --bytes 4000000 --timeout 60) || _said=seconds=60
	field seconds "$_said"
}

# beside_others: with TLT and without; $took and $took_plain
beside_others() {
	color_queue $k_bytes && ${1:-true} && others_begin || return 1
	first_host "$turnpike" tlt off
	took_plain=$(took)
	first_host "$turnpike" tlt set --all
	took=$(took)
	others_end
	echo "seconds: $took_plain without TLT, $took with; unimportant packets dropped: $(vq 2 pdrop)"
}

# is_at_most A B
is_at_most() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a <= b) }'; }

switch__hosts_without_tlt_have_a_queue_of_their_own() {
	beside_others && is_at_most "$took" "$took_plain"
}

# What that queue is for.
switch__one_queue_for_all_starves_tlt() {
	beside_others port_is_not_shared && ! is_at_most "$took" "$took_plain"
}

ktap_start
command -v ethtool > /dev/null || { echo "1..0 # SKIP ethtool is missing"; exit 4; }
need_module
trap 'drop_rack; unload_module' EXIT
make_rack || ktap_fail "rack__made"
color_queue $k_bytes && color_filters || ktap_fail "recipe__applies"
in_hosts "$turnpike" tlt set --all && ip netns exec "$cl" "$turnpike" tlt set --all || ktap_fail "tlt__set"
receive_in "$cl" "$stream" serve --parallel || ktap_fail "receiver__starts"
run_cases "$@"
drop_rack
ktap_case "unload__nothing_left" unload_module
ktap_finish
