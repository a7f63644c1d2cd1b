# SPDX-License-Identifier: GPL-2.0
# What the tests of modules share: two hosts and a cable, in network namespaces.
#
#	netns $a                                   netns $b
#	veth0  10.1.0.1, fd01::1  ------------  veth0  10.1.0.2, fd01::2
#	       (qdisc under test)                 netem delay on what returns
#
# They run in UML (selftests/lib/uml-run) and on any machine with root, where
# TURNPIKE_MODULES names the directory that holds the modules; without it installed
# ones are taken.  Who sources this set $here, $module and $sender_options before.
# shellcheck shell=bash disable=SC2034,SC2154

# shellcheck source=selftests/lib/ktap.sh
. "$here/../lib/ktap.sh"

traffic=$here/../lib/traffic.py
a=$module-a-$$
b=$module-b-$$

skip_all() {
	ktap_start
	echo "1..0 # SKIP $*"
	exit 4
}

load_module() {
	if [ -n "${TURNPIKE_MODULES:-}" ]; then
		insmod "$TURNPIKE_MODULES/$module/$module.ko"
	else
		modprobe "$module"
	fi
}

# Sockets, and with them references to the module, go away some time after their
# process and namespace.
unload_module() {
	for _ in $(seq 100); do
		[ -d /sys/module/$module ] || return 0
		rmmod "$module" 2>/dev/null && return 0
		sleep 0.2
	done
	echo "$module is still in use: $(cat /sys/module/$module/refcnt)"
	return 1
}

# A module that was named must load; one that is not installed is a reason to skip.
need_module() {
	load_module && return 0
	[ -n "${TURNPIKE_MODULES:-}" ] || skip_all "$module is not installed"
	ktap_fail "module__loads"
	ktap_finish
}

in_a() { ip netns exec "$a" "$@"; }
in_b() { ip netns exec "$b" "$@"; }

# make_hosts [DELAY]
make_hosts() {
	ip netns add "$a" && ip netns add "$b" || return 1
	ip link add veth0 netns "$a" type veth peer name veth0 netns "$b" || return 1
	ip -n "$a" addr add 10.1.0.1/24 dev veth0
	ip -n "$b" addr add 10.1.0.2/24 dev veth0
	ip -n "$a" addr add fd01::1/64 dev veth0 nodad
	ip -n "$b" addr add fd01::2/64 dev veth0 nodad
	for netns in "$a" "$b"; do
		ip -n "$netns" link set lo up
		ip -n "$netns" link set veth0 up
		in_ns_quick "$netns"
	done
	in_b tc qdisc add dev veth0 root netem delay "${1:-20us}"
}

# An orphan socket with data to send must not hold the module for minutes.
in_ns_quick() {
	ip netns exec "$1" sysctl -q -w net.ipv4.tcp_orphan_retries=1
}

# Background processes hold no pipe of the case that started them, and are started
# without a function between, so that $! is theirs.
sink_pid=
start_sink() {
	ip netns exec "$b" "$traffic" sink "$@" > /dev/null 2>&1 &
	sink_pid=$!
	wait_for "the receiver" listening
}

# start_sender OPTION...: to the first receiver; stop_sender or wait "$sender" ends it
sender=
start_sender() {
	# shellcheck disable=SC2086  # words
	ip netns exec "$a" "$traffic" send 10.1.0.2 $sender_options "$@" > /dev/null 2>&1 &
	sender=$!
}

stop_sender() {
	kill "$sender"
	wait "$sender" 2>/dev/null
	return 0
}

listening() { in_b ss -Htln sport = 5001 | grep -q 5001; }

# wait_for WHAT COMMAND...: until the command succeeds, ten seconds at most.
wait_for() {
	_what=$1
	shift
	for _ in $(seq 200); do
		"$@" && return 0
		sleep 0.05
	done
	echo "waited in vain for $_what"
	return 1
}

drop_hosts() {
	[ -z "$sink_pid" ] || { kill "$sink_pid"; wait "$sink_pid"; } 2>/dev/null
	sink_pid=
	ip netns del "$a" 2>/dev/null
	ip netns del "$b" 2>/dev/null
	return 0
}

# field NAME TEXT: the value of NAME=value
field() { echo "$2" | grep -o "$1=[0-9.]*" | tail -n 1 | cut -d= -f2; }

[ "$(id -u)" = 0 ] || skip_all "needs root"
command -v ip > /dev/null || skip_all "needs iproute2"
ip netns add "$a" 2>/dev/null || skip_all "needs network namespaces"
ip netns del "$a"
