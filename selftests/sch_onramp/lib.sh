# SPDX-License-Identifier: GPL-2.0
# What the tests of sch_onramp share; selftests/lib/traffic.sh has the rest.
# shellcheck shell=bash disable=SC2034

here=$(dirname "$(readlink -f "$0")")
module=sch_onramp
sender_options=
# shellcheck source=selftests/lib/traffic.sh
. "$here/../lib/traffic.sh"

# What tc loads, and the command, are taken from the build where there is one.
if [ -n "${TURNPIKE_BUILD:-}" ]; then
	export TC_LIB_DIR=$TURNPIKE_BUILD/tc PATH=$TURNPIKE_BUILD:$PATH
fi

# onramp OPTION...: a new qdisc for the first host
onramp() {
	in_a tc qdisc del dev veth0 root 2>/dev/null
	in_a tc qdisc add dev veth0 root onramp "$@"
}

# setting NAME [DEVICE]: as JSON has it
setting() { in_a tc -j qdisc show dev "${2:-veth0}" root | json_get options "$1"; }

# counter NAME: a statistic
counter() { in_a tc -j -s qdisc show dev veth0 root | json_get "$1"; }

# json_get KEY...: of the first object of the list on stdin
json_get() {
	/usr/bin/python3 -c '
import json, sys
value = json.load(sys.stdin)[0]
for key in sys.argv[1:]:
    value = value[key]
print(json.dumps(value))' "$@"
}

# Microseconds in TCP's timestamps, in both directions; 4 where there are none.
need_usec_ts() {
	[ "$(uname -r | cut -d. -f1)" -gt 6 ] || [ "$(uname -r | cut -d. -f2)" -ge 7 ] || {
		echo "TCP timestamps do not count microseconds before Linux 6.7"
		return 4
	}
	in_a turnpike usec-ts on 10.1.0.0/24 && in_b turnpike usec-ts on 10.1.0.0/24
}

# At 200 Mbit/s the far end has a queue of up to 20 ms.
slow_cable() {
	in_b ip link add ifb0 type ifb || return 1
	in_b ip link set ifb0 up
	in_b tc qdisc add dev ifb0 root tbf rate 200mbit burst 16k limit 500k || return 1
	in_b tc qdisc add dev veth0 ingress
	in_b tc filter add dev veth0 parent ffff: matchall action mirred egress redirect dev ifb0
}

flows_are_up() { [ "$(in_a ss -Htn dport = 5001 | grep -c ESTAB)" -ge 4 ]; }

# At 100 Mbit/s each: a cable that computes in no time could send without end.
rate="--max-pacing 12500000"

# background SECONDS: four flows
background() {
	# shellcheck disable=SC2086  # words
	start_sender --flows 4 --seconds "$1" $rate
	wait_for "flows" flows_are_up
}
