# SPDX-License-Identifier: GPL-2.0
# What the tests in the guest share: two namespaces and a cable, and a receiver in one.
#
#	netns a  eth0 10.0.0.1 ---- veth ---- 10.0.0.2 eth0  netns b
#
# shellcheck shell=bash

# shellcheck source=selftests/lib/json.sh
. /json.sh

in_a() { ip netns exec a "$@"; }

both() { ip netns exec a "$@" && ip netns exec b "$@"; }

# soon COMMAND...: until it succeeds, a minute and 50 times at least. How long that takes is
# the machine's affair: on a busy one a guest stands still for seconds.
soon() {
	_until=$((SECONDS + 60))
	for ((_tries = 0; _tries < 50 || SECONDS < _until; _tries++)); do
		"$@" && return 0
		sleep 0.1
	done
	echo "waited in vain: $*"
	return 1
}

# make_pair QDISC...: what both ends have at the root
make_pair() {
	ip netns add a && ip netns add b || return 1
	ip link add eth0 netns a type veth peer name eth0 netns b || return 1
	ip -n a addr add 10.0.0.1/24 dev eth0
	ip -n b addr add 10.0.0.2/24 dev eth0
	for netns in a b; do
		ip -n $netns link set lo up
		ip -n $netns link set eth0 up
		ip netns exec $netns tc qdisc replace dev eth0 root "$@" || return 1
	done
	# A killed sender's socket lives on while it has data to send: not for long here.
	in_a sysctl -q -w net.ipv4.tcp_orphan_retries=1
	ip netns exec b flow serve 5000 > /dev/null 2>&1 &
	server=$!
}

drop_pair() {
	kill $server 2>/dev/null
	ip netns del a 2>/dev/null
	ip netns del b
}

# start_flows SECONDS CC...: one of each, all at once; their processes are $flows
start_flows() {
	_seconds=$1
	shift
	flows=
	for _cc; do
		in_a flow send 10.0.0.2 5000 "$_seconds" "$_cc" > /dev/null 2>&1 &
		flows="$flows $!"
	done
}

# end_flows: those of start_flows
end_flows() {
	# shellcheck disable=SC2086  # a list of processes
	{ kill $flows; wait $flows; } 2>/dev/null
	return 0
}

start_timely_flows() { start_flows "$1" timely timely_patched timely timely_patched; }

# unload MODULE: a socket's namespace and its last reference go away some time after
# the process, as does another module's
unload() {
	soon rmmod "$1" 2>/dev/null && return 0
	# What holds it, for the one who reads this.
	grep "^$1 " /proc/modules
	for netns in a b; do
		ip netns exec $netns cat /proc/net/tcp
	done
	return 1
}

# cost_row BURSTS CC [NAME]: instructions of a segment, in a row that says BURSTS and NAME
cost_row() {
	row=$(in_a cost 10.0.0.2 5000 ${seconds:-1} "$2" 200) || { echo "not ok - $1 ${3:-$2}: no result"; exit 1; }
	echo "$1 ${3:-$2} ${row#* }"
}

# bursts frames|gso: how TCP's segments leave it: one by one, or as many as it will
bursts() {
	[ "$1" = frames ] && segs=1 || segs=65535
	ip -n a link set eth0 gso_max_segs $segs
}
