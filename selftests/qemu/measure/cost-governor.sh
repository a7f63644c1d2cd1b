#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What the burst governor costs: instructions per segment of TCP flows that On-Ramp pauses,
# with TCP's own bursts and with the governor's, and with fq for comparison.
# Run by selftests/qemu/cost in a guest whose clock counts instructions.
#
#	netns a  10.0.0.1 ---- 10.0.0.9  netns r  10.0.1.9 ---- 10.0.1.2  netns b
#	         qdisc                   netem, 400 Mbit/s
#
# That is a 25th of 10 Gbit/s and T a 25 times longer, so that T is as many bytes, and bursts
# of rate * T / 2 are as large as there.

# shellcheck source=selftests/qemu/pair.sh
. /pair.sh
export TC_LIB_DIR=/tc

in_r() { ip netns exec r "$@"; }

insmod /modules/sch_onramp.ko || exit 1
for netns in a r b; do
	ip netns add $netns && ip -n $netns link set lo up || exit 1
done
ip link add eth0 netns a type veth peer name eth0 netns r &&
	ip link add eth1 netns r type veth peer name eth0 netns b || exit 1
ip -n a addr add 10.0.0.1/24 dev eth0
ip -n r addr add 10.0.0.9/24 dev eth0
ip -n r addr add 10.0.1.9/24 dev eth1
ip -n b addr add 10.0.1.2/24 dev eth0
for end in "a eth0" "r eth0" "r eth1" "b eth0"; do
	ip -n "${end% *}" link set "${end#* }" up
done
ip -n a route add 10.0.1.0/24 via 10.0.0.9 && ip -n b route add 10.0.0.0/24 via 10.0.1.9 &&
	in_r sysctl -q -w net.ipv4.ip_forward=1 &&
	in_r tc qdisc replace dev eth1 root netem rate 400mbit limit 2000 || exit 1
in_a turnpike usec-ts on 10.0.1.0/24 && ip netns exec b turnpike usec-ts on 10.0.0.0/24 || exit 1
ip netns exec b flow serve 5000 > /dev/null 2>&1 &

# governor_row FLOWS NAME QDISC...
governor_row() {
	in_a tc qdisc replace dev eth0 root "${@:3}" || exit 1
	row=$(in_a cost 10.0.1.2 5000 1 cubic 0 "$1") || { echo "not ok - $2: no result"; exit 1; }
	echo "$1 $2 ${row#* }"
	in_a tc -s -j qdisc show dev eth0 | tr -d ' \n' | grep -o '"\(samples\|held\|burst_cuts\)":[0-9]*' |
		tr '\n' ' ' | sed 's/^/# /; s/$/\n/'
	in_a tc qdisc del dev eth0 root
}

for flows in 1 2 4 12; do
	governor_row $flows fq fq
	governor_row $flows nogovernor onramp threshold 1250us nogovernor
	governor_row $flows governor onramp threshold 1250us
done
