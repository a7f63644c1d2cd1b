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

# tlt_on [OPTION...]: at both ends, for all TCP if there is no rule
tlt_on() {
	case " $* " in
	*" --rule "*) ;;
	*) set -- --all "$@" ;;
	esac
	in_a "$turnpike" tlt set "$@" && in_b "$turnpike" tlt set "$@"
}

# tlt_flows NETNS: a line each, as "local ... local_port ... "
tlt_flows() { ip netns exec "$1" "$turnpike" tlt flows -j | json_lines; }

tlt_off() {
	in_a "$turnpike" tlt off && in_b "$turnpike" tlt off
}

# path NETEM...: what netem does to the packets of both directions
path() { path_from in_a "$@" && path_from in_b "$@"; }

# Made anew: one that is changed keeps the rate it had.
path_from() {
	"$1" tc qdisc del dev veth0 root 2> /dev/null
	"$1" tc qdisc add dev veth0 root netem limit 10000 "${@:2}"
}

# path_behind NETEM...: the same behind the cable: what is seen in $a leaves or arrives just now
path_behind() {
	path_behind_ends 2> /dev/null
	in_b ip link add ifb0 type ifb && in_b ip link set ifb0 up &&
		in_b tc qdisc add dev veth0 ingress &&
		in_b tc filter add dev veth0 ingress prio 9 matchall action mirred egress redirect dev ifb0 &&
		in_b tc qdisc add dev ifb0 root netem limit 10000 "$@" &&
		in_b tc qdisc add dev veth0 root netem limit 10000 "$@"
}

path_behind_ends() {
	in_b tc qdisc del dev veth0 ingress
	in_b tc qdisc del dev veth0 root
	in_b ip link del ifb0
}

# watches SCRIPT NETNS FILE: on the cable's end there; watches_no_more: FILE is written
watches() {
	rm -f "$3" "$3.ready"
	ip netns exec "$2" "$here/$1" veth0 "$3" &
	watcher=$!
	wait_for "the watcher" test -e "$3.ready"
}

watches_no_more() {
	kill -TERM $watcher
	wait $watcher 2>/dev/null
}

# counts_of_flow_are_right SEEN NETNS: those of the connection that watch.py saw from its first
# packet to now; $flow_port is the sender's port
counts_of_flow_are_right() {
	# That of most bytes: an older one may still be ending.
	flow_port=$(awk -v known=$port '$1 == "from" && $2 != known { print $5, $2 }' "$1" |
		sort -n | tail -n 1 | cut -d' ' -f2)
	_ports="$flow_port $port"
	[ "$2" = "$a" ] || _ports="$port $flow_port"
	ip netns exec "$2" "$turnpike" tlt flows -j > "$1.flows" || return 1
	# shellcheck disable=SC2086  # two words
	"$here/flow_counts.py" "$1" "$1.flows" $_ports
}

start_server() { receive_in "$b" "$stream" serve "$@"; }

stop_server() {
	end_receiver
	wait_for "the end of the receiver" not_listening
}

not_listening() { ! listening; }

# background [COUNT [BYTES]]: such streams on their way
senders=
background() {
	senders=
	for i in $(seq "${1:-8}"); do
		ip netns exec "$a" "$stream" send 10.1.0.2 --seed "$i" --bytes "${2:-2000000}" \
			--timeout 300 > /dev/null 2>&1 &
		senders="$senders $!"
	done
	wait_for "flows" flows_are_up
}

flows_are_up() { [ "$(in_a ss -Htn dport = $port | grep -c ESTAB)" -ge 2 ]; }

# All streams are right.
background_ends_well() {
	_bad=0
	for sender in $senders; do
		wait "$sender" || _bad=1
	done
	return $_bad
}

background_ends() {
	# shellcheck disable=SC2086  # a list
	kill $senders 2>/dev/null
	# shellcheck disable=SC2086
	wait $senders 2>/dev/null
	return 0
}

# counter NAME [NETNS]: of the sending host
counter() { ip netns exec "${2:-$a}" "$turnpike" tlt stats -j | json_lines | sed -n "s/^$1 //p"; }

# sent KIND [NETNS], received KIND [NETNS]: packets
sent() { counter "sent.$1.packets" "${2:-}"; }
received() { counter "received.$1" "${2:-}"; }
