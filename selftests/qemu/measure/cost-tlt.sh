#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Instructions per data segment with TLT, both hosts and ACKs together: off, on with a
# rule that the flow does not match, and on for the flow.  What others take of that is
# counted, too: netfilter with hooks that do nothing.
# Run by selftests/qemu/cost in a guest whose clock counts instructions.
#
# Over the bare cable a segment or burst is answered before the next one leaves, so that
# nearly each is important: the most that TLT can cost.  With 5 ms a round trip is of 86
# segments, as one of 40 us is at 25 Gbit/s; with 16 ms it holds 400 KB, the paper's 80 us
# at 40 Gbit/s (7.1).

# shellcheck source=selftests/qemu/pair.sh
. /pair.sh
seconds=0.4

insmod /modules/tlt.ko || exit 1
make_pair fq || exit 1

in_b() { ip netns exec b "$@"; }
# The rows alone go to standard output.
both() { in_a turnpike tlt "$@" > /dev/null && in_b turnpike tlt "$@" > /dev/null || exit 1; }

# rows KIND NAME
rows() {
	bursts "$1"
	both off
	cost_row "$2" cubic off
	both set --rule port=9
	cost_row "$2" cubic others
	both set --all
	cost_row "$2" cubic flow
}

# Others' machinery, and a rule that the ports do not tell of.
more_rows() {
	bursts "$1"
	both off
	insmod /modules/hooks.ko || exit 1
	cost_row "$2" cubic hooks
	rmmod hooks
	both set --rule peer=192.0.2.0/24
	cost_row "$2" cubic others-by-prefix
	both off
}

rows frames frames
rows gso gso
for ms in 5 16; do
	in_b tc qdisc replace dev eth0 root netem delay ${ms}ms limit 10000 || exit 1
	rows frames frames,${ms}ms
	rows gso gso,${ms}ms
done
more_rows frames frames,${ms}ms
more_rows gso gso,${ms}ms
in_a turnpike tlt stats -v | sed 's/^/# /'
