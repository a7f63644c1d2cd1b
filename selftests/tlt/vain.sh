#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Clocking that achieves nothing slows down: a receiver whose TLT echoes what its TCP never
# gets, since a firewall behind TLT drops it.

# shellcheck source=selftests/tlt/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

nft=$here/../lib/nft.py
last=2147483647

# Of the hooks of one priority those that were there before come after.
receiver_with_firewall() { in_b "$nft" count in $last && in_b "$turnpike" tlt set --all; }

injected() { echo $(($(counter injected_byte) + $(counter injected_segment))); }

# A stream with pauses: there is data to send at any time.
start_stream() {
	in_a "$stream" send 10.1.0.2 --seed 1 --bytes 3000000 --write 20000 --pause 0.02 \
		--timeout 300 > /dev/null 2>&1 &
	sender=$!
	wait_for "a connection" is_connected && sleep 0.2
}

is_connected() { in_a ss -Htn dport = $port | grep -q ESTAB; }

# Without a bound 3 s have 30000 round trips, each with a packet of clocking.
vain__receiver_that_drops_is_not_flooded() {
	start_stream || return 1
	_before=$(injected) _limited=$(counter inject_limited) _echoes=$(received clock-echo)
	in_b "$nft" refuse && sleep 3
	_injected=$(($(injected) - _before)) _limited=$(($(counter inject_limited) - _limited))
	_echoes=$(($(received clock-echo) - _echoes))
	in_b "$nft" drop
	echo "injected $_injected, echoed $_echoes, limited $_limited"
	wait "$sender" || return 1
	[ $_injected -ge 8 ] && [ $_injected -le 40 ] && [ $_echoes -ge 8 ] && [ $_limited -gt 0 ]
}

# And is as fast as ever where data is delivered again.
vain__ends_with_the_first_data_delivered() {
	path delay 50us loss 1%
	_before=$(injected)
	in_a "$stream" send 10.1.0.2 --seed 2 --bytes 1000000 --repeat 10 || return 1
	echo "injected $(($(injected) - _before))"
	path delay 50us
	[ "$(injected)" -gt "$_before" ]
}

# This host drops what clocking sends: nothing waits for an echo of it, and the next data is
# important. (Where the flow waited, 48 packets were for 17 that failed; else 129 for 19.)
failed__injection_is_taken_back() {
	path delay 50us loss 2%
	in_a tc qdisc add dev veth0 clsact && in_a tc filter add dev veth0 egress protocol ip \
		flower ip_proto tcp ip_tos 0x2c/0xfc action drop || return 1
	_failed=$(counter inject_failed) _data=$(sent data)
	in_a "$stream" send 10.1.0.2 --seed 3 --bytes 1000000 --repeat 10
	_status=$?
	in_a tc qdisc del dev veth0 clsact
	path delay 50us
	_failed=$(($(counter inject_failed) - _failed)) _data=$(($(sent data) - _data))
	echo "failed $_failed, important $_data"
	[ $_status = 0 ] && [ $_failed -gt 5 ] && [ $_data -gt $((_failed * 4)) ]
}

ktap_start
need_module
make_hosts
trap 'drop_hosts; unload_module' EXIT
path delay 50us || ktap_fail "netem"
in_a "$turnpike" tlt set --all && receiver_with_firewall || ktap_fail "tlt__set"
start_server --parallel || ktap_fail "receiver__starts"
run_cases "$@"
finish_hosts
