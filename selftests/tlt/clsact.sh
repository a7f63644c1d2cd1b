#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# TLT attached by tc: to one device of two, beside netfilter, to devices above one another;
# attached and taken away under traffic; what is refused. (clsact_wire.sh, clsact_stream.sh
# and clsact_hostile.sh are the tests of the same name by tc.)
#
#	netns $a                                   netns $b
#	veth0  10.1.0.1, fd01::1  ------------  veth0  10.1.0.2, fd01::2
#	veth1  10.2.0.1           ------------  veth1  10.2.0.2
#	veth0.7  10.3.0.1                       veth0.7  10.3.0.2

# shellcheck source=selftests/tlt/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

unload_module() { unload_by_tc; }

make_more_devices() {
	ip link add veth1 address 02:00:00:00:00:11 netns "$a" type veth \
		peer name veth1 address 02:00:00:00:00:12 netns "$b" || return 1
	for end in "$a 1" "$b 2"; do
		ip -n "${end% *}" addr add "10.2.0.${end#* }/24" dev veth1
		ip -n "${end% *}" link set veth1 up
		ip -n "${end% *}" link add link veth0 name veth0.7 type vlan id 7 || return 1
		ip -n "${end% *}" addr add "10.3.0.${end#* }/24" dev veth0.7
		ip -n "${end% *}" link set veth0.7 up
		# Sockets whose process is gone keep their namespace: not for long here.
		ip netns exec "${end% *}" sysctl -q -w net.ipv4.tcp_orphan_retries=1
	done
}

make_all() {
	make_hosts && make_more_devices && start_server --parallel
}

# action DEVICE [NETNS]: TLT's action on both ways of a device
action() {
	for _netns in ${2:-$a $b}; do
		ip netns exec "$_netns" tc qdisc add dev "$1" clsact &&
			ip netns exec "$_netns" tc filter add dev "$1" ingress matchall action tlt &&
			ip netns exec "$_netns" tc filter add dev "$1" egress matchall action tlt ||
			return 1
	done
}

no_action() {
	for _netns in $a $b; do
		ip netns exec "$_netns" tc qdisc del dev "$1" clsact 2>/dev/null
	done
	return 0
}

clean() {
	no_action veth0
	no_action veth1
	no_action veth0.7
	in_a tc actions flush action tlt 2>/dev/null
	tlt_off
}

sends() { in_a "$stream" send "${1:-10.1.0.2}" --seed 1 --bytes "${2:-1000000}" "${@:3}"; }

# all_of NETNS NAME...: what stats say
all_of() {
	ip netns exec "$1" "$turnpike" tlt stats | awk '/^sent / { s += $4; r += $8 }
		/^cuts / { c = $2 } END { print s + 0, r + 0, c + 0 }'
}

# counts COMMAND...: what was sent, received and cut meanwhile in $a, received in $b
counts() {
	read -r _s _r _c < <(all_of "$a")
	read -r _bs _br _bc < <(all_of "$b")
	"$@" || return 1
	read -r packets arrived cuts < <(all_of "$a")
	read -r b_packets b_arrived _ < <(all_of "$b")
	packets=$((packets - _s)) arrived=$((arrived - _r)) cuts=$((cuts - _c))
	b_packets=$((b_packets - _bs)) b_arrived=$((b_arrived - _br))
	echo "sent $packets, received $arrived, cuts $cuts; the other sent $b_packets, received $b_arrived"
}

nothing_marked() { [ "$packets" = 0 ] && [ "$b_packets" = 0 ] && [ "$b_arrived" = 0 ]; }

tlt_by_tc() { tlt_on --attach tc "$@"; }

attach__without_action_is_nothing() {
	clean
	tlt_by_tc && counts sends && nothing_marked
}

attach__is_shown() {
	clean
	tlt_by_tc && in_a "$turnpike" tlt show | grep -q ' attach tc$' && tlt_on &&
		! in_a "$turnpike" tlt show | grep -q attach &&
		in_a "$turnpike" tlt show -j | grep -q '"attach": "netfilter"'
}

action__waits_for_the_configuration() {
	clean
	said=$(action veth0 2>&1) || return 1
	echo "$said"
	in_a tc filter show dev veth0 egress
	echo "$said" | grep -q 'turnpike tlt set --attach tc' &&
		in_a tc filter show dev veth0 egress | grep -q 'not attached' &&
		tlt_by_tc && ! in_a tc filter show dev veth0 egress | grep -q 'not attached'
}

