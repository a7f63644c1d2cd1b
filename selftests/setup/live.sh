#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# turnpike top and watch while modules work: rates, holds, delays, TLT, namespaces that come and go.

# shellcheck source=selftests/setup/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

# top_until NETNS KEYS PATTERN...: turnpike top on a pseudo terminal, until its screen has all patterns; prints it.
top_until() {
	ip netns exec "$1" /usr/bin/python3 "$here/top_until.py" "$turnpike" "${@:2}"
}

# 2 KB every two milliseconds on each of two connections, until `sent'
send_on() { send --seconds 100000 --write 2000 --interval 0.002 --flows 2; }

# watched CONDITION: turnpike watch of host a until an object of JSON named `one' meets a condition of Python.
watched() {
	in_a /usr/bin/python3 "$here/watch_until.py" "$turnpike" "$@"
}

top__shows_flows_of_onramp() {
	up veth0 --profile onramp > /dev/null && onramp_on_b && send_on || return 1
	top_until "$a" "" "10\.1\.0\.2:$port +- +[0-9.]+[kMG] .* [0-9.]+[num]s +[0-9.]+%.* orack-c" \
		"veth0 +sent [0-9.]+[kMG]"
	code=$?
	[ $code = 0 ] && top_until "$a" p "10\.1\.0\.2 +- +2 +[0-9.]+[kMG].* orack-c" &&
		top_until "$a" v "veth0 +- +[0-9.]+[kMG] .* [0-9.]+[num]s +[0-9.]+[num]s"
	code=$?
	sent
	no_onramp_on_b
	return $code
}

top__says_none_without_feedback() {
	up veth0 --profile onramp > /dev/null && send_on || return 1
	top_until "$a" "" "10\.1\.0\.2:$port .* none!"
	code=$?
	sent
	return $code
}

top__shows_states_of_tlt() {
	up veth0 --profile tlt --rule "port=$port" > /dev/null || return 1
	in_b "$turnpike" tlt set --rule "port=$port" && send_on || return 1
	top_until "$a" "" "10\.1\.0\.2:$port .* tlt  "
	code=$?
	in_b "$turnpike" tlt off
	sent
	return $code
}

top__tells_who_has_no_rights() {
	command -v setpriv > /dev/null || { echo "setpriv is missing"; return 4; }
	up veth0 --profile onramp > /dev/null || return 1
	in_a /usr/bin/python3 "$here/top_until.py" --as-nobody "$turnpike" "" "CAP_NET_ADMIN"
}

watch__rates_delays_and_holds() {
	up veth0 --profile onramp > /dev/null && onramp_on_b && send_on || return 1
	watched 'one["device"] == "veth0" and one["sent_bps"] > 0 and one["delay_p99_ns"] and one["delay_p50_ns"] and
		one["held_share"] is not None and one["drops"] == 0 and one["netns"] == ""'
	code=$?
	sent
	no_onramp_on_b
	return $code
}

# a mid --- mid router out --- in b; what leaves the router waits there
make_router() {
	ip netns add "$router" && ip link add mid netns "$a" type veth peer name mid netns "$router" &&
		ip link add out netns "$router" type veth peer name in netns "$b" || return 1
	ip -n "$a" addr add 10.3.0.1/24 dev mid && ip -n "$router" addr add 10.3.0.2/24 dev mid &&
		ip -n "$router" addr add 10.4.0.1/24 dev out && ip -n "$b" addr add 10.4.0.2/24 dev in || return 1
	ip -n "$a" link set mid up && ip -n "$router" link set mid up && ip -n "$router" link set out up &&
		ip -n "$b" link set in up && ip -n "$a" route add 10.4.0.0/24 via 10.3.0.2 &&
		ip -n "$b" route add 10.3.0.0/24 via 10.4.0.1 &&
		ip netns exec "$router" sysctl -q -w net.ipv4.ip_forward=1 &&
		ip netns exec "$router" tc qdisc add dev out root tbf rate 50mbit burst 10k limit 1m
}

watch__what_is_held() {
	router=$module-r-$$
	up veth0 --profile onramp > /dev/null && make_router && in_a tc qdisc replace dev mid root onramp &&
		in_b tc qdisc replace dev in root onramp && receive_in "$b" "$traffic" sink --port "$port" || return 1
	in_a "$traffic" send 10.4.0.2 --port "$port" --seconds 100000 --flows 4 > /dev/null 2>&1 &
	sender=$!
	watched 'one["device"] == "mid" and one["held_share"] and one["delay_p99_ns"] > 50000' &&
		top_until "$a" h "10\.4\.0\.2:$port .* (0\.[1-9]|[1-9][0-9.]*)[0-9]*%"
	code=$?
	sent
	ip -n "$a" link del mid
	ip -n "$b" link del in
	ip netns del "$router"
	return $code
}

watch__timeouts_and_retransmits() {
	send_on || return 1
	in_b ip link set veth0 down
	watched 'one["device"] == "veth0" and one["retransmits"] and one["timeouts"]'
	code=$?
	in_b ip link set veth0 up
	wait_for "the cable" cable_is_up
	sent
	return $code
}

watch__namespaces_come_and_go() {
	"$turnpike" watch lo -i 0.1 -j > "$work/log" &
	watch=$!
	ip netns add "come-$$" && ip -n "come-$$" link set lo up &&
		wait_for "its line" grep -q "\"netns\":\"come-$$\"" "$work/log" && ip netns del "come-$$" &&
		lines=$(wc -l < "$work/log") && wait_for "a line after it" more_lines
	code=$?
	kill $watch
	wait $watch
	[ $? = 143 ] && [ $code = 0 ] && ! tail -n 1 "$work/log" | grep "come-$$"
}

more_lines() { [ "$(wc -l < "$work/log")" -gt $((lines + 3)) ]; }

make_host || { ktap_fail "hosts__are_made"; ktap_finish; }
trap 'clean_up; drop_hosts' EXIT
run_cases "$@"
ktap_finish
