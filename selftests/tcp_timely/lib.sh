# SPDX-License-Identifier: GPL-2.0
# What the tests of tcp_timely share; selftests/lib/traffic.sh has the rest.
# shellcheck shell=bash disable=SC2034

here=$(dirname "$(readlink -f "$0")")
module=tcp_timely
sender_options="--cc timely"
settings=net/ipv4/tcp_timely
# shellcheck source=selftests/lib/traffic.sh
. "$here/../lib/traffic.sh"

# counter NAME: of the sending host
counter() { in_a cat /proc/net/tcp_timely | sed -n "s/^$1 //p"; }

# counter_moved NAME OLD
counter_moved() {
	now=$(counter "$1")
	[ "$now" -gt "$2" ] && return 0
	echo "$1 stayed at $2"
	return 1
}
