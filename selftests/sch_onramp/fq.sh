#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What fq does with packets, done by fq and by onramp in its place: limits, marks, departure
# times, rates, flows of packets without a connection, and that old flows are freed.

# shellcheck source=selftests/sch_onramp/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

leave=$here/leave.py

# of QDISC: $said is what leave.py said, $stats what tc says
declare -A said stats

# Each may be at the root, or the child of one that is slower.
put() {
	in_a tc qdisc del dev veth0 root 2>/dev/null
	[ -z "$slower" ] || in_a tc qdisc add dev veth0 root handle 1: tbf $slower || return 1
	# shellcheck disable=SC2046  # words
	in_a tc qdisc add dev veth0 $([ -z "$slower" ] && echo root || echo parent 1:1) handle 2: "$@"
}
slower=

# both OPTIONS LEAVE-OPTION...: UDP through each of the two
both() {
	_options=$1
	shift
	for _qdisc in fq onramp; do
		# shellcheck disable=SC2086  # words
		put $_qdisc $_options && send_udp $_qdisc "$@" || return 1
	done
}

send_udp() {
	_qdisc=$1
	shift
	said[$_qdisc]="${said[$_qdisc]:-} $("$leave" udp "$a" 10.1.0.2 "$@")" || return 1
	stats[$_qdisc]=$(in_a tc -j -s qdisc show dev veth0 | grep -o "\"kind\":\"$_qdisc\".*")
	echo "$_qdisc: ${said[$_qdisc]}"
}

# same NAME...: what tc counts, and the first is not 0
same() {
	for _name; do
		_fq=$(json_value "$_name" "${stats[fq]}") _mine=$(json_value "$_name" "${stats[onramp]}")
		echo "$_name: fq $_fq, onramp $_mine"
		[ -n "$_fq" ] && [ "$_fq" = "$_mine" ] || return 1
	done
	[ "$(json_value "$1" "${stats[fq]}")" -gt 0 ]
}

# left NAME: the same of both
left() { [ "$(field "$1" "${said[fq]}")" = "$(field "$1" "${said[onramp]}")" ]; }

