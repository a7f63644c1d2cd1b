#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Options: set, shown, changed, refused with a reason and without effect; at the root and
# under mq.

# shellcheck source=selftests/sch_onramp/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

like_fq=$here/like_fq.py
provoke=$here/provoke.py

# fq OPTION...: a new one, for the other host
fq() {
	tc -n "$b" qdisc del dev veth0 root 2>/dev/null
	in_b tc qdisc add dev veth0 root fq "$@"
}

# both_show OPTION...: as JSON and as text
both_show() { fq=$(in_b tc "$@" qdisc show dev veth0 root) && mine=$(in_a tc "$@" qdisc show dev veth0 root); }

# same_options OPTION...: set for either, shown by the same names and values
same_options() {
	fq "$@" && onramp "$@" || { echo "refused: $*"; return 1; }
	both_show -j && "$like_fq" options "$fq" "$mine" && both_show && "$like_fq" text "$fq" "$mine" ||
		{ echo "differs with: $*"; return 1; }
}

# By either.
both_refuse() {
	! fq "$@" && ! onramp "$@" || { echo "taken: $*"; return 1; }
}

add__defaults_are_those_of_fq() { same_options; }

add__options_are_those_of_fq() {
	same_options limit 500 flow_limit 50 quantum 9000 initial_quantum 30000 maxrate 80mbit orphan_mask 255 &&
		same_options refill_delay 80ms low_rate_threshold 800kbit timer_slack 5us ce_threshold 2ms &&
		same_options nopacing horizon 3s horizon_cap && same_options low_rate_threshold 0bit
}

add__buckets_are_rounded_as_for_fq() {
	same_options buckets 1000 && [ "$(setting buckets)" = 1024 ] &&
		same_options buckets 1025 && [ "$(setting buckets)" = 2048 ] &&
		same_options buckets 2 && same_options buckets 0 && same_options buckets 262144 &&
		both_refuse buckets 1 && both_refuse buckets 262145 && both_refuse buckets 4294967295
}

# A veth says that it has 10 Gbit/s.
add__maxrate_in_percent_is_of_the_devices_speed() {
	same_options maxrate 25% && [ "$(setting maxrate)" = 312500000 ] &&
		both_refuse maxrate 101% && both_refuse maxrate some%
}

add__what_fq_ignores_is_ignored() {
	same_options defrate 1mbit && same_options defrate 10% && both_refuse defrate some || return 1
	onramp defrate 1mbit 2>&1 | grep -q "defrate is ignored"
}

# A veth does not pace.  Kernels without devices that do have nothing to show.
add__offload_horizon_is_as_the_device_says() {
	onramp offload_horizon 0us || return 1
	if [ -n "$(setting offload_horizon)" ]; then
		set_and_shown offload_horizon 0us 0 && refused "more than the device" offload_horizon 10ms
	else
		onramp offload_horizon 10ms 2>&1 | grep -q "offload_horizon is ignored"
	fi
}

# provoke_in NETNS ADDRESS KIND: of all kinds of counters that can be made to count, by a new qdisc:
# where another case left timers with seconds of slack, none is ever late
provoke_in() {
	tc -n "$1" qdisc del dev veth0 root 2> /dev/null
	tc -n "$1" qdisc add dev veth0 root "$3" flow_limit 4 limit 6 maxrate 80kbit \
		ce_threshold 0us horizon 1s || return 1
	ip netns exec "$1" "$provoke" late "$2" && tc -n "$1" qdisc change dev veth0 root "$3" horizon_cap &&
		ip netns exec "$1" "$provoke" late "$2" && ip netns exec "$1" "$provoke" many "$2" && sleep 0.25
}

