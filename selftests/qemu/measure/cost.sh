#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Instructions per data segment, congestion controls side by side.
# Run by selftests/qemu/cost in a guest whose clock counts instructions.

# shellcheck source=selftests/qemu/pair.sh
. /pair.sh

insmod /modules/tcp_timely.ko || exit 1
make_pair fq || exit 1

# Far above what the emulated processor takes: the rate is the pacing's in all cases.
for name in tcp_timely tcp_timely_patched; do
	in_a sh -c "cd /proc/sys/net/ipv4/$name && echo 5000 > t_high_us && echo 4000 > t_low_us" || exit 1
done

for kind in frames gso; do
	bursts $kind
	for cc in cubic dctcp bbr timely timely_patched; do
		cost_row $kind $cc
	done
done
in_a sh -c "echo 0 > /proc/sys/net/ipv4/tcp_timely/burst_us" || exit 1
cost_row "gso,burst_us=0" timely