# by_both COMMAND...: the counters of the same by netfilter and by tc
by_both() {
	clean
	tlt_on && counts "$@" || return 1
	_by_netfilter="$packets $arrived $b_packets $b_arrived"
	_cuts=$cuts
	clean
	tlt_by_tc && action veth0 && counts "$@" || return 1
	_by_tc="$packets $arrived $b_packets $b_arrived"
}

# near A B: no more than a fifth apart, or by what few of them are by chance
near() {
	[ $(($1 * 5)) -ge $(($2 * 4)) ] && [ $(($2 * 5)) -ge $(($1 * 4)) ] && return
	[ $(($1 - $2)) -le 4 ] && [ $(($2 - $1)) -le 4 ]
}

all_near() { near "$1" "$6" && near "$2" "$7" && near "$3" "$8" && near "$4" "$9" && near "$5" "${10}"; }

# add COUNTS MORE: sums of numbers side by side
add() {
	# shellcheck disable=SC2086  # numbers
	set -- $1 $2
	echo $(($1 + $6)) $(($2 + $7)) $(($3 + $8)) $(($4 + $9)) $(($5 + ${10}))
}

# How large bursts are is chance, of which there is less in more of them: once, or the sum of
# two times, or of three. What counts a packet twice does so always.
same_counters() {
	_sum_netfilter="0 0 0 0 0" _sum_tc="0 0 0 0 0"
	for _time in 1 2 3; do
		by_both "$@" || return 1
		_sum_netfilter=$(add "$_sum_netfilter" "$_by_netfilter $_cuts")
		_sum_tc=$(add "$_sum_tc" "$_by_tc $cuts")
		echo "by netfilter $_sum_netfilter by tc $_sum_tc"
		# shellcheck disable=SC2086  # numbers
		all_near $_sum_netfilter $_sum_tc && return
	done
	return 1
}

often() { sends "$1" 1000000 --repeat 10; }

counters__as_by_netfilter() { same_counters often 10.1.0.2 && [ "$cuts" -gt 0 ]; }
counters__as_by_netfilter_ipv6() { same_counters often fd01::2 && [ "$cuts" -gt 0 ]; }

counters__as_by_netfilter_where_the_path_takes_time() {
	path delay 200us
	same_counters sends
	_status=$?
	in_a tc qdisc del dev veth0 root
	in_b tc qdisc del dev veth0 root
	return $_status
}

one_segment_each() {
	for _netns in $a $b; do
		ip -n "$_netns" link set "$1" gso_max_segs "$2" || return 1
	done
}

# Without bursts what one host sends the other must have, packet for packet.
exactly_once() {
	counts "$@" && [ "$packets" -gt 500 ] && [ "$packets" = "$b_arrived" ] &&
		[ "$arrived" = "$b_packets" ]
}

# single_segments COMMAND...: without bursts, so that a frame is a packet
single_segments() {
	for _device in veth0 veth0.7; do one_segment_each $_device 1 || return 1; done
	"$@"
	_status=$?
	for _device in veth0 veth0.7; do one_segment_each $_device 65535; done
	return $_status
}

device_packets() { in_a cat "/sys/class/net/$1/statistics/tx_packets"; }

# The device's own count: frames of others (neighbours) are few.
as_many_as_frames() {
	_frames=$(device_packets "$1")
	exactly_once "${@:2}" || return 1
	_frames=$(($(device_packets "$1") - _frames))
	echo "frames $_frames"
	[ "$packets" -le $_frames ] && [ "$packets" -ge $((_frames - 20)) ]
}

once__by_tc() {
	clean
	tlt_by_tc && action veth0 && single_segments as_many_as_frames veth0 sends
}

once__both_attached() {
	clean
	action veth0 2>/dev/null
	tlt_on && single_segments as_many_as_frames veth0 sends
}

