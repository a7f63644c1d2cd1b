#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# TLT beside a stateful firewall that drops what conntrack calls invalid, and an address of a
# service that the sending host translates, as Kubernetes does, on a path that loses and reorders.

# shellcheck source=selftests/tlt/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

command -v nft > /dev/null || skip_all "needs nft"

# A service: no host has this address.
service=10.96.0.1
streams=5
bytes=2000000

firewall() {
	ip netns exec "$1" sysctl -q -w net.netfilter.nf_conntrack_tcp_be_liberal=0 \
		net.netfilter.nf_conntrack_checksum=1
	ip netns exec "$1" nft -f - <<-END
	table ip firewall {
		chain input {
			type filter hook input priority 0; policy accept;
			ct state invalid counter drop
		}
		chain output {
			type filter hook output priority 0; policy accept;
			ct state invalid counter drop
		}
	}
	END
}

translate() {
	in_a ip route add "$service" via 10.1.0.2 && in_a nft -f - <<-END
	table ip service {
		chain output {
			type nat hook output priority -100; policy accept;
			ip daddr $service tcp dport { 80, $port } dnat to 10.1.0.2:$port
		}
	}
	END
}

# Packets that were called invalid, at both ends.
invalid() {
	{ in_a nft list table ip firewall && in_b nft list table ip firewall; } |
		sed -n 's/.*ct state invalid counter packets \([0-9]*\).*/\1/p' | awk '{ n += $1 } END { print n + 0 }'
}

# sent ADDRESS [PORT]: all arrives, and conntrack finds nothing wrong
sent() {
	_before=$(invalid)
	in_a timeout 60 "$stream" send "$1" --port "${2:-$port}" --seed 1 --bytes $bytes --repeat $streams || return 1
	_invalid=$(($(invalid) - _before))
	echo "$_invalid packets were invalid"
	[ "$_invalid" -eq 0 ]
}

# Its important data is marked, and the marks do their work.
with_tlt() {
	tlt_on && _important=$(received data "$b") || return 1
	sent "$@" || return 1
	_important=$(($(received data "$b") - _important))
	echo "$_important important packets came"
	[ "$_important" -ge $streams ]
}

# A segment without a checksum: what is counted can be counted.
firewall__drops_what_is_invalid() {
	_before=$(invalid)
	in_a python3 -c '
import socket, struct
with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP) as s:
    s.sendto(struct.pack(">HHLLBBHHH", 9, 9, 1, 0, 0x50, 2, 1000, 0, 0), ("10.1.0.2", 0))' || return 1
	wait_for "an invalid packet" invalid_is_more_than "$_before"
}

invalid_is_more_than() { [ "$(invalid)" -gt "$1" ]; }

host__without_tlt() { tlt_off && sent 10.1.0.2; }
host__with_tlt() { with_tlt 10.1.0.2; }
service__without_tlt() { tlt_off && sent $service; }
service__with_tlt() { with_tlt $service; }

# Packets that leave have the new port, those that come the old one: rules name both.
service__on_another_port() { with_tlt $service 80; }

ktap_start
need_module
make_hosts && path delay 100us loss 1% reorder 2% 50% || ktap_fail "hosts__made"
trap 'drop_hosts; unload_module' EXIT
firewall "$a" 2> "$TMPDIR/said" && firewall "$b" && translate || {
	cat "$TMPDIR/said" >&2
	ktap_fail "firewall__made"
}
tlt_on || ktap_fail "tlt__set"
start_server --parallel || ktap_fail "receiver__starts"
run_cases "$@"
finish_hosts
