# SPDX-License-Identifier: GPL-2.0
# Two hosts (selftests/lib/hosts.sh) with traffic from one to the other.
#
#	netns $a  veth0 (qdisc under test)  --------  veth0 (netem delays what returns)  netns $b
#
# Who sources this has set $here and $module, and $sender_options for every sender.
# shellcheck shell=bash disable=SC2034,SC2154

port=5001
# shellcheck source=selftests/lib/hosts.sh
. "$here/../lib/hosts.sh"

traffic=$here/../lib/traffic.py

# Sockets, and with them references to the module, go away some time after their
# process and namespace.
unload_module() {
	for _ in $(seq 100); do
		[ -d "/sys/module/$module" ] || return 0
		rmmod "$module" 2>/dev/null && return 0
		sleep 0.2
	done
	echo "$module is still in use: $(cat "/sys/module/$module/refcnt")"
	return 1
}

# make_path [DELAY]: the hosts, and the delay between them
make_path() {
	make_hosts || return 1
	in_ns_quick "$a"
	in_ns_quick "$b"
	in_b tc qdisc add dev veth0 root netem delay "${1:-20us}"
}

# begin_on_path [DELAY]: the test, with the module and the hosts, which its end takes away
begin_on_path() {
	ktap_start
	need_module
	make_path "$@"
	trap 'drop_hosts; unload_module' EXIT
}

# An orphan socket with data to send must not hold the module for minutes.
in_ns_quick() {
	ip netns exec "$1" sysctl -q -w net.ipv4.tcp_orphan_retries=1
}

# start_sink OPTION...
# shellcheck disable=SC2120  # scripts pass them
start_sink() { receive_in "$b" "$traffic" sink "$@"; }

# run_against_sink [CASE...]: those of the script, and the end of the test
run_against_sink() {
	start_sink || ktap_fail "receiver__starts"
	run_cases "$@"
	finish_hosts
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

# But for what the kernel keeps for a minute where the path loses the other's last word: no socket.
no_flow_is_left() { ! ss -N "$a" -Htno dport = 5001 | grep -qv 'timer:(timewait'; }

# The command is taken from the build where there is one.
[ -z "${TURNPIKE_BUILD:-}" ] || PATH=$TURNPIKE_BUILD:$PATH

tcp_has_usec() {
	[ "$(uname -r | cut -d. -f1)" -gt 6 ] || [ "$(uname -r | cut -d. -f2)" -ge 7 ]
}

# usec_ts on|off [NETWORK]: microseconds in TCP's timestamps, in both directions
usec_ts() { in_a turnpike usec-ts "$1" "${2:-10.1.0.0/24}" && in_b turnpike usec-ts "$1" "${2:-10.1.0.0/24}"; }

# The same; 4 where there are none.
need_usec_ts() {
	tcp_has_usec || {
		echo "TCP timestamps do not count microseconds before Linux 6.7"
		return 4
	}
	usec_ts on
}
