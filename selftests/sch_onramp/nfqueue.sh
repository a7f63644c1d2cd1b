#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A queue to user space in front of On-Ramp's hooks: packets come to them in the context of the
# process that gives the verdicts.  Whose locks softirqs wait for then a debug kernel tells.

# shellcheck source=selftests/sch_onramp/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

nft=$here/../lib/nft.py
# Before all others: a hook of the same priority as one that is there goes before it.
first=-2147483648

# queued NETNS COMMAND...: while all that arrives there passes a program
queued() {
	ip netns exec "$1" "$nft" queue in $first || return
	ip netns exec "$1" "$nft" accept > "$TMPDIR/queue" &
	_queue=$!
	wait_for "the program" grep -q ready "$TMPDIR/queue" && "${@:2}"
	_queued=$?
	kill $_queue
	wait $_queue 2> /dev/null
	ip netns exec "$1" "$nft" drop
	return $_queued
}

sends() { send 0.4 && show && flows_were_held; }

receipts__asked_of_a_queued_receiver() {
	acker on && onramp threshold 200us feedback orack && queued "$b" sends
}

receipts__and_acks_are_queued_at_the_sender() {
	acker on && onramp threshold 200us feedback orack && queued "$a" sends
}

timestamps__of_acks_that_are_queued() {
	need_usec_ts || return
	onramp threshold 200us feedback tcpts && queued "$a" sends
	_status=$?
	usec_ts off
	return $_status
}

ktap_start
need_module
trap 'drop_hosts; unload_module' EXIT
slow_hosts || ktap_fail "hosts__made"
run_cases
finish_hosts
