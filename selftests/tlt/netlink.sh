#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Configuration by generic netlink: what is set is shown, nonsense is refused with a
# reason and changes nothing, namespaces are apart.

# shellcheck source=selftests/tlt/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

tlt() { in_a "$turnpike" tlt "$@"; }

show__off_at_first() { [ "$(tlt show)" = off ]; }

set__defaults() {
	tlt set && tlt show | tee /dev/stderr |
		grep -qx 'on map local clock adaptive sender auto period 96 foreign override'
}

set__everything() {
	tlt set --map vma --clock byte --sender rate --period 7 --foreign keep \
		--rule dev=veth0,port=5000-5010,peer=10.1.0.77/24 --rule peer=fd01::9/64 \
		--rule port=80,uid=1000-1999 --rule uid=0 || return 1
	out=$(tlt show)
	echo "$out"
	echo "$out" | grep -q '^on map vma clock byte sender rate period 7 foreign keep$' &&
		echo "$out" | grep -q 'rule dev=veth0 port=5000-5010 peer=10.1.0.0/24' &&
		echo "$out" | grep -q 'rule peer=fd01::/64' &&
		echo "$out" | grep -q 'rule port=80 uid=1000-1999' &&
		echo "$out" | grep -q 'rule uid=0$'
}

set__own_map() {
	map=data=1,echo=2,clock=3,clock-echo=4,control=5,plain=6
	tlt set --map $map && tlt show | grep -q "map $map"
}

set__json() {
	tlt set && tlt show -j | python3 -c '
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
	before=$(tlt show)
	if out=$(tlt set "${@:2}" 2>&1); then
		echo "accepted: ${*:2}"
		return 1
	fi
	echo "$out"
	echo "$out" | grep -q -- "$1" && [ "$(tlt show)" = "$before" ]
}

set__nonsense_is_refused() {
	tlt set --period 5 || return 1
	refused "same code point" --map data=1,echo=1,clock=3,clock-echo=4,control=5,plain=6 &&
		refused "1 to 63" --map data=64,echo=1,clock=3,clock-echo=4,control=5,plain=6 &&
		refused "no 'plain'" --map data=1,echo=2,clock=3,clock-echo=4,control=5 &&
		refused "no map" --map nonsense &&
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
		refused "adaptive" --clock never &&
		refused "0 to 32767" --period 40000
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
	tlt set --period 11 && [ "$(in_b "$turnpike" tlt show)" = off ]
}

off__twice() { tlt off && tlt off && [ "$(tlt show)" = off ]; }

stats__have_every_counter() {
	tlt stats -j | python3 -c '
import json, sys
stats = json.load(sys.stdin)
sys.exit(not (len(stats["sent"]) == 6 and stats["sent"]["data"]["packets"] == 0 and "rtos" in stats))'
}

ktap_start
need_module
make_hosts
trap 'drop_hosts; unload_module' EXIT
run_cases show__off_at_first set__defaults set__everything set__own_map set__json \
	set__json_of_users \
	set__nonsense_is_refused set__too_many_rules_are_refused set__needs_the_right \
	namespaces__are_apart off__twice stats__have_every_counter
finish_hosts
