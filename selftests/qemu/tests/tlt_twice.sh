#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# TLT where a packet passes netfilter's output twice, and in bursts: a VRF with a queue that
# delays and leaves the packet's socket uncharged (netem), an ipvlan and its parent in one
# namespace, a container's ipvlan on a host that has TLT as well.
#
#	netns c  ipvl1 10.9.1.1 --.
#	netns a  ipvl0 10.9.0.1 --+-- eth0 10.0.0.1 ------ 10.0.0.2 eth0  netns b
#	         vrf-red (netem) --- red 10.8.0.1 -------- 10.8.0.2 red

# shellcheck source=selftests/lib/ktap.sh
. /ktap.sh
# shellcheck source=selftests/qemu/pair.sh
. /pair.sh
# shellcheck source=selftests/qemu/tlt_pair.sh
. /tlt_pair.sh
bulk_bytes=4000000

# counter NAME: of a
sent() { counter "sent.$1.packets"; }

make_vrf() {
	another_cable red 10.8.0.2/24 && ip -n a link add vrf-red type vrf table 10 || return 1
	ip -n a link set vrf-red up && ip -n a link set red master vrf-red &&
		ip -n a addr add 10.8.0.1/24 dev red && in_a tc qdisc replace dev vrf-red root netem delay 1ms
}

# bulk ADDRESS: bursts, which TLT cuts
bulk() {
	both turnpike tlt set --all || return 1
	_cuts=$(counter cuts)
	_bytes=$(in_a flow send "$1" 5000 2 cubic $bulk_bytes) || return 1
	_cuts=$(($(counter cuts) - _cuts))
	both turnpike tlt off
	echo "$_bytes bytes, $_cuts bursts cut"
	[ "$_bytes" -ge $bulk_bytes ] && [ $_cuts -gt 0 ]
}

bursts_of() { ip -n a link set vrf-red gso_max_segs "$1" && ip -n a link set red gso_max_segs "$1"; }

vrf_bursts() { bursts_of 44 && bulk 10.8.0.2%vrf-red; }
vrf_segments() { bursts_of 1 && exactly_once a b 10.8.0.2%vrf-red; }

# Its losses may be such that nothing is injected.
lossy_bulk() {
	in_a flow send 10.8.0.2%vrf-red 5000 4 cubic $bulk_bytes > /dev/null && [ "$(injected)" -gt "$_injected" ]
}

# What clocking injects is marked as that, though it leaves long after it was sent.
vrf_clocks() {
	in_a tc qdisc replace dev red root netem loss 3%
	_injected=$(injected)
	_sent=$(sent clock)
	both turnpike tlt set --all && soon lossy_bulk || return 1
	both turnpike tlt off
	_injected=$(($(injected) - _injected))
	_sent=$(($(sent clock) - _sent))
	echo "$_injected injected, $_sent of them marked"
	[ $_injected -gt 0 ] && [ $_injected = $_sent ]
}

# make_ipvlan NETNS NAME NET: on a's eth0
make_ipvlan() {
	ip -n a link add link eth0 name "$2" type ipvlan mode l3 || return 1
	[ "$1" = a ] || ip -n a link set "$2" netns "$1"
	ip -n "$1" addr add "$3.1/24" dev "$2" && ip -n "$1" link set "$2" gso_max_segs 1 up &&
		ip -n b route add "$3.0/24" via 10.0.0.1
}

# The parent asks for its neighbour by an address that is the ipvlan's, which gets the answer.
ipvlan_in_one_namespace() {
	_mac=$(ip -n b link show eth0 | sed -n 's/.*ether \([^ ]*\).*/\1/p')
	ip -n a neigh replace 10.0.0.2 lladdr "$_mac" dev eth0 nud permanent
	make_ipvlan a ipvl0 10.9.0 && exactly_once a b 10.0.0.2%ipvl0
}

# host_knows_nothing COMMAND...: a has TLT, and no connection of what passes through it
host_knows_nothing() {
	in_a turnpike tlt set --all || return 1
	before_a=$(sums a)
	"$@"
	_status=$?
	through=$(since "$before_a" "$(sums a)")
	flows=$(in_a turnpike tlt flows -j | json_lines | grep 'local 10\.9\.1\.')
	echo "the host marked and saw: $through; its flows: ${flows:-none}"
	in_a turnpike tlt off
	[ $_status = 0 ] && [ "$through" = "0 0" ] && [ -z "$flows" ]
}

container_once() {
	ip netns exec c turnpike tlt set --all || return 1
	exactly_once c b 10.0.0.2
	_once=$?
	ip netns exec c turnpike tlt off
	return $_once
}

container() {
	ip netns add c && ip -n c link set lo up && make_ipvlan c ipvl1 10.9.1 &&
		ip -n c route add default dev ipvl1 && host_knows_nothing container_once
}

ktap_start
ktap_case "module loads" insmod /modules/tlt.ko
make_pair fq || ktap_fail "hosts are made"
both ip link set eth0 gso_max_segs 1
make_vrf || ktap_fail "the VRF is made"
for case in vrf_bursts vrf_segments vrf_clocks ipvlan_in_one_namespace container; do
	ktap_case "${case//_/ }" $case
done
ip netns del c
drop_pair
ktap_case "module unloads" unload tlt
ktap_finish
