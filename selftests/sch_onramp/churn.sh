#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The qdisc, the device, the namespace and the module come and go under traffic; and
# memory runs out.

# shellcheck disable=SC2086  # options are words
# shellcheck source=selftests/sch_onramp/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

faults=/sys/kernel/debug/failslab

# Once fq or onramp paced a socket, TCP leaves pacing to the device for good: when the qdisc
# goes, a flow is as fast as window and RTT allow, here 256 MB/s.  On a cable that takes no
# time that would be more packets than there is processor for.
churn_hosts() {
	make_path 1ms && in_a sysctl -q -w net.ipv4.tcp_wmem="4096 65536 65536" &&
		start_sink || return 1
	need_usec_ts > /dev/null
	return 0
}

fresh_hosts() {
	drop_hosts
	churn_hosts
}

qdisc__replaced_and_deleted_under_traffic() {
	onramp && background 0.5 || return 1
	for _ in 1 2 3; do
		in_a tc qdisc replace dev veth0 root fq && onramp threshold 20us &&
			in_a tc qdisc del dev veth0 root && onramp || return 1
	done
	wait "$sender"
	in_a "$traffic" send 10.1.0.2 --seconds 0.05 $rate | grep -q 'bytes=[1-9][0-9]\{5\}'
}

qdisc__settings_change_under_traffic() {
	onramp && background 0.5 || return 1
	for option in "buckets 16" nopause "buckets 4096" pause "mode strawman" "limit 10" \
		"limit 10000" "threshold 10us" "gate on" "gate auto" nogovernor nopacing; do
		in_a tc qdisc change dev veth0 root onramp $option || return 1
		sleep 0.01
	done
	wait "$sender"
}

device__down_and_up_under_traffic() {
	onramp && background 1 || return 1
	for _ in 1 2 3; do
		ip -n "$a" link set veth0 down
		ip -n "$a" link set veth0 up
	done
	stop_sender
	fresh_hosts
}

device__removed_under_traffic() {
	onramp && background 1 || return 1
	ip -n "$a" link del veth0
	stop_sender
	fresh_hosts
}

netns__removed_under_traffic() {
	onramp && background 1 || return 1
	ip netns del "$a"
	ip netns del "$b"
	stop_sender
	fresh_hosts
}

unload__refused_while_a_device_uses_it() {
	onramp || return 1
	if rmmod sch_onramp 2>/dev/null; then
		echo "unloaded under its qdisc"
		return 1
	fi
}

unload__under_traffic_once_deleted() {
	onramp && background 0.5 || return 1
	for _ in 1 2 3; do
		in_a tc qdisc del dev veth0 root && unload_module && load_module && onramp ||
			return 1
		sleep 0.02
	done
	wait "$sender"
}

default__qdisc_may_be_it() {
	sysctl -q -w net.core.default_qdisc=onramp || return 1
	ip link add def0 netns "$a" numtxqueues 2 type veth peer name def1 netns "$b"
	in_a ip link set def0 up
	sysctl -q -w net.core.default_qdisc=pfifo_fast
	in_a ip link del def0
}

memory__failures_are_survived_and_counted() {
	[ -d $faults ] || { echo "this kernel injects no faults"; return 4; }
	in_a tc qdisc del dev veth0 root 2>/dev/null
	onramp || return 1
	# Every allocation of these two fails, and of nobody else.
	echo Y > $faults/cache-filter
	for _cache in onramp_flow onramp_ctl; do
		echo 1 > /sys/kernel/slab/$_cache/failslab || return 1
	done
	echo 0 > $faults/verbose
	echo -1 > $faults/times
	echo 1 > $faults/interval
	echo 100 > $faults/probability
	in_a "$traffic" send 10.1.0.2 --flows 2 --seconds 0.05 $rate > "$TMPDIR/sent"
	status=$?
	failed=$(counter alloc_errors)
	echo 50 > $faults/probability
	in_a "$traffic" send 10.1.0.2 --flows 4 --seconds 0.05 $rate || status=1
	echo 0 > $faults/probability
	echo N > $faults/cache-filter
	echo "allocations that failed: $failed, then $(counter alloc_errors)"
	grep -q 'bytes=[1-9][0-9]\{4\}' "$TMPDIR/sent" && [ "$failed" -gt 0 ] &&
		[ "$(counter alloc_errors)" -gt "$failed" ] && [ $status = 0 ]
}

ktap_start
need_module
trap 'drop_hosts; unload_module' EXIT
churn_hosts || ktap_fail "receiver__starts"
run_cases "$@"
finish_hosts
