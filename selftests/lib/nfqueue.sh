# SPDX-License-Identifier: GPL-2.0
# Packets that a program lets pass, by a rule of nftables: they go on in its context, with bottom
# halves on. Who sources this has set $here, and wait_for (selftests/lib/hosts.sh).
# shellcheck shell=bash disable=SC2154

nft=$here/../lib/nft.py
# Before all others: a hook of the same priority as one that is there goes before it.
first=-2147483648

# queued NETNS HOOK COMMAND...: while what passes there goes through a program
queued() {
	ip netns exec "$1" "$nft" queue "$2" $first || return
	ip netns exec "$1" "$nft" accept > "$TMPDIR/queue" &
	_queue=$!
	wait_for "the program" grep -q ready "$TMPDIR/queue" && "${@:3}"
	_queued=$?
	kill $_queue
	wait $_queue 2> /dev/null
	ip netns exec "$1" "$nft" drop
	return $_queued
}
