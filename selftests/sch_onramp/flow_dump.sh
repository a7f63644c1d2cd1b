#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What is shown of flows that are held, and of the delays to peers.

# shellcheck source=selftests/sch_onramp/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

command -v turnpike > /dev/null || skip_all "needs the turnpike command"
# Both ends of thousands of connections.
ulimit -n 16384

[ "${TURNPIKE_DEBUG:-0}" = 1 ] && many=300 few=200 || many=3000 few=1000

# flows [OPTION...]: of the first host
flows() { in_a turnpike onramp flows -j "$@"; }

# of_flows EXPRESSION [JSON]: of the list `flows', in Python; true and false as 1 and 0
of_flows() {
	echo "${2:-$list}" | /usr/bin/python3 -c '
import json, sys
flows = json.load(sys.stdin)
print(int(eval(sys.argv[1])))' "$1"
}

# holds EXPRESSION: of the list, which is shown if it does not
holds() { [ "$(of_flows "$1")" = 1 ] || { echo "not so: $1"; echo "$list" | head -n 60; return 1; }; }

# Ports of the first host's connections, a line each.
ports() { ss -N "$a" -Htn state established dport = 5001 | awk '{ sub(".*:", "", $3); print $3 }' | sort -n; }

# shown ADDRESS SOURCE: four connections to there are what is shown. Some have few samples: so little data
# has a receipt only behind other data.
shown() {
	ip netns exec "$a" "$traffic" send "$1" --flows 4 --seconds 60 --abort --max-pacing 2500000 > /dev/null 2>&1 &
	sender=$!
	wait_for "flows" flows_are_up && sleep 0.3
	list=$(flows) && text=$(in_a turnpike onramp flows)
	_want=$(ports | tr '\n' ,) && _device=$(in_a tc qdisc show dev veth0 root | cut -d' ' -f3)
	stop_sender
	wait_for "the flows' end" no_flow_is_left || return 1
	echo "ports $_want qdisc $_device"
	holds "sorted(f['local_port'] for f in flows) == [${_want%,}]" &&
		holds "all(f['remote'] == '$1' and f['remote_port'] == 5001 for f in flows)" &&
		holds "all(f['dev'] == 'veth0' and f['qdisc'] == '$_device' for f in flows)" &&
		holds "all(f['parent'] == 'root' and not f['coarse'] for f in flows)" &&
		holds "all(f['source'] == '$2' and f['samples'] > 0 for f in flows)" &&
		holds "sum(f['samples'] for f in flows) > 100" &&
		holds "all(f['feedback_age_ns'] < 10**9 for f in flows)" &&
		[ "$(echo "$text" | wc -l)" = 5 ] && echo "$text"
}

flows__of_receipts_are_shown() {
	acker on && onramp threshold 200us feedback orack && shown 10.1.0.2 orack &&
		holds "all(f['grade'] == 'c' and f['base_owd_ns'] is None for f in flows)"
}

flows__of_receipts_are_shown_ipv6() {
	acker on && onramp threshold 200us feedback orack && shown fd01::2 orack
}

flows__of_timestamps_are_shown() {
	need_usec_ts || return
	onramp threshold 200us feedback tcpts && shown 10.1.0.2 tcpts &&
		holds "all(f['grade'] is None for f in flows)"
}

flows__of_one_peer_alone() {
	acker on && onramp feedback orack || return 1
	start_sender --flows 4 --seconds 60 --abort --max-pacing 2500000
	_first=$sender
	ip netns exec "$a" "$traffic" send fd01::2 --seconds 60 --abort --max-pacing 2500000 > /dev/null 2>&1 &
	_second=$!
	wait_for "five flows" listed 5
	list=$(flows --peer fd01::2)
	said=$(flows --peer 10.1.0.2) && none=$(flows --peer 10.1.0.9)
	kill $_first $_second
	wait $_first $_second 2>/dev/null
	wait_for "the flows' end" no_flow_is_left
	holds "len(flows) == 1 and flows[0]['remote'] == 'fd01::2'" && [ "$none" = "[]" ] &&
		[ "$(of_flows "len(flows)" "$said")" = 4 ]
}

listed() { list=$(flows) && [ "$(of_flows "len(flows)")" -ge "$1" ]; }

