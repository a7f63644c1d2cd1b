# SPDX-License-Identifier: GPL-2.0
# What the tests of tlt share: two hosts and a cable, in network namespaces.
#
#	netns $a                                   netns $b
#	veth0  10.1.0.1, fd01::1  ------------  veth0  10.1.0.2, fd01::2
#
# They run in UML (selftests/lib/uml-run) and on any machine with root, where
# TURNPIKE_MODULES names the directory that holds tlt/tlt.ko and TURNPIKE_BUILD that
# with the turnpike command; without them what is installed is taken.
# shellcheck shell=bash disable=SC2034

here=$(dirname "$(readlink -f "$0")")
# shellcheck source=selftests/lib/ktap.sh
. "$here/../lib/ktap.sh"

stream=$here/stream.py
turnpike=turnpike
[ -z "${TURNPIKE_BUILD:-}" ] || turnpike=$TURNPIKE_BUILD/turnpike
a=tlt-a-$$
b=tlt-b-$$

skip_all() {
	ktap_start
	echo "1..0 # SKIP $*"
	exit 4
}

load_module() {
	if [ -n "${TURNPIKE_MODULES:-}" ]; then
		insmod "$TURNPIKE_MODULES/tlt/tlt.ko"
	else
		modprobe tlt
	fi
}

unload_module() {
	[ ! -d /sys/module/tlt ] || rmmod tlt
}

# A module that was named must load; one that is not installed is a reason to skip.
need_module() {
	load_module && return 0
	[ -n "${TURNPIKE_MODULES:-}" ] || skip_all "tlt is not installed"
	ktap_fail "module__loads"
	ktap_finish
}

in_a() { ip netns exec "$a" "$@"; }
in_b() { ip netns exec "$b" "$@"; }

make_hosts() {
	ip netns add "$a" && ip netns add "$b" || return 1
	ip link add veth0 address 02:00:00:00:00:01 netns "$a" type veth \
		peer name veth0 address 02:00:00:00:00:02 netns "$b" || return 1
	ip -n "$a" addr add 10.1.0.1/24 dev veth0
	ip -n "$b" addr add 10.1.0.2/24 dev veth0
	ip -n "$a" addr add fd01::1/64 dev veth0 nodad
	ip -n "$b" addr add fd01::2/64 dev veth0 nodad
	for netns in "$a" "$b"; do
		ip -n "$netns" link set lo up
		ip -n "$netns" link set veth0 up
	done
	# Neighbours are known and the cable is in use, or a first SYN is sent twice.
	ip -n "$a" neigh add fd01::2 lladdr 02:00:00:00:00:02 dev veth0 nud permanent
	ip -n "$b" neigh add fd01::1 lladdr 02:00:00:00:00:01 dev veth0 nud permanent
	ip -n "$a" neigh add 10.1.0.2 lladdr 02:00:00:00:00:02 dev veth0 nud permanent
	ip -n "$b" neigh add 10.1.0.1 lladdr 02:00:00:00:00:01 dev veth0 nud permanent
	wait_for "the cable" cable_is_up
}

cable_is_up() {
	ip -n "$a" link show veth0 | grep -q 'state UP' &&
		ip -n "$b" link show veth0 | grep -q 'state UP'
}

# tlt_on [OPTION...]: at both ends
tlt_on() {
	in_a "$turnpike" tlt set "$@" && in_b "$turnpike" tlt set "$@"
}

tlt_off() {
	in_a "$turnpike" tlt off && in_b "$turnpike" tlt off
}

# path NETEM...: what netem does to the packets of both directions
path() {
	in_a tc qdisc replace dev veth0 root netem limit 10000 "$@" &&
		in_b tc qdisc replace dev veth0 root netem limit 10000 "$@"
}

# Background processes hold no pipe of the case that started them, and are started
# without a function between, so that $! is theirs.
server_pid=
start_server() {
	ip netns exec "$b" "$stream" serve "$@" > /dev/null 2>&1 &
	server_pid=$!
	wait_for "the receiver" listening
}

stop_server() {
	[ -z "$server_pid" ] || { kill "$server_pid"; wait "$server_pid"; } 2>/dev/null
	server_pid=
	wait_for "the end of the receiver" not_listening
}

listening() { in_b ss -Htln sport = 5100 | grep -q 5100; }
not_listening() { ! listening; }

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
	[ -z "$server_pid" ] || { kill "$server_pid"; wait "$server_pid"; } 2>/dev/null
	server_pid=
	ip netns del "$a" 2>/dev/null
	ip netns del "$b" 2>/dev/null
	return 0
}

# counter NAME [NETNS]: of the sending host
counter() { ip netns exec "${2:-$a}" "$turnpike" tlt stats | sed -n "s/^$1 //p"; }

# sent KIND [NETNS], received KIND [NETNS]: packets
sent() { counter "sent $1 packets" "${2:-}" | cut -d' ' -f1; }
received() { counter "sent $1" "${2:-}" | sed 's/.*received //'; }

# field NAME TEXT: the value of NAME=value
field() { echo "$2" | grep -o "$1=[0-9.]*" | tail -n 1 | cut -d= -f2; }

[ "$(id -u)" = 0 ] || skip_all "needs root"
command -v ip > /dev/null || skip_all "needs iproute2"
command -v "$turnpike" > /dev/null || skip_all "needs the turnpike command"
ip netns add "$a" 2>/dev/null || skip_all "needs network namespaces"
ip netns del "$a"
