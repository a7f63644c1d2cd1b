#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A driver adds and removes its port of nicstamp's from two processors at once: each port that
# there was is gone in the end, and none is removed twice.

# shellcheck source=selftests/lib/ktap.sh
. /ktap.sh

races() { insmod /modules/ports.ko; }

nothing_is_left() {
	left=$(turnpike stamps devices -j)
	echo "$left"
	[ "$(echo "$left" | grep -c '"dev": "lo"')" = 0 ]
}

ktap_start
ktap_case "module loads" insmod /modules/nicstamp.ko
ktap_case "two add and remove" races
ktap_case "no port is left" nothing_is_left
ktap_case "driver unloads" rmmod ports
ktap_case "module unloads" rmmod nicstamp
ktap_finish
