#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Instructions per packet with the qdisc, nothing paused, beside fq.
# Run by selftests/qemu/cost in a guest whose clock counts instructions.
#
# First frames of many flows through a device that drops them: what the qdiscs do and
# little else.  noqueue shows how much that is.  With maxrate no packet takes the short
# way that fq has for a qdisc that is empty (from 6.8 on).  Then one TCP flow with its
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
in_b() { ip netns exec b "$@"; }
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

# Frames come in batches, so that the host's GRO has something to do; veth has it for senders
# without TSO.
in_a ethtool -K eth0 tso off || exit 1
in_a tc qdisc replace dev eth0 root netem slot 2ms || exit 1
ip -n b neigh replace 10.0.0.7 lladdr 02:00:00:00:00:08 dev eth0
mac=$(ip -n b -br link show eth0 | awk '{ print $3 }')

# receive_row SEGMENTS NAME WHAT
receive_row() {
	row=$(in_a receive "$3" eth0 "$mac" "$1" $((4000 / $1 + 100))) || exit 1
	[ "$3" = drop ] && thrown=${row#* }
	echo "receive,$gro$1 $2 ${row% *} $((${row#* } - thrown)) -"
}

# receive_rows GRO SEGMENTS: so many at once, one by one or merged
receive_rows() {
	gro=${1#off}
	gro=${gro:+gro}
	in_b ethtool -K eth0 gro "$1" || exit 1
	in_b tc qdisc replace dev eth0 root fq || exit 1
	receive_row "$2" thrown drop
	receive_row "$2" fq take
	in_b tc qdisc replace dev eth0 root onramp || exit 1
	receive_row "$2" onramp take
	receive_row "$2" acker announce
	in_b turnpike onramp stats | grep 'receipts_\(sent\|data\)' | sed 's/^/# /'
}

# 44 are the most that GRO makes one packet of.
for segments in 1 8 44; do
	receive_rows off $segments
	receive_rows on $segments
done
