#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# All pieces on a stock kernel, and everything that an operator, a container or a failing cable does
# to them at once, while flows go on: qdiscs, TLT, settings, keys, modules, namespaces, links and
# processors come and go. A warning of the kernel fails the test (selftests/qemu/run).
#
# TURNPIKE_STRESS_S=N: for so long; 40. TURNPIKE_CYCLES=N: so often are all modules loaded and
# unloaded after it; 20. A row for each kind says how often it was done, and how often refused: but
# for the module sch_onramp, none may be so each time.
#
# processors: 4

# shellcheck source=selftests/lib/ktap.sh
. /ktap.sh
# shellcheck source=selftests/qemu/pair.sh
. /pair.sh

export TC_LIB_DIR=/tc
seconds=${TURNPIKE_STRESS_S:-40}
cycles=${TURNPIKE_CYCLES:-20}
modules="nicstamp tcp_timely sch_onramp tlt"
counts=/run/stress
moving=/run/moving
# Those that were not refused each time.
kinds_done=/run/stress.done
key=/run/key
echo 00112233445566778899aabbccddeeff > $key

load_all() {
	local module

	for module in $modules; do
		[ -d "/sys/module/$module" ] || insmod "/modules/$module.ko" || return 1
	done
}

unload_all() {
	local module

	for module in tlt sch_onramp tcp_timely nicstamp; do
		[ ! -d "/sys/module/$module" ] || unload "$module" || return 1
	done
}

going() { [ -e /run/going ]; }

# again NAME COMMAND...: until the end, and how often it was done and refused
again() {
	local name=$1 done=0 refused=0 said=/run/said.$BASHPID

	shift
	while [ $((done + refused)) = 0 ] || going; do
		if "$@" > "$said" 2>&1; then
			[ $done -gt 0 ] || echo "$name" >> $kinds_done
			done=$((done + 1))
		else
			refused=$((refused + 1))
			tail -n 1 "$said" >> "$said.refused"
			# What is refused at once is not asked for without a breath.
			sleep 0.05
		fi
	done
	[ $done -gt 0 ] || tail -n 3 "$said.refused" | sed "s/^/$name: /"
	echo "$name $done $refused" >> $counts
}

begin() {
	kinds=$((kinds + 1))
	again "$@" &
	at_work="$at_work $!"
}

qdiscs_of() {
	local status

	ip netns exec "$1" tc qdisc replace dev eth0 root onramp threshold 20us &&
		ip netns exec "$1" tc qdisc change dev eth0 root onramp limit 5 gate on &&
		ip netns exec "$1" tc qdisc change dev eth0 root onramp limit 10000 gate off nopause &&
		ip netns exec "$1" tc qdisc replace dev eth0 root onramp buckets 64 mode strawman &&
		ip netns exec "$1" tc qdisc replace dev eth0 root handle 1: netem delay 1ms &&
		ip netns exec "$1" tc qdisc replace dev eth0 parent 1: onramp
	status=$?
	ip netns exec "$1" tc qdisc replace dev eth0 root fq && return $status
}

# One of three, in the time for which the module is there on a slow machine.
rules() {
	case $((RANDOM % 3)) in
	0) in_a turnpike tlt set --all && in_a turnpike tlt flows -j && in_a turnpike tlt off ;;
	1) ip netns exec b turnpike tlt set --rule port=5000 --rule peer=10.0.0.0/24 && ip netns exec b turnpike tlt off ;;
	2) in_a turnpike tlt set --all --clock segment --period 7 ;;
	esac
}

settings() {
	in_a sysctl -q -w net.ipv4.tcp_timely.t_low_us=$((30 + RANDOM % 20)) &&
		in_a sysctl -q -w net.ipv4.tcp_timely_patched.preset=default
}

keys() {
	both turnpike onramp key del 1 2> /dev/null
	both turnpike onramp key add 1 $key && both turnpike onramp set --port 7000 && in_a turnpike onramp peers -j &&
		in_a turnpike onramp flows -j && both turnpike onramp key del 1
	both turnpike onramp set --port 61004
}

# alone COMMAND...: no other module comes or goes meanwhile. Linux since 6.8 stands still for ever where one takes
# away its family of generic netlink while another adds or takes away its own and a program closes such a socket
# (genl_unregister_family(), genl_register_family(), genl_release()).
alone() {
	for _ in $(seq 40); do
		if mkdir $moving 2> /dev/null; then
			"$@"
			_done=$?
			rmdir $moving
			return $_done
		fi
		sleep 0.05
	done
	return 1
}

# Those in use are refused. Most of the time all are there, or the rest has nothing to do.
modules_of() {
	[ -d "/sys/module/$1" ] || alone insmod "/modules/$1.ko"
	sleep 4
	for _try in $(seq 40); do
		if alone rmmod "$1"; then
			alone insmod "/modules/$1.ko"
			return
		fi
		sleep 0.05
	done
	return 1
}

