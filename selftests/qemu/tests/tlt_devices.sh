#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# TLT where addresses are not on the device that sends: VLAN, bridge, bond, and VRF, whose
# packets pass netfilter's output twice. What one host marks the other must see, packet for packet.

# shellcheck source=selftests/lib/ktap.sh
. /ktap.sh
# shellcheck source=selftests/qemu/pair.sh
. /pair.sh
# shellcheck source=selftests/qemu/tlt_pair.sh
. /tlt_pair.sh

# Other networks, so that the pair's stays as it is.
plain() { exactly_once a b 10.0.0.2; }

vlan() {
	for netns in a b; do
		ip -n $netns link add link eth0 name eth0.5 type vlan id 5
		ip -n $netns addr add "10.5.0.$(echo $netns | tr ab 12)/24" dev eth0.5
		ip -n $netns link set eth0.5 gso_max_segs 1 up
	done
	exactly_once a b 10.5.0.2
}

bridge() {
	another_cable lan 10.6.0.2/24 && ip -n a link add br0 type bridge || return 1
	ip -n a link set lan master br0 && ip -n a link set br0 gso_max_segs 1 up &&
		ip -n a addr add 10.6.0.1/24 dev br0 && exactly_once a b 10.6.0.2
}

bond() {
	another_cable one 10.7.0.2/24 && ip -n a link add bond1 type bond mode active-backup ||
		return 1
	ip -n a link set one down && ip -n a link set one master bond1 &&
		ip -n a link set bond1 gso_max_segs 1 up && ip -n a addr add 10.7.0.1/24 dev bond1 &&
		exactly_once a b 10.7.0.2
}

make_vrf() {
	another_cable red 10.8.0.2/24 && ip -n a link add vrf-red type vrf table 10 || return 1
	ip -n a link set vrf-red gso_max_segs 1 up && ip -n a link set red master vrf-red &&
		ip -n a addr add 10.8.0.1/24 dev red && ip -n a addr add fd00:8::1/64 dev red nodad &&
		ip -n b addr add fd00:8::2/64 dev red nodad
}

vrf_sends() { make_vrf && exactly_once a b 10.8.0.2%vrf-red; }

vrf_receives() {
	in_a sysctl -q -w net.ipv4.tcp_l3mdev_accept=1
	in_a flow serve 5000 > /dev/null 2>&1 &
	_server=$!
	exactly_once b a 10.8.0.1 && exactly_once b a fd00:8::1
	_status=$?
	kill $_server
	return $_status
}

vrf_sends_ipv6() { exactly_once a b fd00:8::2%vrf-red; }

# A qdisc there takes the packets through the device of the VRF.
vrf_with_a_qdisc() {
	in_a tc qdisc replace dev vrf-red root fq && exactly_once a b 10.8.0.2%vrf-red &&
		exactly_once a b fd00:8::2%vrf-red && in_a tc qdisc del dev vrf-red root
}

# by_device DEVICE: what a rule of it finds in a's traffic
by_device() {
	in_a turnpike tlt set --rule "dev=$1" && ip netns exec b turnpike tlt set --all || return 1
	before=$(sums a)
	in_a flow send 10.8.0.2%vrf-red 5000 1 cubic $enough_bytes > /dev/null || return 1
	here=$(since "$before" "$(sums a)")
	echo "$1: $here"
	both turnpike tlt off
}

# Rules go by the device of the cable, in both directions.
vrf_rules() {
	by_device red && [ "${here% *}" -gt 100 ] && [ "${here#* }" -gt 100 ] &&
		by_device vrf-red && [ "$here" = "0 0" ] && by_device eth0 && [ "$here" = "0 0" ]
}

ktap_start
ktap_case "module loads" insmod /modules/tlt.ko
make_pair fq || ktap_fail "hosts are made"
both ip link set eth0 gso_max_segs 1
for case in plain vlan bridge bond vrf_sends vrf_sends_ipv6 vrf_receives vrf_with_a_qdisc vrf_rules; do
	ktap_case "${case//_/ }" $case
done
drop_pair
ktap_case "module unloads" unload tlt
ktap_finish
