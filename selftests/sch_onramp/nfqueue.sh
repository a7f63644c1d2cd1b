#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A queue to user space in front of On-Ramp's hooks: packets come to them in the context of the
# process that gives the verdicts.  Whose locks softirqs wait for then a debug kernel tells.

# shellcheck source=selftests/sch_onramp/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

# shellcheck source=selftests/lib/nfqueue.sh
. "$here/../lib/nfqueue.sh"

sends() { send 0.4 && show && flows_were_held; }

receipts__asked_of_a_queued_receiver() {
	acker on && onramp threshold 200us feedback orack && queued "$b" in sends
}

receipts__and_acks_are_queued_at_the_sender() {
	acker on && onramp threshold 200us feedback orack && queued "$a" in sends
}

timestamps__of_acks_that_are_queued() {
	need_usec_ts || return
	onramp threshold 200us feedback tcpts && queued "$a" in sends
	_status=$?
	usec_ts off
	return $_status
}

ktap_start
need_module
trap 'drop_hosts; unload_module' EXIT
slow_hosts || ktap_fail "hosts__made"
run_cases "$@"
finish_hosts
