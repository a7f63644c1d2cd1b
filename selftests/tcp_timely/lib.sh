# SPDX-License-Identifier: GPL-2.0
# What the tests of tcp_timely share; the two hosts are those of selftests/lib/hosts.sh.
#
#	netns $a  veth0 (fq or none)  ------------  veth0 (netem delays what returns)  netns $b
#
# shellcheck shell=bash disable=SC2034

here=$(dirname "$(readlink -f "$0")")
module=tcp_timely
port=5001
# shellcheck source=selftests/lib/hosts.sh
. "$here/../lib/hosts.sh"

traffic=$here/traffic.py
settings=net/ipv4/tcp_timely

# Sockets, and with them references to the module, go away some time after their
# process and namespace.
unload_module() {
	for _ in $(seq 100); do
		[ -d /sys/module/tcp_timely ] || return 0
		rmmod tcp_timely 2>/dev/null && return 0
		sleep 0.2
	done
	echo "tcp_timely is still in use: $(cat /sys/module/tcp_timely/refcnt)"
	return 1
}

# make_path [DELAY]: the hosts, and the delay between them
make_path() {
	make_hosts || return 1
	in_ns_quick "$a"
	in_ns_quick "$b"
	in_b tc qdisc add dev veth0 root netem delay "${1:-20us}"
}

# An orphan socket with data to send must not hold the module for minutes.
in_ns_quick() {
	ip netns exec "$1" sysctl -q -w net.ipv4.tcp_orphan_retries=1
}

start_sink() { receive_in "$b" "$traffic" sink "$@"; }

# start_sender OPTION...: to the first receiver; stop_sender or wait "$sender" ends it
sender=
start_sender() {
	ip netns exec "$a" "$traffic" send 10.1.0.2 --cc timely "$@" > /dev/null 2>&1 &
	sender=$!
}

stop_sender() {
	kill "$sender"
	wait "$sender" 2>/dev/null
	return 0
}

# counter NAME: of the sending host
counter() { in_a cat /proc/net/tcp_timely | sed -n "s/^$1 //p"; }

# counter_moved NAME OLD
counter_moved() {
	now=$(counter "$1")
	[ "$now" -gt "$2" ] && return 0
	echo "$1 stayed at $2"
	return 1
}
