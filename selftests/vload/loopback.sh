#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every type of load once, in real time: over loopback without privileges, and between two
# namespaces where those can be made.
#
#     part 1                          part 2 (user namespace)
#     h0 127.0.0.1 \                  h0 10.0.0.1 --- veth --- 10.0.0.2 h1
#     h1 127.0.0.2  > lo
#     h2 127.0.0.3 /
#
# Real time is not exact and machines are busy: nothing here depends on how fast anything was, only
# on what happened and on how its numbers relate. Rates and times are tested in simulated time.
# VLOAD=PROGRAM tests another build.

top=$(readlink -f "$(dirname "$(readlink -f "$0")")/../..")
# shellcheck source=selftests/lib/ktap.sh
. "$top/selftests/lib/ktap.sh"
VLOAD=${VLOAD:-$top/build/vload}

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

HOSTS='"h0": {"addr": "127.0.0.1", "addr6": "::1"}, "h1": {"addr": "127.0.0.2", "addr6": "::1"},
       "h2": {"addr": "127.0.0.3", "addr6": "::1"}'

# config DURATION_S WARMUP_S LOADS [MORE_MEMBERS]
config() {
	printf '{"seed": 3, "duration_s": %s, "warmup_s": %s, "hosts": {%s}, "loads": [%s]%s}\n' \
		"$1" "$2" "$HOSTS" "$3" "${4:+, $4}" > "$work/config.json"
}

run() {
	"$VLOAD" --sizes-dir "$top/selftests/vrack/sizes" "$work/config.json" > "$work/result.json"
}

# holds EXPRESSION: true of the result r, its first load l and that load's flows f
holds() {
	/usr/bin/python3 - "$work/result.json" "$1" <<-'END'
	import json, sys
	r = json.load(open(sys.argv[1], encoding="utf-8"))
	l = (r["loads"] or [None])[0]
	f = l["flows"] if l else []
	m = l["messages"] if l else {}
	if not eval(sys.argv[2]):
	    if l:
	        l.pop("samples", None)
	    print("does not hold:", sys.argv[2])
	    print(json.dumps(l)[:2000])
	    sys.exit(1)
	END
}

run_and_hold() {
	run || return 1
	for expression; do
		holds "$expression" || return 1
	done
}

# refused TEXT: exit status 1 before anything is done, and the complaint contains TEXT
refused() {
	local status=0

	"$VLOAD" "$work/config.json" > "$work/out" 2> "$work/err" || status=$?
	cat "$work/err"
	[ $status -eq 1 ] && [ ! -s "$work/out" ] && grep -qF "$1" "$work/err"
}

fails_at_run_time() {
	local status=0

	"$VLOAD" "$work/config.json" > "$work/out" 2> "$work/err" || status=$?
	cat "$work/err"
	[ $status -eq 2 ] && [ ! -s "$work/out" ] && grep -qF "$1" "$work/err"
}

