#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# turnpike up, down, diff, status and doctor where a host is not as one hopes: bond and VLAN, devices that
# come late and go, no rights, namespaces, some modules loaded, and modules upgraded under connections.
# What the file says is set up by systemd's unit, as on a host.
#
# nics: igb
# processors: 1
# host: systemd

# shellcheck source=selftests/qemu/host.sh
. /host.sh

near=10.0.0.0/8
conf=/etc/turnpike/turnpike.conf

# undone COMMAND...: and after it the host is as it was
undone() {
	local before status=0

	before=$(picture)
	"$@" || status=1
	turnpike down > /dev/null
	diff <(echo "$before") <(picture) && return $status
}

root_of() { tc qdisc show dev "$1" | sed -n 's/^qdisc \(\S*\) \S* root.*/\1/p'; }

# -- bond and VLAN

# Of a second pair of devices, whose names are their own.
make_bond() {
	ip link add bond7 type bond mode active-backup && ip link add slave0 type veth peer name far0 &&
		ip link set slave0 master bond7 && ip link set far0 netns b && ip -n b link set far0 up &&
		ip link set slave0 up && ip link set bond7 up && ip addr add 10.5.0.1/24 dev bond7 &&
		ip -n b addr add 10.5.0.2/24 dev far0 && ip link add link bond7 name bond7.7 type vlan id 7 &&
		ip link set bond7.7 up && ip addr add 10.6.0.1/24 dev bond7.7
}

bond_and_vlan_up() {
	turnpike up bond7 bond7.7 --with timely,onramp --for $near && [ "$(root_of bond7)" = onramp ] &&
		[ "$(root_of bond7.7)" = onramp ] && [[ $(ip route show 10.6.0.0/24) == *"congctl timely"* ]] &&
		says 0 "bond7.7: 0 flows" turnpike && says 0 "all is as wanted" turnpike diff && turnpike down &&
		[ "$(root_of bond7)" = noqueue ]
}

bond_and_vlan__up_and_down() {
	make_bond && undone bond_and_vlan_up
}

# The VLAN goes with its bond, and its state does not keep the rest.
bond_that_goes__is_told_of() {
	turnpike up bond7 bond7.7 eth0 --with timely,onramp --for $near > /dev/null && ip link del bond7 || return 1
	says 1 "device bond7.7: wanted set up, is there is no device bond7.7" turnpike diff &&
		says 0 "not so any more: device bond7, device bond7.7" turnpike &&
		says 1 "not as turnpike up made it: device bond7" turnpike doctor &&
		says 2 "there is no device bond7" turnpike doctor bond7 && says 0 "eth0: 2 queues" turnpike status eth0 &&
		refused_with "there is no device bond7" turnpike up bond7 bond7.7 eth0 --with timely,onramp --for $near &&
		says 0 "qdisc of bond7: gone" turnpike down && [ -z "$(lsmod_ours)" ] && no_state &&
		[ "$(root_of eth0)" = mq ]
}


# -- a device that comes late

write_conf() {
	cat > $conf <<-END
		[net]
		for = $near
		congestion = timely
		[device eth0]
		qdisc = onramp
		[device late]
		qdisc = onramp
	END
}

late_comes() {
	says 1 "device late: wanted set up, is there is no device late" turnpike diff &&
		refused_with "there is no device late" turnpike up --all || return 1
	! systemctl restart turnpike.service && systemctl is-failed turnpike.service &&
		journalctl --no-pager -u turnpike.service | grep "there is no device late" || return 1
	ip link add late type dummy && ip addr add 10.8.0.1/24 dev late || return 1
	# Not up yet.
	refused_with "late has no queueing discipline: is it up?" turnpike up --all && ip link set late up || return 1
	systemctl restart turnpike.service && says 0 "all is as wanted" turnpike diff && [ "$(root_of late)" = onramp ]
}

device_that_comes_late__is_set_up_then() {
	write_conf
	late_comes
	local status=$?
	rm -f $conf
	systemctl stop turnpike.service
	ip link del late
	return $status
}

# The driver is taken from the NIC and gets it again, while all is up: the kernel has a new device by the same name.
driver_goes_and_comes() {
	local before device

	before=$(picture | grep eth0 | grep ^qdisc)
	turnpike up eth0 --with timely,onramp --for $near > /dev/null || return 1
	device=$(basename "$(readlink /sys/class/net/eth0/device)")
	echo "$device" > /sys/bus/pci/drivers/igb/unbind
	says 1 "device eth0: wanted set up, is there is no device eth0" turnpike diff && says 1 "device eth0" turnpike doctor &&
		says 0 "not so any more" turnpike || return 1
	echo "$device" > /sys/bus/pci/drivers/igb/bind
	soon [ -d /sys/class/net/eth0 ] && ethtool -L eth0 combined 2 && ip addr add 10.0.0.1/24 dev eth0 &&
		ip link set eth0 up || return 1
	says 1 "qdisc of eth0: wanted mq with onramp" turnpike diff &&
		turnpike up eth0 --with timely,onramp --for $near && says 0 "all is as wanted" turnpike diff && turnpike down &&
		diff <(echo "$before") <(picture | grep eth0 | grep ^qdisc) && [ -z "$(lsmod_ours)" ]
}

driver_that_goes__is_told_of_and_comes_again() {
	driver_goes_and_comes
	local status=$?
	ip route replace default via 10.0.0.2
	return $status
}

# -- rights

nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
without() { setpriv --bounding-set="-$1" --inh-caps="-$1" "${@:2}"; }

