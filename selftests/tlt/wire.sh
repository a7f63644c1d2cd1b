#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What is seen on the wire: which packets have which code point, that ECN bits stay,
# what a burst is cut into, that injected packets are right, and what is not touched.

# shellcheck source=selftests/tlt/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

# watched COMMAND...: runs it in $a while $b's cable is watched; what was seen is in $seen
watched() {
	seen=$TMPDIR/tlt-seen.$$
	watches watch.py "$b" "$seen" || return 1
	"$@"
	_status=$?
	watches_no_more
	cat "$seen"
	return $_status
}

sends() { in_a "$stream" send "${1:-10.1.0.2}" --seed 1 --bytes "${2:-200000}" "${@:3}"; }

# seen_kind CODE WHAT: the number of packets
seen_kind() { sed -n "s/^dscp $1 $2 //p" "$seen" | grep . || echo 0; }

marks__data_and_control() {
	watched sends || return 1
	# data 3, control 19, plain 23; nothing of the connection goes unmarked
	[ "$(seen_kind 3 data)" -gt 0 ] && [ "$(seen_kind 23 data)" -gt 0 ] &&
		[ "$(seen_kind 19 syn)" = 2 ] && [ "$(seen_kind 0 data)" = 0 ] &&
		[ "$(seen_kind 0 ack)" = 0 ]
}

marks__ipv6() {
	watched sends fd01::2 || return 1
	[ "$(seen_kind 3 data)" -gt 0 ] && [ "$(seen_kind 23 data)" -gt 0 ] &&
		[ "$(seen_kind 19 syn)" = 2 ] && [ "$(seen_kind 0 data)" = 0 ]
}

important__only_one_segment_long() {
	watched sends || return 1
	longest=$(sed -n 's/^longest 3 //p' "$seen")
	[ -n "$longest" ] && [ "$longest" -le 1448 ] &&
		[ "$(sed -n 's/^longest 23 //p' "$seen")" -gt 1448 ]
}

echoes__as_many_as_important() {
	before=$(sent echo "$b")
	data=$(sent data)
	watched sends || return 1
	echoes=$(($(sent echo "$b") - before))
	data=$(($(sent data) - data))
	echo "data $data echoes $echoes"
	[ $data -gt 0 ] && [ $echoes -ge $((data - 1)) ] && [ $echoes -le $data ]
}

ecn__bits_stay() {
	in_a sysctl -q -w net.ipv4.tcp_ecn=1 && in_b sysctl -q -w net.ipv4.tcp_ecn=1
	watched sends || return 1
	in_a sysctl -q -w net.ipv4.tcp_ecn=2 && in_b sysctl -q -w net.ipv4.tcp_ecn=2
	_ect=$(sed -n 's/^ect //p' "$seen") _new=$(sed -n 's/^new //p' "$seen")
	echo "$_ect of $_new packets of new data say that they can be marked"
	[ "$_new" -gt 20 ] && [ "$_ect" = "$_new" ]
}

# What is lost is chance: of fifteen megabytes one has no loss that clocking answers. Of
# five packets of clocking one arrives.
sends_until_clocked() {
	clocked=$(sent clock)
	for _ in $(seq 20); do
		sends 10.1.0.2 1000000 || return 1
		[ $(($(sent clock) - clocked)) -lt 5 ] || return 0
	done
	echo "nothing was clocked"
	return 1
}

checksums__are_right() {
	command -v ethtool > /dev/null || { echo "ethtool is missing"; return 4; }
	in_a ethtool -K veth0 tso off gso off tx off > /dev/null
	in_b ethtool -K veth0 tx off > /dev/null
	path delay 200us loss 3%
	watched sends_until_clocked
	_status=$?
	in_a tc qdisc del dev veth0 root
	in_b tc qdisc del dev veth0 root
	in_a ethtool -K veth0 tx on gso on tso on > /dev/null
	in_b ethtool -K veth0 tx on > /dev/null
	[ $_status = 0 ] && [ "$(sed -n 's/^wrong //p' "$seen")" = 0 ] &&
		[ "$(seen_kind 11 data)" -gt 0 ]
}

flows__count_what_is_on_the_cable() {
	for address in 10.1.0.2 fd01::2; do
		watched sends $address 500000 || return 1
		echo "$address: the sender's"
		counts_of_flow_are_right "$seen" "$a" || return 1
		echo "$address: the receiver's"
		counts_of_flow_are_right "$seen" "$b" || return 1
	done
}