once__two_actions_in_a_row() {
	clean
	tlt_by_tc || return 1
	for _netns in $a $b; do
		ip netns exec "$_netns" tc qdisc add dev veth0 clsact
		for _way in ingress egress; do
			ip netns exec "$_netns" tc filter add dev veth0 $_way matchall \
				action tlt continue || return 1
			ip netns exec "$_netns" tc filter add dev veth0 $_way matchall \
				action tlt pipe action tlt || return 1
		done
	done
	single_segments as_many_as_frames veth0 sends
}

once__vlan_and_the_device_below() {
	clean
	tlt_by_tc && action veth0 && action veth0.7 &&
		single_segments as_many_as_frames veth0.7 sends 10.3.0.2
}

# A device below is not the one that the route names.
vlan__not_by_the_device_below() {
	clean
	tlt_by_tc && action veth0 && counts sends 10.3.0.2 && nothing_marked
}

vlan__bursts_are_cut() {
	clean
	tlt_by_tc && action veth0.7 && counts sends 10.3.0.2 && [ "$cuts" -gt 0 ] &&
		[ "$b_arrived" -gt 0 ]
}

device__one_of_two() {
	clean
	tlt_by_tc && action veth0 && counts sends 10.2.0.2 && nothing_marked && counts sends &&
		[ "$packets" -gt 0 ] && [ "$cuts" -gt 0 ]
}

device__rule_names_it() {
	clean
	tlt_by_tc --rule dev=veth1 && action veth0 && action veth1 && counts sends &&
		nothing_marked && counts sends 10.2.0.2 && [ "$packets" -gt 0 ] && [ "$arrived" -gt 0 ]
}

# Only some packets: what tc matches otherwise.
filter__chooses_by_port() {
	clean
	tlt_by_tc || return 1
	for _netns in $a $b; do
		ip netns exec "$_netns" tc qdisc add dev veth0 clsact &&
			ip netns exec "$_netns" tc filter add dev veth0 egress protocol ip flower \
				ip_proto tcp dst_port 9 action tlt || return 1
	done
	counts sends && nothing_marked
}

# A router's action: nothing is its own.
forwarded__passes_untouched() {
	clean
	_c=tlt-c-$$
	ip netns add $_c && ip link add veth9 netns $_c type veth peer name veth9 netns "$b" &&
		ip -n $_c addr add 10.9.0.2/24 dev veth9 && ip -n "$b" addr add 10.9.0.1/24 dev veth9 &&
		ip -n $_c link set lo up && ip -n $_c link set veth9 up &&
		ip -n "$b" link set veth9 up && ip -n $_c route add default via 10.9.0.1 &&
		ip -n "$a" route add 10.9.0.0/24 via 10.1.0.2 || return 1
	in_b sysctl -q -w net.ipv4.ip_forward=1
	ip netns exec $_c "$stream" serve > /dev/null 2>&1 &
	_server=$!
	wait_for "the router" in_a ping -q -c 1 -W 1 10.9.0.2 > /dev/null 2>&1
	tlt_by_tc && action veth0 && action veth9 "$b" && counts sends 10.9.0.2
	_status=$?
	kill $_server
	# The server keeps it for a moment, and its name goes with the first try.
	ip netns del $_c 2>/dev/null
	[ $_status = 0 ] && [ "$packets" -gt 0 ] && [ "$b_packets" = 0 ] && [ "$b_arrived" = 0 ]
}

# -- under traffic

lossy="delay 200us loss 1% rate 200mbit"

lossy_streams() {
	# shellcheck disable=SC2086  # words
	path $lossy && background 6 1500000
}

lossy_streams_end_well() {
	background_ends_well
	_well=$?
	in_a tc qdisc del dev veth0 root
	in_b tc qdisc del dev veth0 root
	return $_well
}

clocking__takes_place() {
	clean
	tlt_by_tc && action veth0 || return 1
	clocks=$(sent clock) injected=$(($(counter injected_byte) + $(counter injected_segment)))
	echoes=$(received clock-echo)
	lossy_streams && lossy_streams_end_well || return 1
	clocks=$(($(sent clock) - clocks)) echoes=$(($(received clock-echo) - echoes))
	injected=$(($(counter injected_byte) + $(counter injected_segment) - injected))
	echo "injected $injected, sent as clock data $clocks, clock echoes $echoes"
	[ $clocks -gt 0 ] && [ $clocks = $injected ] && [ $echoes -gt 0 ]
}