no_rights() {
	refused_with "needs root" nobody turnpike up eth0 --for $near && turnpike up eth0 --with timely,onramp --for $near > /dev/null ||
		return 1
	says 0 "eth0: 2 queues" nobody turnpike && says 0 "all is as wanted" nobody turnpike diff &&
		refused_with "needs root" nobody turnpike down && not_broken nobody turnpike doctor &&
		nobody turnpike metrics > /dev/null
}

no_rights__looks_are_free_and_changes_are_not() { undone no_rights; }

half_rights__all_or_nothing() {
	refused_with "all is as it was before" without net_admin turnpike up eth0 --with timely,onramp --for $near &&
		refused_with "all is as it was before" without sys_module turnpike up eth0 --with timely,onramp --for $near &&
		no_state
}

half_rights__down_says_what_it_could_not() {
	turnpike up eth0 --with timely,onramp --for $near > /dev/null || return 1
	says 2 "not all could be taken back" without net_admin turnpike down && says 0 "as before" turnpike down &&
		[ -z "$(lsmod_ours)" ] && [ "$(root_of eth0)" = mq ]
}

# -- namespaces

of_another() {
	in_b turnpike up eth0 --with timely,onramp --for $near && turnpike up eth0 --with timely,onramp --for $near || return 1
	says 0 "network namespace b" turnpike && says 0 "all is as wanted" turnpike diff && turnpike down || return 1
	# The other one's modules stay with it.
	[ "$(lsmod_ours | wc -l)" = 2 ] && says 0 "all is as wanted" in_b turnpike diff && in_b turnpike down && [ -z "$(lsmod_ours)" ]
}

namespace__each_has_its_own() { undone of_another; }

# A container whose user is root in it alone.
containers_root() {
	refused_with "all is as it was before" unshare -U -r -n bash -c 'ip link set lo up && turnpike up lo --profile onramp' &&
		modprobe sch_onramp || return 1
	# noqueue's place is the container's own.
	says 0 "onramp" unshare -U -r -n bash -c 'ip link set lo up && turnpike up lo --profile onramp && turnpike down'
}

namespace__of_a_user_who_is_root_there() {
	containers_root
	local status=$?
	# The container's namespace goes some time after it.
	soon rmmod sch_onramp
	return $status
}

# -- some of it is there

# Who loaded a module keeps it.
half_loaded() {
	modprobe tcp_timely || return 1
	turnpike doctor eth0
	turnpike up eth0 --with timely,onramp --for $near && turnpike down && [ "$(lsmod_ours)" = tcp_timely ] && rmmod tcp_timely
}

half_loaded__what_was_there_stays() { undone half_loaded; }

missing() {
	refused_with "Module sch_onramp not found" turnpike up eth0 --with timely,onramp --for $near &&
		says 0 "sch_onramp is not installed" turnpike doctor eth0 -a || return 1
	write_conf
	says 2 "sch_onramp is not installed" turnpike doctor
}

half_installed__is_refused_and_told_of() {
	local place status

	place=$(modinfo -F filename sch_onramp)
	mv "$place" /run/ && depmod || return 1
	missing
	status=$?
	rm -f $conf
	mv /run/sch_onramp.ko "$place" && depmod && return $status
}

# -- an upgrade while connections use what is there

upgrade() {
	local directory

	directory=$(dirname "$(modinfo -F filename tcp_timely)")
	cp /newer/*.ko "$directory/" && depmod
}

loaded_is_newer() { [ "$(cat "/sys/module/$1/srcversion")" = "$(modinfo -F srcversion "/newer/$1.ko")" ]; }

# seconds are those of the guest, and it is ended before
begin_flow() {
	flow send 10.0.0.2 5000 600 timely > /dev/null &
	flow=$!
	soon timely_flow
}

timely_flow() { ss -tin dst 10.0.0.2 | grep -q timely; }

upgraded_in_use() {
	turnpike up eth0 --with timely,onramp --for $near > /dev/null && begin_flow && upgrade || return 1
	says 1 "tcp_timely is loaded in another version than the one on disk" turnpike doctor &&
		says 1 "it is held by 1 connection" turnpike doctor &&
		says 0 "tcp_timely stays loaded" turnpike down && ! loaded_is_newer tcp_timely || return 1
	# onramp has no user any more: it went, and comes new.
	turnpike up eth0 --with timely,onramp --for $near && loaded_is_newer sch_onramp && ! loaded_is_newer tcp_timely &&
		says 1 "tcp_timely is loaded in another version" turnpike doctor && kill $flow || return 1
	soon goes_with_down && turnpike up eth0 --with timely,onramp --for $near && loaded_is_newer tcp_timely &&
		turnpike doctor eth0 -a | grep "those loaded are those on disk"
}

goes_with_down() {
	turnpike down > /dev/null
	[ -z "$(lsmod_ours)" ] || rmmod tcp_timely
}

upgrade__with_connections_counts_when_they_are_over() {
	serve
	sysctl -q -w net.ipv4.tcp_orphan_retries=1
	undone upgraded_in_use
}

ktap_start
run_cases bond_and_vlan__up_and_down bond_that_goes__is_told_of device_that_comes_late__is_set_up_then \
	driver_that_goes__is_told_of_and_comes_again no_rights__looks_are_free_and_changes_are_not \
	half_rights__all_or_nothing half_rights__down_says_what_it_could_not namespace__each_has_its_own \
	namespace__of_a_user_who_is_root_there half_loaded__what_was_there_stays half_installed__is_refused_and_told_of \
	upgrade__with_connections_counts_when_they_are_over
ktap_finish
