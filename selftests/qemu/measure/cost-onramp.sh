#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Instructions per packet with the qdisc, nothing paused, beside fq.
# Run by selftests/qemu/cost in a guest whose clock counts instructions.
#
# First frames of many flows through a device that drops them: what the qdiscs do and
# little else.  noqueue shows how much that is.  With maxrate no packet takes the fast
# path that fq has for a qdisc that is empty (from 6.7 on).  Then one TCP flow with its
# ACKs, both hosts together, where On-Ramp also looks for samples.

# shellcheck source=selftests/qemu/pair.sh
. /pair.sh
export TC_LIB_DIR=/tc
all_flows="orphan_mask 0xffffff"

insmod /modules/sch_onramp.ko || exit 1
ip link add drop type dummy && ip link set drop up || exit 1
# What the kernel does after its boot is not counted.
sleep 5

# frames_row NAME FLOWS QDISC...
frames_row() {
	tc qdisc replace dev drop root "${@:3}" || exit 1
	[ "$2" -gt 200000 ] && count=$2 || count=200000
	row=$(frames drop "$2" "$count") || exit 1
	tc qdisc del dev drop root
	echo "$2 $1 $row -"
}

for flows in 1 1000 1000000; do
	frames_row noqueue $flows noqueue
	for options in "" "maxrate 30gbit"; do
		short=${options%% *}
		# shellcheck disable=SC2086  # lists of words
		{
			frames_row "fq${short:+,$short}" $flows fq $all_flows $options
			frames_row "nopause${short:+,$short}" $flows onramp nopause $all_flows $options
			frames_row "onramp${short:+,$short}" $flows onramp $all_flows $options
		}
	done
done

make_pair fq || exit 1
qdiscs() {
	for netns in a b; do
		ip netns exec $netns tc qdisc replace dev eth0 root "$@" || exit 1
	done
}
for netns in a b; do
	ip netns exec $netns turnpike usec-ts on 10.0.0.0/24 2> /dev/null
done
for kind in frames gso; do
	bursts $kind
	qdiscs fq
	cost_row tcp,$kind cubic fq
	qdiscs onramp nopause
	cost_row tcp,$kind cubic nopause
	qdiscs onramp threshold 40ms
	cost_row tcp,$kind cubic onramp
done