traffic__attached_and_detached() {
	clean
	tlt_by_tc && lossy_streams || return 1
	for _ in $(seq 10); do
		action veth0 && no_action veth0 || return 1
	done
	lossy_streams_end_well
}

traffic__from_one_to_the_other() {
	clean
	tlt_by_tc && action veth0 2>/dev/null && lossy_streams || return 1
	for _ in $(seq 10); do
		tlt_on && tlt_by_tc && tlt_off && tlt_by_tc --rule port=5100 || return 1
	done
	lossy_streams_end_well
}

traffic__replaced() {
	clean
	tlt_by_tc && in_a tc actions add action tlt index 5 && in_a tc qdisc add dev veth0 clsact &&
		in_a tc filter add dev veth0 egress pref 1 handle 1 flower action tlt index 5 &&
		in_a tc filter add dev veth0 ingress pref 1 handle 1 flower action tlt index 5 &&
		action veth0 "$b" && lossy_streams || return 1
	for _ in $(seq 10); do
		in_a tc filter replace dev veth0 egress pref 1 handle 1 flower action tlt ok &&
			in_a tc actions replace action tlt ok index 5 &&
			in_a tc filter replace dev veth0 egress pref 1 handle 1 flower \
				action tlt index 5 || return 1
	done
	in_a tc -s actions show action tlt
	in_a tc actions show action tlt | grep -q 'tlt pass' && lossy_streams_end_well
}

# -- tc's side

# in_actions KEY...: of the first action of the egress filter, as JSON has it
in_actions() {
	in_a tc -j -s filter show dev veth0 egress | python3 -c '
import json, sys
value = [f for f in json.load(sys.stdin) if "options" in f][0]["options"]["actions"][0]
for key in sys.argv[1:]:
    value = value[key]
print(value)' "$@"
}

shown__text_and_json() {
	clean
	tlt_by_tc && action veth0 && sends || return 1
	in_a tc -s filter show dev veth0 egress
	[ "$(in_actions kind)" = tlt ] && [ "$(in_actions control_action type)" = pipe ] &&
		[ "$(in_actions attached)" = True ] && [ "$(in_actions stats packets)" -gt 10 ]
}

help__is_printed() {
	in_a tc actions add action tlt help 2>&1 | grep -q 'turnpike tlt set --attach tc'
}

# refused REASON COMMAND...
refused() {
	if said=$(in_a "${@:2}" 2>&1); then
		echo "accepted: ${*:2}"
		return 1
	fi
	echo "$said"
	echo "$said" | grep -q "$1"
}

nonsense__is_refused() {
	clean
	in_a tc qdisc add dev veth1 root handle 1: prio
	refused "clsact or ingress only" tc filter add dev veth1 parent 1: matchall action tlt
	_status=$?
	in_a tc qdisc del dev veth1 root
	[ $_status = 0 ] || return 1
	in_a tc qdisc add dev veth1 ingress_block 3 egress_block 4 clsact
	refused "shared block" tc filter add block 3 matchall action tlt &&
		refused "" tc actions add action tlt index x &&
		refused "" tc actions add action tlt color red &&
		refused "netfilter" "$turnpike" tlt set --attach bridge
	_status=$?
	in_a tc qdisc del dev veth1 clsact
	[ $_status = 0 ] && [ -z "$(in_a tc actions show action tlt)" ]
}

unload__refused_while_attached() {
	clean
	tlt_by_tc && action veth0 || return 1
	! rmmod tlt || return 1
	drop_hosts
	unload_module && load_module
	_status=$?
	make_all && return $_status
}

netns__removed_while_attached() {
	clean
	tlt_by_tc && action veth0 && action veth0.7 && lossy_streams || return 1
	_living=$(ip netns pids "$a"; ip netns pids "$b")
	ip netns del "$a"
	ip netns del "$b"
	# shellcheck disable=SC2086  # a list
	kill $_living
	unload_module && load_module
	_status=$?
	make_all && return $_status
}

device__removed_while_attached() {
	clean
	tlt_by_tc && action veth0 && lossy_streams || return 1
	ip -n "$a" link del veth0
	background_ends
	drop_hosts
	make_all
}

ktap_start
need_module
trap 'drop_hosts; unload_module' EXIT
make_all || ktap_fail "hosts__made"
run_cases "$@"
finish_hosts
