#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Why there is no feedback: what turnpike onramp peers and flows say at the sender, and at the host that it sends to.

# shellcheck source=selftests/sch_onramp/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

command -v turnpike > /dev/null || skip_all "needs the turnpike command"
key_file=$TMPDIR/key
echo 00112233445566778899aabbccddeeff > "$key_file"

# at_a|at_b WORDS COMMAND: the words are in what turnpike onramp COMMAND says there
at() {
	_out=$(ip netns exec "$1" turnpike onramp "$3" 2>&1)
	echo "$_out"
	[[ $_out == *"$2"* ]] || { echo "not said by $3: $2"; return 1; }
}
at_a() { at "$a" "$@"; }
at_b() { at "$b" "$@"; }

# unheard: data goes to b, which sends no receipt
unheard() {
	drop_hosts
	make_path && start_sink && "$@" && onramp feedback orack && background 3 && wait_for "announcements" was_asked
}

was_asked() { [ "$(json_value announced "$(in_a turnpike onramp stats -j)")" -ge 2 ]; }

# Without a module of its own, or with it and without onramp on a device: no program has the port.
silence__peer_without_onramp() {
	unheard true || return 1
	at_a "no receipts from 10.1.0.2: no program there has UDP port 61004" peers &&
		at_a "next, at 10.1.0.2: turnpike doctor" flows && at_b "no device of this host has the qdisc onramp" peers
}

with_a_firewall() {
	acker on && in_b nft -f - <<-END
		table inet wall {
			chain in {
				type filter hook input priority 0;
				udp dport 61004 drop
			}
		}
	END
}

silence__firewall_drops_the_port() {
	command -v nft > /dev/null || { echo "needs nft"; return 4; }
	unheard with_a_firewall || return 1
	at_a "no receipts from 10.1.0.2: nothing came back: a firewall drops UDP port 61004" peers &&
		at_a "next, at 10.1.0.2: turnpike onramp peers" flows &&
		at_b "or a firewall drops UDP port 61004" peers
}

key_at() { ip netns exec "$1" turnpike onramp key add 1 "$key_file"; }

with_a_key_there() { acker on && key_at "$b"; }
with_a_key_here() { acker on && onramp feedback orack && key_at "$a"; }

silence__key_at_the_receiver_alone() {
	unheard with_a_key_there || return 1
	at_a "it has a key and this host has none" peers && at_b "datagrams without this host's key were refused" peers &&
		at_b "next, at the sender: turnpike onramp key load" peers
}

silence__key_at_the_sender_alone() {
	unheard with_a_key_here || return 1
	at_a "it has no key or another one" peers &&
		at_b "signed datagrams were refused: this host has no key" peers && at_b "next, here: turnpike onramp key load" peers
}

# Data goes both ways: what the other host asks with is refused here, too.
silence__key_is_told_by_what_the_peer_sends() {
	unheard with_a_key_there || return 1
	tc -n "$b" qdisc replace dev veth0 root onramp feedback orack || return 1
	ip netns exec "$a" "$traffic" sink --port 5002 > /dev/null 2>&1 &
	_sink=$!
	wait_for "the other sink" other_sink || return 1
	# shellcheck disable=SC2086  # words
	in_b "$traffic" send 10.1.0.1 --port 5002 --seconds 0.5 $rate > /dev/null
	at_a "signed datagrams were refused: this host has no key, and others have one; next, here" peers
	_code=$?
	kill $_sink
	return $_code
}
other_sink() { [ -n "$(ss -N "$a" -Htln sport = 5002)" ]; }

with_the_port_taken() {
	ip netns exec "$b" python3 -c 'import socket, time
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.bind(("::", 61004))
time.sleep(60)' &
	wait_for "the program" port_is_taken && acker on
}
port_is_taken() { [ -n "$(ss -N "$b" -Huln sport = 61004)" ]; }

silence__port_taken_by_another_program() {
	unheard with_the_port_taken || return 1
	at_a "or another program there has the port; next, at 10.1.0.2: turnpike onramp peers" peers &&
		at_b "another program of this host has UDP port 61004" peers && at_b "ss -ulnp sport = :61004" flows
}

silence__nothing_was_sent_or_asked_for() {
	drop_hosts
	make_path || return 1
	at_a "no device of this host has the qdisc onramp" flows && at_a "turnpike up DEV --profile onramp" peers &&
		onramp && at_a "no connection sent data to a host" flows && at_a "no host was asked" peers || return 1
	! tcp_has_usec || { onramp feedback tcpts && at_a "goes by TCP timestamps alone" peers; }
}

# With receipts there is nothing to say.
silence__not_with_feedback() {
	unheard acker on || return 1
	wait_for "receipts" has_samples || return 1
	_out=$(in_a turnpike onramp peers; in_a turnpike onramp flows)
	echo "$_out"
	[[ $_out == *orack* && $_out != *"no receipts"* && $_out != *"no feedback"* ]]
}
has_samples() { [ "$(counter samples)" -gt 0 ]; }

begin_on_path
run_cases "$@"
finish_hosts
