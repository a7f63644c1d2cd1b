# SPDX-License-Identifier: GPL-2.0
# The hosts of pair.sh on two NICs of the guest, whose driver is under test.
#
#	netns a  eth0 10.0.0.1 ---- QEMU ---- 10.0.0.2 eth0  netns b
#
# The addresses of the NICs end in 1 and 2. A test names their model in a comment.
# shellcheck shell=bash disable=SC2034,SC2154  # flows and server are of pair.sh

# The NICs that are in the first namespace, by name.
nics() {
	for nic in /sys/class/net/*; do
		[ ! -e "$nic/device" ] || echo "${nic##*/}"
	done
}

two_nics() { [ "$(nics | wc -l)" = 2 ]; }

make_wire() {
	ip netns add a && ip netns add b && soon two_nics || return 1
	for nic in $(nics); do
		last=$(sed 's/.*:0//' "/sys/class/net/$nic/address")
		netns=$(echo "$last" | tr 12 ab)
		ip link set "$nic" netns "$netns" name eth0 || return 1
		ip -n "$netns" addr add "10.0.0.$last/24" dev eth0
		ip -n "$netns" link set lo up
		ip -n "$netns" link set eth0 up
	done
	in_a sysctl -q -w net.ipv4.tcp_orphan_retries=1
	ip netns exec b flow serve 5000 > /dev/null 2>&1 &
	server=$!
	soon in_a flow send 10.0.0.2 5000 0.1 cubic > /dev/null
}

# A namespace lives, and keeps its NIC, as long as a process in it. Those are not looked
# up in $server and $flows: a case runs in a shell of its own, and what it set is gone.
drop_wire() {
	# shellcheck disable=SC2046  # a list of processes
	kill $(ip netns pids a; ip netns pids b) 2>/dev/null
	ip netns del a
	ip netns del b
}

# start_traffic SECONDS: what a test sends; one of other flows has its own
start_traffic() { start_timely_flows "$1"; }

# while_sending SECONDS COMMAND...: the command again and again while flows send. They are
# ended then: one whose path was taken away may wait a minute before it tries again.
while_sending() {
	start_traffic "$1"
	_end=$((SECONDS + $1))
	shift
	while [ $SECONDS -lt $_end ]; do
		"$@" || return 1
	done
	end_flows
}

# What arrives is stamped by the NIC; what it sends is stamped without a command, frame by
# frame, since these NICs do not say which frame's time a TSO packet's stamp is.
stamps_on() { both hwstamp_ctl -i eth0 -t 0 -r 1 > /dev/null && both ethtool -K eth0 tso off; }

# counted NAME: nicstamp's counter
counted() { turnpike stamps stats -j | json_lines | sed -n "s/^$1 //p"; }

# Until $enough more came: how long that takes is the machine's affair.
more_samples() {
	goal=$(($(counted samples) + enough))
	for _ in $(seq 30); do
		start_timely_flows 2
		# shellcheck disable=SC2086  # a list of processes
		wait $flows
		[ "$(counted samples)" -lt $goal ] || return 0
	done
	turnpike stamps stats -v
	return 1
}

# namespaces_go [COMMAND...]: under traffic, three times, and the command succeeds after each.
# The NICs go back to the first namespace, and from there to the next.
namespaces_go() {
	for _ in 1 2 3; do
		start_timely_flows 5
		sleep 1
		drop_wire
		make_wire && "$@" || return 1
	done
	more_samples
}

flows_shown() {
	_flows=$(turnpike stamps flows -j) && echo "$_flows" | json_lines >> /run/shown && turnpike stamps devices > /dev/null
}

# By stamps less than by TCP: in sum, since the two may be of different bytes of a burst.
rtt_less_than_tcp() {
	: > /run/shown && while_sending 3 flows_shown || return 1
	tail -n 4 /run/shown
	awk '{
		for (i = 1; i < NF; i += 2)
			of[$i] = $(i + 1)
		if (!of["samples"] || !of["tcp_rtt_ns"])
			next
		lines++
		stamps += of["rtt_ns"]
		tcp += of["tcp_rtt_ns"]
	} END {
		if (lines)
			print lines " lines: by stamps " stamps / lines " ns, by TCP " tcp / lines
		exit !lines || stamps > tcp
	}' /run/shown
}

down_and_up() {
	ip -n a link set eth0 down && sleep 0.1 && ip -n a link set eth0 up && sleep 0.5
}

# rebind DRIVER: its devices go and come back, in the first namespace
rebind() {
	for path in /sys/bus/*/drivers/"$1"; do
		devices=$(cd "$path" && for net in */net; do echo "${net%/net}"; done)
		for device in $devices; do
			echo "$device" > "$path/unbind" || return 1
		done
		for device in $devices; do
			echo "$device" > "$path/bind" || return 1
		done
	done
}
