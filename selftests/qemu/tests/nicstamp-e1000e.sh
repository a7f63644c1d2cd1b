#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The patched e1000e (drivers/e1000e) carries traffic while nicstamp listens and its
# interfaces come and go. QEMU's e1000e stamps nothing: what is under test is that a
# stamp which never comes harms nobody, and that its packet is let go.
#
# nics: e1000e

# shellcheck source=selftests/lib/ktap.sh
. /ktap.sh
# shellcheck source=selftests/qemu/pair.sh
. /pair.sh
# shellcheck source=selftests/qemu/wire.sh
. /wire.sh
enough_bytes=100000

loads() {
	insmod /modules/nicstamp.ko && insmod /modules/e1000e.ko &&
		insmod /modules/tcp_timely.ko && make_wire
}

sends() {
	bytes=$(in_a flow send 10.0.0.2 5000 3 timely $enough_bytes) || return 1
	turnpike stamps devices
	echo "$bytes bytes"
	[ "$bytes" -ge $enough_bytes ]
}

ports() { turnpike stamps devices -j | json_lines | grep -c '^dev eth0 '; }

port_lives_while_up() {
	[ "$(ports)" = 2 ] || return 1
	ip -n a link set eth0 down
	[ "$(ports)" = 1 ] || return 1
	ip -n a link set eth0 up
	[ "$(ports)" = 2 ]
}

link_flaps() { while_sending 6 down_and_up && soon sends; }

driver_unbinds() {
	start_timely_flows 5
	sleep 1
	rebind e1000e || return 1
	drop_wire
	make_wire && sends
}

goes_away() {
	drop_wire
	unload tcp_timely && unload e1000e && unload nicstamp
}

ktap_start
ktap_case "modules and NICs are there" loads
ktap_case "timely sends" sends
ktap_case "a port is there while its interface is up" port_lives_while_up
ktap_case "interface goes down and up under traffic" link_flaps
ktap_case "driver is unbound and bound under traffic" driver_unbinds
ktap_case "all modules unload" goes_away
ktap_finish
