# SPDX-License-Identifier: GPL-2.0
# What the tests of sch_onramp share; selftests/lib/traffic.sh has the rest.
# shellcheck shell=bash disable=SC2034

here=$(dirname "$(readlink -f "$0")")
module=sch_onramp
sender_options=
# shellcheck source=selftests/lib/traffic.sh
. "$here/../lib/traffic.sh"

# What tc loads is taken from the build where there is one.
[ -z "${TURNPIKE_BUILD:-}" ] || export TC_LIB_DIR=$TURNPIKE_BUILD/tc

# load_beside MODULE: one that is not under test
load_beside() {
	if [ -n "${TURNPIKE_MODULES:-}" ]; then
		insmod "$TURNPIKE_MODULES/$1/$1.ko"
	else
		modprobe "$1"
	fi
}

# The first host's, that the qdisc is on.
device=veth0

# onramp OPTION...: a new qdisc for the first host
onramp() {
	tc -n "$a" qdisc del dev "$device" root 2>/dev/null
	tc -n "$a" qdisc add dev "$device" root onramp "$@"
}

# setting NAME [DEVICE]: as JSON has it
setting() { json_value "$1" "$(tc -n "$a" -j qdisc show dev "${2:-veth0}" root)"; }

# statistics NETNS: all of a qdisc
statistics() { tc -n "$1" -j -s qdisc show dev "$device" root; }

# counter NAME [STATISTICS]: one of them, the first host's now
counter() { json_value "$1" "${2:-$(statistics "$a")}"; }

# A receiver's qdisc that is on a device without traffic: receipts are the namespace's.
acker() {
	tc -n "$b" qdisc del dev lo root 2>/dev/null
	[ "$1" = off ] || tc -n "$b" qdisc add dev lo root onramp
}

# send SECONDS: four flows, and counters stand still after them
send() {
	in_a "$traffic" send "${to:-10.1.0.2}" --flows 4 --seconds "$@" &&
		wait_for "the flows' end" no_flow_is_left
}

show() {
	_all=$(statistics "$a")
	echo "samples $(counter samples "$_all") by receipts $(counter samples_orack "$_all")" \
		"pauses $(counter pauses "$_all") held $(counter held "$_all")"
}

# Enough samples, and packets that were held for them.
flows_were_held() {
	_all=$(statistics "$a")
	[ "$(counter samples "$_all")" -gt 100 ] && [ "$(counter pauses "$_all")" -gt 10 ] &&
		[ "$(counter held "$_all")" -gt 10 ]
}

held_by_receipts() {
	acker on && onramp threshold 200us feedback orack && send 0.4 && show || return 1
	flows_were_held && [ "$(counter samples)" = "$(counter samples_orack)" ]
}

held_by_timestamps() {
	onramp threshold 200us feedback tcpts && send 0.4 && show || return 1
	flows_were_held && [ "$(counter samples_orack)" = 0 ]
}

# At 200 Mbit/s the far end has a queue of up to 20 ms.
bottleneck() { in_b tc qdisc replace dev ifb0 root tbf rate 200mbit burst 16k limit 500k; }

slow_cable() {
	in_b ip link add ifb0 type ifb || return 1
	in_b ip link set ifb0 up
	bottleneck || return 1
	in_b tc qdisc add dev veth0 ingress
	in_b tc filter add dev veth0 parent ffff: matchall action mirred egress redirect dev ifb0
}

slow_hosts() { make_path && slow_cable && start_sink; }

flows_are_up() { [ "$(ss -N "$a" -Htn dport = 5001 | grep -c ESTAB)" -ge 4 ]; }

# At 100 Mbit/s each: a cable that computes in no time could send without end.
rate="--max-pacing 12500000"

# background SECONDS: four flows
background() {
	# shellcheck disable=SC2086  # words
	start_sender --flows 4 --seconds "$1" $rate
	wait_for "flows" flows_are_up
}
