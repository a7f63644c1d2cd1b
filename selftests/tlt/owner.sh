#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Rules that name users: whose sockets are TLT's, on either side. (Those that name cgroups
# are tested on stock kernels: selftests/qemu/tests/tlt_owner.sh.)

# shellcheck source=selftests/tlt/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

# marked [NETNS]: packets of all kinds that the host has sent
marked() {
	ip netns exec "${1:-$a}" "$turnpike" tlt stats -j | json_lines |
		awk '/^sent[.].*[.]packets / { packets += $2 } END { print packets }'
}

sends() { in_a "$stream" send "${2:-10.1.0.2}" --port $port --seed 1 --bytes 200000 --uid "$1"; }

# sends, is_marked, is_not_marked UID [ADDRESS]: a stream of this user, by what its host sends
is_marked() {
	before=$(sent data)
	sends "$@" || return 1
	echo "user $1: $(($(sent data) - before)) important"
	[ "$(sent data)" -gt "$before" ]
}

is_not_marked() {
	before=$(marked)
	sends "$@" || return 1
	echo "user $1: $(($(marked) - before)) marked"
	[ "$(marked)" = "$before" ]
}

rule_in_a() { in_a "$turnpike" tlt set --rule "$1" && in_b "$turnpike" tlt set --all; }
rule_in_b() { in_b "$turnpike" tlt set --rule "$1" && in_a "$turnpike" tlt set --all; }

uid__of_the_sender() {
	rule_in_a uid=1000 && is_marked 1000 && is_not_marked 1001 && is_not_marked 0
}

uid__ipv6() { rule_in_a uid=1000 && is_marked 1000 fd01::2 && is_not_marked 1001 fd01::2; }

uid__root_is_a_user() { rule_in_a uid=0 && is_marked 0 && is_not_marked 1; }

uid__both_ends_of_a_range() {
	rule_in_a uid=1000-1010 && is_marked 1000 && is_marked 1010 && is_not_marked 999 &&
		is_not_marked 1011
}

uid__with_another_part() {
	rule_in_a uid=1000,port=5100 && is_marked 1000 &&
		rule_in_a uid=1000,port=9 && is_not_marked 1000 &&
		rule_in_a uid=1000,peer=10.9.0.0/16 && is_not_marked 1000
}

uid__one_of_two_rules() {
	in_a "$turnpike" tlt set --rule uid=1000 --rule uid=1001,port=5100 &&
		in_b "$turnpike" tlt set --all && is_marked 1000 && is_marked 1001 && is_not_marked 1002
}

uid__with_early_demultiplexing_off() {
	in_a sysctl -q -w net.ipv4.ip_early_demux=0 && in_b sysctl -q -w net.ipv4.ip_early_demux=0
	rule_in_a uid=1000 && is_marked 1000 && is_not_marked 1001
	_status=$?
	in_a sysctl -q -w net.ipv4.ip_early_demux=1 && in_b sysctl -q -w net.ipv4.ip_early_demux=1
	return $_status
}

# taken_by UID CASE: with a server of its own, which root has listen
taken_by() {
	port=5200
	receive_in "$b" "$stream" serve --port $port --uid "$1" || return 1
	"$2"
	_status=$?
	end_receiver
	return $_status
}

# Who takes a connection answers by rules of its own host, not by the sender's.
answers_by_rules_of_its_own() {
	rule_in_b uid=2000 && sends 1000 && [ "$(sent echo "$b")" -gt 0 ] &&
		rule_in_b uid=2001 || return 1
	before=$(marked "$b")
	deaf=$(counter deaf)
	sends 1000 || return 1
	echo "answers marked $(($(marked "$b") - before)), deaf $(($(counter deaf) - deaf))"
	[ "$(marked "$b")" = "$before" ] && [ "$(counter deaf)" -gt "$deaf" ]
}

uid__of_the_receiver() { taken_by 2000 answers_by_rules_of_its_own; }

untaken_bytes() { in_b ss -Htn sport = $port | awk '$2 > most { most = $2 } END { print most + 0 }'; }
connected() { in_b ss -Htn sport = $port | grep -q ESTAB; }
waits_untaken() { [ "$(untaken_bytes)" -gt 50000 ]; }

# The server takes one connection at a time: another has data before it is taken. What
# the host has marked until then is $before, and what after that is $after.
takes_late() {
	in_a "$stream" send 10.1.0.2 --port $port --seed 2 --bytes 40000 --write 1000 --pause 0.1 &
	first=$!
	wait_for "the first connection" connected || return 1
	_start=$(marked "$b")
	in_a "$stream" send 10.1.0.2 --port $port --seed 3 --bytes 3000000 &
	second=$!
	wait_for "data of the second" waits_untaken || return 1
	before=$(($(marked "$b") - _start))
	wait $first && wait $second || return 1
	after=$(($(marked "$b") - _start - before))
	echo "marked before it was taken $before, after that $after"
}

# Some are answers to probes of the closed window.
listener_ends_with_accept() {
	rule_in_b uid=0 && takes_late && [ $before -gt 10 ] && [ $after -lt 10 ]
}

acceptor_begins_with_accept() {
	rule_in_b uid=2000 && takes_late && [ $before -lt 10 ] && [ $after -gt 20 ]
}

uid__of_the_listener_until_accepted() { taken_by 2000 listener_ends_with_accept; }
uid__of_who_accepts_from_then_on() { taken_by 2000 acceptor_begins_with_accept; }

knocks() { in_a "$stream" send 10.1.0.2 --port 5999 --seed 1 --bytes 1 2>/dev/null; }

# A reset of no connection is the kernel's, whose socket root has.
uid__not_what_has_no_socket() {
	in_b "$turnpike" tlt set --all || return 1
	before=$(marked "$b")
	knocks
	with_all=$(($(marked "$b") - before))
	in_b "$turnpike" tlt set --rule uid=0-4294967294 || return 1
	before=$(marked "$b")
	knocks
	echo "resets marked: $with_all without rules, $(($(marked "$b") - before)) with"
	[ $with_all = 1 ] && [ "$(marked "$b")" = "$before" ]
}

ktap_start
need_module
make_hosts
trap 'drop_hosts; unload_module' EXIT
tlt_on || ktap_fail "tlt__set"
start_server || ktap_fail "receiver__starts"
run_cases "$@"
finish_hosts
