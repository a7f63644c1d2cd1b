# SPDX-License-Identifier: GPL-2.0
# What is done to tcp_timely and a driver on the NICs of wire.sh under traffic; samples come
# after each.
# shellcheck shell=bash disable=SC2154  # flows are of pair.sh

link_flaps() { while_sending 5 down_and_up && more_samples; }

rings() { in_a ethtool -G eth0 rx 128 && in_a ethtool -G eth0 rx 256 && sleep 0.5; }

rings_resized() { while_sending 5 rings && more_samples; }

# driver_unbinds DRIVER COMMAND...: the command makes of the new wire what the test needs
driver_unbinds() {
	for _ in 1 2 3; do
		start_timely_flows 600
		sleep 1
		rebind "$1" || return 1
		drop_wire
		make_wire && "${@:2}" || return 1
	done
	more_samples
}

timely_comes_and_goes() {
	for _ in $(seq 5); do
		start_timely_flows 0.5
		# shellcheck disable=SC2086  # a list of processes
		wait $flows
		unload tcp_timely && insmod /modules/tcp_timely.ko || return 1
	done
	more_samples
}
