#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Locks that On-Ramp takes while four processors send to one destination: the kernel's function tracer
# counts them, by who takes them. What a flow has of its own no other processor waits for; what
# flows share would not scale, and has a bound.
#
# processors: 4

# shellcheck source=selftests/lib/ktap.sh
. /ktap.sh
# shellcheck source=selftests/qemu/pair.sh
. /pair.sh

export TC_LIB_DIR=/tc
tracing=/sys/kernel/tracing
counted=/run/locks

# 6.1 has no microseconds in TCP's timestamps.
has_usec_ts() {
	case $(uname -r) in
	6.[0-6].*) return 1 ;;
	esac
}

counter() { in_a tc -s qdisc show dev eth0 | sed -n "s/.* $1 \([0-9]*\).*/\1/p" | head -n 1; }

sampled() { [ "$(counter samples)" -gt 200 ]; }
more_samples() { [ "$(counter samples)" -gt $((before + 500)) ]; }

# Of 500 samples and more: a line for each function of On-Ramp's that took locks, and how many.
trace_locks() {
	mount -t tracefs none $tracing 2> /dev/null
	echo 0 > $tracing/tracing_on
	printf '%s\n' _raw_spin_lock _raw_spin_lock_bh _raw_spin_lock_irqsave _raw_spin_trylock > $tracing/set_ftrace_filter || return 1
	echo 32768 > $tracing/buffer_size_kb
	echo function > $tracing/current_tracer || return 1
	before=$(counter samples)
	echo 1 > $tracing/tracing_on
	soon more_samples || return 1
	echo 0 > $tracing/tracing_on
	samples=$(($(counter samples) - before))
	sed -n 's/.*_raw_spin_\([a-z_]*\) <-\(onramp_[a-z0-9_]*\|orack_[a-z0-9_]*\).*/\2 \1/p' $tracing/trace |
		awk '{ count[$0]++ } END { for (who in count) print count[who], who }' > $counted
	lost=$(sed -n 's@.*entries-in-buffer/entries-written: \([0-9]*\)/\([0-9]*\).*@\2 - \1@p' $tracing/trace)
	echo nop > $tracing/current_tracer
	: > $tracing/trace
	cat $counted
	[ $((lost)) -eq 0 ] || { echo "$((lost)) calls are not in the trace"; return 1; }
}

# locks_of PATTERN: of functions with such names
locks_of() { awk -v which="$1" '$2 ~ which { n += $1 } END { print n + 0 }' $counted; }

# shared_locks FEEDBACK SHARED MOST: by functions with such names no more than MOST for 100 samples
shared_locks() {
	insmod /modules/sch_onramp.ko && make_pair onramp threshold 20us feedback "$1" || return 1
	if [ "$1" = tcpts ]; then
		both turnpike usec-ts on 10.0.0.0/24 || return 1
	fi
	start_flows 600 cubic cubic cubic cubic
	soon sampled && trace_locks
	good=$?
	end_flows
	drop_pair
	unload sch_onramp && [ $good = 0 ] || return 1
	shared=$(locks_of "$2")
	packets=$(locks_of '^onramp_ctl_sent$')
	echo "$1: $samples samples, $packets packets of data; for 100 of these $((100 * $(locks_of '^onramp_(ctl_|attach|detach|wake_kicked)') / packets))" \
		"locks of the flow's own, for 100 samples $((100 * shared / samples)) that are shared"
	[ "$shared" -gt 0 ] && [ $((100 * shared / samples)) -le "$3" ]
}

by_timestamps() {
	has_usec_ts || { echo "TCP timestamps do not count microseconds before Linux 6.7"; return 4; }
	shared_locks tcpts '^onramp_path_' 120
}

# Those of receivers are of receipts that go the other way, or each processor's.
by_receipts() { shared_locks orack '^(onramp_path_|orack_receive)' 300; }

ktap_start
ktap_case "shared locks of a sample by timestamps" by_timestamps
ktap_case "shared locks of a sample by receipts" by_receipts
ktap_finish
