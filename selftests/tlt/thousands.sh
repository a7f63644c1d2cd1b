#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module goes and comes back with thousands of marked connections in flight, and each of them
# delivers what it was given. A debug kernel has hundreds, for the time that it takes.

# shellcheck source=selftests/tlt/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

many=$here/many.py
connections=2400 least=2000
[ "${TURNPIKE_DEBUG:-0}" = 0 ] || connections=360 least=300
ready=${TMPDIR:-/tmp}/tlt-ready.$$
verdicts=${TMPDIR:-/tmp}/tlt-verdicts.$$

# Connections with bytes that are not acknowledged.
in_flight() { in_a ss -Htn dport = $port | awk '$3 > 0' | wc -l; }
flows_known() { tlt_flows "$a" | grep -c "remote_port $port peer tlt"; }

begin() {
	rm -f "$ready"
	ip netns exec "$a" "$many" send "$1" --connections $connections --bytes 20000 \
		--ready "$ready" > "$verdicts" 2>&1 &
	sender=$!
	wait_for "the connections" test -e "$ready" && wait_for "bytes in flight" are_in_flight
}

are_in_flight() { [ "$(in_flight)" -ge $least ]; }

ends_well() {
	wait $sender
	_status=$?
	cat "$verdicts"
	[ $_status = 0 ] && grep -q " right=$connections " "$verdicts"
}

# Counters are those of the module that came last: it has the flows that go on.
goes_and_comes() {
	unload_module || return 1
	_between=$(in_flight)
	load_module && tlt_on || return 1
	echo "in flight without the module $_between"
	[ "$_between" -ge $least ]
}

survive() {
	begin "$1" || return 1
	_before=$(in_flight) _known=$(flows_known)
	echo "in flight $_before, known $_known"
	[ "$_before" -ge $least ] && [ "$_known" -ge $least ] && goes_and_comes
	_gone=$?
	ends_well && [ $_gone = 0 ] && echo "important after that $(sent data)" &&
		[ "$(sent data)" -gt $((least / 4)) ]
}

unload__with_thousands_in_flight() { survive 10.1.0.2; }
unload__with_thousands_in_flight_ipv6() { survive fd01::2; }

# The queue is shorter than what all send at once.
ktap_start
need_module
make_hosts && path delay 5ms rate 300mbit limit 1500 || ktap_fail "hosts__made"
trap 'drop_hosts; unload_module' EXIT
tlt_on || ktap_fail "tlt__set"
receive_in "$b" "$many" serve || ktap_fail "receiver__starts"
run_cases "$@"
finish_hosts
