#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The line-rate gate: on a cable that takes no time packets leave no faster than the line that
# the options name. (A device with BQL: selftests/vrack/tests/gate.py.)

# shellcheck source=selftests/sch_onramp/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

leave=$here/leave.py

# shows NAME=VALUE...: as tc has them, the last of that name (line_rate is an option, too)
shows() {
	_all=$(statistics "$a")
	for _pair; do
		_value=$(counter "${_pair%=*}" "\"${_pair%=*}\":${_all##*\"${_pair%=*}\":}")
		[ "${_value//\"/}" = "${_pair#*=}" ] && continue
		echo "$_pair expected: $_value"
		return 1
	done
}

udp() { said=$("$leave" udp "$a" 10.1.0.2 --packets 700 --bytes 1472 "$@") && echo "$said"; }

tcp() { said=$("$leave" tcp "$a" "$b" --bytes 1000000) && echo "$said"; }

# takes MBIT: what left took the time that a line of this rate needs for its bytes, to 5 %
takes() {
	_us=$(($(field wire_bytes "$said") * 8 / $1))
	_last=$(field last_ms "$said")
	_last=$((10#${_last/./}))
	echo "$_last us for what takes $_us"
	[ $((_last * 100)) -ge $((_us * 95)) ] && [ $((_last * 100)) -le $((_us * 105)) ]
}

# 16 packets say that there is no BQL, before which nothing is held back.
auto__rate_that_was_given() {
	onramp line_rate 100mbit limit 1000 flow_limit 1000 && shows gate_active=no bql=unknown line_rate=12500000 &&
		udp && takes 100 && shows gate_active=yes bql=no line_rate=12500000 && [ "$(counter gated)" -gt 100 ]
}

auto__tcp_at_the_rate_that_was_given() {
	onramp line_rate 100mbit && udp > /dev/null && shows gate_active=yes && tcp && takes 100
}

# It says 10 Gbit/s, and has no line.
auto__a_cable_in_memory_has_none() {
	onramp limit 1000 flow_limit 1000 && udp && shows gate_active=no bql=no line_rate=1250000000 gated=0 &&
		[ "$(field last_ms "$said")" = 0.000 ]
}

auto__none_without_pauses() {
	onramp line_rate 100mbit nopause limit 1000 flow_limit 1000 && udp && shows gate_active=no gated=0 &&
		[ "$(field last_ms "$said")" = 0.000 ]
}

# The first program that sends waits a moment for itself, as long as a third of this takes.
on__at_the_devices_speed() {
	onramp gate on limit 1000 flow_limit 1000 && shows gate_active=yes line_rate=1250000000 &&
		udp > /dev/null && udp && takes 10000
}

# logged [COMMAND...]: what the kernel says of a gate that begins to work, in a namespace of its own
logged() {
	"$@" ip link add idle9 type dummy && "$@" ip addr add 10.9.9.1/24 dev idle9 &&
		"$@" tc qdisc add dev idle9 root onramp line_rate 100mbit && "$@" ip link set idle9 up || return 1
	sleep 6		# let the rate limit of kernel messages forget the others
	dmesg -c > /dev/null
	"$@" ip neigh add 10.9.9.2 lladdr 02:00:00:00:00:09 dev idle9
	"$@" bash -c 'for _ in {1..40}; do echo > /dev/udp/10.9.9.2/9; done'
	_active=$("$@" tc -j -s qdisc show dev idle9 root | grep -c '"gate_active":"yes"')
	"$@" ip link del idle9
	dmesg
	[ "$_active" = 1 ]
}

auto__is_logged() {
	said=$(logged) || { echo "$said"; return 1; }
	echo "$said"
	[ "$(grep -c 'idle9: onramp: no byte queue limits' <<< "$said")" = 1 ]
}

# Who makes a namespace makes as many qdiscs as he likes.
auto__in_another_namespace_is_not_logged() {
	said=$(logged in_a) || { echo "$said"; return 1; }
	echo "$said"
	! grep -q 'byte queue limits' <<< "$said"
}

on__from_the_first_packet() {
	onramp gate on line_rate 100mbit limit 1000 flow_limit 1000 && shows gate_active=yes &&
		udp --packets 10 && takes 100
}

off__whatever_the_rate() {
	onramp gate off line_rate 100mbit limit 1000 flow_limit 1000 && udp && shows gate_active=no gated=0 &&
		[ "$(field last_ms "$said")" = 0.000 ]
}

# What already waits leaves at once: of 0.86 s there is much left.
change__gate_off_under_traffic() {
	onramp gate on line_rate 10mbit limit 1000 flow_limit 1000 || return 1
	"$leave" udp "$a" 10.1.0.2 --packets 700 --bytes 1472 > "$TMPDIR/said" &
	_sender=$!
	wait_for "packets that wait" packets_wait && in_a tc qdisc change dev veth0 root onramp gate off ||
		return 1
	wait $_sender
	said=$(cat "$TMPDIR/said")
	echo "$said"
	_last=$(field last_ms "$said")
	[ "$(field left "$said")" = 700 ] && [ "${_last%.*}" -lt 700 ] && shows gate_active=no
}

packets_wait() { [ "$(counter qlen)" -gt 300 ]; }

# A bond has the speed of its links. It says that it changed, and a worker asks for what it has now.
speed__is_asked_for_anew() {
	in_a ip link add bond1 type bond mode balance-xor miimon 10 && in_a ip link set bond1 up &&
		in_a tc qdisc add dev bond1 root onramp gate on && ! bond_has_speed || return 1
	in_a ip link add veth8 type veth peer name veth9 && in_a ip link set veth9 up &&
		in_a ip link set veth8 master bond1 && wait_for "the speed" bond_has_speed
	status=$?
	in_a ip link del bond1
	in_a ip link del veth9
	return $status
}

# Each queue has a qdisc of its own, beside those of other devices.
speed__reaches_all_qdiscs_of_a_device() {
	in_a ip link add bond1 type bond mode balance-xor miimon 10 && in_a ip link set bond1 up &&
		in_a tc qdisc add dev bond1 root handle 1: mq &&
		in_a tc qdisc add dev bond1 parent 1:1 onramp gate on &&
		in_a tc qdisc add dev bond1 parent 1:2 onramp gate on && [ "$(qdiscs_with_speed)" = 0 ] || return 1
	for number in $(seq 300); do
		echo "link add idle$number type dummy"
	done | in_a ip -batch - || return 1
	for number in $(seq 300); do
		echo "qdisc add dev idle$number root onramp gate on"
	done | in_a tc -batch - 2> /dev/null || return 1
	in_a ip link add veth8 type veth peer name veth9 && in_a ip link set veth9 up &&
		in_a ip link set veth8 master bond1 && wait_for "the speed" both_have_speed
	status=$?
	for number in $(seq 300); do
		echo "link del idle$number"
	done | in_a ip -batch -
	in_a ip link del bond1
	in_a ip link del veth9
	return $status
}

qdiscs_with_speed() { in_a tc -j -s qdisc show dev bond1 | grep -o '"line_rate":1250000000' | wc -l; }

both_have_speed() { [ "$(qdiscs_with_speed)" = 2 ]; }

bond_has_speed() { in_a tc -j -s qdisc show dev bond1 root | grep -q '"line_rate":1250000000'; }

# The kernel holds a dummy's lock (7.2 and later) when it sets up a queue and when it tells of the device.
speed__of_a_device_with_a_lock() {
	in_a ip link add dummy8 type dummy && in_a tc qdisc add dev dummy8 root onramp gate on &&
		in_a ip link set dummy8 up && in_a tc qdisc change dev dummy8 root onramp gate auto &&
		in_a ip link set dummy8 down && in_a ip link set dummy8 up && in_a ip link del dummy8
}

begin_on_path
in_a sysctl -q -w net.ipv6.conf.veth0.disable_ipv6=1
run_cases "$@"
finish_hosts
