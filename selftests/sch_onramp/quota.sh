#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Whose flows have control blocks where there are too few for all: with eight for the first namespace and
# eight for the others, one that takes all it can leaves room to those that come.
#
#	netns $a   veth0 10.1.0.1 ----- 10.1.0.2 veth0   netns $b
#	netns $c   veth0 10.1.4.1 ----- 10.1.4.2 veth4
#	the first  quota 10.1.5.1 ----- 10.1.5.2 veth5

# shellcheck source=selftests/sch_onramp/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

c=$module-c-$$
max_flows=/sys/module/sch_onramp/parameters/max_flows

in_c() { ip netns exec "$c" "$@"; }
in_first() { "$@"; }

# host WHERE DEVICE NET: to $b, as in_WHERE finds it; a is there already
host() {
	"in_$1" ip addr add "10.1.$3.1/24" dev "$2" && "in_$1" ip link set "$2" up &&
		in_b ip addr add "10.1.$3.2/24" dev "veth$3" && in_b ip link set "veth$3" up
}

make_more_hosts() {
	ip netns add "$c" && ip link add veth0 netns "$c" type veth peer name veth4 netns "$b" &&
		ip link add quota type veth peer name veth5 netns "$b" && host c veth0 4 && host first quota 5
}

drop_more_hosts() {
	# shellcheck disable=SC2046  # a list of processes
	kill $(jobs -p) 2> /dev/null
	ip link del quota 2> /dev/null
	ip netns del "$c" 2> /dev/null
	drop_hosts
}

# flows WHERE DEVICE ADDRESS COUNT: that send, through a qdisc that holds by receipts
flows() {
	"in_$1" tc qdisc add dev "$2" root onramp threshold 200us feedback orack || return 1
	"in_$1" "$traffic" send "$3" --flows "$4" --seconds 60 --abort --max-pacing 500000 > /dev/null 2>&1 &
	sleep 2
}

# controls WHERE DEVICE COUNT: so many have control blocks, and samples go on
controls() {
	_all=$("in_$1" tc -j -s qdisc show dev "$2" root)
	sleep 0.5
	_more=$("in_$1" tc -j -s qdisc show dev "$2" root)
	_more=$(($(counter samples "$_more") - $(counter samples "$_all")))
	echo "$1: $(counter controlled "$_all") flows with control blocks, $(counter alloc_errors "$_all") times none," \
		"$_more samples in half a second"
	[ "$(counter controlled "$_all")" = "$3" ] && [ $_more -gt 10 ]
}

blocks__of_one_namespace_leave_room_to_others() {
	acker on && echo 8 > $max_flows && flows a veth0 10.1.0.2 12 && controls a veth0 4 &&
		flows c veth0 10.1.4.2 1 && controls c veth0 1 && controls a veth0 4 &&
		flows first quota 10.1.5.2 12 && controls first quota 8 && controls c veth0 1 && controls a veth0 4
}

ktap_start
need_module
trap 'drop_more_hosts; unload_module' EXIT
make_path && make_more_hosts && start_sink || ktap_fail "hosts__made"
run_cases "$@"
drop_more_hosts
finish_hosts
