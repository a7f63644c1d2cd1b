#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# tlt on a stock kernel with two processors: data flows over a path that loses
# packets while TLT is configured, switched off and on, and unloaded.

# shellcheck source=selftests/lib/ktap.sh
. /ktap.sh
# shellcheck source=selftests/qemu/pair.sh
. /pair.sh
enough_bytes=100000

ktap_start
ktap_case "module loads" insmod /modules/tlt.ko

make_pair netem delay 1ms loss 1% || ktap_fail "hosts are made"

both() { ip netns exec a turnpike tlt "$@" && ip netns exec b turnpike tlt "$@"; }

sends() {
	bytes=$(in_a flow send 10.0.0.2 5000 "$1" "$2" $enough_bytes) || return 1
	echo "$bytes bytes in $1 s"
	[ "$bytes" -ge $enough_bytes ]
}

ktap_case "tlt is set" both set --all

for algorithm in cubic dctcp bbr; do
	ktap_case "$algorithm sends under tlt" sends 2 $algorithm
done

counters_moved() {
	in_a turnpike tlt stats
	in_a turnpike tlt stats -j | json_lines > /run/stats
	[ "$(sed -n 's/^sent[.]data[.]packets //p' /run/stats)" -gt 0 ] &&
		[ "$(sed -n 's/^received[.]echo //p' /run/stats)" -gt 0 ]
}
ktap_case "important packets were sent and answered" counters_moved

changes_under_traffic() {
	in_a flow send 10.0.0.2 5000 4 cubic $enough_bytes > /run/sent &
	flow=$!
	for i in 1 2 3 4 5 6 7 8 9 10; do
		both set --period $i --rule port=5000 && both set --all --map vma && both off && both set --all ||
			return 1
	done
	wait $flow
	[ "$(cat /run/sent)" -ge $enough_bytes ]
}
ktap_case "configurations change under traffic" changes_under_traffic

unloads_under_traffic() {
	in_a flow send 10.0.0.2 5000 4 cubic $enough_bytes > /run/sent &
	flow=$!
	for _ in 1 2 3 4 5; do
		sleep 0.2
		rmmod tlt && insmod /modules/tlt.ko && both set --all || return 1
	done
	wait $flow
	[ "$(cat /run/sent)" -ge $enough_bytes ]
}
ktap_case "module unloads under traffic" unloads_under_traffic

loopback_is_unharmed() {
	turnpike tlt set --all || return 1
	flow serve 5001 > /dev/null 2>&1 &
	listener=$!
	bytes=$(flow send 127.0.0.1 5001 2 cubic $enough_bytes)
	kill $listener
	turnpike tlt off
	echo "$bytes bytes over loopback"
	[ "$bytes" -ge $enough_bytes ]
}
ktap_case "loopback is unharmed" loopback_is_unharmed

netns_goes_under_traffic() {
	in_a flow send 10.0.0.2 5000 2 cubic > /dev/null &
	flow=$!
	sleep 0.5
	ip netns del a
	wait $flow
	return 0
}
ktap_case "namespace goes under traffic" netns_goes_under_traffic

drop_pair
ktap_case "module unloads" unload tlt
ktap_finish