long_loads() {
	config 1 0.2 '{"type": "long", "from": ["h0", "h1"], "to": "h2", "per_pair": 2,
		       "max_pacing_bps": 1e8, "sample_interval_us": 100000}'
	ktap_case "long: paced flows have their rate, a series and a fair share" run_and_hold \
		'len(f) == 4 and all(x["goodput_bps"] > 0 for x in f)' \
		'0 < l["jain"] <= 1 and l["goodput_bps"] >= max(x["goodput_bps"] for x in f)' \
		'all(x["series"] and x["series"][-1][1] == 1e8 for x in f)' \
		'l["errors"] == 0 and all(x["active_s"] == 0.8 for x in f)'

	config 0.6 0 '{"type": "long", "from": "h0", "to": "h2", "bytes": 3000000, "family": 6,
		       "start_s": 0.1, "spread_us": 1000, "dscp": 10}' '"drain_s": 30'
	ktap_case "long: a finite flow arrives whole, over IPv6" run_and_hold \
		'f[0]["fct_us"] > 0 and l["errors"] == 0' \
		'l["fct_us"]["count"] == 1 and l["samples"]["fct"][0][0] == 3000000'

	config 1 0.2 '{"type": "long", "from": "h0", "to": "h2", "write_bytes": 2000,
		       "write_interval_us": 1000, "reader_pause": {"at_s": 0.3, "for_s": 0.05}}'
	ktap_case "long: a writer of 2 KB every ms, its reader pausing" run_and_hold \
		'l["goodput_bps"] > 0 and l["errors"] == 0'

	config 1 0.4 '{"type": "long", "from": ["h0", "h1"], "to": "h2", "per_pair": 4, "cc": "reno",
		       "max_pacing_bps": 5e7, "stop_s": 0.7, "stop_count": 3}'
	ktap_case "long: three of four flows of each host stop" run_and_hold \
		'len(f) == 8 and sum(x["active_s"] == 0.6 for x in f) >= 2' \
		'l["cc"] == ["reno"] and l["errors"] == 0'

	config 1 0.1 '{"type": "long", "from": "h0", "to": "h2", "max_pacing_bps": 5e7, "stop_s": 0.5, "sndbuf_bytes": 200000,
		       "stop_mode": "drain"}'
	ktap_case "long: a flow that drains ends without an error" run_and_hold \
		'l["errors"] == 0 and f[0]["bytes"] > 0'
}

incast_loads() {
	config 1 0.1 '{"type": "incast", "from": ["h0", "h1"], "to": "h2", "fanout": 8, "bytes": 32768,
		       "period_us": 20000, "jitter_us": 100}' '"drain_s": 30'
	ktap_case "incast: a round every 20 ms on open connections" run_and_hold \
		'l["rct_us"]["count"] > 0 and m["begun"] == m["completed"] > 0' \
		'l["fct_us"]["count"] == m["completed"] and len(f) == 8'

	config 1 0 '{"type": "incast", "from": ["h0", "h1"], "to": "h2", "fanout": 1, "bytes": 32768,
		     "request_bytes": 100, "rounds": 20}'
	ktap_case "incast: requested, closed loop, one server of two" run_and_hold \
		'l["rounds"]["begun"] == 20 and l["rct_us"]["count"] == 20' \
		'all(x["bytes"] > 0 for x in f)'

	config 1 0.1 '{"type": "incast", "from": ["h0", "h1"], "to": "h2", "fanout": 8, "bytes": 32768,
		       "period_us": 20000, "persistent": false}' '"drain_s": 30'
	ktap_case "incast: new connections each round" run_and_hold \
		'l["rct_us"]["count"] > 0 and m["begun"] == m["completed"] > 0 and l["errors"] == 0'
}

rpc_loads() {
	config 0.5 0.1 '{"type": "rpc", "from": ["h0", "h1"], "to": "h2", "request_bytes": 100,
			 "response_bytes": 10000, "outstanding": 2}'
	ktap_case "rpc: closed loop" run_and_hold \
		'm["completed"] > 0 and l["fct_us"]["mean"] < l["rct_us"]["mean"] and l["bytes"] > 0'

	config 1 0.1 '{"type": "rpc", "from": "h0", "to": "h2", "request_bytes": 100,
		       "response_bytes": 10000, "interval_us": 1000, "poisson": true}' '"drain_s": 30'
	ktap_case "rpc: open loop, 1000 a second" run_and_hold \
		'0 < m["begun"] == m["completed"]'
}

poisson_loads() {
	config 1 0.1 '{"type": "poisson", "hosts": ["h0", "h1", "h2"], "sizes": "CacheFollower",
		       "load": 0.1, "rate_bps": 1e9}' '"drain_s": 30'
	ktap_case "poisson: open connections" run_and_hold \
		'0 < m["begun"] == m["completed"] and l["offered_load"] > 0' \
		'len(l["samples"]["fct"]) == m["completed"]'

	config 1 0.1 '{"type": "poisson", "from": ["h0", "h1"], "to": "h2", "sizes": 10000,
		       "load": 0.1, "rate_bps": 1e8, "persistent": false}' '"drain_s": 30'
	ktap_case "poisson: a new connection for each message" run_and_hold \
		'0 < m["begun"] == m["completed"] and l["connections_opened"] > 0 and l["bytes"] > 0'
}

