#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Instructions per data segment with nicstamp's generic feed, both hosts and ACKs together:
# timely that goes by TCP's times, that would go by stamps where nobody uses a device, and
# that does, by those of the sender's device. Run by selftests/qemu/cost in a guest whose
# clock counts instructions.

# shellcheck source=selftests/qemu/pair.sh
. /pair.sh

insmod /modules/nicstamp.ko && insmod /modules/tcp_timely.ko || exit 1
make_pair fq || exit 1
in_a sh -c "cd /proc/sys/net/ipv4/tcp_timely && echo 5000 > t_high_us && echo 4000 > t_low_us" || exit 1

by_driver() { in_a sed -n 's/^source_driver //p' /proc/net/tcp_timely; }

for kind in frames gso; do
	bursts $kind
	in_a sh -c "echo tcp > /proc/sys/net/ipv4/tcp_timely/source" || exit 1
	cost_row $kind timely tcp
	in_a sh -c "echo auto > /proc/sys/net/ipv4/tcp_timely/source" || exit 1
	cost_row $kind timely auto
	turnpike stamps use eth0 --netns a || exit 1
	before=$(by_driver)
	cost_row $kind timely used
	samples=$(($(by_driver) - before))
	[ $samples -gt 0 ] || { echo "not ok - $kind: no RTT by stamps"; exit 1; }
	echo "# $samples RTTs by stamps"
	turnpike stamps drop eth0 --netns a || exit 1
done