stats__names_are_those_of_fq() {
	provoke_in "$b" 10.1.0.1 fq && fq=$(tc -n "$b" -j -s qdisc show dev veth0 root) || return 1
	for name in flows_plimit ce_mark latency next_packet_delay horizon_drops horizon_caps; do
		[ "$(json_value $name "$fq")" -gt 0 ] || { echo "fq counted no $name: $fq"; return 1; }
	done
	provoke_in "$a" 10.1.0.2 onramp && both_show -j -s && "$like_fq" counters "$fq" "$mine" &&
		provoke_in "$b" 10.1.0.1 fq && both_show -s && echo "$mine" && "$like_fq" text "$fq" "$mine"
}

# set_and_shown OPTION VALUE JSON
set_and_shown() {
	in_a tc qdisc change dev veth0 root onramp "$1" "$2" || return 1
	shown=$(setting "$1")
	[ "$shown" = "$3" ] || { echo "$1 $2: shown as $shown, not $3"; return 1; }
}

waiting() { json_value qlen "$(statistics "$a")"; }

# All 60 are for later: no dequeue gives them.
change__lower_limit_holds_at_once() {
	onramp && in_a "$provoke" wait 10.1.0.2 && [ "$(waiting)" = 60 ] || return 1
	in_a tc qdisc change dev veth0 root onramp limit 10 && [ "$(waiting)" -le 10 ] &&
		[ "$(waiting)" -ge 7 ] && in_a tc qdisc change dev veth0 root onramp limit 0 && [ "$(waiting)" = 0 ] &&
		[ "$(json_value flows "$(statistics "$a")")" -ge 4 ]
}

# backlog_is PACKETS BYTES
backlog_is() {
	shown=$(statistics "$a")
	echo "packets $(json_value qlen "$shown"), bytes $(json_value backlog "$shown")"
	[ "$(json_value qlen "$shown")" = "$1" ] && [ "$(json_value backlog "$shown")" = "$2" ]
}

nothing_waits() { backlog_is 0 0; }

# Four bytes each, with headers 46.
backlog__is_what_waits() {
	onramp && in_a "$provoke" wait 10.1.0.2 && backlog_is 60 $((60 * 46)) &&
		wait_for "their time" nothing_waits
}

# What the parent counts is what its child has.
backlog__of_a_parent_falls_with_the_limit() {
	tc -n "$a" qdisc del dev veth0 root 2>/dev/null
	in_a tc qdisc add dev veth0 root handle 1: tbf rate 1gbit burst 100k latency 50ms &&
		in_a tc qdisc add dev veth0 parent 1:1 handle 2: onramp && in_a "$provoke" wait 10.1.0.2 &&
		[ "$(waiting)" = 60 ] && in_a tc qdisc change dev veth0 parent 1:1 onramp limit 10 || return 1
	shown=$(in_a tc -s qdisc show dev veth0)
	echo "$shown"
	_left=$(sed -n 's/.*backlog \([^ ]* [0-9]*p\).*/\1/p' <<< "$shown")
	[ "$(sort -u <<< "$_left" | wc -l)" = 1 ] && [ "$(wc -l <<< "$_left")" = 2 ] && [ "$(waiting)" -le 10 ]
}

# Nothing of before leaves after.
reset__drops_what_waits() {
	onramp && in_a "$provoke" wait 10.1.0.2 && [ "$(waiting)" = 60 ] && ip -n "$a" link set veth0 down &&
		ip -n "$a" link set veth0 up && nothing_waits || return 1
	ip -n "$a" neigh replace 10.1.0.2 lladdr 02:00:00:00:00:02 dev veth0 nud permanent
	sleep 6
	_sent=$(json_value packets "$(statistics "$a")")
	echo "sent: $_sent"
	nothing_waits && [ "$_sent" -lt 30 ]
}

