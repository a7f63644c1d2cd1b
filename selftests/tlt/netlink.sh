#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Configuration by generic netlink: what is set is shown, nonsense is refused with a
# reason and changes nothing, namespaces are apart.

# shellcheck source=selftests/tlt/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

tlt() { in_a "$turnpike" tlt "$@"; }

# told: the configuration, a line each
told() { tlt show -j | json_lines; }

is_off() { [ "$(ip netns exec "$1" "$turnpike" tlt show -j | json_lines)" = "enabled false" ]; }

show__off_at_first() { is_off "$a"; }

set__defaults() {
	out=$(tlt set --all) || return 1
	echo "$out"
	[[ $out == *"all TCP of this namespace"*"turnpike tlt off"* ]] && [ "$(told | grep -v '^dscp' | tr '\n' ' ')" = \
		"enabled true map local period 96 clock adaptive sender auto foreign override " ]
}

set__everything() {
	tlt set --map vma --clock byte --sender rate --period 7 --foreign keep \
		--rule dev=veth0,port=5000-5010,peer=10.1.0.77/24 --rule peer=fd01::9/64 \
		--rule port=80,uid=1000-1999 --rule uid=0 || return 1
	tlt show
	want="enabled true map vma period 7 clock byte sender rate foreign keep rules.dev veth0 rules.port 5000-5010"
	want="$want rules.peer 10.1.0.0/24 rules.peer fd01::/64 rules.port 80 rules.uid 1000-1999 rules.uid 0 "
	[ "$(told | grep -v '^dscp' | tr '\n' ' ')" = "$want" ]
}

set__own_map() {
	map=data=1,echo=2,clock=3,clock-echo=4,control=5,plain=6
	tlt set --all --map $map && told | grep -qx "map $map"
}

set__json() {
	tlt set --all && tlt show -j | python3 -c '
import json, sys
config = json.load(sys.stdin)
sys.exit(not (config["enabled"] and config["dscp"]["plain"] == 23 and config["rules"] == []))'
}

set__json_of_users() {
	tlt set --rule uid=5-6 --rule uid=7 && tlt show -j | python3 -c '
import json, sys
sys.exit(json.load(sys.stdin)["rules"] != [{"uid": "5-6"}, {"uid": "7"}])'
}

# refused REASON OPTION...: with that reason, and nothing changes
refused() {
	before=$(told)
	if out=$(tlt set "${@:2}" 2>&1); then
		echo "accepted: ${*:2}"
		return 1
	fi
	echo "$out"
	echo "$out" | grep -q -- "$1" && [ "$(told)" = "$before" ]
}

set__nonsense_is_refused() {
	tlt set --all --period 5 || return 1
	refused "same code point" --all --map data=1,echo=1,clock=3,clock-echo=4,control=5,plain=6 &&
		refused "1 to 63" --all --map data=64,echo=1,clock=3,clock-echo=4,control=5,plain=6 &&
		refused "no 'plain'" --all --map data=1,echo=2,clock=3,clock-echo=4,control=5 &&
		refused "no map" --all --map nonsense &&
		refused "no device" --rule dev=nowhere &&
		refused "ends before" --rule port=10-9 &&
		refused "1 to 65535" --rule port=0 &&
		refused "no address" --rule peer=10.1.0 &&
		refused "0 to 32" --rule peer=10.1.0.0/33 &&
		refused "not '" --rule color=red &&
		refused "has to follow" --rule "" &&
		refused "has to follow" --rule port=5, &&
		refused "is not NAME=VALUE" --rule port=5,,uid=1 &&
		refused "is not a number" --rule port=010 &&
		refused "given twice" --rule port=1,port=2 &&
		refused "0 to 4294967294" --rule uid=4294967295 &&
		refused "0 to 4294967294" --rule uid=root &&
		refused "users '9-8' ends before" --rule uid=9-8 &&
		refused "begins with /" --rule cgroup=a &&
		refused "at most 511" --rule "cgroup=/$(printf '%511s' '' | tr ' ' a)" &&
		refused "no such cgroup\|have no cgroup" --rule cgroup=/nowhere &&
		refused "adaptive" --all --clock never &&
		refused "0 to 32767" --all --period 40000
}

