#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# On-Ramp's delays count from the NIC's stamp of what left, and its receipts have the NIC's
# time of what came (e1000e, patched). The guest's clock counts instructions: reading that
# of the NIC takes so few of them that its times are trusted, as on a real one.
#
# nics: e1000e
# emulator: stamps
# clock: instructions

# shellcheck source=selftests/lib/ktap.sh
. /ktap.sh
# shellcheck source=selftests/qemu/pair.sh
. /pair.sh
# shellcheck source=selftests/qemu/wire.sh
. /wire.sh
export TC_LIB_DIR=/tc

# The ACK comes after a millisecond: the driver reads the stamp of what it sent by and by.
loads() {
	insmod /modules/nicstamp.ko && insmod /modules/e1000e.ko &&
		insmod /modules/sch_onramp.ko && make_wire && both ethtool -K eth0 gso off gro off &&
		ip netns exec b tc qdisc replace dev eth0 root handle 1: netem delay 1ms &&
		ip netns exec b tc qdisc replace dev eth0 parent 1:1 onramp feedback orack
}

# of NAME: of what is said of the sender's qdisc
of() { in_a tc -s qdisc show dev eth0 | sed -n "s/.* $1 \([0-9]*\).*/\1/p"; }

# sends RATE: two seconds of a flow; of it, $samples, those of them $by_nic, $arrivals, $found
sends() {
	arrivals=$(counted arrivals)
	found=$(counted arrivals_found)
	in_a tc qdisc replace dev eth0 root fq
	in_a tc qdisc replace dev eth0 root onramp feedback orack maxrate "$1" || return 1
	in_a flow send 10.0.0.2 5000 2 cubic 1000000 > /dev/null || return 1
	samples=$(of samples)
	by_nic=$(of samples_wire)
	arrivals=$(($(counted arrivals) - arrivals))
	found=$(($(counted arrivals_found) - found))
	echo "$samples samples, $by_nic by the NIC; $arrivals arrivals, $found found"
	turnpike stamps devices
}

# A reading of the clock that is worse than On-Ramp wants costs it a tenth of a second.
nearly_all_by_nic() { [ "$samples" -gt 1000 ] && [ $((by_nic * 10)) -ge $((samples * 9)) ]; }

# A packet in .6 ms: the only slot is always free.
delays_count_from_the_nic() { stamps_on && sends 20mbit && nearly_all_by_nic; }

receipts_have_its_times() { [ "$(counted arrivals_found)" -ge $(($(counted arrivals) * 99 / 100)) ]; }

# TSO packets have no slot, others may: the qdisc's times serve more often than not.
not_without_samples() {
	in_a ethtool -K eth0 gso on tso on && sends 1gbit && in_a ethtool -K eth0 gso off tso off &&
		[ "$samples" -gt 1000 ] && [ "$by_nic" -lt $((samples / 2)) ]
}

# Without the NIC's of what arrives the host's times serve, and those of what leaves go on.
arrivals_end() {
	both hwstamp_ctl -i eth0 -t 0 -r 0 > /dev/null && sends 20mbit && [ "$arrivals" = 0 ] &&
		nearly_all_by_nic
}

goes_away() {
	drop_wire
	unload sch_onramp && unload e1000e && unload nicstamp
}

ktap_start
ktap_case "modules and NICs are there" loads
ktap_case "delays count from the NIC" delays_count_from_the_nic
ktap_case "receipts have the NIC's times" receipts_have_its_times
ktap_case "where TSO packets have no slot the qdisc's times serve" not_without_samples
ktap_case "without stamps of arrivals the host's serve" arrivals_end
ktap_case "all modules unload" goes_away
ktap_finish
