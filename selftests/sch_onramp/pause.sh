#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Packets are held while the path is overloaded, data only, and not without feedback.

# shellcheck source=selftests/sch_onramp/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

wire() { in_a "$here/wire.py" "$1" veth0 "$2"; }

# Bytes per second of a flow held to 10 MB/s, under the qdisc of the arguments: of one
# that is under way, alone.
moved() {
	in_a tc qdisc del dev veth0 root 2>/dev/null
	in_a tc qdisc add dev veth0 root "$@" || return 1
	start_sender --seconds 5 --max-pacing 10000000
	sleep 0.2
	wire rate 0.5
	stop_sender
	wait_for "the flow's end" no_flow_is_left >&2
}

# The two in turn, twice.  Packets of 64 KB make a rate of half a second good to 1.3 %.
nopause__moves_what_fq_moves() {
	fq=0
	mine=0
	for _ in 1 2; do
		a_fq=$(moved fq) && a_mine=$(moved onramp nopause) || return 1
		echo "fq $a_fq, onramp nopause $a_mine"
		fq=$((fq + a_fq))
		mine=$((mine + a_mine))
	done
	[ $((mine * 20)) -gt $((fq * 19)) ] && [ $((mine * 20)) -lt $((fq * 21)) ]
}

nopause__holds_nothing() {
	need_usec_ts || return
	onramp nopause || return 1
	in_a "$traffic" send 10.1.0.2 --flows 4 --seconds 0.2
	[ "$(counter samples)" = 0 ] && [ "$(counter held)" = 0 ]
}

feedback__none_holds_nothing() {
	onramp || return 1
	in_a "$traffic" send fd01::2 --flows 4 --seconds 0.2
	[ "$(counter samples)" = 0 ] && [ "$(counter held)" = 0 ]
}

overload__is_held_back() {
	need_usec_ts || return
	onramp threshold 200us || return 1
	in_a "$traffic" send 10.1.0.2 --flows 4 --seconds 1
	echo "samples $(counter samples) pauses $(counter pauses) held $(counter held)"
	[ "$(counter samples)" -gt 100 ] && [ "$(counter pauses)" -gt 10 ] &&
		[ "$(counter held)" -gt 10 ]
}

overload__queue_is_shorter_than_without() {
	need_usec_ts || return
	# What the flows before learned of the path is still fresh.
	sleep 0.2
	# A threshold beyond all delays measures and never holds.
	onramp threshold 900ms pause_max 950ms nogovernor || return 1
	in_a "$traffic" send 10.1.0.2 --flows 4 --seconds 1
	without=$(counter delay_p50_ns)
	[ "$(counter held)" = 0 ] || { echo "held below the threshold"; return 1; }
	onramp threshold 200us || return 1
	in_a "$traffic" send 10.1.0.2 --flows 4 --seconds 1
	with=$(counter delay_p50_ns)
	echo "median queueing delay in ns: $without without pauses, $with with"
	[ "$((with * 2))" -lt "$without" ]
}

# bursts_grow COMMAND...: those of a governed flow are small, and after it they are not
bursts_grow() {
	need_usec_ts || return
	onramp threshold 20us || return 1
	start_sender --seconds 10 --max-pacing 10000000
	sleep 0.2
	small=$(wire largest 0.2)
	"$@" || return 1
	sleep 0.2
	large=$(wire largest 0.2)
	stop_sender
	wait_for "the flow's end" no_flow_is_left
	echo "largest packet: $small bytes, then $large"
	[ "$small" -gt 1500 ] && [ "$small" -lt 6000 ] && [ "$large" -gt 20000 ]
}

change() { in_a tc qdisc change dev veth0 root onramp "$@"; }

governor__gives_back_when_switched_off() { bursts_grow change nogovernor; }

governor__gives_back_without_pauses() { bursts_grow change nopause; }

governor__gives_back_when_the_qdisc_goes() {
	bursts_grow in_a tc qdisc replace dev veth0 root fq
}

# netem takes the packets from their socket before they come to its child.
governor__limits_below_netem() {
	need_usec_ts || return
	in_a tc qdisc replace dev veth0 root handle 1: netem delay 10us limit 10000 &&
		in_a tc qdisc add dev veth0 parent 1:1 onramp threshold 20us || return 1
	start_sender --seconds 10 --max-pacing 10000000
	sleep 0.2
	small=$(wire largest 0.2)
	stop_sender
	wait_for "the flow's end" no_flow_is_left
	echo "largest packet: $small bytes"
	[ "$small" -gt 1500 ] && [ "$small" -lt 6000 ]
}

