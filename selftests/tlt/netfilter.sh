#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# TLT among netfilter's other hooks: one that comes after its own, a queue to user space
# before it, from which packets come in the context of the process that gives the verdicts, and
# one before it that makes bursts its own.

# shellcheck source=selftests/tlt/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

# shellcheck source=selftests/lib/nfqueue.sh
. "$here/../lib/nfqueue.sh"
last=2147483647
bytes=4000000

sends() { in_a "$stream" send 10.1.0.2 --seed 1 --bytes $bytes; }

# A hook of the last priority that was there before TLT's comes after it. Where a round trip takes no
# time echoes come before the application writes, and clock data in the place of bursts.
behind__sees_bursts_that_are_cut() {
	path_from in_a delay 1ms && tlt_off && in_a "$nft" count out $last || return
	tlt_on || return 1
	_cuts=$(counter cuts)
	sends
	_status=$?
	_cuts=$(($(counter cuts) - _cuts))
	_seen=$(in_a "$nft" show)
	in_a "$nft" drop
	in_a tc qdisc del dev veth0 root
	echo "$_seen, $_cuts bursts cut"
	[ $_status = 0 ] && [ $_cuts -gt 0 ] && [ "$(field bytes "$_seen")" -ge $bytes ]
}

foreign=${TURNPIKE_MODULES:-}/selftests/tlt/foreign/foreign.ko
# count_of taken|returned
count_of() { cat "/sys/module/foreign/parameters/$1"; }
all_returned() { [ "$(count_of taken)" = "$(count_of returned)" ]; }

# A destructor that is not TCP's, once for each burst: a second packet with it would be one too many.
destructor__of_others_leaves_bursts_whole() {
	[ -e "$foreign" ] || { echo "needs foreign.ko (make test-modules)"; return 4; }
	path_from in_a delay 1ms && insmod "$foreign" || return 1
	_cuts=$(counter cuts) _failed=$(counter cut_failed)
	sends && wait_for "what was taken" all_returned
	_status=$?
	_cuts=$(($(counter cuts) - _cuts)) _failed=$(($(counter cut_failed) - _failed)) _taken=$(count_of taken)
	echo "bursts: $_taken taken, $(count_of returned) returned, $_cuts cut, $_failed not"
	# One that returned too many has others under way.
	[ $_status != 0 ] || rmmod foreign || return 1
	in_a tc qdisc del dev veth0 root
	[ $_status = 0 ] && [ "$_taken" -gt 0 ] && [ $_cuts = 0 ] && [ $_failed -gt 0 ]
}

# What is marked on one side is seen on the other.
is_marked() {
	_marked=$(received data "$b")
	sends || return 1
	_marked=$(($(received data "$b") - _marked))
	echo "$_marked important packets came"
	[ $_marked -gt 0 ]
}

queue__of_what_arrives_at_the_receiver() { tlt_on && queued "$b" in is_marked; }
queue__of_what_arrives_at_the_sender() { tlt_on && queued "$a" in is_marked; }
queue__of_what_leaves_the_sender() { tlt_on && queued "$a" out is_marked; }
queue__of_what_leaves_the_receiver() { tlt_on && queued "$b" out is_marked; }

ktap_start
need_module
make_hosts && path delay 100us loss 0.3% || ktap_fail "hosts__made"
trap 'drop_hosts; unload_module' EXIT
tlt_on || ktap_fail "tlt__set"
start_server || ktap_fail "receiver__starts"
run_cases "$@"
finish_hosts
