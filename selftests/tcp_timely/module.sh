#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module comes and goes, and so do devices and namespaces, under traffic.

# shellcheck source=selftests/tcp_timely/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

# At 1 Gbit/s, since it is not throughput that is tested here.
background() {
	in_a sh -c "echo 1000 > /proc/sys/$settings/line_rate_mbps"
	start_sender --flows 4 --seconds "$1"
	wait_for "flows" flows_are_up
}

flows_are_up() { [ "$(in_a ss -Htn dport = 5001 | grep -c ESTAB)" -ge 4 ]; }

unload__refused_while_flows_live() {
	background 0.5 || return 1
	if rmmod tcp_timely 2>/dev/null; then
		echo "unloaded under its flows"
		return 1
	fi
	wait "$sender"
}

unload__loaded_again_and_again() {
	drop_hosts
	for _ in 1 2 3 4 5; do
		unload_module && load_module || return 1
	done
	make_path && start_sink
}

settings__changed_under_traffic() {
	background 1 || return 1
	for _ in $(seq 10); do
		for preset in verbatim default; do
			in_a sh -c "echo $preset > /proc/sys/$settings/preset" || return 1
		done
	done
	wait "$sender"
}

device__down_and_up_under_traffic() {
	background 1 || return 1
	for _ in 1 2 3; do
		ip -n "$a" link set veth0 down
		ip -n "$a" link set veth0 up
	done
	stop_sender
}

device__removed_under_traffic() {
	background 1 || return 1
	ip -n "$a" link del veth0
	stop_sender
	drop_hosts
	make_path && start_sink
}

netns__removed_under_traffic() {
	background 1 || return 1
	ip netns del "$a"
	ip netns del "$b"
	stop_sender
	drop_hosts
	make_path && start_sink
}

# start_rate ADDRESS: of a flow that begins now, in bytes a second
start_rate() {
	out=$(in_a "$here/steps.py" "$1" cc=timely connect=5001 write=1 show=a) && field a.rate "$out"
}

# Flows are counted where they send.
route__moves_to_another_device() {
	ip link add veth1 netns "$a" type veth peer name veth1 netns "$b" || return 1
	ip -n "$a" link set veth1 up
	ip -n "$b" link set veth1 up
	ip -n "$b" addr add 10.1.1.2/24 dev veth1
	ip -n "$a" addr add 10.1.1.1/24 dev veth1
	background 0.6 || return 1
	ip -n "$a" route add 10.1.0.2/32 via 10.1.1.2 dev veth1 || return 1
	sleep 0.05
	beside=$(start_rate 10.1.1.2) alone=$(start_rate fd01::2)
	echo "beside four: $beside, alone: $alone"
	wait "$sender"
	[ "$beside" = 25000000 ] && [ "$alone" = 125000000 ] || return 1
	ip -n "$a" link show veth1 | grep -q veth1 &&
		[ "$(ip netns exec "$a" cat /sys/class/net/veth1/statistics/tx_bytes)" -gt 1000000 ]
}

# Who adds the route holds the RTNL while the module loads.
load__by_a_route() {
	drop_hosts
	unload_module && make_path || return 1
	modprobe=$(cat /proc/sys/kernel/modprobe)
	printf '#!/bin/sh\nexec %s %s\n' "$(command -v insmod)" "$TURNPIKE_MODULES/tcp_timely/tcp_timely.ko" \
		> /run/modprobe && chmod +x /run/modprobe && echo /run/modprobe > /proc/sys/kernel/modprobe
	timeout -s KILL 10 ip netns exec "$a" ip route add 10.9.0.0/24 via 10.1.0.2 congctl timely
	status=$?
	echo "$modprobe" > /proc/sys/kernel/modprobe
	rm -f /run/modprobe
	[ $status = 0 ] && [ -d /sys/module/tcp_timely ] && in_a ip route show 10.9.0.0/24 | grep -q "congctl timely" ||
		return 1
	start_sink
}

# The kernel holds a dummy's lock (7.2 and later) when it tells of the device.
load__beside_a_device_with_a_lock() {
	drop_hosts
	ip link add dummy8 type dummy && ip link set dummy8 up && unload_module && load_module &&
		ip link set dummy8 down && ip link set dummy8 up && ip link del dummy8 || return 1
	make_path && start_sink
}

# reads_are_over: of speeds, until none is left to be asked
reads_are_over() {
	reads=$(counter speed_reads)
	sleep 0.1
	[ "$(counter speed_reads)" = "$reads" ]
}

# start_over_tunnel: a flow through a device that does not say its speed
start_over_tunnel() {
	in_a "$here/steps.py" 10.2.0.2 cc=timely connect=5001 write=1 show=a > /dev/null
	wait_for "the speed" reads_are_over
}

# A debug kernel has hundreds, for the time that it takes.
devices=2000
[ "${TURNPIKE_DEBUG:-0}" = 0 ] || devices=300

# Of thousands that say no speed, one comes up, and another is sent through twice in a second.
device__is_asked_alone() {
	for host in "$a 1 2" "$b 2 1"; do
		set -- $host
		ip -n "$1" link add tunnel type ipip local 10.1.0."$2" remote 10.1.0."$3" &&
			ip -n "$1" addr add 10.2.0."$2"/24 dev tunnel && ip -n "$1" link set tunnel up || return 1
	done
	before=$(counter speed_reads)
	for number in $(seq $devices); do
		echo "link add idle$number type dummy"
	done > /run/idle
	ip -n "$a" -batch /run/idle || return 1
	wait_for "the devices" reads_are_over || return 1
	echo "$((reads - before)) reads of $devices new devices"
	sleep 1
	before=$reads
	ip -n "$a" link set idle100 up && wait_for "the event" reads_are_over || return 1
	event=$((reads - before)) before=$reads
	start_over_tunnel || return 1
	asked=$((reads - before)) before=$reads
	start_over_tunnel || return 1
	echo "$event reads for an event, $asked for a flow, $((reads - before)) for the next one"
	for number in $(seq $devices); do
		echo "link del idle$number"
	done > /run/idle
	ip -n "$a" -batch /run/idle
	rm /run/idle
	[ "$event" -ge 1 ] && [ "$event" -le 3 ] && [ "$asked" = 1 ] && [ "$reads" = "$before" ]
}

unload__default_algorithm_holds_the_module() {
	in_a sysctl -q -w net.ipv4.tcp_congestion_control=timely || return 1
	rmmod tcp_timely 2>/dev/null && return 1
	in_a sysctl -q -w net.ipv4.tcp_congestion_control=cubic
}

begin_on_path
run_against_sink "$@"
