#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# One flow over veth between processors that are emulated: what delay of theirs costs it.
# Rows of run, algorithm and qdisc, Mbit/s: selftests/qemu/run 6.12 slow-host.sh

# shellcheck source=selftests/qemu/pair.sh
. /pair.sh
export TC_LIB_DIR=/tc
seconds=4

insmod /modules/sch_onramp.ko && insmod /modules/tcp_timely.ko && make_pair fq || exit 1
for netns in a b; do
	ip netns exec $netns turnpike usec-ts on 10.0.0.0/24 || exit 1
done

# flow_row RUN CC QDISC...
flow_row() {
	in_a tc qdisc replace dev eth0 root "${@:3}" || exit 1
	bytes=$(in_a flow send 10.0.0.2 5000 $seconds "$2" 1) || exit 1
	echo "$* $((bytes * 8 / seconds / 1000000))"
	in_a tc qdisc replace dev eth0 root fq
}

for run in 1 2 3; do
	flow_row $run cubic fq
	flow_row $run cubic onramp
	flow_row $run cubic onramp threshold 1ms
	flow_row $run timely fq
done
