#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Messages that no tool would send, thrown at all modules while flows of both hosts are under
# way: by root they change what they may, by a user nothing. A kernel that complains of anything
# fails the test (selftests/lib/uml-run); after it the modules work, and go.
#
# TURNPIKE_FUZZ_MESSAGES=N: so many in all; 10000. TURNPIKE_SEED=N: another run.

# shellcheck source=selftests/sch_onramp/lib.sh
. "$(dirname "$(readlink -f "$0")")/../sch_onramp/lib.sh"
here=$(dirname "$(readlink -f "$0")")
fuzz=$here/netlink_fuzz.py
messages=${TURNPIKE_FUZZ_MESSAGES:-10000}
seed=${TURNPIKE_SEED:-1}

command -v turnpike > /dev/null || skip_all "needs the turnpike command"
others="nicstamp tcp_timely tlt"

load_others() {
	insmod "$TURNPIKE_MODULES/drivers/nicstamp.ko" && insmod "$TURNPIKE_MODULES/tcp_timely/tcp_timely.ko" &&
		insmod "$TURNPIKE_MODULES/tlt/tlt.ko"
}

unload_all() {
	local other

	unload_module || return 1
	for other in $others; do
		[ ! -d "/sys/module/$other" ] || wait_for "the end of $other" rmmod "$other" 2> /dev/null || return 1
	done
}

# share PERCENT: of all messages
share() { echo $((messages * $1 / 100)); }

# thrown NETNS KIND PERCENT [OPTION...]: all were sent, and all were answered
thrown() {
	local count said

	count=$(share "$3")
	said=$(ip netns exec "$1" "$fuzz" "$2" "$count" --seed "$seed" "${@:4}") || { echo "$said"; return 1; }
	echo "$2: $said"
	[ "$(field sent "$said")" = "$count" ] || return 1
}

# both COMMAND...: some were taken and some refused, or what is thrown is of one kind
both() {
	_said=$("$@") || { echo "$_said"; return 1; }
	echo "$_said"
	[ "$(field taken "$_said")" -gt 0 ] && [ "$(field refused "$_said")" -gt 0 ]
}

onramp__any_message() { both thrown "$a" onramp 20; }
tlt__any_message() { both thrown "$a" tlt 15; }
qdisc__any_option() { both thrown "$a" qdisc 15; }
action__any_option() { both thrown "$a" action 10; }
datagram__any() { thrown "$a" datagram 20; }
sysctl__any_word() { both thrown "$a" sysctl 10; }

# What stamps tell is the machine's: in the first namespace alone.
stamps__any_message() {
	_said=$("$fuzz" stamps "$(share 5)" --seed "$seed")
	_status=$?
	echo "$_said"
	[ $_status = 0 ] && [ "$(field taken "$_said")" -gt 0 ]
}

# What a user could have changed.
state() {
	in_a turnpike onramp show -j
	in_a turnpike tlt show -j
	tc -n "$a" -j qdisc show
	in_a sysctl -a 2> /dev/null | grep timely
}

user__changes_nothing() {
	local before kind

	in_a turnpike tlt set --rule port=5001 && onramp || return 1
	before=$(state)
	for kind in onramp tlt qdisc action sysctl; do
		thrown "$a" $kind 1 --user || return 1
	done
	_after=$(state)
	[ "$_after" = "$before" ] && return 0
	diff <(echo "$before") <(echo "$_after")
	return 1
}

all__work_after_it() {
	drop_hosts
	slow_hosts || return 1
	in_a turnpike tlt set && in_b turnpike tlt set && acker on && onramp threshold 200us || return 1
	in_a "$traffic" send 10.1.0.2 --flows 4 --seconds 0.4 && show || return 1
	flows_were_held && [ "$(json_value flows "$(in_a turnpike tlt stats -j)")" -gt 0 ]
}

modules__go() {
	drop_hosts
	unload_all
}

ktap_start
need_module
load_others || ktap_fail "modules__load"
make_path
trap 'drop_hosts; unload_all' EXIT
start_sink || ktap_fail "receiver__starts"
start_sender --flows 4 --seconds 100000 --max-pacing 1250000 --cc timely --abort
# In this order: what is thrown, what it left, and the end.
[ $# -gt 0 ] || set -- onramp__any_message tlt__any_message qdisc__any_option action__any_option datagram__any \
	sysctl__any_word stamps__any_message user__changes_nothing all__work_after_it modules__go
run_cases "$@"
drop_hosts
ktap_finish