# All TCP of a host is marked for who says so alone.
set__without_a_rule_is_refused() {
	local status

	tlt set --all --period 5 || return 1
	refused "which packets are TLT's" && refused "which packets are TLT's" --map vma &&
		refused "not both" --all --rule port=9 || return 1
	tlt set > /dev/null 2>&1
	status=$?
	echo "status $status"
	[ $status = 64 ]
}

# What is on now, as show -j has it.
changes__tell_what_is_on() {
	[ "$(tlt set --rule port=9,uid=1 --period 3 -j)" = "$(tlt show -j)" ] && told | grep -qx 'rules.uid 1' &&
		[ "$(tlt off -j | json_lines)" = "enabled false" ] && is_off "$a"
}

set__too_many_rules_are_refused() {
	rules=()
	for i in $(seq 17); do
		rules+=(--rule "port=$i")
	done
	refused "at most 16" "${rules[@]}" && tlt set "${rules[@]:2}"
}

set__needs_the_right() {
	command -v setpriv > /dev/null || { echo "setpriv is missing"; return 4; }
	out=$(in_a setpriv --bounding-set=-net_admin --inh-caps=-net_admin "$turnpike" tlt off 2>&1) &&
		{ echo "allowed"; return 1; }
	echo "$out" | grep -q 'not permitted'
}

namespaces__are_apart() {
	tlt set --all --period 11 && is_off "$b"
}

off__twice() { tlt off && tlt off && is_off "$a"; }

stats__have_every_counter() {
	tlt stats -j | python3 -c '
import json, sys
stats = json.load(sys.stdin)
sys.exit(not (len(stats["sent"]) == 6 and stats["sent"]["data"]["packets"] == 0 and "rtos" in stats))'
}

# Documentation/netlink/turnpike_tlt.yaml, by a client that knows nothing else.
specification__reads_what_turnpike_prints() {
	specification tlt show || return
	tlt set --map vma --rule dev=lo,port=5-6,uid=7 --rule peer=10.0.0.0/8 --rule peer=fd01::/64,uid=5-9 &&
		specification tlt show || return 1
	path delay 1ms rate 20mbit && tlt_on && start_server && background 2 100000000 || return 1
	specification tlt show stats +flows
	_status=$?
	background_ends
	stop_server
	return $_status
}

specification__sets_what_turnpike_shows() {
	/usr/bin/python3 -c 'import yaml' 2> /dev/null || { echo "needs python3-yaml"; return 4; }
	map=data=1,echo=2,clock=3,clock-echo=4,control=5,plain=6
	want="enabled true map $map period 9 clock segment sender rate foreign keep"
	want="$want rules.port 80 rules.uid 3-4 rules.peer 10.1.0.0/16 "
	ynl tlt set '{"map": [1, 2, 3, 4, 5, 6], "period": 9, "clock": "segment", "sender": "rate", "foreign": "keep",
		"rules": {"rule": [{"port-low": 80, "uid-low": 3, "uid-high": 4}, {"address": "0a010000", "prefix": 16}]}}' &&
		told && [ "$(told | grep -v '^dscp' | tr '\n' ' ')" = "$want" ] &&
		ynl tlt off && is_off "$a"
}

ktap_start
need_module
make_hosts
trap 'drop_hosts; unload_module' EXIT
run_cases show__off_at_first set__defaults set__everything set__own_map set__json \
	set__json_of_users \
	set__nonsense_is_refused set__without_a_rule_is_refused changes__tell_what_is_on set__too_many_rules_are_refused set__needs_the_right \
	namespaces__are_apart off__twice stats__have_every_counter \
	specification__reads_what_turnpike_prints specification__sets_what_turnpike_shows
finish_hosts
