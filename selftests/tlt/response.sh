#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Clocking causes no congestion response: where nothing is lost TCP reduces its window as
# seldom with TLT as without, and where something is it takes back few reductions.
#
# usage: response.sh [CASE...]

# shellcheck source=selftests/tlt/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

tracing=/sys/kernel/tracing
event=$tracing/events/tcp/tcp_cong_state_set

too_long="1.2 GB take too long on the debug kernel"

# A connection of many small writes: what comes last is often unacknowledged when an echo
# comes, and there is nothing more to send.
writes() {
	in_a "$stream" send 10.1.0.2 --seed "$1" --repeat "$2" --bytes 1000000 --write 4000 \
		--pause 0.00005
}

bulk() { in_a "$stream" send 10.1.0.2 --seed "$1" --repeat "$2" --bytes 3000000; }

# Windows that were reduced, by whatever TCP took for congestion: the states CWR, Recovery
# and Loss that it came into.
reductions() { grep -c tcp_cong_state_set "$tracing/trace"; }

# undone: reductions that TCP took back
undone() {
	in_a nstat -asz TcpExtTCPFullUndo TcpExtTCPPartialUndo TcpExtTCPDSACKUndo \
		TcpExtTCPLossUndo TcpExtTCPSpuriousRTOs | awk '/^Tcp/ { sum += $2 } END { print sum }'
}

# responses COMMAND...: $reduced and $taken_back meanwhile
responses() {
	echo > "$tracing/trace"
	_before=$(undone)
	"$@" || return 1
	reduced=$(reductions)
	taken_back=$(($(undone) - _before))
}

# compare COMMAND...: without TLT, and with it: $reduced_off, $reduced_on, ...
compare() {
	tlt_off && responses "$@" || return 1
	reduced_off=$reduced taken_back_off=$taken_back
	_injected=$(($(counter injected_byte) + $(counter injected_segment)))
	tlt_on && responses "$@" || return 1
	reduced_on=$reduced taken_back_on=$taken_back
	injected=$(($(counter injected_byte) + $(counter injected_segment) - _injected))
	echo "reduced without TLT $reduced_off with $reduced_on, taken back $taken_back_off" \
		"$taken_back_on, injected $injected"
	[ $injected -gt 0 ]
}

# Blocks with and without TLT by turns, since reductions come in clusters: what their number
# varies by is taken from the blocks themselves.  Student's t with one degree of freedom less:
# one in 10000 is above.
blocks=20 t_most=4.6
[ "${TURNPIKE_DEBUG:-0}" = 0 ] || blocks=8 t_most=7.1

# not_more COMMAND...: no more reductions with TLT than without, as sure as chance lets it be.
# --seed and --repeat of each block are added.  Twice as many are found.
not_more() {
	_command=$1 _connections=$2 _pairs=
	for _block in $(seq $blocks); do
		compare "$_command" $((_block * _connections)) "$_connections" > /dev/null ||
			return 1
		_pairs="$_pairs $reduced_off $reduced_on"
	done
	echo "$_pairs" | awk -v t_most=$t_most '{
		for (i = 1; i < NF; i += 2) {
			off += $i; on += $(i + 1)
			more = $(i + 1) - $i; sum += more; squares += more * more; n++
		}
		mean = sum / n
		error = sqrt((squares / n - mean * mean) / (n - 1))
		printf "reduced without TLT %d with %d, %.1f more in a block, error %.1f\n",
			off, on, mean, error
		exit !(off > 0 && mean <= t_most * error)
	}'
}

# Connections of each kind where nothing is lost.
clean=10
[ "${TURNPIKE_DEBUG:-0}" = 0 ] || clean=4

clean__writes_cause_no_reduction() {
	path delay 200us && compare writes 1 $clean && [ "$reduced_on" = 0 ] && [ "$reduced_off" = 0 ]
}

clean__bulk_causes_no_reduction() {
	path delay 200us rate 1gbit && compare bulk 1 $clean && [ "$reduced_on" = 0 ] &&
		[ "$reduced_off" = 0 ]
}

reordered__writes_cause_no_more_reductions() {
	path delay 200us reorder 1% && not_more writes 2
}

reordered__bulk_causes_no_more_reductions() {
	[ "${TURNPIKE_DEBUG:-0}" = 0 ] || { echo "$too_long"; return 4; }
	path delay 200us reorder 1% && not_more bulk 10
}

# A segment that clocking and TCP both repair comes twice: TCP has to know that it was sent three
# times, or its recovery seems to have been unneeded (eighteen in a hundred of them).
few_taken_back() { [ "$taken_back_on" -le $((taken_back_off + reduced_on / 40)) ]; }

# Each loss has its own chance, so that a count varies by its root: less than one in 10000 is above.
not_more_lost() {
	awk -v off="$reduced_off" -v on="$reduced_on" 'BEGIN { exit !(off > 0 && on - off <= 4 * sqrt(on + off)) }'
}

lost__writes_are_reductions_that_stay() {
	# A tenth of the speed on a debug kernel.
	_connections=120
	[ "${TURNPIKE_DEBUG:-0}" = 0 ] || _connections=24
	path delay 200us loss 1% && compare writes 1 $_connections && few_taken_back && not_more_lost
}

lost__bulk_is_reductions_that_stay() {
	[ "${TURNPIKE_DEBUG:-0}" = 0 ] || { echo "$too_long"; return 4; }
	path delay 200us loss 1% && compare bulk 1 200 && few_taken_back && not_more_lost
}

# mib NETNS NAME...: the sum of these counters
mib() {
	ip netns exec "$1" nstat -asz "${@:2}" | awk '/^Tcp/ { sum += $2 } END { print sum }'
}

# Segments of clocking that were not lost come twice: nothing of what the peer says of that is lost.
reordered__what_came_twice_is_told() {
	path delay 200us reorder 2% && tlt_on --clock segment || return 1
	_told=$(mib "$b" TcpExtTCPDSACKOldSent) _heard=$(mib "$a" TcpExtTCPDSACKRecv)
	writes 1 10
	_status=$?
	tlt_on
	_told=$(($(mib "$b" TcpExtTCPDSACKOldSent) - _told))
	_heard=$(($(mib "$a" TcpExtTCPDSACKRecv) - _heard))
	echo "the peer told of $_told, TCP heard of $_heard"
	[ $_status = 0 ] && [ $_told -gt 100 ] && [ $_heard -ge $((_told * 95 / 100)) ]
}

[ -d "$event" ] || skip_all "needs the trace event tcp_cong_state_set"
command -v nstat > /dev/null || skip_all "needs nstat"
cases="$*"
ktap_start
need_module
make_hosts
trap 'echo 0 > "$event/enable"; echo 0 > "$event/filter"; drop_hosts; unload_module' EXIT
# Bursts cut in two are more packets to be lost, or out of order. Without the device's
# offload TCP makes them all the same, and netem loses them whole.
ip -n "$a" link set veth0 gso_max_segs 1 || ktap_fail "bursts__off"
echo "cong_state >= 2" > "$event/filter" && echo 1 > "$event/enable" || ktap_fail "trace__on"
# What one connection learned of a path is not for the next, which may be without TLT.
in_a sysctl -q -w net.ipv4.tcp_no_metrics_save=1 &&
	in_b sysctl -q -w net.ipv4.tcp_no_metrics_save=1 || ktap_fail "metrics__off"
tlt_on || ktap_fail "tlt__set"
start_server || ktap_fail "receiver__starts"
# shellcheck disable=SC2086  # a list
run_cases $cases
finish_hosts
