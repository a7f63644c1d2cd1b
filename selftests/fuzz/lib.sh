# SPDX-License-Identifier: GPL-2.0
# What the tests of all modules share: those of sch_onramp's hosts, and loading and unloading.
# shellcheck shell=bash

# shellcheck source=selftests/sch_onramp/lib.sh
. "$(dirname "$(readlink -f "$0")")/../sch_onramp/lib.sh"
here=$(dirname "$(readlink -f "$0")")

command -v turnpike > /dev/null || skip_all "needs the turnpike command"
[ -n "${TURNPIKE_MODULES:-}" ] || skip_all "needs TURNPIKE_MODULES"

load_all() {
	local module

	for module in drivers/nicstamp/nicstamp tcp_timely/tcp_timely sch_onramp/sch_onramp tlt/tlt; do
		insmod "$TURNPIKE_MODULES/$module.ko" || return 1
	done
}

unload_all() {
	local module

	for module in tlt sch_onramp tcp_timely nicstamp; do
		[ ! -d "/sys/module/$module" ] || wait_for "the end of $module" rmmod "$module" 2> /dev/null || return 1
	done
}
