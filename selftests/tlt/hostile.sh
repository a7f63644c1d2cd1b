#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What hostile packets can make a host with TLT do, of every code point and
# flag, whole and cut short, for connections with data in flight and for none. TLT may
# answer one packet with no more than one, and what it clocks is bounded by time.
#
# TURNPIKE_HOSTILE_PACKETS=N: so many of each family. `make reproduce' has a million in all, which
# take ten minutes.

# shellcheck source=selftests/tlt/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

hostile=$here/hostile.py
victim_port=5200
# addresses of nobody's, behind the cable
nobody4=10.1.0.9
nobody6=fd01::9
every=${TURNPIKE_HOSTILE_PACKETS:-20000}

device_count() { in_a cat "/sys/class/net/veth0/statistics/$1"; }

victim_listens() { in_a ss -Htln sport = $victim_port | grep -q $victim_port; }

start_victim() {
	in_a ip neigh replace $nobody4 lladdr 02:00:00:00:00:ee dev veth0 nud permanent
	in_a ip neigh replace $nobody6 lladdr 02:00:00:00:00:ee dev veth0 nud permanent
	ip netns exec "$a" "$hostile" serve $victim_port 8000 > /dev/null 2>&1 &
	victim=$!
	wait_for "the victim" victim_listens
}

stop_victim() { kill "$victim" 2>/dev/null; wait "$victim" 2>/dev/null; }

# What TLT itself sends: $answers and $injected.
count_own() {
	answers=$(counter answers)
	injected=$(($(counter injected_byte) + $(counter injected_segment)))
}

# flood WHAT PACKETS FAMILY FIRST: what came in, went out, and what of it was TLT's
# own; no case uses ports from FIRST on that another one used
flood() {
	target=10.1.0.1 source=$nobody4
	[ "$3" = 4 ] || target=fd01::1 source=$nobody6
	count_own
	_answers=$answers _injected=$injected
	_in=$(device_count rx_packets) _out=$(device_count tx_packets)
	in_b "$hostile" flood veth0 02:00:00:00:00:01 $source $target $victim_port --packets "$2" \
		--first "$4" --what "$1" || return 1
	count_own
	answers=$((answers - _answers)) injected=$((injected - _injected))
	in=$(($(device_count rx_packets) - _in)) out=$(($(device_count tx_packets) - _out))
	echo "in $in out $out answers $answers injected $injected"
	[ $in -ge "$2" ]
}

# The victim's own: SYN-ACK and 8000 bytes on each connection, which has a thousand packets.
no_more_out_than_in() {
	[ $out -le $((in + in / 1000 * 8)) ] && [ $((answers + injected)) -le $in ]
}

# The packets themselves must have done what the case is about.
hostile__every_code_and_flag() {
	_echoes=$(received echo) _clocks=$(received clock)
	flood every $every 4 0 && no_more_out_than_in &&
		[ "$(received echo)" -gt "$_echoes" ] && [ "$(received clock)" -gt "$_clocks" ]
}

hostile__every_code_and_flag_ipv6() {
	flood every $every 6 1000 && no_more_out_than_in
}

# A thousand echoes last 1 ms: half a round trip must pass between two of ours.
hostile__echoes_make_no_storm() {
	path delay 50us
	flood echoes 20000 4 2000 && no_more_out_than_in && [ $injected -gt 0 ] &&
		[ $injected -le $((20 * (1000 / 50 + 2))) ]
	_status=$?
	in_a tc qdisc del dev veth0 root
	in_b tc qdisc del dev veth0 root
	return $_status
}

# TCP answers data that is old, and ignores what has a wrong checksum.
hostile__old_data_is_answered_once() {
	flood data 20000 4 3000 && no_more_out_than_in && [ $answers -gt 0 ]
}

hostile__flows_are_bounded_by_connections() {
	_flows=$(counter flows)
	flood every 10000 4 4000 || return 1
	_flows=$(($(counter flows) - _flows))
	echo "flows $_flows"
	[ $_flows -ge 10 ] && [ $_flows -le 20 ]
}

# A raw socket of protocol TCP is connected too, and has no TCP state behind it.
hostile__raw_socket_is_no_flow() {
	_flows=$(counter flows)
	in_a "$hostile" raw 10.1.0.1 10.1.0.2 5999 && in_a "$hostile" raw fd01::1 fd01::2 5999 &&
		[ "$(counter flows)" = "$_flows" ]
}

honest__connections_work_after_all_that() {
	in_a "$stream" send 10.1.0.2 --seed 1 --bytes 2000000 &&
		in_a "$stream" send fd01::2 --seed 2 --bytes 2000000
}

ktap_start
need_module
make_hosts
trap 'stop_victim; drop_hosts; unload_module' EXIT
tlt_on || ktap_fail "tlt__set"
start_server || ktap_fail "receiver__starts"
start_victim || ktap_fail "victim__starts"
run_cases "$@"
stop_victim
finish_hosts
