#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# turnpike check: traffic without and with a profile, by turns, and all is put back, whatever ends it. Nothing is said of
# how fast it is: only that each turn had the settings that it says.

# shellcheck source=selftests/setup/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

# The narrow place of the path, as a switch of few buffers would be.
shape() { in_a tc qdisc replace dev veth0 root tbf rate 50mbit burst 20kb limit 60kb; }
no_shape() { in_a tc qdisc del dev veth0 root; }

# serve [NETWORKS]: for hosts of these, on host b, on a port that is free; $port is that
server=
serve() {
	ip netns exec "$b" "$turnpike" check --serve --port 0 --allow "${1:-10.1.0.0/24,fd01::/64}" > "$work/served" 2>&1 &
	server=$!
	wait_for "the server" grep -q "on port" "$work/served" && port=$(sed -n 's/.* on port \([0-9]*\);.*/\1/p' "$work/served")
}

# Asked to end, it ends well.
served() {
	kill -TERM "$server"
	wait "$server"
	ended=$?
	cat "$work/served"
	[ $ended = 0 ] || { echo "the server ended with $ended"; return 1; }
}

check() { in_a "$turnpike" check "$@"; }

# turns_had COMMAND: in $json, of each turn
turns_had() {
	python3 -c '
import json, sys
found = json.load(sys.stdin)
turns = found["turns"]
assert len(turns) == 6, len(turns)
assert [turn["setting"] for turn in turns] == ["as_is", "with_profile", "with_profile", "as_is"] + ["as_is", "with_profile"]
own, profile = ([turn for turn in turns if turn["setting"] == name] for name in ("as_is", "with_profile"))
assert all(turn["requests"] >= 50 and turn["throughput_bps"] > 0 for turn in turns), turns
assert found["worth_it"] in ("yes", "no", "unclear") and found["verdict"], found
'"$1" <<< "$json"
}

check__compares_and_puts_all_back() {
	shape && serve || return 1
	before=$(picture)
	default=$(in_a sysctl -n net.ipv4.tcp_congestion_control)
	json=$(check 10.1.0.2 --port "$port" --for 6s --rounds 3 -j)
	status=$?
	after=$(picture)
	wait_for "the end of the session" grep -q "10.1.0.1 is done" "$work/served" && served || return 1
	no_shape
	echo "$json"
	diff <(echo "$before") <(echo "$after") && [ ! -e /sys/module/tcp_timely ] && [ $status -le 1 ] && turns_had "
assert {turn['congestion'] for turn in own} == {'$default'}, own
assert {turn['congestion'] for turn in profile} == {'timely'}, profile
"
}

# `script' is a terminal, of 40 columns here. A table does not fold.
check__folds_its_sentences_on_a_terminal() {
	shape && serve || return 1
	in_a script -qec "stty cols 40; '$turnpike' check 10.1.0.2 --port $port --for 6s --rounds 3" /dev/null | tr -d '\r' > "$work/terminal"
	wait_for "the end of the session" grep -q "10.1.0.1 is done" "$work/served" && served || return 1
	no_shape
	cat "$work/terminal"
	grep -qE "^as it is.{33}" "$work/terminal" && grep -q "^p99 with timely" "$work/terminal" &&
		! sed '1,/^with timely/d' "$work/terminal" | grep -qE "^.{41}"
}

# A guest's clock stands still while it is busy: acknowledgements have a narrow place, or data flows for ever at once.
check__of_a_qdisc_over_ipv6() {
	in_b tc qdisc replace dev veth0 root tbf rate 5mbit burst 20kb limit 60kb && serve || return 1
	before=$(picture)
	json=$(check fd01::2 --port "$port" --for 6s --rounds 3 --profile onramp -j)
	status=$?
	after=$(picture)
	in_b tc qdisc del dev veth0 root
	served || return 1
	echo "$json"
	diff <(echo "$before") <(echo "$after") && [ ! -e /sys/module/sch_onramp ] && [ $status -le 1 ] && turns_had "
assert {turn['qdisc'] for turn in own} == {'noqueue'}, own
assert {turn['qdisc'] for turn in profile} == {'onramp'}, profile
"
}

# What has TLT does not show in a qdisc or a congestion control.
check__of_tlt() {
	shape && serve || return 1
	before=$(picture)
	default=$(in_a sysctl -n net.ipv4.tcp_congestion_control)
	json=$(check 10.1.0.2 --port "$port" --for 6s --rounds 3 --profile tlt -j)
	status=$?
	after=$(picture)
	no_shape
	served || return 1
	echo "$json"
	diff <(echo "$before") <(echo "$after") && [ ! -e /sys/module/tlt ] && [ $status -le 1 ] && turns_had "
assert not any(turn['tlt'] for turn in own), own
assert all(turn['tlt'] for turn in profile), profile
assert {turn['congestion'] for turn in turns} == {'$default'}, turns
assert {turn['qdisc'] for turn in turns} == {'tbf'}, turns
"
}

