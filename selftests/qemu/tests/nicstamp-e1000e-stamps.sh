#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The patched e1000e (drivers/e1000e) on NICs that stamp, with two processors: TCP's loop
# is closed by the hardware's stamps of either direction, while the link, the rings, the
# driver, namespaces and tcp_timely come and go, and ptp4l has the only slot.
#
# nics: e1000e
# emulator: stamps

# shellcheck source=selftests/lib/ktap.sh
. /ktap.sh
# shellcheck source=selftests/qemu/pair.sh
. /pair.sh
# shellcheck source=selftests/qemu/wire.sh
. /wire.sh
# shellcheck source=selftests/qemu/loop.sh
. /loop.sh
# shellcheck source=selftests/qemu/ptp.sh
. /ptp.sh
# samples that show that they come
enough=20

wire() { make_wire && stamps_on; }

loads() {
	insmod /modules/nicstamp.ko && insmod /modules/e1000e.ko &&
		insmod /modules/tcp_timely.ko && wire
}

by_the_nic() { in_a sed -n 's/^source_nic //p' /proc/net/tcp_timely; }

becomes_samples() {
	in_a sh -c 'echo hw > /proc/sys/net/ipv4/tcp_timely/source' && more_samples || return 1
	turnpike stamps devices
	in_a grep source_ /proc/net/tcp_timely
	[ "$(by_the_nic)" -ge $enough ]
}

clock_is_the_nics() {
	turnpike stamps devices -j | json_lines | grep -c ' clock nic .* error_ns [0-9]' | grep -qx 2
}

samples_after_ptp4l() { stamps_on && more_samples; }

goes_away() {
	drop_wire
	unload tcp_timely && unload e1000e && unload nicstamp
}

ktap_start
ktap_case "modules and NICs are there" loads
ktap_case "stamps of the NIC become samples" becomes_samples
ktap_case "the NICs' clocks are known" clock_is_the_nics
ktap_case "RTT by stamps is on average no longer than TCP's" rtt_less_than_tcp
ktap_case "interface goes down and up under traffic" link_flaps
ktap_case "rings are resized under traffic" rings_resized
ktap_case "driver is unbound and bound under traffic" driver_unbinds e1000e stamps_on
ktap_case "namespaces go under traffic" namespaces_go stamps_on
ktap_case "tcp_timely comes and goes" timely_comes_and_goes
ktap_case "ptp4l loses no stamp of what it sends" ptp4l_loses_no_stamp
ktap_case "samples come again after ptp4l" samples_after_ptp4l
ktap_case "all modules unload" goes_away
ktap_finish
