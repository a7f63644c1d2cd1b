#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The patched igb (drivers/igb) on NICs of QEMU, with two processors. They are 82576, which
# stamp of what they receive PTP's messages alone, so TCP's loop is closed by the host's
# stamps at the driver's border, and the NIC's are ptp4l's: link, rings, driver, namespaces
# and tcp_timely come and go meanwhile.
#
# nics: igb
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
# of ptp.sh
hwts_filter=normal
# samples that show that they come
enough=20

loads() {
	insmod /modules/nicstamp.ko && insmod /modules/igb.ko && insmod /modules/tcp_timely.ko &&
		make_wire
}

becomes_samples() {
	more_samples || return 1
	turnpike stamps devices
	in_a grep source_ /proc/net/tcp_timely
	[ "$(in_a sed -n 's/^source_driver //p' /proc/net/tcp_timely)" -ge $enough ]
}

goes_away() {
	drop_wire
	unload tcp_timely && unload igb && unload nicstamp
}

ktap_start
ktap_case "modules and NICs are there" loads
ktap_case "stamps become samples" becomes_samples
ktap_case "RTT by stamps is on average no longer than TCP's" rtt_less_than_tcp
ktap_case "interface goes down and up under traffic" link_flaps
ktap_case "rings are resized under traffic" rings_resized
ktap_case "driver is unbound and bound under traffic" driver_unbinds igb true
ktap_case "namespaces go under traffic" namespaces_go true
ktap_case "tcp_timely comes and goes" timely_comes_and_goes
ktap_case "ptp4l loses no stamp of what it sends" ptp4l_loses_no_stamp
ktap_case "samples come after ptp4l" more_samples
ktap_case "all modules unload" goes_away
ktap_finish
