#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# As the child of a classful qdisc: flows are held as at the root, limits fall and rise while they go
# on, the child goes; and what the parent counts is what its child had and what left.

# shellcheck source=selftests/sch_onramp/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

# statistics NETNS: of the first host's child
statistics() { tc -n "$1" -j -s qdisc show dev veth0 parent 1:1; }

# below KIND OPTION... [-- CLASS-OPTION...]: a parent at the root, with one class that has all
below() {
	in_a tc qdisc del dev veth0 root 2> /dev/null
	_qdisc=() _class=()
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		_qdisc+=("$1")
		shift
	done
	in_a tc qdisc add dev veth0 root handle 1: "${_qdisc[@]}" ||
		{ echo "this kernel has no ${_qdisc[0]}"; return 4; }
	[ $# = 0 ] || in_a tc class add dev veth0 parent 1: classid 1:1 "${_qdisc[0]}" "${@:2}" || return 1
	# Some have no class for what no filter sends to one.
	case ${_qdisc[0]} in
	drr | qfq) in_a tc filter add dev veth0 parent 1: protocol all matchall classid 1:1 ;;
	esac
}

onramp_below() { in_a tc qdisc "$1" dev veth0 parent 1:1 handle 10: onramp threshold 200us feedback orack "${@:2}"; }

left_device() { in_a cat /sys/class/net/veth0/statistics/tx_packets; }

# parent NAME: of its statistics
parent() { json_value "$1" "$(tc -n "$a" -j -s qdisc show dev veth0 root)"; }

# all_left BEFORE: nothing waits, and the parent counts what left the device since then
all_left() {
	_left=$(($(left_device) - $1))
	echo "parent: $(parent packets) packets, $(parent qlen) wait; left the device: $_left"
	[ "$(parent qlen)" = 0 ] && [ "$(parent backlog)" = 0 ] && [ "$(parent packets)" = $_left ]
}

# goes_on: flows while the limit falls to almost nothing and rises
goes_on() {
	in_a "$traffic" send 10.1.0.2 --flows 4 --seconds 0.6 > "$TMPDIR/sent" &
	_sender=$!
	sleep 0.2
	for _limit in 3 10000 3 10000; do
		onramp_below change limit $_limit || return 1
		sleep 0.05
	done
	wait $_sender
	_status=$?
	cat "$TMPDIR/sent"
	[ $_status = 0 ] && wait_for "the flows' end" no_flow_is_left
}

# works_below KIND...: of below()
works_below() {
	below "$@" || return
	_before=$(left_device)
	onramp_below add || return 1
	goes_on && show && flows_were_held || return 1
	_sent=$(counter packets) _drops=$(counter drops)
	echo "child: $_sent packets, $_drops dropped, $(counter qlen) wait"
	[ "$(counter qlen)" = 0 ] && [ "$_drops" -gt 0 ] && all_left "$_before" && [ "$(parent packets)" = "$_sent" ] ||
		return 1
	# What waits in the child when it goes is sent again.
	in_a "$traffic" send 10.1.0.2 --flows 4 --seconds 0.4 > "$TMPDIR/sent" &
	_sender=$!
	sleep 0.2
	in_a tc qdisc replace dev veth0 parent 1:1 handle 11: pfifo limit 1000 || return 1
	wait $_sender && wait_for "the flows' end" no_flow_is_left && all_left "$_before" &&
		[ "$(parent packets)" -gt $((_sent + 1000)) ]
}

htb__has_it_as_a_child() { works_below htb default 1 -- rate 1gbit; }
hfsc__has_it_as_a_child() { works_below hfsc default 1 -- ls rate 1gbit ul rate 1gbit; }
prio__has_it_as_a_child() { works_below prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0; }
ets__has_it_as_a_child() { works_below ets bands 1 quanta 3000 priomap 0; }

drr__has_it_as_a_child() { works_below drr -- quantum 3000; }
qfq__has_it_as_a_child() { works_below qfq -- weight 1 maxpkt 2048; }

begin_on_path
slow_cable || ktap_fail "bottleneck__set_up"
acker on
# A packet is then one at all places.
ip -n "$a" link set veth0 gso_max_segs 1
run_against_sink "$@"