# last LEAST MOST: milliseconds to the last packet, of both, which are half a percent apart at most
last() {
	_fq=$(field last_ms "${said[fq]}") _mine=$(field last_ms "${said[onramp]}")
	_fq=$((10#${_fq/./})) _mine=$((10#${_mine/./}))
	[ "$_fq" -ge "${1}000" ] && [ "$_fq" -le "${2}000" ] && [ $((_mine * 200)) -ge $((_fq * 199)) ] &&
		[ $((_mine * 199)) -le $((_fq * 200)) ]
}

limit__of_a_flow() {
	both "flow_limit 10" --packets 30 --rate 100000 && same flows_plimit drops && left left
}

limit__of_all() {
	both "limit 15 flow_limit 1000" --packets 100 --ports 4 --rate 100000 && same drops && left left
}

ce__marks_what_waited() {
	slower="rate 8mbit burst 5kb limit 1mb"
	both "ce_threshold 5ms flow_limit 1000" --packets 50 --ect && same ce_mark && left ce && left left &&
		[ "$(field ce "${said[onramp]}")" = "$(json_value ce_mark "${stats[onramp]}")" ]
}

ce__marks_nothing_else() {
	slower="rate 8mbit burst 5kb limit 1mb"
	both "ce_threshold 200ms flow_limit 1000" --packets 50 --ect && left ce &&
		[ "$(field ce "${said[onramp]}")" = 0 ] && [ "$(json_value ce_mark "${stats[onramp]}")" = 0 ]
}

# Of packets that wait, a quantum of each flow at a time.
flows__take_turns() {
	slower="rate 8mbit burst 5kb limit 1mb"
	both "quantum 3000 initial_quantum 3000" --packets 60 --ports 2 && left left && left turns &&
		[ "$(field turns "${said[onramp]}")" -ge 15 ] && [ "$(field turns "${said[onramp]}")" -le 30 ]
}

horizon__drops_what_is_beyond() {
	both "horizon 1s horizon_drop" --packets 4 --at 0.5,2 --for 3 && same horizon_drops && left left &&
		[ "$(field left "${said[onramp]}")" = 2 ] && last 499 501
}

horizon__caps_what_is_beyond() {
	both "horizon 1s horizon_cap" --packets 4 --at 0.5,2 --for 3 && same horizon_caps && left left &&
		[ "$(field left "${said[onramp]}")" = 4 ] && last 999 1001
}

# The flow waits for the time of the first, and the second has an earlier one: 100 ms where the
# kernel's own fq lets it go then, 500 ms where it does not.
departure__earlier_ones_leave_when_fq_lets_them() {
	both "" --packets 2 --at 0.5,0.1 --for 1 && last 499 501 || return 1
	first=$(field first_ms "${said[onramp]}") apart=$(field first_ms "${said[fq]}")
	apart=$((${first%.*} - ${apart%.*}))
	[ ${apart#-} -le 2 ]
}

# An application may choose the clock, as Linux since 6.13 has it for fq, too.
departure__by_the_clock_of_real_time() {
	for clock in real tai; do
		said=()
		put onramp && send_udp onramp --packets 4 --at 0.2,0.5 --clock $clock --for 1 || return 1
		last=$(field last_ms "${said[onramp]}")
		[ "$(field left "${said[onramp]}")" = 4 ] && [ "${last%.*}" -ge 499 ] && [ "${last%.*}" -le 501 ] || return 1
	done
}

# What is mirrored still has the time of its arrival, which the sniffer's wish for time stamps made.
# It is real time, and decades from now by the clock of departures.
departure__time_of_arrival_is_past() {
	in_b ip link add mirror type dummy && in_b ip link set mirror up &&
		in_b tc qdisc add dev mirror root onramp horizon 10s && in_b tc qdisc add dev veth0 clsact &&
		in_b tc filter add dev veth0 ingress matchall action mirred egress mirror dev mirror || return 1
	before=$(in_b cat /sys/class/net/mirror/statistics/tx_packets)
	put pfifo limit 1000 && "$leave" udp "$a" 10.1.0.2 --packets 20
	mirrored=$(($(in_b cat /sys/class/net/mirror/statistics/tx_packets) - before))
	in_b tc -s qdisc show dev mirror
	in_b tc qdisc del dev veth0 clsact
	in_b ip link del mirror
	echo "mirrored: $mirrored"
	[ $mirrored -ge 20 ]
}

# 200 packets of 1042 bytes at 1 MB/s
rate__max_is_that_of_a_flow() {
	both "maxrate 8mbit flow_limit 1000" --packets 200 && left left && last 190 212
}

rate__max_below_the_flows_own() {
	both "maxrate 8mbit flow_limit 1000" --packets 200 --rate 10000000 && left left && last 190 212
}

rate__max_above_the_flows_own() {
	both "maxrate 80mbit flow_limit 1000" --packets 200 --rate 1000000 && left left && last 190 212
}

# One packet at a time below it, and as many as the quantum has above.
rate__low_ones_spread_packets() {
	both "low_rate_threshold 550kbit initial_quantum 3000" --packets 20 --bytes 500 --rate 50000 &&
		left instants && [ "$(field instants "${said[onramp]}")" -ge 19 ] || return 1
	said=()
	both "low_rate_threshold 300kbit initial_quantum 3000" --packets 20 --bytes 500 --rate 50000 &&
		left instants && [ "$(field instants "${said[onramp]}")" -le 5 ]
}

# flows OPTIONS: of packets to 64 ports, by a socket without a connection
flows() {
	both "$1 maxrate 10gbit" --packets 64 --ports 64 --rate 1000000 && same flows
	json_value flows "${stats[onramp]}" > "$TMPDIR/flows"
}

orphans__mask_is_the_most_flows() {
	flows "orphan_mask 1023" && [ "$(cat "$TMPDIR/flows")" -gt 50 ] &&
		flows "orphan_mask 7" && [ "$(cat "$TMPDIR/flows")" -le 9 ] &&
		[ "$(cat "$TMPDIR/flows")" -ge 7 ] &&
		flows "orphan_mask 0" && [ "$(cat "$TMPDIR/flows")" -le 2 ]
}

# The first packet of a flow takes all of its credit, so that the second one waits, whatever flows share
# by their hash. All flows are met empty when those leave; one that is not met again never ages.
aged() {
	for _qdisc in fq onramp; do
		put $_qdisc buckets 2 maxrate 8mbit quantum 1500 initial_quantum 1000 &&
			send_udp $_qdisc --packets 128 --ports 64 --rate 1000000 --for "$1" &&
			send_udp $_qdisc --packets 128 --ports 64 --rate 1000000 || return 1
	done
}

# After three seconds, as others come by. Nothing else is sent meanwhile, which might do that, too.
flows__old_ones_are_freed() {
	aged 2 && [ "$(json_value gc "${stats[onramp]}")" = 0 ] && [ "$(json_value gc "${stats[fq]}")" = 0 ] &&
		aged 5 || return 1
	# Which ones are met depends on how their trees are balanced, which are mirror images.
	_fq=$(json_value gc "${stats[fq]}") _mine=$(json_value gc "${stats[onramp]}")
	echo "gc: fq $_fq, onramp $_mine"
	[ "$_fq" -gt 20 ] && [ $((_mine * 2)) -ge $_fq ] && [ $_mine -le $((_fq * 2)) ]
}

# segments QDISC OPTION...: bursts that the kernel cuts all arrive, in order and not too soon; $out
segments() {
	put "$1" && out=$("$here/segments.py" "$a" "$b" 10.1.0.2 "${@:2}") || return 1
	echo "$1: $out"
	[ "$(field arrived "$out")" = 1600 ] && [ "$(field sent "$out")" = 1600 ] && [ "$(field early "$out")" = 0 ] &&
		[ "$(field disordered "$out")" = 0 ]
}

# One at a time they take the receiver some time, too.
segments__leave_at_their_times() {
	for clock in monotonic tai real; do
		segments onramp --clock $clock || return 1
		late=$(field late_ms "$out")
		[ "${late%.*}" -lt 2 ] || return 1
	done
}

# 1.98 MB with headers, at 4 MB/s
segments__leave_at_their_rate() {
	segments fq --rate 4000000 && fq=$(field last_ms "$out") && segments onramp --rate 4000000 || return 1
	mine=$(field last_ms "$out")
	[ "${mine%.*}" -ge 450 ] && [ $((10#${mine/./} * 99)) -le $((10#${fq/./} * 100)) ] &&
		[ $((10#${mine/./} * 100)) -ge $((10#${fq/./} * 99)) ]
}

# As bandwidth managers do ("earliest departure time"): datagrams and TCP's own packets 5 ms from when they came.
later_by_program() {
	"$here/edt.py" "$bpf/later" 5000000 && in_a tc qdisc add dev veth0 clsact || return 1
	in_a tc filter add dev veth0 egress bpf object-pinned "$bpf/later" direct-action || {
		echo "this kernel has no programs of tc"
		return 4
	}
	both "flow_limit 100" --packets 50 && left left && last 5 6 || return 1
	for _qdisc in fq onramp; do
		put $_qdisc && said[$_qdisc]=$("$leave" tcp "$a" "$b" --bytes 10000) || return 1
		echo "$_qdisc: ${said[$_qdisc]}"
	done
	# two round trips
	left left && last 10 11
}

departures__are_those_of_a_program_of_tc() {
	bpf=$(mktemp -d) && mount -t bpf bpf "$bpf" || return 1
	later_by_program
	_result=$?
	in_a tc qdisc del dev veth0 clsact 2>/dev/null
	umount "$bpf" && rmdir "$bpf"
	return $_result
}

ktap_start
need_module
make_path
# fq counts what IPv6 says by itself, too, where it waited, and when that comes is chance.
in_a sysctl -q -w net.ipv6.conf.veth0.disable_ipv6=1
trap 'drop_hosts; unload_module' EXIT
run_cases "$@"
finish_hosts
