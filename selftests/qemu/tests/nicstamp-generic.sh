#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Stamps of a driver as the kernel has it (nicstamp's generic feed), with two processors:
# the device is used and dropped, goes, moves, and nicstamp comes and goes, under traffic.
#
# nics: e1000

# shellcheck source=selftests/lib/ktap.sh
. /ktap.sh
# shellcheck source=selftests/qemu/pair.sh
. /pair.sh
# shellcheck source=selftests/qemu/wire.sh
. /wire.sh
# samples that show that they come
enough=20

use() { turnpike stamps use eth0 --netns a; }

drop() { turnpike stamps drop eth0 --netns a; }

loads() { insmod /modules/nicstamp.ko && insmod /modules/tcp_timely.ko && make_wire; }

no_sample_comes() {
	[ "$(counted probes)" = 0 ] || return 1
	before=$(counted samples)
	start_timely_flows 2
	# shellcheck disable=SC2086
	wait $flows
	[ "$(counted samples)" = "$before" ]
}

becomes_samples() {
	use && [ "$(counted probes)" -gt 0 ] && more_samples || return 1
	turnpike stamps devices
	[ "$(in_a sed -n 's/^source_driver //p' /proc/net/tcp_timely)" -ge $enough ]
}

used_twice() { ! use; }

# The module is there, and does not answer.
container_is_told() {
	said=$(in_a turnpike stamps devices 2>&1) && return 1
	echo "$said"
	[[ $said == *"network namespace"* && $said != *modprobe* ]]
}

drop_and_use() { drop && use; }

used_and_dropped() { while_sending 4 drop_and_use && more_samples; }

# With the link down: e1000 puts rings without memory in place of its own, and until it has
# disabled NAPI, 10 ms after it stopped its queue, that wakes the queue again.  A packet is a panic
# then, with nicstamp or without.
rings_and_link() {
	ip link set eth0 down && ethtool -G eth0 rx "$1" && sleep 0.1 && ip link set eth0 up &&
		sleep 0.5
}

rings_and_links() { in_a bash -c "$(declare -f rings_and_link); rings_and_link 128 && rings_and_link 256"; }

rings_resized() { while_sending 6 rings_and_links && more_samples; }

driver_unbinds() {
	for _ in 1 2 3; do
		start_timely_flows 5
		sleep 1
		rebind e1000 || return 1
		[ "$(turnpike stamps devices -j)" = "[]" ] && [ "$(counted probes)" = 0 ] || return 1
		drop_wire
		make_wire && use || return 1
	done
	more_samples
}

is_used() { turnpike stamps devices -j | json_lines | grep -q '^dev eth0 '; }

namespace_goes() { namespaces_go is_used; }

again() { rmmod nicstamp && insmod /modules/nicstamp.ko && use && sleep 0.2; }

nicstamp_comes_and_goes() { while_sending 5 again && more_samples; }

nothing_after_drop() { drop && no_sample_comes; }

goes_away() {
	use || return 1
	drop_wire
	unload tcp_timely && unload nicstamp
}

ktap_start
ktap_case "modules and NICs are there" loads
ktap_case "no sample of a device that is not used" no_sample_comes
ktap_case "stamps become samples" becomes_samples
ktap_case "a device is used once" used_twice
ktap_case "a container is told whose stamps they are" container_is_told
ktap_case "RTT by stamps is on average no longer than TCP's" rtt_less_than_tcp
ktap_case "device is used and dropped under traffic" used_and_dropped
ktap_case "rings are resized and the link flaps under traffic" rings_resized
ktap_case "driver is unbound and bound under traffic" driver_unbinds
ktap_case "namespaces go under traffic" namespace_goes
ktap_case "nicstamp comes and goes under traffic" nicstamp_comes_and_goes
ktap_case "no sample after the device is dropped" nothing_after_drop
ktap_case "all modules unload" goes_away
ktap_finish