# The owner of a socket asks with bottom halves on when it works through its backlog.
timely__asks_how_long_packets_were_held() {
	need_usec_ts || return
	load_beside tcp_timely || return 4
	onramp threshold 200us || return 1
	in_a "$traffic" send 10.1.0.2 --flows 4 --seconds 0.3 --cc timely
	status=$?
	held=$(counter held)
	wait_for "the flows' end" no_flow_is_left
	rmmod tcp_timely || status=1
	echo "held $held packets"
	[ $status = 0 ] && [ "$held" -gt 0 ]
}

# late_host: the far end takes at once what came in 300 us, behind a line of 1 Gbit/s
late_host() { in_b tc qdisc replace dev ifb0 root netem rate 1gbit slot 300us 300us limit 2000; }

# A line that is never full, and delays of up to three times the threshold.
noise__of_a_late_host_holds_little() {
	need_usec_ts || return
	late_host && onramp threshold 100us feedback tcpts || return 1
	start_sender --seconds 0.6 --max-pacing 25000000 && sleep 0.5
	_flows=$(in_a turnpike onramp flows -j)
	wait "$sender"
	usec_ts off && bottleneck && show || return 1
	_samples=$(counter samples) _noisy=$(counter samples_noisy)
	echo "of noise $_noisy"
	echo "$_flows" | grep '"noisy": true' && [ "$_noisy" -gt $((_samples * 9 / 10)) ] &&
		[ "$(counter held)" -lt $((_samples / 4)) ]
}

# What no host is late for is no noise, whatever the queue.
noise__none_of_a_queue_alone() {
	need_usec_ts || return
	onramp threshold 200us feedback tcpts && send 0.4 || return 1
	usec_ts off && show
	[ "$(counter samples)" -gt 100 ] && [ "$(counter samples_noisy)" = 0 ]
}

none=18446744073709551615

# limited CC RATE...: what limits.py says of them, and of no limit in the end
limited() {
	said=$(in_a "$here/limits.py" 10.1.0.2 5001 "$@" $none:1) && wait_for "the flow's end" no_flow_is_left || return 1
	echo "$1 at ${*:2}: $said"
}

# limited_and_held CC RATE...: while the path is overloaded; $written has the bytes at each rate, and all arrive
limited_and_held() {
	onramp threshold 200us feedback orack && acker on && limited "$@" && show || return 1
	[[ $said =~ bytes=([0-9,]*)\ unacknowledged=0$ ]] || return 1
	# shellcheck disable=SC2206  # numbers
	written=(${BASH_REMATCH[1]//,/ })
	[ "${written[-1]}" -gt 5000000 ] && flows_were_held
}

limit__that_is_lifted_holds_nothing() {
	for cc in cubic bbr; do
		limited_and_held $cc 100000 && limited_and_held $cc $none 100000:1 || return 1
		[ "${written[1]}" -lt 1000000 ] || return 1
	done
}

# For TCP nothing is "not paced", the largest number "none", and the one before it a rate.
limit__at_its_ends_is_none() {
	for rate in 0 9223372036854775808 18446744073709551614; do
		limited_and_held cubic $rate && [ "${written[0]}" -gt 1000000 ] || return 1
		limited_and_held cubic $none $rate && [ "${written[1]}" -gt 1000000 ] || return 1
	done
}

# after_it SAID: bytes written after the limit was lifted
after_it() { sed 's/.*,\([0-9]*\) .*/\1/' <<< "$1"; }

# TCP itself puts what follows off for hours, whatever the qdisc.
limit__of_a_byte_a_second_is_as_with_fq() {
	for rates in 1 "$none 1:1"; do
		in_a tc qdisc replace dev veth0 root fq
		# shellcheck disable=SC2086  # words
		limited cubic $rates && fq=$(after_it "$said") && onramp nopause && limited cubic $rates || return 1
		[ "$(after_it "$said")" = "$fq" ] || return 1
	done
}

begin_on_path
slow_cable || ktap_fail "bottleneck__set_up"
run_against_sink "$@"
