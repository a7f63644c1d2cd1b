#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Paths that get longer or shorter, and connections that are silent for hours: what is taken for
# the empty path follows, with timestamps and with receipts.

# shellcheck source=selftests/sch_onramp/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

command -v turnpike > /dev/null || skip_all "needs the turnpike command"

# way DELAY: of the data
way() { in_b tc qdisc replace dev ifb0 root netem delay "$1" limit 10000; }

# by FEEDBACK: a qdisc that pauses for 50 us of queue
by() {
	if [ "$1" = tcpts ]; then
		need_usec_ts || return
		acker off
	else
		acker on
	fi
	# What was learned of the path before is over.
	sleep 20
	onramp threshold 50us feedback "$1"
}

count() {
	_all=$(statistics "$a")
	samples=$(counter samples "$_all") pauses=$(counter pauses "$_all") steps=$(counter base_steps "$_all")
	echo "samples $samples pauses $pauses base_steps $steps"
}

# changed FEEDBACK BEFORE AFTER SECONDS: a flow goes on while the way changes.  Nobody is held for
# it when so much time has passed, and samples are as many as ever.
changed() {
	by "$1" || return
	way "$2"
	start_sender --seconds 60 --abort --max-pacing 4000000
	sleep 2
	count
	[ "$samples" -gt 500 ] && way "$3" || return 1
	sleep "$4"
	count
	_samples=$samples _pauses=$pauses
	sleep 2
	count
	stop_sender
	wait_for "the flow's end" no_flow_is_left
	[ $((samples - _samples)) -gt 500 ] && [ "$pauses" = "$_pauses" ]
}

# A longer path is a queue that pauses do not shorten, for half a second.
route__longer_by_timestamps() {
	changed tcpts 20us 220us 1 || return
	[ "$pauses" -gt 0 ] && [ "$steps" -gt 0 ]
}

route__longer_by_receipts() {
	changed orack 20us 220us 1 && [ "$pauses" -gt 0 ] && [ "$steps" -gt 0 ]
}

route__shorter_by_timestamps() { changed tcpts 220us 20us 0.1; }

route__shorter_by_receipts() { changed orack 220us 20us 0.1; }

# far FEEDBACK: where the round trip is 5 T, all that a flow paused since counts
far() {
	tracing=/sys/kernel/tracing
	[ -d $tracing/events/onramp ] || { echo "no tracefs"; return 4; }
	by "$1" || return
	in_b tc qdisc replace dev ifb0 root netem delay 400us rate 1gbit limit 1000
	start_sender --flows 4 --seconds 60 --abort
	sleep 1
	echo > $tracing/trace
	echo 1 > $tracing/events/onramp/onramp_sample/enable
	sleep 0.3
	echo 0 > $tracing/events/onramp/onramp_sample/enable
	stop_sender
	# netem keeps its rate through a change
	in_b tc qdisc del dev ifb0 root && way 20us
	wait_for "the flows' end" no_flow_is_left || return 1
	# A stop of all, or the bound on pauses, makes some of them longer or shorter.
	sed -n 's/.* judged_ns=\([0-9]*\) .* lag_ns=\([0-9]*\) .* pause_ns=\([0-9]*\)$/\1 \2 \3/p' $tracing/trace |
		awk '$2 && $3 { n++; off = $1 - 50000 - $2 - $3; if (off * off < 9e6) good++ }
		     END { print good + 0 " of " n + 0; exit !(n > 20 && good > 0.8 * n) }'
}

far__all_pauses_count_by_timestamps() { far tcpts; }

far__all_pauses_count_by_receipts() { far orack; }

# silent FEEDBACK: for longer than microseconds in 32 bits last (72 minutes)
silent() {
	by "$1" && way 20us || return
	start_sender --seconds 0.5 --idle 5000 --abort --max-pacing 4000000
	sleep 1
	count
	_samples=$samples
	[ "$samples" -gt 100 ] && wait "$sender" || return 1
	count
	[ "$samples" -gt $((_samples + 5)) ] && [ "$pauses" = 0 ]
}

# Without a pause's end that somebody tells it would last for 100 ms.
feedback__that_is_lost_ends_the_pause() {
	by tcpts && said=$("$here/hold.py" silenced "$a" "$b") || return
	echo "$said"
	count
	echo "timeouts $(counter timeouts)"
	_data=$(field data_ms "$said")
	[ "${_data%.*}" -ge 23 ] && [ "${_data%.*}" -lt 27 ] && [ "$(counter timeouts)" = 1 ]
}

silence__of_hours_by_timestamps() { silent tcpts; }

silence__of_hours_by_receipts() { silent orack; }

# learns NETNS COUNT ADDRESS: of so many paths to the other host, from that address on
learns() {
	_before=$(counter samples "$(statistics "$1")")
	ip netns exec "$1" "$here/again.py" "$3" --on --times "$2" --bytes 3000 > /dev/null || return 1
	_more=$(($(counter samples "$(statistics "$1")") - _before))
	echo "$_more samples"
	[ $_more -ge "$2" ]
}

# found_out: how many of 16 destinations one more connection each finds to have coarse timestamps
found_out() {
	_before=$(counter coarse) _senders=
	for _i in $(seq 2 17); do
		in_a "$traffic" send 10.4.0.$_i --seconds 0.4 --abort --max-pacing 1000000 > /dev/null &
		_senders="$_senders $!"
	done
	# shellcheck disable=SC2086  # a list
	wait $_senders
	found=$(($(counter coarse) - _before))
	echo "$found are found out"
}

# all_of IN_ONE NETWORK IN_OTHER VIA: one host has all its addresses, which the other reaches by that
all_of() {
	"$1" ip route add local "$2" dev lo && "$3" ip route add "$2" via "$4" dev veth0 &&
		"$3" turnpike usec-ts on "$2"
}

coarse_destinations() {
	for _i in $(seq 2 17); do
		in_b ip addr add 10.4.0.$_i/24 dev veth0 || return 1
	done
	in_a ip addr add 10.4.0.1/24 dev veth0 && in_a turnpike usec-ts on 10.4.0.0/24
}

# A namespace remembers 1024 paths, in sets of four: of 16 that are not used, one or two may be gone
# after 200 others, and all are after 4000. Else what is found out is remembered for a minute.
memory__full_forgets_what_is_oldest() {
	need_usec_ts && all_of in_b 10.2.0.0/16 in_a 10.1.0.2 && all_of in_a 10.3.0.0/16 in_b 10.1.0.1 || return
	coarse_destinations && onramp threshold 50us feedback tcpts && found_out && [ $found = 16 ] || return 1
	# The memory of another namespace is its own.
	receive_in "$a" "$traffic" sink && in_b tc qdisc replace dev veth0 root onramp feedback tcpts &&
		learns "$b" 4000 10.3.0.1 && found_out && [ $found = 0 ] || return 1
	end_receiver
	in_b tc qdisc replace dev veth0 root netem delay 20us
	learns "$a" 4000 10.2.0.1 && found_out && [ $found -ge 14 ] || return 1
	learns "$a" 200 10.2.100.1 && found_out && [ $found -le 2 ] && [ "$(counter alloc_errors)" = 0 ]
}

delayed_cable() {
	in_b ip link add ifb0 type ifb && in_b ip link set ifb0 up && way 20us || return 1
	in_b tc qdisc add dev veth0 ingress
	in_b tc filter add dev veth0 parent ffff: matchall action mirred egress redirect dev ifb0
}

ktap_start
need_module
trap 'drop_hosts; unload_module' EXIT
make_path && delayed_cable && start_sink || ktap_fail "hosts__set_up"
run_cases "$@"
finish_hosts