change__every_option_is_shown() {
	onramp || return 1
	set_and_shown limit 500 500 && set_and_shown flow_limit 50 50 &&
		set_and_shown quantum 9000 9000 && set_and_shown initial_quantum 30000 30000 &&
		set_and_shown maxrate 80mbit 10000000 && set_and_shown buckets 64 64 &&
		set_and_shown orphan_mask 255 255 && set_and_shown refill_delay 80ms 80000 &&
		set_and_shown low_rate_threshold 800kbit 100000 &&
		set_and_shown timer_slack 5us 5000 && set_and_shown ce_threshold 2ms 2000 &&
		set_and_shown horizon 3s 3000000 && set_and_shown mode strawman '"strawman"' &&
		set_and_shown mode paper '"paper"' && set_and_shown mode final '"final"' &&
		set_and_shown threshold 30us 30000 && set_and_shown gain 1/8 0.125 &&
		set_and_shown pause_max 9ms 9000 && set_and_shown feedback_timeout 7ms 7000 &&
		set_and_shown gate on '"on"' && set_and_shown feedback orack '"orack"' &&
		set_and_shown feedback auto '"auto"' &&
		set_and_shown line_rate 1gbit 125000000
}

# As tc takes them for fq: microseconds, and nanoseconds for timer_slack.
change__times_without_a_unit() {
	onramp || return 1
	set_and_shown refill_delay 80000 80000 && set_and_shown ce_threshold 2000 2000 &&
		set_and_shown horizon 3000000 3000000 && set_and_shown timer_slack 5000 5000 &&
		set_and_shown threshold 30 30000 && set_and_shown pause_max 9000 9000 &&
		set_and_shown feedback_timeout 7000 7000 && refused "bad value" limit 77 threshold 5000000 &&
		refused "bad value" limit 77 horizon 5000000000
}

change__switches_are_shown() {
	onramp || return 1
	for pair in pause:nopause governor:nogovernor; do
		in_a tc qdisc change dev veth0 root onramp "${pair#*:}" || return 1
		[ "$(setting "${pair%:*}")" = false ] || return 1
		in_a tc qdisc change dev veth0 root onramp "${pair%:*}" || return 1
		[ "$(setting "${pair%:*}")" = true ] || return 1
	done
}

# shown_after OPTION NAME JSON
shown_after() {
	in_a tc qdisc change dev veth0 root onramp "$1" && [ "$(setting "$2")" = "$3" ] ||
		{ echo "$1: $2 is shown as $(setting "$2"), not '$3'"; return 1; }
}

# By the state that there is, or only where it is not the default.
change__switches_of_fq_are_shown_as_fq_does() {
	onramp || return 1
	shown_after nopacing pacing false && shown_after pacing pacing "" &&
		shown_after horizon_cap horizon_cap null && shown_after horizon_cap horizon_drop "" &&
		shown_after horizon_drop horizon_drop null && shown_after horizon_drop horizon_cap ""
}

# refused WORD OPTION...: with a message that has the word, and all is as before
refused() {
	word=$1
	shift
	before=$(in_a tc -d qdisc show dev veth0 root)
	said=$(in_a tc qdisc change dev veth0 root onramp "$@" 2>&1) && {
		echo "taken: $*"
		return 1
	}
	echo "$said" | grep -q "$word" || { echo "$*: no '$word' in: $said"; return 1; }
	[ "$(in_a tc -d qdisc show dev veth0 root)" = "$before" ] ||
		{ echo "$*: refused, and yet something changed"; return 1; }
}

change__nonsense_is_refused_whole() {
	onramp || return 1
	refused "below the threshold" limit 77 threshold 2ms pause_max 1ms &&
		refused "out of range\|Invalid" limit 77 threshold 0us &&
		refused "out of range\|Invalid" limit 77 pause_max 5s &&
		refused "out of range\|Invalid" limit 77 buckets 1048576 &&
		refused "maxrate" limit 77 maxrate 0bit &&
		refused "out of range\|Invalid" limit 77 quantum 1 &&
		refused "bad value" limit 77 gain 1/3 && refused "bad value" mode sometimes &&
		refused "what is" limit 77 nonsense 1
}