# A flow through the far end's queue, and one by IPv6, which passes it by.
held__is_shown_as_paused_and_others_not() {
	acker on && onramp threshold 3ms feedback orack || return 1
	start_sender --flows 4 --seconds 60 --abort
	_first=$sender
	ip netns exec "$a" "$traffic" send fd01::2 --seconds 60 --abort --max-pacing 2500000 > /dev/null 2>&1 &
	_second=$!
	wait_for "five flows" listed 5 && sleep 0.5
	_held=0
	for _ in $(seq 20); do
		list=$(flows)
		_held=$((_held + $(of_flows "sum(f['held'] for f in flows)")))
		holds "all(f['held'] == (f['pause_left_ns'] > 0) for f in flows)" || break
		holds "all(f['pause_left_ns'] <= 50000000 for f in flows)" || break
		sleep 0.0137
	done
	kill $_first $_second
	wait $_first $_second 2>/dev/null
	wait_for "the flows' end" no_flow_is_left
	echo "held $_held times of 80"
	[ $_held -gt 0 ] && holds "len(flows) == 5" &&
		holds "all(f['paused_ns'] > 0 and f['pauses'] > 0 for f in flows if f['remote'] == '10.1.0.2')" &&
		holds "all(f['held_packets'] > 0 and f['held_ns'] > 0 for f in flows if f['remote'] == '10.1.0.2')" &&
		holds "all(f['delay_p99_ns'] > 3000000 for f in flows if f['remote'] == '10.1.0.2')" &&
		holds "all(f['paused_ns'] + f['pauses'] + f['held_packets'] + f['held_ns'] == 0 for f in flows if f['remote'] == 'fd01::2')" &&
		holds "all(f['samples'] > 10 and f['delay_p99_ns'] < 3000000 for f in flows if f['remote'] == 'fd01::2')"
}

figures__are_those_of_the_qdisc() {
	acker on && onramp threshold 200us feedback orack || return 1
	start_sender --flows 4 --seconds 60 --abort
	wait_for "four flows" listed 4 && sleep 0.5
	kill -STOP "$sender"
	# What is on its way comes.
	sleep 0.5
	list=$(flows)
	_all=$(statistics "$a")
	kill -CONT "$sender"
	stop_sender
	wait_for "the flows' end" no_flow_is_left
	for _name in samples:samples pauses:pauses held:held_packets; do
		_qdisc=$(counter "${_name%:*}" "$_all")
		_flows=$(of_flows "sum(f['${_name#*:}'] for f in flows)")
		echo "${_name%:*}: the qdisc $_qdisc, its flows $_flows"
		[ "$_qdisc" = "$_flows" ] && [ "$_qdisc" -gt 0 ] || return 1
	done
}

# start_many FLOWS [ADDRESS]: so many connections; each sends now and then, together enough for receipts
start_many() {
	ip netns exec "$a" "$traffic" send "${2:-10.1.0.2}" --flows "$1" --write $((300000 / $1)) --interval 1 \
		--seconds 1000 --abort > "$TMPDIR/many" 2>&1 &
	crowd=$!
}

all_are_there() {
	[ "$(in_a "$here/flow_dump.py" dump < /dev/null | sed 's/.*distinct=\([0-9]*\).*/\1/')" -ge "$1" ]
}

stop_many() {
	kill "$@"
	wait "$@" 2>/dev/null
	wait_for "the flows' end" no_flow_is_left
}

# Many buffers of the kernel's: each flow once.
dump__of_thousands_is_whole() {
	acker on && onramp feedback orack || return 1
	start_many "$many"
	wait_for "$many flows" all_are_there "$many"
	said=$(ports | in_a "$here/flow_dump.py" dump)
	list=$(flows)
	stop_many $crowd
	echo "$said"
	[ "$said" = "messages=$many distinct=$many interrupted=0 missing=0" ] &&
		[ "$(of_flows "len({(f['local_port'], f['remote_port']) for f in flows})")" = "$many" ] &&
		[ "$(of_flows "len(flows)")" = "$many" ]
}

# While it is read the table grows: it begins anew, says so, and nobody is missing. Connections are
# controlled once their peer has sent receipts, some seconds later.
dump__while_the_table_grows_misses_nobody() {
	acker on && onramp feedback orack || return 1
	start_many "$few"
	_first=$crowd
	wait_for "$few flows" all_are_there "$few" && ports > "$TMPDIR/ports"
	start_many "$few" fd01::2
	in_a "$here/flow_dump.py" dump --wait $((3000 / few)) < "$TMPDIR/ports" > "$TMPDIR/said"
	wait_for "twice as many flows" all_are_there $((2 * few))
	stop_many $_first $crowd
	said=$(cat "$TMPDIR/said")
	echo "$said"
	[ "$(wc -l < "$TMPDIR/ports")" = "$few" ] && [ "$(field missing "$said")" = 0 ] &&
		[ "$(field distinct "$said")" -gt "$few" ] && [ "$(field interrupted "$said")" = 1 ]
}

# Flows come and go all the time: the dump ends, and has who stays.
dump__under_churn_has_who_stays() {
	acker on && onramp feedback orack || return 1
	start_sender --flows 4 --seconds 60 --abort --max-pacing 2500000
	wait_for "four flows" listed 4 && ports > "$TMPDIR/ports"
	(while :; do in_a "$traffic" send 10.1.0.2 --flows 50 --seconds 0.05 --write 100 --abort; done) > /dev/null 2>&1 &
	_churn=$!
	_status=0
	for _ in $(seq 20); do
		said=$(in_a "$here/flow_dump.py" dump --wait 0.01 < "$TMPDIR/ports")
		[ "$(field missing "$said")" = 0 ] || { _status=1; break; }
	done
	kill $_churn
	wait $_churn 2>/dev/null
	stop_sender
	wait_for "the flows' end" no_flow_is_left
	echo "$said"
	return $_status
}