sent_bytes() { counter "sent.$1.bytes"; }

# With a burst's cuts, which no cable shows. Alone in the namespace, a flow has all that this counts.
flows__count_as_the_namespace_does() {
	before=$(counter cuts) before_bytes=$(counter cut_bytes) before_plain=$(sent_bytes plain)
	watched sends && counts_of_flow_are_right "$seen" "$a" || return 1
	text=$(tlt_flows "$a" | grep "local_port $flow_port ")
	echo "$text"
	[[ $text =~ \ cuts\ ([0-9]+)\ cut_bytes\ ([0-9]+) ]] && [ "${BASH_REMATCH[1]}" -gt 0 ] &&
		[ "${BASH_REMATCH[1]}" = $(($(counter cuts) - before)) ] &&
		[ "${BASH_REMATCH[2]}" = $(($(counter cut_bytes) - before_bytes)) ] &&
		[[ $text == *" sent.plain.bytes $(($(sent_bytes plain) - before_plain)) "* ]]
}

rules__others_are_not_touched() {
	tlt_on --rule port=9 || return 1
	watched sends
	_status=$?
	tlt_on
	[ $_status = 0 ] && [ "$(grep -c '^dscp [^0]' "$seen")" = 0 ]
}

# Ranges that begin and end on both sides of the port, and of a multiple of 256.
rules__ranges_of_ports() {
	tlt_on --rule port=4864-5120 && watched sends && [ "$(seen_kind 3 data)" -gt 0 ] &&
		tlt_on --rule port=5050-5100 && watched sends && [ "$(seen_kind 3 data)" -gt 0 ] &&
		tlt_on --rule port=5100-5150 && watched sends && [ "$(seen_kind 3 data)" -gt 0 ] &&
		tlt_on --rule port=5000-5099 --rule port=5101-5200 && watched sends &&
		[ "$(grep -c '^dscp [^0]' "$seen")" = 0 ]
	_status=$?
	tlt_on
	return $_status
}

# A connection that matched is not taken for one that does, once the rules are others.
rules__set_anew_count_for_living_connections() {
	in_a "$stream" send 10.1.0.2 --seed 1 --bytes 200000 --write 10000 --pause 0.1 > /dev/null &
	_stream=$!
	sleep 0.5
	tlt_on --rule port=9
	_before=$(sent plain)
	sleep 0.5
	_since=$(($(sent plain) - _before))
	tlt_on
	sleep 0.3
	_again=$(($(sent plain) - _before))
	wait $_stream || return 1
	echo "$_since packets marked by other rules, $_again by the former ones again"
	[ $_before -gt 0 ] && [ $_since = 0 ] && [ $_again -gt 0 ]
}

rules__device_and_prefix() {
	tlt_on --rule dev=veth0,port=5100 && watched sends && [ "$(seen_kind 3 data)" -gt 0 ] &&
		in_a "$turnpike" tlt set --rule peer=10.1.0.0/24 &&
		in_b "$turnpike" tlt set --all && watched sends && [ "$(seen_kind 3 data)" -gt 0 ] &&
		in_a "$turnpike" tlt set --rule peer=10.9.0.0/16 &&
		watched sends && [ "$(seen_kind 3 data)" = 0 ]
	_status=$?
	tlt_on
	return $_status
}

rules__ipv6_prefix() {
	in_a "$turnpike" tlt set --rule peer=fd01::77/64 && in_b "$turnpike" tlt set --all &&
		watched sends fd01::2 && [ "$(seen_kind 3 data)" -gt 0 ] &&
		[ "$(seen_kind 0 data)" = 0 ] && watched sends 10.1.0.2 &&
		[ "$(seen_kind 3 data)" = 0 ] && [ "$(seen_kind 23 data)" = 0 ] &&
		in_a "$turnpike" tlt set --rule peer=fd01:0:0:1::/64 --rule peer=fd01::3 &&
		watched sends fd01::2 && [ "$(seen_kind 3 data)" = 0 ] &&
		[ "$(seen_kind 23 data)" = 0 ]
	_status=$?
	tlt_on
	return $_status
}

