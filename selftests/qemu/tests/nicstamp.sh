#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# nicstamp on a stock kernel with two processors: modules come and go, settings
# change, interfaces and namespaces vanish, while stamps come in on both.
#
# The NICs are virtio_net's, patched (drivers/virtio_net): the stamps are those of
# the host's clock, by the way of all others through nicstamp.
#
# nics: virtio-net-pci

# shellcheck source=selftests/lib/ktap.sh
. /ktap.sh
# shellcheck source=selftests/qemu/pair.sh
. /pair.sh
# shellcheck source=selftests/qemu/wire.sh
. /wire.sh
# samples that show that they come
enough=20

loads() {
	insmod /modules/nicstamp.ko && insmod /modules/virtio_net.ko &&
		insmod /modules/tcp_timely.ko && make_wire
}

becomes_samples() {
	more_samples || return 1
	turnpike stamps devices
	in_a grep source_ /proc/net/tcp_timely
	[ "$(in_a sed -n 's/^source_driver //p' /proc/net/tcp_timely)" -ge $enough ]
}

one_source_after_another() {
	for word in auto hw sw tcp; do
		in_a sh -c "echo $word > /proc/sys/net/ipv4/tcp_timely/source" || return 1
	done
}

source_changes() {
	while_sending 4 one_source_after_another &&
		in_a sh -c "echo auto > /proc/sys/net/ipv4/tcp_timely/source" && more_samples
}

shown() {
	turnpike stamps devices > /dev/null && turnpike stamps flows >> /run/shown &&
		turnpike stamps stats > /dev/null
}

looks() { : > /run/shown && while_sending 3 shown && [ -s /run/shown ]; }

link_flaps() { while_sending 4 down_and_up && more_samples; }

four_in_a() { [ "$(ip netns pids a | wc -l)" -ge 4 ]; }

# Those just started, and all before them, whose numbers are forgotten. They need a
# moment to get into their namespace.
end_all_flows() {
	soon four_in_a || return 1
	# shellcheck disable=SC2046  # a list of processes
	kill $(ip netns pids a)
}

# The driver gives its port back with packets on their way, and takes a new one.
driver_unbinds() {
	start_timely_flows 8
	for _ in 1 2 3; do
		sleep 0.5
		rebind virtio_net || return 1
		drop_wire
		make_wire || return 1
		start_timely_flows 8
	done
	end_all_flows && more_samples
}

nicstamp_is_held() { ! rmmod nicstamp 2>/dev/null; }

timely_comes_and_goes() {
	in_a flow send 10.0.0.2 5000 8 cubic 100000 > /run/sent &
	other=$!
	for _ in $(seq 5); do
		start_timely_flows 0.5
		# shellcheck disable=SC2086
		wait $flows
		unload tcp_timely && insmod /modules/tcp_timely.ko || return 1
	done
	wait $other
	echo "another flow sent $(cat /run/sent) bytes"
	[ "$(cat /run/sent)" -ge 100000 ]
}

goes_away() {
	drop_wire
	unload tcp_timely && unload virtio_net && unload nicstamp
}

ktap_start
ktap_case "modules and NICs are there" loads
ktap_case "stamps become samples" becomes_samples
ktap_case "source changes under traffic" source_changes
ktap_case "all is shown under traffic" looks
ktap_case "interface goes down and up under traffic" link_flaps
ktap_case "driver is unbound and bound under traffic" driver_unbinds
ktap_case "nicstamp is held by the driver" nicstamp_is_held
ktap_case "namespaces go under traffic" namespaces_go true
ktap_case "tcp_timely comes and goes under traffic" timely_comes_and_goes
ktap_case "all modules unload" goes_away
ktap_finish
