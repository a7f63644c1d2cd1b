#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Instructions per data segment of tcp_timely while its law is idle: what a signal's branch costs.
# shellcheck source=selftests/qemu/pair.sh
. /pair.sh
insmod /modules/tcp_timely.ko || exit 1
make_pair fq || exit 1
for name in tcp_timely tcp_timely_patched; do
	in_a sh -c "cd /proc/sys/net/ipv4/$name && echo 5000 > t_high_us && echo 4000 > t_low_us" || exit 1
done
for kind in frames gso; do
	bursts $kind
	cost_row $kind timely
done
