#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# tcp_timely on a stock kernel: data flows, settings change under traffic.

# shellcheck source=selftests/lib/ktap.sh
. /ktap.sh
# shellcheck source=selftests/qemu/pair.sh
. /pair.sh
knobs=/proc/sys/net/ipv4/tcp_timely
# An emulated processor is slow and its delays are long, to which timely answers
# with a low rate.  What counts here is that data keeps flowing.
enough_bytes=100000

ktap_start
ktap_case "module loads" insmod /modules/tcp_timely.ko

algorithms_listed() {
	for name in timely timely_patched; do
		grep -qw $name /proc/sys/net/ipv4/tcp_available_congestion_control || return 1
	done
}
ktap_case "both algorithms are registered" algorithms_listed

make_pair fq || ktap_fail "hosts are made"

sends() {
	bytes=$(in_a flow send 10.0.0.2 5000 "$1" "$2" $enough_bytes) || return 1
	echo "$bytes bytes in $1 s"
	[ "$bytes" -ge $enough_bytes ]
}

for qdisc in fq pfifo_fast; do
	in_a tc qdisc replace dev eth0 root $qdisc
	for algorithm in timely timely_patched; do
		ktap_case "$algorithm sends under $qdisc" sends 2 $algorithm
	done
done

ss_says() {
	in_a ss -tin dst 10.0.0.2 > /run/ss
	grep -q timely /run/ss && grep -q pacing_rate /run/ss
}

# ss_shows CC: a flow of this as timely's
ss_shows() {
	start_flows 100 "$1"
	soon ss_says
	shown=$?
	end_flows
	return $shown
}
ktap_case "ss shows the flow" ss_shows timely

settings_change() {
	in_a flow send 10.0.0.2 5000 4 timely $enough_bytes > /run/sent &
	flow=$!
	for _ in 1 2 3 4 5; do
		for file in "$knobs"/*; do
			value=$(in_a cat "$file")
			[ "${file##*/}" = preset ] && [ "$value" = custom ] && continue
			in_a sh -c "echo $value > $file" || return 1
		done
		in_a sh -c "echo 30 > $knobs/t_low_us" || return 1
		in_a sh -c "echo default > $knobs/preset" || return 1
	done
	wait $flow
	[ "$(cat /run/sent)" -ge $enough_bytes ]
}
ktap_case "every setting is written under traffic" settings_change

nonsense_is_refused() {
	before=$(in_a cat $knobs/t_low_us)
	high=$(in_a cat $knobs/t_high_us)
	for value in $((high + 1)) -1 word ""; do
		if in_a sh -c "echo '$value' > $knobs/t_low_us" 2>/dev/null; then
			echo "t_low_us took '$value'"
			return 1
		fi
	done
	[ "$(in_a cat $knobs/t_low_us)" = "$before" ]
}
ktap_case "nonsense is refused and changes nothing" nonsense_is_refused

namespaces_are_apart() {
	in_a sh -c "echo 33 > $knobs/t_low_us" || return 1
	[ "$(ip netns exec b cat $knobs/t_low_us)" != 33 ] && [ "$(cat $knobs/t_low_us)" != 33 ]
}
ktap_case "settings are per network namespace" namespaces_are_apart

default_by_sysctl() {
	in_a sh -c "echo timely > /proc/sys/net/ipv4/tcp_congestion_control" || return 1
	ss_shows - && sends 1 -
}
ktap_case "it can be the default of a namespace" default_by_sysctl

loopback_is_unharmed() {
	flow serve 5001 > /dev/null 2>&1 &
	listener=$!
	bytes=$(flow send 127.0.0.1 5001 2 timely $enough_bytes)
	kill $listener
	echo "$bytes bytes over loopback"
	[ "$bytes" -ge $enough_bytes ]
}
ktap_case "loopback is unharmed" loopback_is_unharmed

drop_pair
ktap_case "module unloads when its flows are gone" unload tcp_timely
ktap_finish
