#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Options: set, shown, changed, refused with a reason and without effect; at the root and
# under mq.

# shellcheck source=selftests/sch_onramp/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

add__defaults_are_those_of_fq() {
	in_a tc qdisc replace dev veth0 root fq || return 4
	for name in limit flow_limit buckets orphan_mask quantum initial_quantum \
		low_rate_threshold refill_delay timer_slack horizon; do
		fq=$(setting $name) && onramp && mine=$(setting $name) || return 1
		[ "$fq" = "$mine" ] || { echo "$name: fq $fq, onramp $mine"; return 1; }
		in_a tc qdisc replace dev veth0 root fq
	done
}

# set_and_shown OPTION VALUE JSON
set_and_shown() {
	in_a tc qdisc change dev veth0 root onramp "$1" "$2" || return 1
	shown=$(setting "$1")
	[ "$shown" = "$3" ] || { echo "$1 $2: shown as $shown, not $3"; return 1; }
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
	for pair in pause:nopause governor:nogovernor pacing:nopacing horizon_drop:horizon_cap; do
		in_a tc qdisc change dev veth0 root onramp "${pair#*:}" || return 1
		[ "$(setting "${pair%:*}")" = false ] || return 1
		in_a tc qdisc change dev veth0 root onramp "${pair%:*}" || return 1
		[ "$(setting "${pair%:*}")" = true ] || return 1
	done
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

ktap_start
need_module
make_path
trap 'drop_hosts; unload_module' EXIT
run_cases
finish_hosts
