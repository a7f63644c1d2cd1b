#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Data that comes to TCP by other ways than a copy, whose bursts TLT cuts; and connections of other
# kinds (kernel TLS, Fast Open, SYN cookies, MPTCP). All go through TLT and On-Ramp over a path with a
# queue that loses and reorders: every byte arrives, and nothing waits for ever.

# shellcheck source=selftests/tlt/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

export TC_LIB_DIR=${TURNPIKE_BUILD:+$TURNPIKE_BUILD/tc}
bytes=3000000

load_onramp() {
	if [ -n "${TURNPIKE_MODULES:-}" ]; then
		insmod "$TURNPIKE_MODULES/sch_onramp/sch_onramp.ko"
	else
		modprobe sch_onramp
	fi
}

# The last socket goes some time after its namespace.
unload_both() {
	unload_module
	[ ! -d /sys/module/sch_onramp ] || wait_for "the last of sch_onramp" rmmod sch_onramp 2> /dev/null
}

# samples: of On-Ramp, which has them of connections with feedback
samples() { json_value samples "$(in_a tc -j -s qdisc show dev veth0 root)"; }

# extension NETNS NAME: of TCP's counters
extension() { ip netns exec "$1" nstat -asz "$2" | awk -v name="$2" '$1 == name { print $2 }'; }

# send_all OPTION...: TO names another address
send_all() {
	in_a timeout 60 "$stream" send "${TO:-10.1.0.2}" --port $port --bytes $bytes \
		--seed "$(cksum <<< "$_case" | cut -d' ' -f1)" --timeout 30 "$@"
}

# cut_by WAY: bursts of such data are cut, and all arrives
cut_by() {
	_cuts=$(counter cuts) _failed=$(counter cut_failed)
	send_all --by "$1" || return 1
	_cuts=$(($(counter cuts) - _cuts))
	echo "cuts $_cuts failed $(($(counter cut_failed) - _failed))"
	[ $_cuts -gt 5 ] && [ "$(counter cut_failed)" = "$_failed" ]
}

zerocopy__is_cut() { cut_by zerocopy; }
zerocopy__is_cut_over_ipv6() { TO=fd01::2 cut_by zerocopy; }
sendfile__is_cut() { cut_by sendfile; }
splice__is_cut() { cut_by splice; }

# serve_beside OPTION...: the other goes on
serve_beside() {
	ip netns exec "$b" "$stream" serve "$@" > /dev/null 2>&1 &
	beside=$!
	wait_for "the receiver" listens_at $port
}

stop_beside() {
	kill "$beside"
	wait "$beside" 2> /dev/null
}

listens_at() { [ -n "$(in_b ss -Htln sport = "$1")" ]; }

# arrives_over KIND OPTION...: by such a socket, which TLT marks and On-Ramp samples
arrives_over() {
	port=5101
	serve_beside --port $port --socket "$1" || return 1
	_data=$(sent data) _samples=$(samples)
	send_all --socket "$@"
	_result=$?
	stop_beside
	_data=$(($(sent data) - _data)) _samples=$(($(samples) - _samples))
	echo "important packets $_data, samples $_samples"
	[ $_result = 0 ] && [ $_data -gt 5 ] && [ $_samples -gt 100 ]
}

tls__by_the_kernel_arrives() { arrives_over tls; }

# The first connection asks for the cookie, the others have data in their SYN.
fastopen__arrives() {
	in_a sysctl -q -w net.ipv4.tcp_fastopen=1 && in_b sysctl -q -w net.ipv4.tcp_fastopen=2 || return 4
	_taken=$(extension "$b" TcpExtTCPFastOpenPassive)
	bytes=500000 arrives_over fastopen --repeat 6
	_result=$?
	_taken=$(($(extension "$b" TcpExtTCPFastOpenPassive) - _taken))
	echo "SYNs whose data was taken: $_taken"
	[ $_result = 0 ] && [ $_taken -ge 2 ]
}

# The receiver has no state until the last packet of the handshake: it is always so.
cookies__arrives() {
	in_b sysctl -q -w net.ipv4.tcp_syncookies=2 || return 4
	_right=$(extension "$b" TcpExtSyncookiesRecv)
	bytes=500000 arrives_over tcp --repeat 6
	_result=$?
	in_b sysctl -q -w net.ipv4.tcp_syncookies=1
	_right=$(($(extension "$b" TcpExtSyncookiesRecv) - _right))
	echo "cookies that came back: $_right"
	[ $_result = 0 ] && [ $_right -ge 6 ]
}

# With two subflows. TLT marks those as all TCP, but makes no packets for them (counters.sh).
mptcp__beside_another() {
	[ -e /proc/sys/net/mptcp/enabled ] || { echo "this kernel has no MPTCP"; return 4; }
	ip -n "$a" addr add 10.1.0.3/24 dev veth0
	in_a ip mptcp limits set subflow 2 && in_b ip mptcp limits set subflow 2 &&
		in_a ip mptcp endpoint add 10.1.0.3 dev veth0 subflow || { echo "this ip has no MPTCP"; return 4; }
	_joined=$(extension "$b" MPTcpExtMPJoinAckRx)
	send_all --port 5100 --repeat 2 > "$TMPDIR/beside" &
	_beside=$!
	arrives_over mptcp --repeat 2
	_result=$?
	wait $_beside || _result=1
	_joined=$(($(extension "$b" MPTcpExtMPJoinAckRx) - _joined))
	echo "beside it: $(cat "$TMPDIR/beside"); subflows that joined: $_joined"
	[ $_result = 0 ] && [ $_joined -ge 1 ]
}

ktap_start
need_module
load_onramp || ktap_fail "sch_onramp__loads"
make_hosts
trap 'drop_hosts; unload_both' EXIT
path_behind delay 200us 20us loss 0.5% rate 400mbit || ktap_fail "netem"
in_b tc qdisc add dev lo root onramp && in_a tc qdisc add dev veth0 root onramp threshold 200us ||
	ktap_fail "onramp__set"
tlt_on || ktap_fail "tlt__set"
receive_in "$b" "$stream" serve --parallel || ktap_fail "receiver__starts"
run_cases "$@"
drop_hosts
ktap_case "unload__nothing_left" unload_both
ktap_finish