ping_loads() {
	config 1 0.1 '{"type": "ping", "from": ["h0", "h1"], "to": "h2", "interval_us": 1000}' '"drain_s": 30'
	ktap_case "ping: every probe comes back" run_and_hold \
		'0 < m["begun"] == m["completed"]' \
		'l["rtt_us"]["count"] == m["begun"] and l["owd_us"]["mean"] < l["rtt_us"]["mean"]'

	config 1 0.1 '{"type": "ping", "from": "h0", "to": "h2", "interval_us": 1000, "poisson": true,
		       "reply": false, "bytes": 1400, "family": 6}' '"drain_s": 30'
	ktap_case "ping: one way" run_and_hold \
		'0 < m["begun"] == l["owd_us"]["count"] and not l["rtt_us"]'
}

action_cases() {
	echo old > "$work/file"
	config 0.5 0 '' '"actions": [{"time_s": 0.1, "run": "echo to stderr; exit 3"},
		{"time_s": 0.2, "write": "'"$work/file"'", "text": "new"},
		{"time_s": 0.2, "write": "'"$work/absent"'", "text": "new"}]'
	ktap_case "actions: command and file, with what became of them" run_and_hold \
		'[a.get("exit_code") for a in r["actions"]] == [3, None, None]' \
		'r["actions"][1]["error"] is None and "No such file" in r["actions"][2]["error"]' \
		'0.1 <= r["actions"][0]["at_s"]'
	ktap_case "actions: the file has its text" grep -qx new "$work/file"
}

bad_configs() {
	config 1 0 '{"type": "long", "from": "h0", "to": "h9"}'
	ktap_case "config: a host that does not exist" refused "loads[0].to: no host named \`h9'"
	echo '{' > "$work/config.json"
	ktap_case "config: not JSON" refused "line 2, column 1"
	config 1 0 '{"type": "long", "from": "h0", "to": "h1", "cc": "no_such_cc"}'
	ktap_case "config: a congestion control that the kernel lacks" fails_at_run_time "no_such_cc"
	HOSTS='"h0": {"netns": "no-such-netns", "addr": "10.0.0.1"}' config 1 0 ''
	ktap_case "config: a namespace that does not exist" fails_at_run_time "no-such-netns"
}

# Runs in a user namespace of its own, with its own /run
in_namespaces() {
	mount -t tmpfs tmpfs /run || return 4
	ip netns add h0 && ip netns add h1 || return 4
	ip link add eth0 netns h0 type veth peer name eth0 netns h1 || return 4
	ip -n h0 addr add 10.0.0.1/24 dev eth0
	ip -n h1 addr add 10.0.0.2/24 dev eth0
	ip -n h0 link set eth0 up
	ip -n h1 link set eth0 up
	HOSTS='"h0": {"netns": "h0", "addr": "10.0.0.1"}, "h1": {"netns": "h1", "addr": "10.0.0.2"}'
	config 0.5 0.1 '{"type": "long", "from": "h0", "to": "h1", "max_pacing_bps": 1e8},
			{"type": "ping", "from": "h1", "to": "h0", "interval_us": 1000}'
	run_and_hold 'l["goodput_bps"] > 0' 'r["loads"][1]["messages"]["completed"] > 0' \
		'all(r["hosts"][h]["segments_out"] > 0 for h in ("h0", "h1"))'
}

if [ "$1" = --in-namespaces ]; then
	in_namespaces
	exit
fi

ktap_start
long_loads
incast_loads
rpc_loads
poisson_loads
ping_loads
action_cases
bad_configs
if unshare -rnm true 2> /dev/null; then
	ktap_case "namespaces: hosts of their own" unshare -rnm "$0" --in-namespaces
else
	ktap_skip "namespaces: hosts of their own" "user namespaces are not to be had"
fi
ktap_finish
