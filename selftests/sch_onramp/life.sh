#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What becomes of control blocks as connections end and others take their ports, and of
# hosts that did not answer once the reason is gone.

# shellcheck source=selftests/sch_onramp/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

again=$here/again.py
key_file=$TMPDIR/key
echo 00112233445566778899aabbccddeeff > "$key_file"

command -v turnpike > /dev/null || skip_all "needs the turnpike command"

[ "${TURNPIKE_DEBUG:-0}" = 1 ] && many=60 || many=250

# The path has no past.
new_hosts() {
	drop_hosts
	make_path && start_sink
}

# sampled_each OPTION...: twelve connections, every one of which has feedback
sampled_each() {
	_before=0
	for _ in $(seq 12); do
		in_a "$again" 10.1.0.2 "$@" > /dev/null || return 1
		_now=$(counter samples)
		echo "$((_now - _before)) samples"
		[ "$_now" -gt "$_before" ] || return 1
		_before=$_now
	done
}

# Sequence numbers begin at random: without care half of all connections look like old data.
ports__of_the_connection_before_are_no_hindrance() {
	new_hosts && need_usec_ts || return
	onramp feedback tcpts && sampled_each --from-port 6001
}

ports__of_the_connection_before_by_receipts() {
	new_hosts && acker on && onramp feedback orack && send 0.1 --max-pacing 12500000 || return 1
	sampled_each --from-port 6001
}

# Sockets take the memory, and the flows, of those before them; a quarter of the flows are nobody's
# the second time, and dead three seconds after the qdisc found them empty, as it does when others send.
# Ports of the second time are others: who has a port of before takes its control block, and looks for no dead.
ended__control_blocks_go_to_others() {
	new_hosts && need_usec_ts || return
	onramp feedback tcpts || return 1
	_again=$((many * 3 / 4))
	in_a sysctl -q net.ipv4.ip_local_port_range="20000 29999" || return 1
	in_a "$again" 10.1.0.2 --times $many --bytes 3000 --together || return 1
	_full=$(counter controlled)
	send 0.2 --max-pacing 12500000 && sleep 4 || return 1
	in_a sysctl -q net.ipv4.ip_local_port_range="30000 39999" || return 1
	in_a "$again" 10.1.0.2 --times $_again --bytes 3000 --together || return 1
	_left=$(counter controlled)
	echo "$_full control blocks after $many connections, $_left after $_again more"
	[ "$_full" -gt $((many - many / 10)) ] && [ "$_left" -le $((_again + many / 10)) ]
}

max_flows=/sys/module/sch_onramp/parameters/max_flows
one_is_controlled() { [ "$(counter controlled)" = 1 ]; }

# A connection that finds no room goes on as it would with fq, asks once in 10 ms and not with each
# packet, and has its control block as soon as there is room.
block__that_could_not_be_had_comes_later() {
	new_hosts && need_usec_ts || return
	# A packet is a segment.
	ip -n "$a" link set veth0 gso_max_segs 1
	_most=$(cat $max_flows)
	echo 0 > $max_flows && onramp feedback tcpts || return 1
	start_sender --seconds 60 --abort --max-pacing 4000000
	sleep 0.5
	_all=$(statistics "$a")
	echo "$_most" > $max_flows
	wait_for "the control block" one_is_controlled
	_status=$?
	stop_sender
	echo "$(counter packets "$_all") packets without, asked $(counter alloc_errors "$_all") times;" \
		"$(counter samples) samples with"
	[ $_status = 0 ] && [ "$(counter controlled "$_all")" = 0 ] && [ "$(counter alloc_errors "$_all")" -gt 1 ] &&
		[ "$(counter packets "$_all")" -gt $((4 * $(counter alloc_errors "$_all"))) ] &&
		[ "$(counter samples)" -gt 0 ]
}

set_port() { in_a turnpike onramp set --port "$1" && in_b turnpike onramp set --port "$1"; }

# Three announcements are unanswered, since the other host listens elsewhere.
port__mended_hosts_are_asked_again() {
	new_hosts && acker on && in_b turnpike onramp set --port 7001 || return 1
	onramp feedback orack && send 1.5 --max-pacing 12500000 && _without=$(counter samples_orack) || return 1
	set_port 7002 && send 1 --max-pacing 12500000 || return 1
	echo "$_without samples by receipts before, $(counter samples_orack) after"
	[ "$_without" = 0 ] && [ "$(counter samples_orack)" -gt 10 ]
}

# The receiver has a key and refuses what is not signed, until the sender gets it, too.
key__mended_hosts_are_asked_again() {
	new_hosts && acker on && in_b turnpike onramp key add 1 "$key_file" || return 1
	onramp feedback orack && send 1.5 --max-pacing 12500000 && _without=$(counter samples_orack) || return 1
	in_a turnpike onramp key add 1 "$key_file" && send 1 --max-pacing 12500000 || return 1
	echo "$_without samples by receipts before, $(counter samples_orack) after"
	[ "$_without" = 0 ] && [ "$(counter samples_orack)" -gt 10 ]
}

begin_on_path
run_against_sink "$@"
