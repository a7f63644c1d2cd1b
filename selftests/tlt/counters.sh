#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What is counted when it happens, and only then: clocking that is refused, what ends in the
# module, timeouts, flows beyond the most. (Packets and bytes are held against a cable's count in
# wire.sh and injected.sh.)

# shellcheck source=selftests/tlt/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

held=$here/held.py
other_port=5200
max_flows=/sys/module/tlt/parameters/max_flows

# held_with WHAT: such a connection; $injected, $refused, $echoes_dropped and, at the receiver,
# $clocks_dropped are what it counted
held_with() {
	ip netns exec "$b" "$held" serve --port $other_port --what "$1" > /dev/null 2>&1 &
	_server=$!
	wait_for "the receiver" listens_or_is_gone "$_server"
	note_counts
	_injected=$injected _refused=$refused _echoes=$echoes_dropped _clocks=$clocks_dropped
	in_a "$held" send 10.1.0.2 --port $other_port --what "$1"
	_status=$?
	kill "$_server" 2> /dev/null
	note_counts
	injected=$((injected - _injected)) refused=$((refused - _refused))
	echoes_dropped=$((echoes_dropped - _echoes)) clocks_dropped=$((clocks_dropped - _clocks))
	[ $_status != 0 ] ||
		echo "injected $injected refused $refused dropped $echoes_dropped $clocks_dropped"
	return $_status
}

listens_or_is_gone() { [ -n "$(in_b ss -Htln sport = $other_port)" ] || [ ! -d "/proc/$1" ]; }

note_counts() {
	injected=$(($(counter injected_byte) + $(counter injected_segment)))
	refused=$(counter inject_refused) echoes_dropped=$(counter echoes_dropped)
	clocks_dropped=$(counter clocks_dropped "$b")
}

# The byte is there already, and its echo tells what the data's own ACK did.
clocking__what_both_ends_have_ends_in_the_module() {
	held_with plain && [ $injected = 1 ] && [ $refused = 0 ] && [ $echoes_dropped = 1 ] &&
		[ $clocks_dropped = 1 ] && tlt_flows "$a" | grep -q "echoes_dropped 1" &&
		tlt_flows "$b" | grep -q "clocks_dropped 1"
}

# ends_without_a_drop REASON: the kernel counts nothing as dropped
ends_without_a_drop() {
	_tracing=/sys/kernel/tracing
	[ -e $_tracing/events/skb/kfree_skb/enable ] ||
		{ echo "this kernel has no trace of dropped packets"; return 4; }
	echo > $_tracing/trace
	echo 1 > $_tracing/events/skb/kfree_skb/enable
	held_with plain
	_held=$?
	echo 0 > $_tracing/events/skb/kfree_skb/enable
	grep "reason: $1" $_tracing/trace
	[ $_held = 0 ] && [ $clocks_dropped = 1 ] && ! grep -q "reason: $1" $_tracing/trace
}

clocking__what_ends_in_the_module_is_no_drop() { ends_without_a_drop NETFILTER_DROP; }

clocking__refused_in_repair() {
	held_with repair && [ $injected = 0 ] && [ $refused -gt 0 ] &&
		tlt_flows "$a" | grep -q "inject_refused $refused"
}

clocking__refused_with_signatures() { held_with md5 && [ $injected = 0 ] && [ $refused -gt 0 ]; }
clocking__refused_for_mptcp() { held_with mptcp && [ $injected = 0 ] && [ $refused -gt 0 ]; }

clocking__refused_with_device_encryption() {
	echo "needs a NIC that encrypts TLS"
	return 4
}

clocking__refused_with_authentication() {
	echo "needs CONFIG_TCP_AO; it is told as signatures are"
	return 4
}

# Data that a FIN follows can be lost as all other.
clocking__goes_on_for_data_before_a_fin() {
	held_with shut && [ $injected -gt 0 ] && [ $refused = 0 ]
}

clocking__never_for_a_fin_alone() { held_with fin && [ $injected = 0 ] && [ $refused = 0 ]; }

timed_out() { [ "$(counter rtos)" -gt 0 ]; }

# The first of a dead path is a probe (TLP), which is no timeout.
rtos__of_a_path_that_is_dead_for_a_while() {
	in_a "$stream" send 10.1.0.2 --seed 1 --bytes 1000000 || return 1
	[ "$(counter rtos)" = 0 ] || { echo "a timeout of nothing"; return 1; }
	background 2 3000000
	path_from in_a delay 20ms loss 100%
	wait_for "a timeout" timed_out
	_status=$?
	in_a "$turnpike" tlt flows
	tlt_flows "$a" | grep -q "remote_port $port .* rtos [1-9]" || _status=1
	path_from in_a delay 20ms
	background_ends_well && return $_status
}

# sent_by CC: $data and $plain packets of a transfer by that congestion control
sent_by() {
	path delay 100us rate 1gbit
	_cc=$(in_a sysctl -n net.ipv4.tcp_congestion_control)
	in_a sysctl -q -w "net.ipv4.tcp_congestion_control=$1" || return 4
	data=$(sent data) plain=$(sent plain) left=$(counter left)
	in_a "$stream" send 10.1.0.2 --seed 3 --bytes 20000000
	_status=$?
	data=$(($(sent data) - data)) plain=$(($(sent plain) - plain)) left=$(($(counter left) - left))
	in_a sysctl -q -w "net.ipv4.tcp_congestion_control=$_cc"
	path delay 20ms
	echo "$data important packets of $((data + plain)), $left left alone"
	return $_status
}

# One packet in N, and the last; a burst that waits for the sender's clock is not the last.
period__is_what_rate_based_senders_keep_to() {
	in_a "$turnpike" tlt set --all --sender rate && sent_by cubic
	_status=$?
	in_a "$turnpike" tlt set --all
	[ $_status = 0 ] && [ $data -gt 0 ] && [ $((data * 96)) -le $(((data + plain) * 5 / 4)) ]
}

# It keeps a queue where plain packets are dropped, whatever is lost.
bbr__is_left_alone() {
	sent_by bbr && [ $data = 0 ] && [ $plain = 0 ] && [ "$left" -gt 100 ]
}

flows() { tlt_flows "$a" | grep -c "remote_port"; }
receiver_has_one() { [ "$(tlt_flows "$b" | grep -c "remote_port")" = 1 ]; }
none_is_left() { [ "$(flows)" = 0 ]; }

# The receiver's namespace has one, too: each has its own table.
flows__refused_beyond_the_most() {
	_most=$(cat $max_flows)
	wait_for "flows to be forgotten" none_is_left || wait_for "flows to be forgotten" none_is_left ||
		return 1
	echo 1 > $max_flows
	background 3 1000000
	_flows=$(flows) _refused=$(counter flows_refused)
	wait_for "the receiver's flow" receiver_has_one
	_theirs=$?
	background_ends_well
	_status=$?
	echo "$_most" > $max_flows
	echo "of three flows $_flows, refused $_refused"
	[ $_status = 0 ] && [ "$_flows" = 1 ] && [ $_theirs = 0 ] && [ "$_refused" -gt 0 ]
}

ktap_start
need_module
make_hosts && path delay 20ms || ktap_fail "hosts__made"
trap 'drop_hosts; unload_module' EXIT
tlt_on || ktap_fail "tlt__set"
start_server --parallel || ktap_fail "receiver__starts"
run_cases "$@"
finish_hosts
