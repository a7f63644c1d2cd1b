#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# turnpike record: what it takes of a host with traffic, how it ends, and what replay makes of it. Pages are made of it by
# selftests/unit/report_test.py, for which a guest is slow.

# shellcheck source=selftests/setup/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

tracing=/sys/kernel/tracing
file=$work/some.rec

# `ip netns exec' hides what is mounted below /sys.
record_in_a() { nsenter --net="/run/netns/$a" "$turnpike" record "$@"; }

# 2 KB a millisecond on each of four connections, until `traffic_ends'
traffic_begins() { send --seconds 3600 --write 2000 --interval 0.001 --flows 4; }

traffic_ends() {
	sent
	no_onramp_on_b 2> /dev/null
	return 0
}

# Both modules act.
set_up() {
	up veth0 --with timely,onramp --for 10.1.0.0/24 > /dev/null && onramp_on_b
}

instances() { find $tracing/instances -mindepth 1 -maxdepth 1 -name 'turnpike-*'; }

# holds EXPRESSION [FILE]: of a recording, with everything in it by its kind
holds() {
	python3 -c '
import gzip, json, sys
things = [json.loads(line) for line in gzip.open(sys.argv[2], "rt")]
header, summary = things[0], things[-1]["summary"]
looks = [one for one in things if "look" in one]
events = [one for one in things if "event" in one]
names = {one["event"] for one in events}
doctor = next((one["doctor"] for one in things if "doctor" in one), None)
value = eval(sys.argv[1])
if not value:
    print(header, summary, len(looks), len(events), names)
sys.exit(not value)
' "$1" "${2:-$file}" || { echo "not so: $1"; return 1; }
}

# recorded [OPTION...]: a recording of traffic, anew
recorded() {
	set_up && traffic_begins || return 1
	out=$(record_in_a "$file" --force --for 2s --interval 500ms "$@" 2>&1)
	code=$?
	traffic_ends
	echo "$out"
	return $code
}

record__has_events_and_looks_by_one_clock() {
	recorded || return 1
	holds 'names == {"timely_decision", "onramp_sample", "onramp_send"}' &&
		holds 'header["turnpike_recording"] == 1 and header["no_trace"] is None' &&
		holds 'summary["events"] == len(events) > 1000 and summary["looks"] == len(looks) > 2' &&
		holds 'summary["lost_limit"] == summary["lost_buffer"] == 0' &&
		holds 'all(header["t_ns"] - 10**9 < one["t_ns"] < looks[-1]["t_ns"] + 10**10 for one in events)' &&
		holds 'sum(looks[0]["t_ns"] < one["t_ns"] < looks[-1]["t_ns"] for one in events) > len(events) / 2' &&
		holds 'any(one["check"] == "module" for one in doctor)' && [[ $out == *"none lost"* ]]
}

record__has_what_connections_did() {
	recorded > /dev/null || return 1
	holds 'len(looks[1]["namespaces"][0]["connections"]) == 4' &&
		holds 'all(one["congctl"] == "timely" and one["remote"] == "10.1.0.2:5001" for one in looks[1]["namespaces"][0]["connections"])' &&
		holds 'looks[-1]["namespaces"][0]["connections"][0]["bytes_acked"] > looks[1]["namespaces"][0]["connections"][0]["bytes_acked"]' &&
		holds 'looks[-1]["namespaces"][0]["devices"][0]["name"] == "veth0" and looks[-1]["namespaces"][0]["onramp_flows"]' &&
		holds 'looks[-1]["namespaces"][0]["tcp"]["out_segs"] > looks[1]["namespaces"][0]["tcp"]["out_segs"]'
}

record__leaves_no_instance() {
	recorded > /dev/null || return 1
	[ -z "$(instances)" ] && [ "$(cat $tracing/events/onramp/enable)" = 0 ]
}

record__counts_events_beyond_the_limit() {
	recorded --events 10 || return 1
	holds 'len(events) == summary["events"] == 10 and summary["lost_limit"] > 100' && [[ $out == *"lost beyond --events"* ]]
}

record__is_whole_after_sigterm() {
	rm -f "$file"
	set_up && traffic_begins || return 1
	nsenter --net="/run/netns/$a" "$turnpike" record "$file" --for 1h --interval 100ms > "$work/said" 2>&1 &
	recorder=$!
	wait_for "the instance" test -e "$tracing/instances/turnpike-$recorder/events/onramp/enable"
	sleep 2
	[ ! -e "$file" ] || return 1
	kill -TERM $recorder
	wait $recorder
	code=$?
	traffic_ends
	cat "$work/said"
	[ $code = 0 ] && [ -z "$(instances)" ] && holds 'len(looks) > 2 and len(events) > 100' && [ -z "$(find "$work" -name '*.part')" ]
}

