#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Packets are held while the path is overloaded, data only, and not without feedback.

# shellcheck source=selftests/sch_onramp/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

tx_bytes() { in_a cat /sys/class/net/veth0/statistics/tx_bytes; }

# Bytes that a flow at 80 Mbit/s moves in half a second, under the qdisc of the arguments.
moved() {
	in_a tc qdisc del dev veth0 root 2>/dev/null
	in_a tc qdisc add dev veth0 root "$@" || return 1
	before=$(tx_bytes)
	in_a "$traffic" send 10.1.0.2 --seconds 0.5 --max-pacing 10000000 > /dev/null || return 1
	echo $(($(tx_bytes) - before))
}

nopause__moves_what_fq_moves() {
	fq=$(moved fq) && mine=$(moved onramp nopause) || return 1
	echo "fq $fq, onramp nopause $mine"
	[ $((mine * 20)) -gt $((fq * 19)) ] && [ $((mine * 20)) -lt $((fq * 21)) ]
}

nopause__holds_nothing() {
	need_usec_ts || return
	onramp nopause || return 1
	in_a "$traffic" send 10.1.0.2 --flows 4 --seconds 0.2
	[ "$(counter samples)" = 0 ] && [ "$(counter held)" = 0 ]
}

feedback__none_holds_nothing() {
	onramp || return 1
	in_a "$traffic" send fd01::2 --flows 4 --seconds 0.2
	[ "$(counter samples)" = 0 ] && [ "$(counter held)" = 0 ]
}

overload__is_held_back() {
	need_usec_ts || return
	onramp threshold 200us || return 1
	in_a "$traffic" send 10.1.0.2 --flows 4 --seconds 1
	echo "samples $(counter samples) pauses $(counter pauses) held $(counter held)"
	[ "$(counter samples)" -gt 100 ] && [ "$(counter pauses)" -gt 10 ] &&
		[ "$(counter held)" -gt 10 ]
}

overload__queue_is_shorter_than_without() {
	need_usec_ts || return
	# What the flows before learned of the path is still fresh.
	sleep 0.2
	# A threshold beyond all delays measures and never holds.
	onramp threshold 900ms pause_max 950ms nogovernor || return 1
	in_a "$traffic" send 10.1.0.2 --flows 4 --seconds 1
	without=$(counter delay_p50_ns)
	[ "$(counter held)" = 0 ] || { echo "held below the threshold"; return 1; }
	onramp threshold 200us || return 1
	in_a "$traffic" send 10.1.0.2 --flows 4 --seconds 1
	with=$(counter delay_p50_ns)
	echo "median queueing delay in ns: $without without pauses, $with with"
	[ "$((with * 2))" -lt "$without" ]
}

ktap_start
need_module
make_hosts
trap 'drop_hosts; unload_module' EXIT
slow_cable || ktap_fail "bottleneck__set_up"
start_sink || ktap_fail "receiver__starts"
for case in $(declare -F | grep -o '[a-z]*__[a-z_]*'); do
	ktap_case "$case" "$case"
done
drop_hosts
ktap_case "unload__nothing_left" unload_module
ktap_finish
