#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# No memory: every allocation of what sets the modules up fails once, but for pages as a module is
# loaded, and many of those that packets cause. Nothing but the allocation is lost: no memory, no reference, no lock, and no byte
# of a stream (the debug kernel tells, and selftests/lib/uml-run).
#
# A namespace has so many that one in seven fails, others with each TURNPIKE_SEED.

# shellcheck source=selftests/fuzz/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"
step=7
first=$((${TURNPIKE_SEED:-1} % step + 1))
faults=/sys/kernel/debug

[ -d $faults/failslab ] && [ -d $faults/fail_page_alloc ] || skip_all "this kernel makes no allocation fail"

# Allocations that may wait, too, and nothing is said of them; pages of programs do not fail.
for kind in failslab fail_page_alloc; do
	echo 0 > $faults/$kind/verbose
	echo 0 > $faults/$kind/probability
	echo -1 > $faults/$kind/times
	echo N > $faults/$kind/ignore-gfp-wait
done

# The kernel itself says with a backtrace that it could not make a cache of slabs, and loses the name
# of one whose directory in sysfs it could not make.  So its console is off while modules are loaded, and
# what it thought of them is asked for.
quiet() {
	_level=$(cut -f1 /proc/sys/kernel/printk)
	echo 1 > /proc/sys/kernel/printk
	"$@"
	_status=$?
	echo "$_level" > /proc/sys/kernel/printk
	return $_status
}

# Lockdep gives up at its first complaint, everything else but an "INFO:" taints.
kernel_is_content() {
	_tainted=$(($(cat /proc/sys/kernel/tainted) & ~(1 << 12)))
	[ "$_tainted" -eq 0 ] && grep -q 'debug_locks: *1' /proc/lockdep_stats && nothing_is_leaked || {
		echo "tainted $_tainted"
		dmesg | tail -n 100
		return 1
	}
}

# Unreferenced objects that hold no name of a cache.
leaks() { grep -A 4 '^unreferenced' $faults/kmemleak | grep 'hex dump' -A 1 | grep '^ *[0-9a-f][0-9a-f] ' | grep -Ev '  (onramp|tlt|timely|nicstamp)_[a-z]*\.'; }

nothing_is_leaked() {
	for _ in 1 2; do
		sleep 6
		echo scan > $faults/kmemleak
	done
	_leaks=$(leaks)
	[ -z "$_leaks" ] || cat $faults/kmemleak
	echo clear > $faults/kmemleak
	[ -z "$_leaks" ]
}

# fails_each IN OPERATION ARGUMENT...: something failed, and the operation says so or is done
fails_each() {
	_said=$("$1" "$here/faults.py" "${@:2}" 2>&1)
	_status=$?
	echo "$2: $_said"
	[ $_status = 0 ] && [ "$(field tried "$_said")" -gt 0 ]
}

# Some of an operation's allocations are of no use for it, or tried again; not all of them.
refuses_some() { fails_each "$@" && [ "$(field refused "$_said")" -gt 0 ]; }

loaded() { quiet refuses_some command load "$TURNPIKE_MODULES/$1.ko" && kernel_is_content; }
load__tcp_timely() { loaded tcp_timely/tcp_timely; }
load__sch_onramp() { loaded sch_onramp/sch_onramp; }
load__tlt() { loaded tlt/tlt; }
load__nicstamp() { loaded drivers/nicstamp/nicstamp; }

set__namespace() { refuses_some in_a namespace --step $step --first $first; }
set__qdisc() { refuses_some in_a qdisc veth0; }
set__tlt() { refuses_some in_a tlt veth0; }
set__keys() { refuses_some in_a keys; }

# With all on at both ends.
all_on() {
	onramp threshold 200us feedback orack && acker on &&
		in_a turnpike tlt set --all && in_b turnpike tlt set --all && in_a sysctl -q -w net.ipv4.tcp_congestion_control=timely
}

flow__set_up() { all_on && fails_each in_a flow 10.1.0.2 5001; }

# Of what packets cause, in softirqs and beside them, one in twenty.
flow__packets() {
	all_on || return 1
	for kind in failslab fail_page_alloc; do
		echo 1000000 > $faults/$kind/times
		echo Y > $faults/$kind/ignore-gfp-wait
		echo 20 > $faults/$kind/interval
		echo 100 > $faults/$kind/probability
	done
	send 2
	_status=$?
	_failed=0
	for kind in failslab fail_page_alloc; do
		echo 0 > $faults/$kind/probability
		echo 1 > $faults/$kind/interval
		echo N > $faults/$kind/ignore-gfp-wait
		_failed=$((_failed + 1000000 - $(cat $faults/$kind/times)))
		echo -1 > $faults/$kind/times
	done
	show
	echo "$_failed allocations failed"
	[ $_status = 0 ] && [ "$_failed" -gt 100 ]
}

all__work_after_it() {
	all_on && send 0.4 && show && flows_were_held
}

ktap_start
# Pages of more than any allocation has.
echo 20 > $faults/fail_page_alloc/min-order
ktap_case load__tcp_timely load__tcp_timely
ktap_case load__sch_onramp load__sch_onramp
ktap_case load__nicstamp load__nicstamp
ktap_case load__tlt load__tlt
echo 0 > $faults/fail_page_alloc/min-order
trap 'drop_hosts; unload_all' EXIT
load_all && slow_hosts || ktap_fail "hosts__made"
ktap_case set__namespace set__namespace
ktap_case set__qdisc set__qdisc
ktap_case set__tlt set__tlt
ktap_case set__keys set__keys
ktap_case flow__set_up flow__set_up
ktap_case flow__packets flow__packets
ktap_case all__work_after_it all__work_after_it
drop_hosts
ktap_case unload__nothing_left unload_all
ktap_finish