record__takes_away_what_a_killed_one_left() {
	set_up || return 1
	nsenter --net="/run/netns/$a" "$turnpike" record "$file.killed" --for 1h --interval 100ms > /dev/null 2>&1 &
	recorder=$!
	wait_for "the instance" test -e "$tracing/instances/turnpike-$recorder/events/onramp/enable"
	sleep 1
	kill -KILL $recorder
	wait $recorder 2> /dev/null
	rm -f "$file".killed*
	[ -n "$(instances)" ] || { echo "nothing was left"; return 1; }
	record_in_a "$file" --force --for 100ms > /dev/null && [ -z "$(instances)" ]
}

record__keeps_what_is_there() {
	echo mine > "$file"
	out=$(record_in_a "$file" --for 100ms 2>&1) && return 1
	echo "$out"
	[[ $out == *"is there already (--force replaces it)"* ]] && [ "$(cat "$file")" = mine ] && [ -z "$(instances)" ] || return 1
	mkdir -p "$work/place" && ! record_in_a "$work/place" --force --for 100ms && ! record_in_a "$work/nowhere/x" --for 100ms &&
		! record_in_a "$work/x" nodevice --for 100ms && [ ! -e "$work/x" ]
}

record__without_rights_has_looks() {
	command -v setpriv > /dev/null || { echo "setpriv is missing"; return 4; }
	set_up || return 1
	rm -f "$file"
	mkdir -p "$work/theirs" && chmod 711 "$work" && chmod 777 "$work/theirs"
	out=$(nsenter --net="/run/netns/$a" setpriv --reuid=65534 --clear-groups "$turnpike" record "$work/theirs/some.rec" --for 1s 2>&1)
	code=$?
	echo "$out"
	[ $code = 0 ] && [[ $out == *"no trace events: "* ]] && holds 'looks and not events and header["no_trace"]' "$work/theirs/some.rec"
}

record__without_modules_has_looks() {
	out=$(record_in_a "$file" --force --for 1s 2>&1) || return 1
	echo "$out"
	[[ $out == *"neither tcp_timely nor sch_onramp is loaded"* ]] && holds 'len(looks) > 1 and not events' && [ -z "$(instances)" ]
}

record__of_names_that_are_no_text() {
	ip -n "$a" link add $'odd\xff' type dummy || return 1
	set_up && in_a tc qdisc add dev $'odd\xff' root onramp && record_in_a "$file" --force --for 1s
	code=$?
	ip -n "$a" link del $'odd\xff'
	[ $code = 0 ] && holds 'any(one["name"].startswith("odd") for one in looks[0]["namespaces"][0]["devices"])'
}

replay__takes_a_recording() {
	recorded > /dev/null || return 1
	"$turnpike" replay --algo timely --recording "$file" > "$work/rates" && "$turnpike" replay --algo onramp --recording "$file" > "$work/pauses" ||
		return 1
	wc -l "$work/rates" "$work/pauses"
	[ "$(wc -l < "$work/rates")" -gt 20 ] && [ "$(wc -l < "$work/pauses")" -gt 20 ] &&
		[ "$(head -n 1 "$work/rates")" = time_us,rtt_us,event,rate_bps,gradient,branch ] &&
		"$turnpike" replay --algo timely --recording "$file" --line-rate 1000000000 > "$work/others" && ! cmp -s "$work/rates" "$work/others"
}

report__reads_a_recording() {
	recorded > /dev/null || return 1
	PYTHONPATH=$here/../../tools/report /usr/bin/python3 -B -c '
import sys
import measures, reading
recording = reading.read(sys.argv[1])
kinds = measures.kinds(recording)
# Smoothed RTTs are 0 where nothing takes time.
assert {"queue", "timely"} <= set(kinds), kinds
assert {host for kind in kinds.values() for host, _ in kind.by_host()} == {"10.1.0.2"}
assert sum(rate for _, rate in measures.rates(recording)) > 0
assert recording.troubles == [], recording.troubles
' "$file"
}

# Modules go where no device has a qdisc of theirs.
alone() {
	in_b tc qdisc del dev veth0 root 2> /dev/null
	fresh "$@"
}
each_case=alone

make_host || { ktap_fail "hosts__are_made"; ktap_finish; }
trap 'traffic_ends; clean_up; drop_hosts' EXIT
run_cases "$@"
ktap_finish
