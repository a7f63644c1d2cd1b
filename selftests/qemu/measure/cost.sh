#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Instructions per data segment, congestion controls side by side.
# Run by selftests/qemu/cost in a guest whose clock counts instructions.
#
#	netns a  eth0 10.0.0.1 ---- veth ---- 10.0.0.2 eth0  netns b

seconds=1
mbps=200

insmod /modules/tcp_timely.ko || exit 1
ip netns add a
ip netns add b
ip link add eth0 netns a type veth peer name eth0 netns b
ip -n a addr add 10.0.0.1/24 dev eth0
ip -n b addr add 10.0.0.2/24 dev eth0
for n in a b; do
	ip -n $n link set lo up
	ip -n $n link set eth0 up
	ip netns exec $n tc qdisc replace dev eth0 root fq
done
ip netns exec b flow serve 5000 > /dev/null 2>&1 &
sleep 0.5

in_a() { ip netns exec a "$@"; }

# Far above what the emulated processor takes: the rate is the pacing's in all cases.
for name in tcp_timely tcp_timely_patched; do
	in_a sh -c "cd /proc/sys/net/ipv4/$name && echo 5000 > t_high_us && echo 4000 > t_low_us" || exit 1
done

measure() {
	result=$(in_a cost 10.0.0.2 5000 $seconds "$2" $mbps) ||
		{ echo "not ok - $1 $2: no result"; exit 1; }
	echo "$1 $result"
}

for bursts in frames gso; do
	[ $bursts = frames ] && segs=1 || segs=65535
	ip -n a link set eth0 gso_max_segs $segs
	for cc in cubic dctcp bbr timely timely_patched; do
		measure $bursts $cc
	done
done
in_a sh -c "echo 0 > /proc/sys/net/ipv4/tcp_timely/burst_us" || exit 1
measure "gso,burst_us=0" timely
