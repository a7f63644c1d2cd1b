#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Messages that no tool would send, thrown at all modules while flows of both hosts are under
# way: by root they change what they may, by a user nothing. A kernel that complains of anything
# fails the test (selftests/lib/uml-run); after it the modules work, and go.
#
# TURNPIKE_FUZZ_MESSAGES=N: so many in all; 10000. TURNPIKE_SEED=N: another run.

# shellcheck source=selftests/fuzz/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"
fuzz=$here/netlink_fuzz.py
messages=${TURNPIKE_FUZZ_MESSAGES:-10000}
seed=${TURNPIKE_SEED:-1}

# share PERCENT: of all messages
share() { echo $((messages * $1 / 100)); }

# thrown IN KIND PERCENT [OPTION...]: by a command that runs it where it is to be; all were sent, and answered
thrown() {
	local count said

	count=$(share "$3")
	said=$("$1" "$fuzz" "$2" "$count" --seed "$seed" "${@:4}") || { echo "$said"; return 1; }
	echo "$2: $said"
	[ "$(field sent "$said")" = "$count" ]
}

# mixed ...: as thrown, and some were taken and some refused, or what is thrown is of one kind
mixed() {
	_said=$(thrown "$@") || { echo "$_said"; return 1; }
	echo "$_said"
	[ "$(field taken "$_said")" -gt 0 ] && [ "$(field refused "$_said")" -gt 0 ]
}

onramp__any_message() { mixed in_a onramp 20; }
tlt__any_message() { mixed in_a tlt 15; }
qdisc__any_option() { mixed in_a qdisc 20; }
datagram__any() { thrown in_a datagram 25; }
sysctl__any_word() { mixed in_a sysctl 10; }

# What stamps tell is the machine's: in the first namespace alone.
stamps__any_message() { mixed command stamps 5; }

stamps__not_in_another_namespace() {
	! _said=$(thrown in_a stamps 1 2>&1) && [[ $_said == *"no family turnpike_stamps in this namespace"* ]]
}

# What a user could have changed.
state() {
	in_a turnpike onramp show -j && in_a turnpike tlt show -j && tc -n "$a" -j qdisc show &&
		in_a sysctl -a 2> /dev/null | grep timely
}

user__changes_nothing() {
	local before after kind

	in_a turnpike tlt set --rule port=5001 && onramp || return 1
	before=$(state) || return 1
	for kind in onramp tlt qdisc sysctl; do
		thrown in_a "$kind" 1 --user || return 1
	done
	thrown command stamps 1 --user || return 1
	after=$(state)
	[ "$after" = "$before" ] || { diff <(echo "$before") <(echo "$after"); return 1; }
}

as_user="setpriv --reuid=65534 --regid=65534 --clear-groups"

# shellcheck disable=SC2086  # words
user__sees_settings_and_counters() {
	in_a $as_user turnpike onramp show && in_a $as_user turnpike onramp stats && in_a $as_user turnpike tlt show &&
		in_a $as_user turnpike tlt stats && $as_user turnpike stamps devices && $as_user turnpike stamps stats
}

user__sees_no_connections() {
	local what

	for what in "onramp peers" "onramp flows" "tlt flows"; do
		# shellcheck disable=SC2086  # words
		_said=$(in_a $as_user turnpike $what 2>&1) && { echo "allowed: $what"; return 1; }
		[[ $_said == *"not permitted"* ]] || { echo "$_said"; return 1; }
	done
}

# Root of a namespace of his own, as any user can be, has what is in there, and no stamps of NICs.
user__has_a_namespace_of_his_own() {
	# shellcheck disable=SC2016,SC2086  # the inner shell's; words
	$as_user unshare --user --map-root-user --net sh -e -c '
		ip link set lo up
		tc qdisc add dev lo root onramp
		turnpike tlt set --all
		turnpike tlt flows
		turnpike onramp set --port 7000
		turnpike onramp flows
		echo 31 > /proc/sys/net/ipv4/tcp_timely/t_low_us
		turnpike stamps devices 2>&1 | grep -q "ask in its own network namespace"'
}

all__work_after_it() {
	drop_hosts
	slow_hosts || return 1
	in_a turnpike tlt set --all && in_b turnpike tlt set --all && acker on && onramp threshold 200us || return 1
	in_a "$traffic" send 10.1.0.2 --flows 4 --seconds 0.4 && show || return 1
	flows_were_held && [ "$(json_value flows "$(in_a turnpike tlt stats -j)")" -gt 0 ]
}

modules__go() {
	drop_hosts
	unload_all
}

ktap_start
load_all || ktap_fail "modules__load"
make_path
trap 'drop_hosts; unload_all' EXIT
start_sink || ktap_fail "receiver__starts"
start_sender --flows 4 --seconds 100000 --max-pacing 1250000 --cc timely --abort
# In this order: what is thrown, what it left, and the end.
[ $# -gt 0 ] || set -- onramp__any_message tlt__any_message qdisc__any_option datagram__any \
	sysctl__any_word stamps__any_message stamps__not_in_another_namespace user__changes_nothing \
	user__sees_settings_and_counters user__sees_no_connections user__has_a_namespace_of_his_own \
	all__work_after_it modules__go
run_cases "$@"
drop_hosts
ktap_finish
