#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# OR-ACKs that are refused: each reason of Documentation/onramp-wire.rst, by datagrams that have
# one thing wrong, and nothing else is counted or done. (refused_unstamped takes a NIC that
# stamps: selftests/vrack/tests/departure.py.)

# shellcheck source=selftests/sch_onramp/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

command -v turnpike > /dev/null || skip_all "needs the turnpike command"

refuse=$here/refuse.py

# All at once: what a connection and a program take to begin is most of the time.
send_each() {
	in_b ip addr add 10.1.0.3/24 dev veth0 && onramp threshold 50us feedback orack &&
		"$refuse" each "$a" "$b" "$(command -v turnpike)" > "$TMPDIR/refused"
}

# counted CASE NAME=N...: that, and nothing more
counted() {
	_line=$(grep "^$1 " "$TMPDIR/refused")
	[ "$_line" = "$*" ] || { echo "$_line"; return 1; }
}

refused__none_of_a_good_one() { counted none receipts_taken=1 samples=1; }

refused__port() { counted port refused_port=3; }

refused__length() { counted length refused_length=5; }

refused__version() { counted version refused_version=3; }

refused__kind() { counted kind refused_kind=3; }

refused__count() { counted count refused_count=4; }

refused__value() { counted value refused_value=10; }

refused__key() { counted key_unknown refused_key=3; }

refused__mac() { counted mac refused_mac=1; }

refused__replay_of_an_announcement() {
	counted replay_of_announcement announcements_taken=1 refused_replay=2
}

refused__announcement_without_a_connection() {
	counted announcement_of_anybody announcements_taken=3 refused_flow=4
}

refused__announcements_beyond_the_rate() {
	counted announcements_at_once announcements_taken=120 refused_rate=10
}

refused__announcements_of_nobody_and_no_others() {
	counted announcements_of_nobody announcements_taken=1 refused_flow=200
}

refused__none_of_a_host_for_what_nobody_said() { counted announcements_ahead announcements_taken=132; }

refused__price_twice_and_too_soon() { counted price refused_replay=1 refused_rate=1 prices_sent=1 prices_taken=1; }

refused__price_of_no_flow() { counted price_of_no_flow refused_flow=1; }

# Each that is taken is answered.
refused__none_of_prices_in_time() { counted price_is_answered prices_sent=3 prices_taken=3; }

refused__price_of_nobody() { counted price_of_nobody refused_replay=1 refused_peer=2; }

refused__replay_of_a_clock() { counted replay_of_clock refused_replay=1 clocks_taken=3; }

refused__clock_that_is_not_of_its_receipts() { counted clock_of_nobody refused_peer=1; }

refused__peer() { counted peer refused_peer=3; }

# Who announced himself is known, and still nothing of him was asked for.
refused__receipts_unasked() { counted receipts_unasked announcements_taken=1 refused_peer=2; }

refused__rate() { counted rate receipts_taken=1000 refused_rate=3 refused_sequence=1000; }

refused__flow() { counted flow_unknown receipts_taken=1 samples=1 refused_flow=2; }

refused__sequence() { counted sequence receipts_taken=1 samples=1 refused_sequence=3; }

refused__ambiguous() { counted ambiguous receipts_taken=1 refused_ambiguous=1; }

refused__time() { counted time receipts_taken=1 refused_time=1; }

# One more than there is room for, and hosts that are known already go on.
refused__full() {
	onramp feedback orack && in_b ip -6 route add local fd02::/64 dev lo &&
		in_b sysctl -q -w net.ipv6.ip_nonlocal_bind=1 &&
		in_a ip -6 route add fd02::/64 via fd01::2 || return 1
	_before=$(in_a turnpike onramp stats -j)
	"$refuse" full "$a" "$b" 8194 || return 1
	_after=$(in_a turnpike onramp stats -j)
	for _name in announcements_taken refused_full; do
		echo "$_name $(($(json_value $_name "$_after") - $(json_value $_name "$_before")))"
	done | tee "$TMPDIR/full"
	[ "$(tr '\n' ' ' < "$TMPDIR/full")" = "announcements_taken 8192 refused_full 2 " ]
}

ktap_start
need_module
trap 'drop_hosts; unload_module' EXIT
make_path || ktap_fail "hosts__set_up"
ktap_case "datagrams__are_sent" send_each
run_cases "$@"
finish_hosts