bands__as_the_kernels_fq_has_them() {
	map="1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1"
	onramp || return 1
	# shellcheck disable=SC2086  # sixteen words
	if in_a tc -d qdisc show dev veth0 root | grep -q "bands 3"; then
		in_a tc qdisc change dev veth0 root onramp bands 3 priomap $map \
			weights 100000 50000 20000 &&
			[ "$(setting weights)" = "[100000,50000,20000]" ] &&
			refused "16384" weights 100000 50000 1 &&
			refused "above 2" priomap 3 ${map#* }
	else
		refused "bands" limit 77 weights 100000 50000 20000
	fi
}

# -- the manual page, which says of each option (UNIT, MIN to MAX; default DEFAULT)

documented() { "$here/../lib/manual.py" settings "$here/../../Documentation/man/tc-onramp.8"; }

has_bands() { [ -n "$(setting weights)" ]; }

# take_words NAME VALUE: appends them to words, as tc has them; nothing where there are no bands
take_words() {
	case $1 in
	bands) has_bands && words+=(bands 3 priomap) || return 0 ;;
	weights) has_bands && words+=(weights) || return 0 ;;
	"$2") ;;
	*) words+=("$1") ;;
	esac
	# shellcheck disable=SC2206  # words
	words+=($2)
}

manual__defaults_are_those_of_a_new_qdisc() {
	onramp && both_show -j && before=${mine#*options} && words=() || return 1
	while IFS=$'\t' read -r name default _; do
		[ "$default" = none ] || take_words "$name" "$default"
	done < <(documented)
	echo "${words[*]}"
	[ ${#words[@]} -ge 40 ] && onramp "${words[@]}" && both_show -j || return 1
	[ "${mine#*options}" = "$before" ] || { echo "was $before, is ${mine#*options}"; return 1; }
}

# next VALUE STEP: of the number in it, whatever its unit
next() { echo "$((${1%%[a-z]*} + $2))${1##*[0-9]}"; }

# taken NAME VALUE: with what makes no other bound matter; of two values of an option the last counts
taken() {
	case $1 in
	weights) set -- weights "$2" "$2" "$2" ;;
	esac
	in_a tc qdisc change dev veth0 root onramp threshold 1ns pause_max 1s "$@"
}

manual__ranges_are_those_that_are_taken() {
	onramp || return 1
	ranges=0
	while IFS=$'\t' read -r name _ least most; do
		case $name in
		weights) has_bands || continue ;;
		bands) continue ;;
		esac
		[ "$least" != - ] || continue
		ranges=$((ranges + 1))
		taken "$name" "$least" && taken "$name" "$most" || { echo "$name: not $least to $most"; return 1; }
		! taken "$name" "$(next "$most" 1)" || { echo "$name: $(next "$most" 1) is taken"; return 1; }
		# 1/65536 is no number, and below 0 there is nothing to say.
		[[ $least == 0* || $least == */* ]] || ! taken "$name" "$(next "$least" -1)" ||
			{ echo "$name: $(next "$least" -1) is taken"; return 1; }
	done < <(documented)
	[ $ranges -ge 14 ]
}

mq__takes_it_as_a_child() {
	ip link add mq0 netns "$a" numtxqueues 2 type veth peer name mq1 netns "$b" numrxqueues 2 || return 1
	in_a ip link set mq0 up
	in_a tc qdisc replace dev mq0 root handle 1: mq &&
		in_a tc qdisc replace dev mq0 parent 1:1 onramp threshold 30us &&
		in_a tc qdisc replace dev mq0 parent 1:2 onramp nopause &&
		[ "$(in_a tc qdisc show dev mq0 | grep -c 'qdisc onramp')" = 2 ]
	status=$?
	in_a ip link del mq0
	return $status
}

help__is_shown() {
	in_a tc qdisc add dev veth0 root onramp help 2>&1 | grep -q pause_max
}

begin_on_path
run_cases "$@"
finish_hosts
