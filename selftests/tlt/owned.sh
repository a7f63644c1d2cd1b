#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A process that keeps its socket's lock for seconds, waiting for memory: TLT has something to
# answer on that socket, and ends all the same; meanwhile other connections have their answers.

# shellcheck source=selftests/tlt/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

owned=$here/owned.py
port=5300
read_file=${TMPDIR:-/tmp}/tlt-held.$$

# A device whose second packet waits for twenty seconds, and a reader that waits for it. (netem
# would do, but on 6.1 the packet's socket does not know that it is still there.)
hold() {
	in_b ip link del slow 2> /dev/null
	in_b ip link add slow type veth peer name fast &&
		in_b sysctl -q -w net.ipv6.conf.slow.disable_ipv6=1 &&
		in_b tc qdisc add dev slow root tbf rate 24bit burst 64 limit 1000 &&
		in_b ip link set slow up && in_b ip link set fast up || return 1
	: > "$read_file"
	ip netns exec "$b" "$owned" receive $port slow > "$read_file" 2>&1 &
	holder=$!
	receiver_netns=$b
	wait_for "the reader" listening || return 1
	in_a "$owned" send 10.1.0.2 $port > /dev/null 2>&1 &
	sleep 2.5
}

is_held() { kill -0 "$holder" && [ ! -s "$read_file" ]; }

now_ms() { date +%s%3N; }

held__tlt_ends_at_once() {
	hold || return 1
	_start=$(now_ms)
	tlt_off && unload_module || return 1
	_took=$(($(now_ms) - _start))
	echo "took $_took ms"
	is_held || { echo "not held: $(cat "$read_file")"; return 1; }
	wait "$holder"
	cat "$read_file"
	load_module && [ "$_took" -lt 2000 ] && grep -q '^read' "$read_file"
}

held__others_are_answered() {
	tlt_on && port=5100 && start_server || return 1
	port=5300 && hold || return 1
	_answers=$(counter answers "$b")
	in_a "$stream" send 10.1.0.2 --seed 1 --bytes 1000000 || return 1
	_answers=$(($(counter answers "$b") - _answers))
	is_held || { echo "not held: $(cat "$read_file")"; return 1; }
	wait "$holder"
	echo "answers $_answers"
	[ "$_answers" -gt 0 ]
}

ktap_start
need_module
make_hosts
trap 'rm -f "$read_file"; drop_hosts; unload_module' EXIT
path delay 100us || ktap_fail "netem"
tlt_on || ktap_fail "tlt__set"
run_cases "$@"
finish_hosts
