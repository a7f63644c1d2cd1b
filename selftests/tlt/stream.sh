#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What TCP delivers under TLT is what was sent, byte for byte, over a path that loses
# and reorders packets, important ones too, whatever options TCP has.
#
# usage: stream.sh [SEED [CASE...]]

# shellcheck source=selftests/tlt/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

seed=${1:-1}
shift
bytes=3000000

# knob NAME VALUE: of TCP, at both ends
knob() {
	in_a sysctl -q -w "net.ipv4.$1=$2" && in_b sysctl -q -w "net.ipv4.$1=$2"
}

# arrives [OPTION...]
arrives() {
	seed=$((seed + 1000))
	in_a "$stream" send 10.1.0.2 --seed $seed --bytes $bytes "$@"
}

# arrives_with NAME VALUE DEFAULT
arrives_with() {
	knob "$1" "$2" || return 1
	arrives
	_status=$?
	knob "$1" "$3"
	return $_status
}

stream__plain() { arrives; }
stream__over_ipv6() { in_a "$stream" send fd01::2 --seed $seed --bytes $bytes; }
stream__without_timestamps() { arrives_with tcp_timestamps 0 1; }
stream__without_sack() { arrives_with tcp_sack 0 1; }
stream__without_scaling() { arrives_with tcp_window_scaling 0 1; }
stream__tiny_windows() { arrives_with tcp_rmem "4096 4096 4096" "4096 131072 6291456"; }
stream__urgent_data() { arrives --urgent; }
stream__fin_in_flight() { arrives --close; }

stream__without_options() {
	knob tcp_timestamps 0 && knob tcp_sack 0
	arrives
	_status=$?
	knob tcp_timestamps 1 && knob tcp_sack 1
	return $_status
}

stream__without_offload() {
	command -v ethtool > /dev/null || { echo "ethtool is missing"; return 4; }
	in_a ethtool -K veth0 tso off gso off
	arrives
	_status=$?
	in_a ethtool -K veth0 tso on gso on
	return $_status
}

stream__slow_reader() {
	stop_server && start_server --slow 0.005 || return 1
	bytes=1000000 arrives
	_status=$?
	stop_server && start_server || return 1
	return $_status
}

stream__one_end_without_tlt() {
	in_b "$turnpike" tlt off
	arrives
	_status=$?
	in_b "$turnpike" tlt set
	return $_status
}

# The path did what these cases are about.
zz__clocking_took_place() {
	[ "$(counter injected_byte)" -gt 0 ] && [ "$(counter injected_segment)" -gt 0 ] &&
		[ "$(counter cuts)" -gt 0 ] && return 0
	in_a "$turnpike" tlt stats
	return 1
}

# What clocking sends leaves marked as such, however the path has treated the flow.
zz__injected_is_clock_data() {
	sent=$(counter "sent clock" | cut -d' ' -f2)
	injected=$(($(counter injected_byte) + $(counter injected_segment) - $(counter inject_failed)))
	echo "clock data $sent injected $injected"
	[ "$injected" -gt 0 ] && [ "$sent" = "$injected" ]
}

cases="$*"
ktap_start
need_module
make_hosts
trap 'drop_hosts; unload_module' EXIT
path delay 200us 50us loss 1% || ktap_fail "netem"
tlt_on || ktap_fail "tlt__set"
start_server || ktap_fail "receiver__starts"
# shellcheck disable=SC2086  # a list
run_cases $cases
finish_hosts
