#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# turnpike usec-ts: the feature of a route is set and cleared, of IPv4 and IPv6, and all else
# about the route stays; what is no route is refused. And flows over IPv6 are held by it.

# shellcheck source=selftests/sch_onramp/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

command -v turnpike > /dev/null || skip_all "needs the turnpike command"
tcp_has_usec || skip_all "TCP timestamps do not count microseconds before Linux 6.7"

# Bit 4, which older ip shows by number.
usec_ts_is='features (0x10|tcp_usec_ts)'

# routes FAMILY [WHICH]: as ip has them, on one line each
routes() { in_a ip -o "-$1" -d route show ${2:+"$2"} | sed 's/expires [0-9]*sec/expires/; s/  */ /g; s/ *$//'; }

# others FAMILY: without the feature
others() { routes "$1" | sed -E "s/ $usec_ts_is//; s/  */ /g"; }

# kept FAMILY DEST ROUTE...: a route is made, gets the feature, loses it, and nothing else changes
kept() {
	_family=$1 _dest=$2
	shift 2
	in_a ip "-$_family" route add "$@" || return 1
	_before=$(routes "$_family")
	in_a turnpike usec-ts on "$_dest" && _on=$(routes "$_family") && _on_others=$(others "$_family") &&
		in_a turnpike usec-ts off "$_dest" && _after=$(routes "$_family")
	_status=$?
	in_a ip "-$_family" route del "$@"
	[ $_status = 0 ] && grep -Eq "$usec_ts_is" <<< "$_on" && [ "$_on_others" = "$_before" ] &&
		[ "$_after" = "$_before" ] && return
	diff <(echo "$_before") <(echo "$_on")
	diff <(echo "$_before") <(echo "$_after")
	return 1
}

route__ipv4_keeps_the_rest() {
	kept 4 10.5.0.0/16 10.5.0.0/16 via 10.1.0.2 dev veth0 src 10.1.0.1 metric 77 mtu 1400 advmss 1300 \
		initcwnd 20 rto_min 5ms proto static
}

route__ipv4_default() { kept 4 default default via 10.1.0.2 mtu 1400; }

route__ipv4_several_next_hops() {
	kept 4 10.5.0.0/16 10.5.0.0/16 mtu 1400 nexthop via 10.1.0.2 weight 3 nexthop via 10.1.0.3 weight 1
}

route__ipv4_one_address() { kept 4 10.5.0.1 10.5.0.1 via 10.1.0.2; }

route__ipv6_keeps_the_rest() {
	kept 6 fd05::/48 fd05::/48 via fd01::2 dev veth0 src fd01::1 metric 77 mtu 1400 advmss 1300 \
		initcwnd 20 proto static
}

route__ipv6_default() { kept 6 ::/0 ::/0 via fd01::2 mtu 1400; }

route__ipv6_several_next_hops() {
	kept 6 fd05::/48 fd05::/48 mtu 1400 nexthop via fd01::2 weight 3 nexthop via fd01::3 weight 1
}

# As routers announce them.
route__ipv6_keeps_preference_and_end() {
	kept 6 fd05::/48 fd05::/48 via fd01::2 pref high expires 1000
}

# Both metrics of one destination, and not those within it.
route__all_of_that_destination() {
	in_a ip route add 10.5.0.0/16 via 10.1.0.2 metric 1 && in_a ip route add 10.5.0.0/16 via 10.1.0.2 metric 2 &&
		in_a ip route add 10.5.7.0/24 via 10.1.0.2 && in_a turnpike usec-ts on 10.5.0.0/16 || return 1
	_with=$(routes 4 | grep -Ec "$usec_ts_is")
	in_a ip route flush root 10.5.0.0/16
	[ "$_with" = 2 ]
}

# Of three to one place that of the main table by a device and of a metric.
route__of_one_device_and_metric_alone() {
	in_a ip route add 10.5.0.0/16 via 10.1.0.2 metric 7 && in_a ip route add 10.5.0.0/16 via 10.1.0.2 metric 8 &&
		in_a ip route add 10.5.0.0/16 via 10.1.0.2 metric 7 table 100 &&
		in_a turnpike usec-ts on 10.5.0.0/16 --dev veth0 --metric 7 || return 1
	_with=$(in_a ip route show table all | grep -E "$usec_ts_is")
	in_a ip route flush table 100
	in_a ip route flush root 10.5.0.0/16
	echo "$_with"
	[[ $(wc -l <<< "$_with") = 1 && $_with == "10.5.0.0/16"*"metric 7"* && $_with != *table* ]]
}

# refused STATUS WORD ARGUMENT...: and no route is another
refused() {
	_status=$1 _word=$2
	shift 2
	_before=$(routes 4)$(routes 6)
	said=$(in_a turnpike usec-ts "$@" 2>&1)
	[ $? = "$_status" ] || { echo "$*: another status; $said"; return 1; }
	grep -q "$_word" <<< "$said" || { echo "$*: no '$_word' in: $said"; return 1; }
	[ "$(routes 4)$(routes 6)" = "$_before" ]
}

route__nonsense_is_refused() {
	refused 2 "no unicast route" on 10.6.0.0/16 && refused 2 "no unicast route" on 10.1.0.0/16 &&
		refused 2 "no unicast route" on fd06::/48 && refused 2 "no unicast route" on default &&
		refused 2 "no address" on host && refused 2 "no address" on 10.1.0/24 &&
		refused 2 "prefix length" on 10.1.0.0/33 && refused 2 "prefix length" on 10.1.0.0/ &&
		refused 2 "prefix length" on fd01::/129 && refused 64 "" maybe 10.1.0.0/24 && refused 64 "" on &&
		refused 2 "no device" on 10.1.0.0/24 --dev nowhere && refused 2 "no unicast route" on 10.1.0.0/24 --dev lo
}

# A receiver of a network has no feature to give it, nor has what is no unicast route.
route__of_another_kind_is_left_alone() {
	in_a ip route add unreachable 10.5.0.0/16 || return 1
	refused 2 "no unicast route" on 10.5.0.0/16
	_status=$?
	in_a ip route del unreachable 10.5.0.0/16
	return $_status
}

route__needs_the_right_to() {
	said=$(in_a setpriv --bounding-set=-all --inh-caps=-all --reuid=65534 --clear-groups \
		"$(command -v turnpike)" usec-ts on 10.1.0.0/24 2>&1) && return 1
	echo "$said"
	[[ $said == *"ermitted"* ]]
}

feedback__ipv6_flows_are_held() {
	slow_cable && start_sink && usec_ts on fd01::/64 && to=fd01::2 held_by_timestamps
	_status=$?
	usec_ts off fd01::/64 && return $_status
}

ktap_start
need_module
trap 'drop_hosts; unload_module' EXIT
make_path || ktap_fail "hosts__set_up"
run_cases "$@"
finish_hosts
