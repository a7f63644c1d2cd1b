#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# On-Ramp is told by NICs (e1000e, patched) when data left and came, with two processors:
# the qdisc, the driver, the link and the module come and go under traffic. What it makes of
# these times is another test's (nicstamp-depart.sh): reading the clock takes so long here
# that it trusts none of them.
#
# nics: e1000e
# emulator: stamps

# shellcheck source=selftests/lib/ktap.sh
. /ktap.sh
# shellcheck source=selftests/qemu/pair.sh
. /pair.sh
# shellcheck source=selftests/qemu/wire.sh
. /wire.sh
export TC_LIB_DIR=/tc

# OR-ACKs: they serve on every kernel.
onramp() { both tc qdisc replace dev eth0 root onramp feedback orack threshold 20us; }

no_onramp() { both tc qdisc del dev eth0 root; }

start_traffic() { start_flows "$1" cubic cubic; }

# more_than TX ARRIVALS: departures that were told to who had a record of them, and arrivals
# that who made a receipt has found
more_than() { [ "$(counted tx)" -gt "$1" ] && [ "$(counted arrivals_found)" -gt "$2" ]; }

# Some more of either than there are now, under traffic.
more_is_told() {
	goal="$(($(counted tx) + 20)) $(($(counted arrivals_found) + 20))"
	start_traffic 600
	# shellcheck disable=SC2086  # two numbers
	soon more_than $goal
	came=$?
	end_flows
	turnpike stamps stats
	[ $came = 0 ]
}

wire() { make_wire && stamps_on; }

loads() {
	insmod /modules/nicstamp.ko && insmod /modules/e1000e.ko &&
		insmod /modules/sch_onramp.ko && wire
}

times_are_told() { onramp && more_is_told; }

qdisc_another_and_back() {
	both tc qdisc replace dev eth0 root fq && onramp && no_onramp && onramp
}

qdisc_changes() { while_sending 5 qdisc_another_and_back && more_is_told; }

link_flaps() { while_sending 5 down_and_up && more_is_told; }

wire_again() {
	drop_wire
	wire && onramp
}

driver_unbinds() {
	for _ in 1 2 3; do
		start_traffic 600
		soon more_than 0 0 && rebind e1000e && wire_again || return 1
	done
	more_is_told
}

namespaces_vanish() {
	for _ in 1 2 3; do
		start_traffic 600
		soon more_than 0 0 && wire_again || return 1
	done
	more_is_told
}

onramp_again() { no_onramp && unload sch_onramp && insmod /modules/sch_onramp.ko && onramp; }

onramp_comes_and_goes() { while_sending 5 onramp_again && more_is_told; }

goes_away() {
	drop_wire
	unload sch_onramp && unload e1000e && unload nicstamp
}

ktap_start
ktap_case "modules and NICs are there" loads
ktap_case "departures and arrivals are told" times_are_told
ktap_case "qdisc changes under traffic" qdisc_changes
ktap_case "interface goes down and up under traffic" link_flaps
ktap_case "driver is unbound and bound under traffic" driver_unbinds
ktap_case "namespaces go under traffic" namespaces_vanish
ktap_case "sch_onramp comes and goes under traffic" onramp_comes_and_goes
ktap_case "all modules unload" goes_away
ktap_finish
