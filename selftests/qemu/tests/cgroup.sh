#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What a control group of this host's makes the modules do: it is charged for the memory of its
# connections, and TLT injects nothing into those whose options a BPF program of it writes.

# shellcheck source=selftests/lib/ktap.sh
. /ktap.sh
# shellcheck source=selftests/qemu/pair.sh
. /pair.sh
# shellcheck source=selftests/qemu/tlt_pair.sh
. /tlt_pair.sh

export TC_LIB_DIR=/tc
tree=/sys/fs/cgroup
flows=128
# Of each connection: an emulated host has little to send with.
slow="maxrate 1mbit"

# within CGROUP COMMAND...
within() {
	bash -c 'echo $$ > "$0/cgroup.procs" && exec "$@"' "$tree/$1" "${@:2}"
}

# new_cgroup NAME: what the last one of that name was charged for is not its
new_cgroup() {
	[ ! -d "$tree/$1" ] || soon rmdir "$tree/$1" 2> /dev/null && mkdir "$tree/$1"
}

# charged: bytes of the kernel's slabs that a group of senders pays for
charged() {
	new_cgroup senders || return 1
	for _ in $(seq $flows); do
		within senders ip netns exec a flow send 10.0.0.2 5000 600 cubic > /dev/null 2>&1 &
	done
	soon all_send > /dev/null || return 1
	# The kernel adds up what its processors charged every other second.
	sleep 5
	awk '$1 == "slab" { print $2 }' $tree/senders/memory.stat
	echo 1 > $tree/senders/cgroup.kill
	soon none_is_left > /dev/null
}

all_send() { [ "$(ss -N a -Htn state established dport = 5000 | wc -l)" -ge $flows ]; }
none_is_left() { [ "$(ss -N a -Htn dport = 5000 | wc -l)" = 0 ]; }

# is_charged BYTES COMMAND...: by so much a connection, and more, once the command was run; without
# any change it differs by 60 bytes a connection
is_charged() {
	_least=$(($1 * flows))
	_without=$(charged) && "${@:2}" && _with=$(charged) || return 1
	echo "$flows connections are charged $_without bytes without, $_with with it"
	[ $((_with - _without)) -ge $_least ]
}

# Of 2.8 KB.
# shellcheck disable=SC2086
onramp() { both tc qdisc replace dev eth0 root onramp feedback orack $slow; }
control_blocks_of_onramp() {
	insmod /modules/sch_onramp.ko || return 1
	is_charged 2000 onramp
	_status=$?
	# shellcheck disable=SC2086
	both tc qdisc replace dev eth0 root fq $slow && unload sch_onramp && return $_status
}

# Of half a kilobyte.
flows_of_tlt() {
	insmod /modules/tlt.ko || return 1
	is_charged 300 both turnpike tlt set --all
	_status=$?
	both turnpike tlt off && unload tlt && return $_status
}

# sends CGROUP: over a path that loses; $injected packets of TLT's among its own
sends() {
	_before=$(injected)
	within "$1" ip netns exec a flow send 10.0.0.2 5000 2 cubic 300000 > /dev/null || return 1
	# What a sender leaves behind is sent after its end.
	soon none_is_left || return 1
	injected=$(($(injected) - _before))
	echo "from $1: $injected injected"
}

options_of_bpf() {
	insmod /modules/tlt.ko && both turnpike tlt set --all && new_cgroup plain && new_cgroup writers &&
		in_a tc qdisc replace dev eth0 root netem delay 1ms loss 3% && sockops $tree/writers || return 1
	sends plain && [ "$injected" -gt 0 ] && sends writers && [ "$injected" -eq 0 ]
	_status=$?
	both turnpike tlt off && unload tlt && return $_status
}

ktap_start
mount -t cgroup2 cgroup2 $tree 2> /dev/null || grep -q " $tree cgroup2 " /proc/mounts || ktap_fail "cgroups are there"
echo +memory > $tree/cgroup.subtree_control || ktap_fail "memory is counted"
# shellcheck disable=SC2086
make_pair fq $slow && in_a sysctl -q -w net.ipv4.tcp_wmem="4096 16384 16384" || ktap_fail "hosts are made"

ktap_case "control blocks of On-Ramp are charged" control_blocks_of_onramp
ktap_case "flows of TLT are charged" flows_of_tlt
ktap_case "nothing is injected where a program writes options" options_of_bpf
drop_pair
ktap_finish
