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

# Nobody can tell the longer way from a queue that stands, but by that it never gets shorter: the
# least round trip is remembered for 5 to 10 s.
route__longer_by_timestamps() {
	changed tcpts 20us 220us 11 || return
	[ "$pauses" -gt 0 ] && [ "$steps" -gt 0 ]
}

route__longer_by_receipts() {
	changed orack 20us 220us 11 && [ "$pauses" -gt 0 ]
}

route__shorter_by_timestamps() { changed tcpts 220us 20us 0.1; }

route__shorter_by_receipts() { changed orack 220us 20us 0.1; }

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
