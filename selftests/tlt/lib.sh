# SPDX-License-Identifier: GPL-2.0
# What the tests of tlt share; the two hosts are those of selftests/lib/hosts.sh.
# TURNPIKE_BUILD names the directory with the turnpike command; without it the
# installed one is taken.
# shellcheck shell=bash disable=SC2034

here=$(dirname "$(readlink -f "$0")")
module=tlt
port=5100
# shellcheck source=selftests/lib/hosts.sh
. "$here/../lib/hosts.sh"

stream=$here/stream.py
turnpike=turnpike
[ -z "${TURNPIKE_BUILD:-}" ] || turnpike=$TURNPIKE_BUILD/turnpike
command -v "$turnpike" > /dev/null || skip_all "needs the turnpike command"

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

start_server() { receive_in "$b" "$stream" serve "$@"; }

stop_server() {
	end_receiver
	wait_for "the end of the receiver" not_listening
}

not_listening() { ! listening; }

# counter NAME [NETNS]: of the sending host
counter() { ip netns exec "${2:-$a}" "$turnpike" tlt stats | sed -n "s/^$1 //p"; }

# sent KIND [NETNS], received KIND [NETNS]: packets
sent() { counter "sent $1 packets" "${2:-}" | cut -d' ' -f1; }
received() { counter "sent $1" "${2:-}" | sed 's/.*received //'; }