# The narrow place is on host b's side, as onramp takes no place of tbf.
check__of_all() {
	in_b tc qdisc replace dev veth0 root tbf rate 5mbit burst 20kb limit 60kb && serve || return 1
	before=$(picture)
	json=$(check 10.1.0.2 --port "$port" --for 6s --rounds 3 --profile all -j)
	status=$?
	after=$(picture)
	in_b tc qdisc del dev veth0 root
	served || return 1
	echo "$json"
	diff <(echo "$before") <(echo "$after") && [ $status -le 1 ] && [ ! -e /sys/module/tcp_timely ] &&
		[ ! -e /sys/module/sch_onramp ] && [ ! -e /sys/module/tlt ] && turns_had "
assert {(turn['qdisc'], turn['tlt']) for turn in own} == {('noqueue', False)}, own
assert {(turn['congestion'], turn['qdisc'], turn['tlt']) for turn in profile} == {('timely', 'onramp', True)}, profile
"
}

profile_is_on() { [[ $(ip -n "$a" route show 10.1.0.2) == *"congctl timely"* ]]; }

# ended_by WHAT COMMAND...: a check is on with its profile when the command comes; all is put back, and it says WHAT
ended_by() {
	says=$1
	shape && serve || return 1
	before=$(picture)
	# A background job of a shell without job control ignores SIGINT.
	ip netns exec "$a" python3 -c '
import os, signal, sys
for number in (signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
' "$turnpike" check 10.1.0.2 --port "$port" --for 500s --rounds 50 > "$work/out" 2>&1 &
	checker=$!
	wait_for "a turn with the profile" profile_is_on || { cat "$work/out"; return 1; }
	"${@:2}"
	wait "$checker"
	status=$?
	cat "$work/out"
	after=$(picture)
	no_shape
	diff <(echo "$before") <(echo "$after") && [ ! -e /sys/module/tcp_timely ] && [[ $(cat "$work/out") == *"$says"* ]]
}

signal_checker() { kill -"$1" "$checker"; }

check__signals_put_back() {
	for one in INT:130 TERM:143 HUP:129; do
		ended_by "stopped by SIG${one%:*}; all is as it was" signal_checker "${one%:*}" && [ $status = "${one#*:}" ] && served ||
			return 1
	done
}

kill_server() { kill -KILL "$server"; wait "$server" 2> /dev/null; }

check__peer_that_dies() { ended_by "went away" kill_server && [ $status = 2 ]; }

check__no_rights() {
	command -v setpriv > /dev/null || { echo "setpriv is missing"; return 4; }
	serve || return 1
	refused_with "needs root" in_a setpriv --reuid=65534 --clear-groups "$turnpike" check 10.1.0.2 --port "$port" &&
		refused_with "needs CAP_NET_ADMIN" in_a setpriv --bounding-set=-net_admin --inh-caps=-net_admin "$turnpike" \
			check 10.1.0.2 --port "$port"
	status=$?
	# Nothing was sent to the peer.
	served && [ $status = 0 ] && [[ $(cat "$work/served") != *"10.1.0.1 checks"* ]]
}

check__peer_missing() {
	refused_with "start 'turnpike check --serve' there" check 10.1.0.2 --port 9 &&
		refused_with "10.1.0.1 is this host itself" check 10.1.0.1 --port 9 &&
		refused_with "--for 10: 2.00 s to 600 s" check 10.1.0.2 --port 9 --for 10
}

# speaks TEXT: on host b somebody else listens, on $port
speaks() {
	rm -f "$work/port"
	ip netns exec "$b" python3 -c '
import os, socket, sys
listener = socket.create_server(("", 0))
with open(sys.argv[2] + ".new", "w") as file:
    file.write(str(listener.getsockname()[1]))
os.rename(sys.argv[2] + ".new", sys.argv[2])
peer = listener.accept()[0]
peer.sendall(sys.argv[1].encode())
peer.recv(1000)
' "$1" "$work/port" &
	server=$!
	wait_for "another server" test -e "$work/port" && port=$(cat "$work/port")
}

check__peer_speaks_something_else() {
	speaks $'SSH-2.0-OpenSSH_9.2\r\n' && refused_with "something else listens at 10.1.0.2 port" check 10.1.0.2 --port "$port" || return 1
	wait "$server"
	speaks '' && refused_with "closed the connection" check 10.1.0.2 --port "$port"
}

check__refuses_while_up_stands() {
	up veth0 --for 10.1.0.0/24 > /dev/null || return 1
	serve && refused_with "'turnpike down' first" check 10.1.0.2 --port "$port"
	status=$?
	served && [ $status = 0 ] && [[ $(cat "$work/served") != *"10.1.0.1 checks"* ]]
}

# asks LINE NETNS: what the server says to it
asks() {
	ip netns exec "$2" python3 -c '
import socket, sys
peer = socket.create_connection(("10.1.0.2", int(sys.argv[2])))
peer.sendall(sys.argv[1].encode() + b"\n")
try:
    sys.stdout.write(peer.recv(1000).decode())
except ConnectionResetError:
    pass
' "$1" "$port"
}

serve__says_nothing_to_strangers() {
	serve || return 1
	said=$(asks "turnpike-check 1 open" "$a"; asks "GET / HTTP/1.1" "$a"; asks "turnpike-check 1 bulk ffff" "$a")
	served
	echo "$said"
	[[ $said =~ ^"turnpike-check 1 token "[0-9a-f]{32}$ ]] || return 1
	serve 10.9.0.0/16 || return 1
	said=$(asks "turnpike-check 1 open" "$a")
	served
	[ -z "$said" ]
}

make_host || { ktap_fail "hosts__are_made"; ktap_finish; }
trap 'clean_up; drop_hosts' EXIT
run_cases "$@"
ktap_finish
