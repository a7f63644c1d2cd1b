#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Hours of simulated time with all modules on: connections of all kinds come and go every five
# minutes, some stay and say little. Nothing grows, every packet is accounted for, no connection is
# stuck.
#
# TURNPIKE_SOAK_HOURS=N: so long; one.

# shellcheck source=selftests/fuzz/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"
stream=$here/../tlt/stream.py
rounds=$((${TURNPIKE_SOAK_HOURS:-1} * 12))
round_s=300
# By then tables have the size that they will have.
settled=$((rounds / 2))
# The guest's own caches grow by steps of some 1600. In a day half a kilobyte a connection is more, of the 40 that a
# round has at both ends; in an hour the debug kernel and the end of the modules' caches have to tell.
slack_kb=2000

free_kb() {
	echo 3 > /proc/sys/vm/drop_caches
	awk '$1 == "MemFree:" { print $2 }' /proc/meminfo
}

# lines NETNS COMMAND...: flows that a command of turnpike's shows
lines() { ip netns exec "$1" turnpike "${@:2}" -j | json_lines | grep -c .; }

packets() { ip -n "$1" -j -s link show veth0 | grep -o "\"$2\":{[^}]*" | grep -o '"packets":[0-9]*' | cut -d: -f2; }

# queue NETNS DEVICE NAME: of tc's statistics
queue() { json_value "$3" "$(tc -n "$1" -j -s qdisc show dev "$2" root)"; }

# What passed each place from a to b.
note_packets() {
	queued=$(queue "$a" veth0 packets) left=$(packets "$a" tx) came=$(packets "$b" rx)
	passed=$(($(queue "$b" ifb0 packets) + $(queue "$b" ifb0 drops)))
}

talk() {
	ip netns exec "$a" "$here/soak.py" "$1" 5001 "$2" 60 > "$TMPDIR/talk-$2" &
	talkers="$talkers $!"
}

all_on() {
	onramp threshold 200us feedback orack && acker on && in_a turnpike tlt set --all && in_b turnpike tlt set --all &&
		in_a sysctl -q -w net.ipv4.tcp_congestion_control=timely
}

# Bulk of both families, some whose congestion control has other signals, a slow one, requests both
# ways whose bytes are compared, now and then datagrams, and one that is refused.
one_round() {
	in_a "$traffic" send 10.1.0.2 --flows 4 --seconds 0.2 --cc timely &&
		in_a "$traffic" send fd01::2 --flows 4 --seconds 0.2 --cc timely_patched &&
		in_a "$traffic" send 10.1.0.2 --seconds 0.1 --cc bbr && in_a "$traffic" send fd01::2 --seconds 0.1 --cc dctcp &&
		in_a "$traffic" send 10.1.0.2 --flows 2 --seconds 0.2 --cc cubic --max-pacing 1000000 &&
		in_a "$stream" send 10.1.0.2 --seed "$1" --bytes 100000 --repeat 10 --way both > /dev/null || return 1
	[ $(($1 % 4)) != 0 ] || datagrams || return 1
	in_a "$traffic" send 10.1.0.2 --port 9 2> /dev/null && { echo "who listens on port 9?"; return 1; }
	return 0
}

# All arrive: nothing else is under way.
datagrams() {
	local said

	said=$("$here/../sch_onramp/segments.py" "$a" "$b" 10.1.0.2 --rate 10000000) || return 1
	echo "$said"
	[ "$(field arrived "$said")" = "$(field sent "$said")" ]
}

sizes() {
	echo "free $(free_kb) KB, flows of On-Ramp $(lines "$a" onramp flows), peers $(lines "$a" onramp peers)," \
		"flows of TLT $(lines "$a" tlt flows) and $(lines "$b" tlt flows)"
}

soak__goes_on() {
	local round

	for round in $(seq $rounds); do
		one_round "$round" > "$TMPDIR/round" 2>&1 || { cat "$TMPDIR/round"; echo "in round $round"; return 1; }
		sleep $round_s
		[ $((round % (rounds / 4))) != 0 ] || sizes
		[ "$round" != $settled ] || free_kb > "$TMPDIR/free"
	done
}

memory__is_flat() {
	local grown=$(($(cat "$TMPDIR/free") - $(free_kb)))

	echo "$grown KB less are free than after half of the time"
	[ $grown -lt $slack_kb ]
}

flows__none_is_stuck() {
	local talker said status=0

	for talker in $talkers; do
		kill "$talker" && wait "$talker" || status=1
	done
	for said in "$TMPDIR"/talk-*; do
		echo "${said##*-}: $(cat "$said")"
		[ "$(field turns "$(cat "$said")")" -ge $((rounds * 2)) ] || status=1
	done
	wait_for "the flows' end" no_flow_is_left && return $status
}

# Each packet is where it went, or was dropped where that is counted.
packets__are_all_accounted_for() {
	local q=$queued l=$left c=$came p=$passed

	note_packets
	echo "queued $((queued - q)), left $((left - l)), came $((came - c)), passed or dropped there $((passed - p))"
	[ "$(queue "$a" veth0 drops)" = 0 ] && [ "$(queue "$a" veth0 backlog)" = 0 ] &&
		[ $((left - l)) -gt $((rounds * 100)) ] && [ $((queued - q)) = $((left - l)) ] &&
		[ $((left - l)) = $((came - c)) ] && [ $((came - c)) = $((passed - p)) ]
}

modules__go() {
	drop_hosts
	unload_all
}

ktap_start
load_all || ktap_fail "modules__load"
slow_hosts || ktap_fail "hosts__made"
trap 'drop_hosts; unload_all' EXIT
# A packet is then one at all places.
for netns in "$a" "$b"; do
	ip -n "$netns" link set veth0 gso_max_segs 1
done
# That has none of its own.
in_b ip link set ifb0 gso_max_segs 1 && in_b sysctl -q -w net.ipv6.conf.ifb0.disable_ipv6=1
ip netns exec "$b" "$stream" serve --parallel > /dev/null 2>&1 &
all_on || ktap_fail "all__on"
talkers=
for cc in timely cubic reno bbr dctcp; do
	talk 10.1.0.2 $cc
done
sleep 1
note_packets
ktap_case soak__goes_on soak__goes_on
ktap_case memory__is_flat memory__is_flat
# In this shell, whose children they are.
flows__none_is_stuck > "$TMPDIR/said"
status=$?
sed 's/^/# /' "$TMPDIR/said"
ktap_case flows__none_is_stuck [ $status = 0 ]
ktap_case packets__are_all_accounted_for packets__are_all_accounted_for
ktap_case modules__go modules__go
ktap_finish
