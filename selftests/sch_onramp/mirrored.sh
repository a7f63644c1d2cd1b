#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A receiver of On-Ramp's mirrors what comes to a device with a queue that keeps time.  A receive
# stamp, by the clock of real time, would be a departure in decades for that queue.

# shellcheck source=selftests/sch_onramp/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

# Packets that the test sends, so slowly that none is lost.
sent=50

c=$module-c-$$

# A third host, that gets a copy of the UDP packets for port 9 that come to the second one.
third_host() {
	ip netns add "$c" && ip -n "$b" link add mirror0 type veth peer name veth0 netns "$c" || return 1
	ip -n "$b" link set mirror0 up && ip -n "$c" link set veth0 up &&
		tc -n "$b" filter add dev veth0 parent ffff: pref 1 protocol ip flower ip_proto udp dst_port 9 \
			action mirred egress mirror dev mirror0 continue
}

received() { ip netns exec "$c" cat /sys/class/net/veth0/statistics/rx_packets; }

send_datagrams() {
	in_a python3 -c '
import socket, sys, time
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    for _ in range(int(sys.argv[1])):
        s.sendto(bytes(100), ("10.1.0.2", 9))
        time.sleep(0.001)' "$sent"
}

# mirrored QDISC: all arrive while the receiver makes all receipts
mirrored() {
	tc -n "$b" qdisc replace dev mirror0 root "$1" || return 1
	acker on && onramp threshold 200us feedback orack || return 1
	in_a "$traffic" send 10.1.0.2 --flows 4 --seconds 0.6 & sender=$!
	sleep 0.3
	_before=$(received)
	send_datagrams
	wait "$sender" && wait_for "the flows' end" no_flow_is_left || return 1
	show
	_came=$(($(received) - _before))
	echo "of $sent packets $_came arrived; $1 dropped $(json_value drops "$(tc -n "$b" -j -s qdisc show dev mirror0 root)")"
	flows_were_held && [ "$_came" -ge "$sent" ]
}

mirror__by_fq_arrives() { mirrored fq; }

mirror__by_onramp_arrives() { mirrored onramp; }

ktap_start
need_module
trap 'ip netns del "$c"; drop_hosts; unload_module' EXIT
slow_hosts && third_host || ktap_fail "hosts__made"
run_cases "$@"
finish_hosts
