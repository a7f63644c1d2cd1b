#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Instructions per data segment of a host that receives, nothing else: with fq, with
# On-Ramp that nobody asked for receipts, and with one that makes sparse ones, as for an empty path, or
# all; less what the same frames cost when the host throws them away at once.
# Run by selftests/qemu/cost in a guest whose clock counts instructions.
#
# Frames come so many at a time, one by one or merged by GRO, which a veth has for a sender
# without TSO.  What the host answers is dropped as it leaves.  No driver's work is in it, and
# nobody copies the data: the most that On-Ramp can be of the whole.

# shellcheck source=selftests/qemu/pair.sh
. /pair.sh
export TC_LIB_DIR=/tc

in_b() { ip netns exec b "$@"; }

insmod /modules/sch_onramp.ko || exit 1
make_pair fq || exit 1
in_a ethtool -K eth0 tso off || exit 1
ip -n b link add back type dummy && ip -n b link set back up &&
	ip -n b route add 10.0.0.7 dev back || exit 1
mac=$(ip -n b -br link show eth0 | awk '{ print $3 }')

# receive_row SEGMENTS NAME WHAT
receive_row() {
	# receive.c knows these times
	in_a tc qdisc replace dev eth0 root netem delay 1s slot 150us 150us packets "$1" \
		limit 100000 || exit 1
	row=$(in_a receive "$3" eth0 "$mac" b back "$1" $((20000 / $1))) || exit 1
	[ "$3" = drop ] && thrown=${row#* }
	echo "$merged$1 $2 ${row% *} $((${row#* } - thrown)) -"
}

# receive_rows GRO SEGMENTS
receive_rows() {
	merged=
	[ "$1" = on ] && merged=gro,
	in_b ethtool -K eth0 gro "$1" || exit 1
	in_b tc qdisc replace dev back root fq || exit 1
	receive_row "$2" thrown drop
	receive_row "$2" fq take
	in_b tc qdisc replace dev back root onramp || exit 1
	receive_row "$2" onramp take
	receive_row "$2" sparse sparse
	in_b turnpike onramp stats -j | json_lines | grep 'receipts_\(sent\|data\)' | sed 's/^/# /'
	receive_row "$2" receipts announce
	in_b turnpike onramp stats -j | json_lines | grep 'receipts_\(sent\|data\)' | sed 's/^/# /'
}

# 44 are the most that GRO makes one packet of.
receive_rows off 1
receive_rows off 8
receive_rows on 8
receive_rows on 44