namespaces__see_their_own_only() {
	acker on && onramp feedback orack || return 1
	start_sender --flows 4 --seconds 60 --abort --max-pacing 2500000
	wait_for "four flows" listed 4
	said=$(in_b turnpike onramp flows -j)
	_others=$(turnpike onramp flows -j)
	stop_sender
	wait_for "the flows' end" no_flow_is_left
	[ "$said" = "[]" ] && [ "$_others" = "[]" ]
}

flows__need_the_right() {
	command -v setpriv > /dev/null || { echo "setpriv is missing"; return 4; }
	for _what in peers flows; do
		said=$(in_a setpriv --bounding-set=-net_admin --inh-caps=-net_admin turnpike onramp $_what 2>&1) &&
			{ echo "allowed: $_what"; return 1; }
		echo "$said" | grep -q 'not permitted' || { echo "$said"; return 1; }
	done
}

# peer NAME: of the only one
peer() { json_value "$1" "$_peer"; }

in_order() {
	echo "$(peer delay): $(peer delay_p50_ns) $(peer delay_p90_ns) $(peer delay_p99_ns) ns"
	[ "$(peer delay_p50_ns)" -le "$(peer delay_p90_ns)" ] &&
		[ "$(peer delay_p90_ns)" -le "$(peer delay_p99_ns)" ]
}

# The qdisc has the same samples.
peer__has_percentiles_of_queueing_delay() {
	acker on && onramp threshold 900ms pause_max 950ms nogovernor feedback orack && send 0.4 || return 1
	_peer=$(in_a turnpike onramp peers -j)
	echo "the qdisc: $(counter delay_p50_ns) $(counter delay_p99_ns)"
	[ "$(peer delay)" = '"queue"' ] && in_order && [ "$(peer delay_p50_ns)" -gt 1000000 ] &&
		[ "$(peer delay_p50_ns)" = "$(counter delay_p50_ns)" ] &&
		[ "$(peer delay_p99_ns)" = "$(counter delay_p99_ns)" ]
}

# The cable takes no time: what is more than queueing delay is small, and the clocks are one.
peer__has_percentiles_of_one_way_delay() {
	acker on && onramp threshold 900ms pause_max 950ms nogovernor feedback orack &&
		in_a turnpike onramp clock set 10.1.0.2 0 5us || return 1
	start_sender --flows 4 --seconds 0.4
	sleep 0.3
	list=$(flows)
	wait "$sender"
	_peer=$(in_a turnpike onramp peers -j)
	in_a turnpike onramp clock clear 10.1.0.2
	wait_for "the flows' end" no_flow_is_left
	echo "the empty path: $(peer base_owd_ns) ns"
	[ "$(peer delay)" = '"owd"' ] && in_order && [ "$(peer delay_p50_ns)" -gt 1000000 ] &&
		[ "$(peer delay_p99_ns)" -lt 30000000 ] && [ "$(peer base_owd_ns)" -lt 1000000 ] &&
		holds "all(f['grade'] == 'b' and -10000 < f['base_owd_ns'] < 1000000 for f in flows)"
}

flow_is_shown() { [ "$(flows)" != "[]" ]; }

# Documentation/netlink/turnpike_onramp.yaml, by a client that knows nothing else.
specification__reads_what_turnpike_prints() {
	acker on && onramp threshold 200us feedback orack && in_a turnpike onramp set --ask 10.0.0.0/8 fd00::/8 &&
		in_a turnpike onramp clock set fd01::2 -1234567 900 && in_a turnpike clock disciplined 3us || return 1
	in_a turnpike onramp key generate - > "$TMPDIR/key" && in_a turnpike onramp key add 7 "$TMPDIR/key" &&
		in_b turnpike onramp key add 7 "$TMPDIR/key" || return 1
	start_sender --flows 4 --seconds 60 --abort --max-pacing 2500000
	wait_for "a flow" flow_is_shown && specification onramp show "clock show" stats +peers +flows
	_status=$?
	stop_sender
	wait_for "the flows' end" no_flow_is_left
	in_a turnpike onramp key del 7 && in_b turnpike onramp key del 7
	in_a turnpike onramp clock clear fd01::2
	in_a turnpike clock undisciplined
	in_a turnpike onramp set --ask all
	return $_status
}

# An overload of IPv4 alone.
half_slow_cable() {
	slow_cable && in_b tc filter del dev veth0 parent ffff: &&
		in_b tc filter add dev veth0 parent ffff: protocol ip matchall \
			action mirred egress redirect dev ifb0
}

ktap_start
need_module
trap 'drop_hosts; unload_module' EXIT
make_path && half_slow_cable && start_sink || ktap_fail "hosts__set_up"
run_cases "$@"
finish_hosts