# The cable has no stamps: a driver that starts and stops a port of nicstamp's from two places.
ports() {
	insmod /modules/ports.ko rounds=5 && rmmod ports && sleep 1
}

container() {
	ip netns del "$1" 2> /dev/null
	ip netns add "$1" && ip -n "$1" link set lo up && ip netns exec "$1" tc qdisc add dev lo root onramp &&
		ip netns exec "$1" turnpike tlt set --all || return 1
	ip netns exec "$1" flow serve 6000 &
	ip netns exec "$1" flow send 127.0.0.1 6000 0 timely 65536
	kill $!
	ip netns del "$1"
}

links() {
	in_a ip link set eth0 down && in_a ip link set eth0 up &&
		in_a ethtool -K eth0 gso off tso off && in_a ethtool -K eth0 gso on tso on &&
		in_a ip link set eth0 mtu $((1400 + RANDOM % 100)) && sleep 0.2
}

processors() {
	local cpu=$((1 + RANDOM % 3))

	echo 0 > /sys/devices/system/cpu/cpu$cpu/online && sleep 0.1 &&
		echo 1 > /sys/devices/system/cpu/cpu$cpu/online
}

# traffic CC...: a flow of each, one after the other
traffic() {
	local cc

	for cc; do
		in_a flow send 10.0.0.2 5000 0.5 "$cc" 100000 || return 1
	done
}

cut_off() {
	in_a flow send 10.0.0.2 5000 5 timely &
	sleep 0.2
	kill $!
}

# All are through in some seconds, or the kernel's log is to have their stacks (qemu/run --log).
say_who_hangs() {
	sleep 200
	echo 8 > /proc/sys/kernel/printk
	echo w > /proc/sysrq-trigger
}

everything_at_once() {
	load_all && make_pair fq || return 1
	: > $counts
	: > $kinds_done
	kinds=0
	: > /run/going
	at_work=
	begin "qdiscs of the sender" qdiscs_of a
	begin "qdiscs of the receiver" qdiscs_of b
	begin "rules of TLT" rules
	begin "settings of timely" settings
	begin "keys and ports" keys
	begin "module nicstamp" modules_of nicstamp
	begin "module sch_onramp" modules_of sch_onramp
	begin "module tlt" modules_of tlt
	begin "ports of nicstamp" ports
	begin "containers" container c
	begin "links" links
	begin "processors" processors
	begin "flows of cubic" traffic cubic
	begin "flows of timely" traffic timely
	begin "flows of bbr and dctcp" traffic bbr dctcp
	begin "flows cut off" cut_off
	sleep "$seconds"
	# On a busy machine a kind may not have had its turn.
	soon each_was_done
	all_done=$?
	rm -f /run/going
	say_who_hangs &
	# shellcheck disable=SC2086  # a list of processes
	wait $at_work
	kill $!
	for cpu in 1 2 3; do
		echo 1 > /sys/devices/system/cpu/cpu$cpu/online 2> /dev/null
	done
	show_counts
	# One that had no module for its last words is still there.
	ip netns del c 2> /dev/null
	# Before the pair goes: what still has a module in use can be looked at, and reaches its peer.
	kill "$server"
	unload_all
	unloaded=$?
	drop_pair
	[ $unloaded = 0 ] && [ $all_done = 0 ]
}

show_counts() {
	awk '{ refused = $NF; done = $(NF - 1); NF -= 2; printf "%s: %d done, %d refused\n", $0, done, refused }' $counts
}

# At least once while all others went on, or this was no stress. Some qdisc may always have sch_onramp in
# use; it comes and goes after that.
each_was_done() { [ "$(grep -vc 'module sch_onramp' $kinds_done)" = $((kinds - 1)) ]; }

# What it was before is what it is after: flows pass and are marked, held and sampled.
all_works_after_it() {
	load_all && make_pair onramp && both turnpike tlt set --all || return 1
	in_a flow send 10.0.0.2 5000 2 timely 1048576 > /run/sent
	in_a turnpike tlt stats
	drop_pair
	unload_all && [ "$(cat /run/sent)" -ge 1048576 ]
}

loaded_and_unloaded() {
	local cycle

	for cycle in $(seq "$cycles"); do
		load_all && unload_all || { echo "cycle $cycle"; return 1; }
	done
	grep -E "^(Slab|SUnreclaim|Percpu|VmallocUsed)" /proc/meminfo
}

ktap_start
ktap_case "everything at once for $seconds seconds" everything_at_once
ktap_case "all works after it" all_works_after_it
ktap_case "all modules loaded and unloaded $cycles times" loaded_and_unloaded
ktap_finish
