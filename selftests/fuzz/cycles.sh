#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# All modules loaded and unloaded, again and again, with hosts of their own each time: nothing grows.
#
# TURNPIKE_CYCLES=N: so often; 40.

# shellcheck source=selftests/fuzz/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"
cycles=${TURNPIKE_CYCLES:-40}
# By then the kernel's own caches have the size that they will have.
settled=$((cycles / 2))
# The kernel's caches move by some 20. With ten thousand cycles that is 100 bytes a cycle.
slack_kb=500

# What is the kernel's; free memory as a whole moves by 4 MB at a time.
used_kb() {
	# Namespaces go by a worker, and RCU frees what they had.
	sleep 2
	echo 3 > /proc/sys/vm/drop_caches
	awk '/^(Slab|KernelStack|PageTables|VmallocUsed|Percpu):/ { sum += $2 } END { print sum }' /proc/meminfo
}

# A namespace that all modules have something of, and that goes while they stay.
namespace_comes_and_goes() {
	ip netns add c && ip -n c link set lo up && tc -n c qdisc add dev lo root onramp feedback orack &&
		ip netns exec c turnpike tlt set --all && ip netns exec c sysctl -q net.ipv4.tcp_timely.t_low_us=30 &&
		ip netns del c
}

modules__come_and_go() {
	local cycle

	for cycle in $(seq "$cycles"); do
		load_all && namespace_comes_and_goes && unload_all || { echo "cycle $cycle"; return 1; }
		[ "$cycle" != "$settled" ] || used_kb > "$TMPDIR/settled"
	done
	used_kb > "$TMPDIR/ended"
}

memory__is_flat() {
	local grown

	[ -s "$TMPDIR/ended" ] || return 1
	grown=$(($(cat "$TMPDIR/ended") - $(cat "$TMPDIR/settled")))
	echo "$grown KB more are used than after half of $cycles cycles"
	[ $grown -lt $slack_kb ]
}

ktap_start
ktap_case modules__come_and_go modules__come_and_go
ktap_case memory__is_flat memory__is_flat
ktap_finish
