#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# TLT attached by tc on a stock kernel with two processors: data flows over a path that
# loses packets, the action comes and goes under traffic, and keeps the module.

# shellcheck source=selftests/lib/ktap.sh
. /ktap.sh
# shellcheck source=selftests/qemu/pair.sh
. /pair.sh
enough_bytes=100000
export TC_LIB_DIR=/tc

attached() {
	both tc qdisc add dev eth0 clsact && both tc filter add dev eth0 egress matchall action tlt &&
		both tc filter add dev eth0 ingress matchall action tlt
}

detached() { both tc qdisc del dev eth0 clsact; }

important() { in_a turnpike tlt stats | sed -n 's/^sent data packets \([0-9]*\).*/\1/p'; }

sends() {
	bytes=$(in_a flow send 10.0.0.2 5000 "$1" "$2" $enough_bytes) || return 1
	echo "$bytes bytes in $1 s, $(important) important packets"
	[ "$bytes" -ge $enough_bytes ]
}

not_without_action() { both turnpike tlt set --attach tc && sends 2 cubic && [ "$(important)" = 0 ]; }

marks() {
	attached && sends 2 "$1" && [ "$(important)" -gt 0 ] || return 1
	in_a tc -s filter show dev eth0 egress
	detached
}

comes_and_goes() {
	in_a flow send 10.0.0.2 5000 6 cubic $enough_bytes > /run/sent &
	flow=$!
	for _ in 1 2 3 4 5 6 7 8; do
		attached && both turnpike tlt set && both turnpike tlt set --attach tc && detached || return 1
	done
	wait $flow
	[ "$(cat /run/sent)" -ge $enough_bytes ]
}

keeps_the_module() { attached && ! rmmod tlt; }

ktap_start
ktap_case "module loads" insmod /modules/tlt.ko
make_pair netem delay 1ms loss 1% || ktap_fail "hosts are made"
ktap_case "nothing is marked without the action" not_without_action
for algorithm in cubic dctcp bbr; do
	ktap_case "$algorithm sends under tlt" marks $algorithm
done
ktap_case "comes and goes under traffic" comes_and_goes
ktap_case "keeps the module" keeps_the_module
drop_pair
ktap_case "module unloads" unload tlt
ktap_finish