# alone ADDRESS: GRO puts unimportant packets together, an important one stays what it is
alone() {
	_data=$(sent data) _data_b=$(sent data "$b")
	watched sends "$1" 500000 || return 1
	_data=$(($(sent data) - _data + $(sent data "$b") - _data_b))
	echo "important packets sent $_data"
	[ "$(sed -n 's/^longest 23 //p' "$seen")" -gt 1448 ] &&
		[ "$(sed -n 's/^longest 3 //p' "$seen")" -le 1448 ] &&
		[ "$(seen_kind 3 data)" = $_data ]
}

# The cable's end gathers packets before it shows them.
gro__important_arrives_alone() {
	command -v ethtool > /dev/null || { echo "ethtool is missing"; return 4; }
	in_a ethtool -K veth0 tso off gso off > /dev/null
	in_b ethtool -K veth0 gro on > /dev/null
	path_from in_a delay 200us
	alone 10.1.0.2 && alone fd01::2
	_status=$?
	in_a tc qdisc del dev veth0 root
	in_b ethtool -K veth0 gro off > /dev/null
	in_a ethtool -K veth0 gso on tso on > /dev/null
	return $_status
}

map__of_the_prototype() {
	tlt_on --map vma
	watched sends
	_status=$?
	tlt_on
	[ $_status = 0 ] && [ "$(seen_kind 10 data)" -gt 0 ] && [ "$(seen_kind 8 data)" -gt 0 ]
}

foreign__kept() {
	tlt_on --foreign keep
	watched sends 10.1.0.2 200000 --tos 160
	_status=$?
	tlt_on
	[ $_status = 0 ] && [ "$(seen_kind 40 data)" -gt 0 ] && [ "$(seen_kind 3 data)" = 0 ]
}

foreign__overridden() {
	watched sends 10.1.0.2 200000 --tos 160 &&
		[ "$(seen_kind 40 data)" = 0 ] && [ "$(seen_kind 3 data)" -gt 0 ]
}

# One end that does not speak TLT: its partner leaves the data as it is.
peer__deaf_gets_unmarked_data() {
	in_b "$turnpike" tlt off
	watched sends
	_status=$?
	in_b "$turnpike" tlt set --all
	[ $_status = 0 ] && [ "$(seen_kind 0 data)" -gt 0 ] &&
		[ "$(seen_kind 3 data)" = 0 ] && [ "$(seen_kind 23 data)" = 0 ]
}

# A peer without TLT gets no data that looks as if it were marked, whatever the application chose.
foreign__none_of_tlts_own_stays() {
	in_b "$turnpike" tlt off
	watched sends 10.1.0.2 200000 --tos 12
	_status=$?
	in_b "$turnpike" tlt set --all
	[ $_status = 0 ] && [ "$(seen_kind 3 data)" = 0 ] && [ "$(seen_kind 0 data)" -gt 0 ]
}

# Nor is data with the code point of echoes one: a hundred packets, and some without data.
foreign__data_is_no_echo() {
	before=$(received echo "$b")
	in_a "$turnpike" tlt off
	sends 10.1.0.2 100000 --write 1000 --pause 0.0001 --tos 28
	_status=$?
	in_a "$turnpike" tlt set --all
	echo "echoes $(($(received echo "$b") - before))"
	[ $_status = 0 ] && [ $(($(received echo "$b") - before)) -le 20 ]
}

# Both hosts keep what they know of each other, however long the connection is idle.
idle__burst_is_marked_at_once() {
	watched sends 10.1.0.2 131072 --write 65536 --pause 15 && [ "$(seen_kind 3 data)" -gt 0 ] &&
		[ "$(seen_kind 0 data)" = 0 ]
}

# A round trip of a second, after which data and FIN leave and are lost: TCP's later tries are
# seconds apart, and the first to arrive comes after six.
shut_while_lost() {
	path delay 500ms
	in_a "$stream" send 10.1.0.2 --seed 3 --way shut --bytes 8000 &
	_sender=$!
	sleep 0.9
	path_from in_a loss 100%
	sleep 6
	in_a tc qdisc del dev veth0 root
	in_b tc qdisc del dev veth0 root
	wait "$_sender"
}

fin__late_retransmissions_are_marked() {
	watched shut_while_lost && [ "$(seen_kind 3 data)" -gt 0 ] && [ "$(seen_kind 0 data)" = 0 ]
}

ktap_start
need_module
make_hosts
trap 'drop_hosts; unload_module' EXIT
TMPDIR=${TMPDIR:-/tmp}
tlt_on || ktap_fail "tlt__set"
start_server || ktap_fail "receiver__starts"
run_cases "$@"
finish_hosts
