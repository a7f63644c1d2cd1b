#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Instructions per data segment, congestion controls side by side.
# Run by selftests/qemu/cost in a guest whose clock counts instructions.

# shellcheck source=selftests/qemu/pair.sh
. /pair.sh
seconds=1
mbps=200

insmod /modules/tcp_timely.ko || exit 1
make_pair fq || exit 1

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
