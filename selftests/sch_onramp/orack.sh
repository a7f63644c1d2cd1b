#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# OR-ACKs: packets are held by receipts of the receiver alone, without any timestamp; who
# gets receipts, and who does not; keys; what forged ones can do.
#
# TURNPIKE_HOSTILE_PACKETS=N: so many datagrams of each attack; 10000, on a debug kernel, where
# each takes ten times as long, 2000.

# shellcheck source=selftests/sch_onramp/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

orack=$here/orack.py
[ "${TURNPIKE_DEBUG:-0}" = 1 ] && packets=2000 || packets=10000
packets=${TURNPIKE_HOSTILE_PACKETS:-$packets}
key_file=$TMPDIR/key
echo 00112233445566778899aabbccddeeff > "$key_file"
echo ffeeddccbbaa99887766554433221100 > "$key_file.2"

command -v turnpike > /dev/null || skip_all "needs the turnpike command"

stats() { ip netns exec "${1:-$a}" turnpike onramp stats -j; }

# stat NAME [NETNS]
stat() { json_value "$1" "$(stats "${2:-$a}")"; }

peers() { ip netns exec "${1:-$a}" turnpike onramp peers -j; }

# peer NAME [NETNS]: of the only peer, "none" without one
peer() { json_value "$1" "$(peers "${2:-$a}")" || echo none; }

overload__is_held_back_by_receipts() { held_by_receipts; }

overload__is_held_back_by_receipts_ipv6() { to=fd01::2 held_by_receipts; }

# A second cable between the hosts, and addresses of it alone.
second_cable() {
	in_a ip link add veth1 address 02:00:00:00:01:01 type veth peer name veth1 address 02:00:00:00:01:02 netns "$b" &&
		in_a ip link set veth1 up && in_b ip link set veth1 up &&
		in_a ip addr add fe80::aa/64 dev veth1 nodad && in_b ip addr add fe80::bb/64 dev veth1 nodad
}

# On the first device nobody has them.
receipts__come_over_link_local_addresses_of_a_second_cable() {
	second_cable && acker on || return 1
	in_a tc qdisc add dev veth1 root onramp feedback orack && to=fe80::bb%veth1 send 0.3 --max-pacing 12500000
	_samples=$(json_value samples_orack "$(device=veth1 statistics "$a")")
	in_a ip link del veth1
	echo "samples by receipts: $_samples"
	[ "$_samples" -gt 20 ]
}

overload__queue_is_shorter_than_without() {
	acker on && sleep 0.2
	# A threshold beyond all delays measures and never holds.
	onramp threshold 900ms pause_max 950ms nogovernor || return 1
	send 0.4 || return 1
	without=$(counter delay_p50_ns)
	[ "$(counter held)" = 0 ] || { echo "held below the threshold"; return 1; }
	onramp threshold 200us || return 1
	send 0.4 || return 1
	with=$(counter delay_p50_ns)
	echo "median queueing delay in ns: $without without pauses, $with with"
	[ "$without" -gt 0 ] && [ "$((with * 2))" -lt "$without" ]
}

auto__prefers_timestamps() {
	need_usec_ts || return
	acker on && onramp threshold 200us || return 1
	_announced=$(stat announced)
	send 0.3 && show
	_announced=$(($(stat announced) - _announced))
	echo "announced $_announced times"
	usec_ts off || return 1
	[ "$(counter samples)" -gt 10 ] && [ "$(counter samples_orack)" = 0 ] && [ $_announced = 0 ]
}

tcpts__never_announces() {
	acker on && onramp || return 1
	in_a tc qdisc change dev veth0 root onramp feedback tcpts 2> /dev/null ||
		{ echo "this kernel has no microsecond TCP timestamps"; return 4; }
	_announced=$(stat announced)
	send 0.3 && [ "$(stat announced)" = "$_announced" ] && [ "$(counter controlled)" = 0 ]
}

# watched SECONDS [BYTES_PER_S]: what passes the sender's device while four flows send
watched() {
	start_sender --flows 4 --seconds 60 --abort --max-pacing "${2:-2500000}"
	wait_for "flows" flows_are_up
	seen=$(in_a "$orack" watch veth0 "$1")
	stop_sender
	echo "$seen"
	wait_for "the flows' end" no_flow_is_left && [ "$(field data_bytes "$seen")" -gt 1000000 ]
}

receipts__none_without_an_announcement() {
	acker on && in_a tc qdisc replace dev veth0 root fq && watched 1 || return 1
	[ "$(field receipts "$seen")" = 0 ] && [ "$(field announcements "$seen")" = 0 ] &&
		[ "$(peer hears "$b")" != true ]
}

receipts__come_and_raise_no_icmp() {
	acker on && onramp feedback orack && watched 1 || return 1
	[ "$(field receipts "$seen")" -gt 100 ] && [ "$(field icmp "$seen")" = 0 ] &&
		[ "$(peer acks)" = true ] && [ "$(peer grade)" = '"c"' ] &&
		[ "$(peer hears "$b")" = true ]
}

# watched_alone SECONDS [BYTES_PER_S]: no receipts; $_announced announcements were made
watched_alone() {
	_announced=$(stat announced)
	watched "$@" || return 1
	_announced=$(($(stat announced) - _announced))
	echo "announced $_announced times"
	[ "$(peer acks)" = false ] && [ "$(field receipts "$seen")" = 0 ]
}

# A host that does not answer is told three times, and then never again.
announcements__end_where_nobody_answers() {
	acker off && onramp feedback orack && watched_alone 1 && [ $_announced = 3 ] || return 1
	watched_alone 32 100000 && [ $_announced = 0 ] && [ "$(field announcements "$seen")" = 0 ]
}

# speaks: the second host has On-Ramp now, and sends to the first
speaks() {
	in_b tc qdisc replace dev veth0 root onramp feedback orack || return 1
	ip netns exec "$a" "$traffic" sink > /dev/null 2>&1 &
	_sink=$!
	# shellcheck disable=SC2086  # words
	wait_for "the first host's receiver" a_listens &&
		in_b "$traffic" send 10.1.0.1 --seconds 0.3 $rate
	_status=$?
	kill $_sink
	wait $_sink 2>/dev/null
	return $_status
}

a_listens() { [ -n "$(ss -N "$a" -Htln sport = 5001)" ]; }

announcements__begin_again_when_the_silent_one_announces() {
	acker off && onramp feedback orack && watched_alone 1 && watched_alone 1 || return 1
	[ $_announced = 0 ] && speaks && send 1 && show && [ "$(counter samples_orack)" -gt 20 ]
	_status=$?
	in_b tc qdisc replace dev veth0 root netem delay 20us
	return $_status
}

# A host that only receives does not ask for receipts, and is not told that it gets none:
# its own data has them afterwards.
announcements__none_of_who_only_receives() {
	acker off && in_a tc qdisc replace dev veth0 root fq &&
		in_b tc qdisc replace dev veth0 root onramp feedback orack || return 1
	_announced=$(stat announced "$b")
	watched 1 && [ "$(stat announced "$b")" = "$_announced" ] && onramp feedback orack && speaks
	_status=$?
	_samples=$(counter samples_orack "$(statistics "$b")")
	in_b tc qdisc replace dev veth0 root netem delay 20us
	echo "announced $_announced times before, $(stat announced "$b") after; samples $_samples"
	[ $_status = 0 ] && [ "$_samples" -gt 20 ]
}

connected() { ip netns exec "$a" timeout 5 "$here/orack.py" connect "$@"; }

# Whoever makes connections and sends nothing has nobody asked.
announcements__none_before_data() {
	acker off && onramp feedback orack || return 1
	_announced=$(stat announced)
	connected 10.1.0.2 5001 && sleep 1 && [ "$(stat announced)" = "$_announced" ] &&
		[ "$(peer acks)" = none ]
}

# settings NAME: values of turnpike onramp show, in one line
settings() { in_a turnpike onramp show -j | json_lines | sed -n "s/^$1 //p" | paste -sd' '; }

# What was told of the only peer's clock.
told_clock() { in_a turnpike onramp clock show -j | json_lines | paste -sd' ' | grep "peers.peer $1 "; }

announcements__none_to_hosts_that_are_far() {
	_announced=$(stat announced)
	acker off && onramp feedback orack && in_b tc qdisc replace dev veth0 root netem delay 20ms &&
		watched 1
	_status=$?
	in_b tc qdisc replace dev veth0 root netem delay 20us
	[ $_status = 0 ] && [ "$(stat announced)" = "$_announced" ]
}

announcements__none_beyond_the_prefixes() {
	acker on && onramp feedback orack && in_a turnpike onramp set --ask 10.2.0.0/16 fd01::/64 &&
		[ "$(settings ask)" = "10.2.0.0/16 fd01::/64" ] || return 1
	_announced=$(stat announced)
	send 0.3 && [ "$(stat announced)" = "$_announced" ] && to=fd01::2 send 0.3 &&
		[ "$(counter samples_orack)" -gt 20 ] && in_a turnpike onramp set --ask 10.1.0.0/24 &&
		onramp feedback orack && send 0.3 && [ "$(counter samples_orack)" -gt 20 ]
	_status=$?
	in_a turnpike onramp set --ask all && return $_status
}

announcements__prefixes_that_are_none_are_refused() {
	refused "no prefix" set --ask 10.0.0.0/33 && refused "no prefix" set --ask fd00::/ &&
		refused "beyond the prefix" set --ask 10.1.0.0/8 && refused "no IPv4 or IPv6" set --ask host/8 &&
		refused "nothing to set" set && [ -z "$(settings ask)" ]
}

# More than there is room for, and a host that is met afterwards.
peers__silent_ones_leave_room() {
	# With its last qdisc a host forgets that others answered, as the one that is new does.
	in_a tc qdisc del dev veth0 root
	acker on && in_a tc qdisc replace dev lo root onramp feedback orack && onramp feedback orack &&
		said=$(in_a "$orack" crowd 17000) && sleep 0.5 && send 0.3 && send 0.3
	_status=$?
	in_a tc qdisc del dev lo root
	echo "$said; samples $(counter samples_orack)"
	[ $_status = 0 ] && [ "$(counter samples_orack)" -gt 20 ]
}

announcement__expires() {
	acker on && in_a tc qdisc replace dev veth0 root fq || return 1
	said=$(in_a "$orack" ask 10.1.0.2 5001 1000) || { echo "$said"; return 1; }
	echo "$said"
	[ "$(field during "$said")" -gt 20 ] && [ "$(field after "$said")" = 0 ]
}

# Their clock begins anywhere.
receipts__do_not_tell_how_long_the_host_is_up() {
	acker on && in_a tc qdisc replace dev veth0 root fq && said=$(in_a "$orack" ask 10.1.0.2 5001 200)
	_status=$?
	echo "$said"
	[ $_status = 0 ] && [ "$(field during "$said")" -gt 5 ] && [ "$(field uptime "$said")" = 0 ]
}

announcement__sparse_receipts_are_enough() {
	acker on && in_a tc qdisc replace dev veth0 root fq || return 1
	said=$(in_a "$orack" sparse 10.1.0.2 5001) || { echo "$said"; return 1; }
	echo "$said"
	_all=$(field all "$said")
	[ "$_all" -gt 200 ] && [ "$(field sparse "$said")" -lt $((_all / 4)) ] &&
		[ "$(field again "$said")" -gt $((_all / 2)) ] && [ "$(field said "$said")" = 1 ]
}

# Data of no connection tells of no other host that would want to be told of queues.
announcement__sparse_whatever_strangers_send() {
	ip netns exec "$b" "$orack" strange 10.1.0.2 &
	_strange=$!
	announcement__sparse_receipts_are_enough
	_status=$?
	kill $_strange
	return $_status
}

# receipts_are_sparse: the newest one says so, and was asked to be
receipts_are_sparse() { [ "$(peer few)" = true ] && [ "$(peer own_few "$b")" = true ]; }

# data_of_a_receipt COMMAND: what the receiver's host made one for, in bytes, while it ran
data_of_a_receipt() {
	_made=$(stat receipts_sent "$b")
	_data=$(stat receipts_data "$b")
	"$@" || return 1
	_made=$(($(stat receipts_sent "$b") - _made))
	_data=$(($(stat receipts_data "$b") - _data))
	echo "$_made receipts for $_data bytes"
	[ $_made -gt 0 ] && _data=$((_data / _made))
}

# A flow slower than the line has an empty path; one that is faster makes a queue.
receipts__are_sparse_while_the_path_is_empty() {
	acker on && onramp feedback orack && start_sender --seconds 1.5 --max-pacing 15000000 || return 1
	wait_for "sparse receipts" receipts_are_sparse && data_of_a_receipt sleep 0.5
	_status=$?
	wait "$sender"
	_empty=$_data
	[ $_status = 0 ] && onramp threshold 200us feedback orack && background 0.5 && data_of_a_receipt sleep 0.3
	_status=$?
	wait "$sender"
	echo "bytes of a receipt: $_empty while the path was empty, $_data with a queue"
	peers
	# One in 5 ms of 15 MB/s, and one in two segments.
	[ $_status = 0 ] && [ "$_empty" -gt 50000 ] && [ "$_data" -lt 5000 ]
}

announcement__is_taken_back_when_the_qdisc_goes() {
	acker on && onramp feedback orack && start_sender --seconds 20 && sleep 0.3 &&
		[ "$(peer hears "$b")" = true ] || return 1
	# It would hold for seven seconds more; only who has a connection takes it back.
	in_a tc qdisc del dev veth0 root && sleep 1 && [ "$(peer hears "$b")" != true ]
	_status=$?
	stop_sender
	[ $_status = 0 ] || return 1
	# And without the qdisc before, it is asked again.
	onramp feedback orack && send 0.3 && [ "$(counter samples_orack)" -gt 20 ] &&
		[ "$(peer hears "$b")" = true ]
}

port__is_kept_from_others() {
	onramp feedback orack || return 1
	said=$(in_a timeout 5 "$orack" bind 61004 2>&1)
	echo "$said" | grep -q "in use"
}

port__in_use_is_said() {
	in_a tc qdisc del dev veth0 root 2>/dev/null
	ip netns exec "$a" "$orack" bind 61004 > "$TMPDIR/bound" 2>&1 &
	_holder=$!
	wait_for "the port's other user" grep -q bound "$TMPDIR/bound" &&
		! said=$(in_a tc qdisc add dev veth0 root onramp feedback orack 2>&1) &&
		[[ $said == *"in use"* ]] && onramp
	_status=$?
	cat "$TMPDIR/bound"
	echo "$said"
	kill $_holder
	wait $_holder 2>/dev/null
	return $_status
}

port__may_be_another() {
	acker on && onramp feedback orack && in_a turnpike onramp set --port 7777 &&
		in_b turnpike onramp set --port 7777 || return 1
	send 0.5 && show && [ "$(counter samples_orack)" -gt 20 ]
	_status=$?
	in_a turnpike onramp set --port 61004 && in_b turnpike onramp set --port 61004 || return 1
	return $_status
}

drop_keys() {
	for _id in 1 2; do
		in_a turnpike onramp key del $_id
		in_b turnpike onramp key del $_id
	done 2>/dev/null
	return 0
}

keys__rotate_without_a_gap() {
	acker on && onramp feedback orack || return 1
	_refused=$(stat refused_key)$(stat refused_mac)
	for netns in "$a" "$b"; do
		ip netns exec "$netns" turnpike onramp key add 1 "$key_file" || return 1
	done
	send 0.3 && _samples=$(counter samples_orack) && echo "with a key $_samples" &&
		[ "$_samples" -gt 20 ] || return 1
	in_a turnpike onramp key add 2 "$key_file.2" && in_b turnpike onramp key add 2 "$key_file.2" &&
		in_b turnpike onramp key use 2 && send 0.3 || return 1
	_more=$(counter samples_orack) && echo "of two $_more" && [ "$_more" -gt $((_samples + 20)) ] ||
		return 1
	in_a turnpike onramp key use 2 && in_a turnpike onramp key del 1 &&
		in_b turnpike onramp key del 1 && send 0.3 && [ "$(counter samples_orack)" -gt $((_more + 20)) ] &&
		[ "$(settings keys)" = 2 ]
	_status=$?
	drop_keys
	[ "$(stat refused_key)$(stat refused_mac)" = "$_refused" ] && return $_status
}

keys__others_have_no_effect() {
	acker on && onramp feedback orack && in_a turnpike onramp key add 1 "$key_file" &&
		in_b turnpike onramp key add 1 "$key_file.2" || return 1
	send 0.3
	echo "mac refused: here $(stat refused_mac), there $(stat refused_mac "$b")"
	[ "$(counter samples_orack)" = 0 ] && [ "$(stat refused_mac "$b")" -gt 0 ]
	_status=$?
	drop_keys
	return $_status
}

# -- clocks

# exactly NAME VALUE [NETNS]: the only peer has it
exactly() { [ "$(peer "$1" "${3:-$a}")" = "$2" ]; }

# sampled: samples of four flows since the last time, and how many of them are absolute
sampled() {
	_before=$(stats)
	send 0.2 || return 1
	_after=$(stats) _peers=$(peers)
	_samples=$(($(json_value samples "$_after") - $(json_value samples "$_before")))
	_absolute=$(($(json_value samples_absolute "$_after") - $(json_value samples_absolute "$_before")))
	echo "$_absolute of $_samples samples are absolute;" \
		"grade $(json_value grade "$_peers") error $(json_value error_ns "$_peers")" \
		"owd $(json_value owd_ns "$_peers") absurd $(json_value clock_absurd "$_peers")"
	[ $_samples -gt 50 ]
}

# One kernel, one clock, a cable that takes no time: no delay, or that of 500 kB at 200 Mbit/s.
owd_is_sound() {
	_owd=$(peer owd_ns)
	[ "$_owd" -ge 0 ] && [ "$_owd" -lt 21000000 ]
}

undisciplined() {
	in_a turnpike onramp clock undisciplined && in_b turnpike onramp clock undisciplined
	in_a turnpike onramp clock clear 10.1.0.2
	in_a turnpike onramp clock clear fd01::2
	return 0
} 2>/dev/null

clock__nobody_says_anything_is_grade_c() {
	acker on && onramp threshold 200us feedback orack && sampled &&
		[ $_absolute = 0 ] && exactly grade '"c"' && exactly error_ns null && exactly owd_ns null
}

offset_told() {
	acker on && onramp threshold 200us feedback orack &&
		in_a turnpike onramp clock set "$1" 0 "$2" && to=$1 sampled &&
		[ $_absolute -gt $((_samples * 9 / 10)) ] && exactly grade '"b"' &&
		exactly error_ns "$3" && owd_is_sound && exactly clock_absurd 0 &&
		in_a turnpike onramp clock clear "$1" && to=$1 sampled &&
		[ $_absolute = 0 ] && exactly grade '"c"'
	_status=$?
	undisciplined
	return $_status
}

clock__offset_that_was_told_is_grade_b() { offset_told 10.1.0.2 5us 5000; }

clock__offset_that_was_told_is_grade_b_ipv6() { offset_told fd01::2 700 700; }

clock__offset_that_cannot_be_is_not_used() {
	acker on && onramp threshold 200us feedback orack &&
		in_a turnpike onramp clock set 10.1.0.2 -50ms 1us && sampled &&
		[ $_absolute = 0 ] && exactly grade '"c"' && [ "$(peer clock_absurd)" -gt 50 ]
	_status=$?
	undisciplined
	return $_status
}

# The clocks are one. What was said of them is right a second later, and wrong two more after that.
clock__drift_that_was_told_counts() {
	acker on && onramp threshold 200us feedback orack &&
		in_a turnpike clock set 10.1.0.2 -1ms 300us --faster 1000000 &&
		told_clock 10.1.0.2 | grep -q "drift_ppb 1000000 " && sleep 0.9 && sampled &&
		[ $_absolute -gt $((_samples * 9 / 10)) ] && exactly grade '"b"' && sleep 4 && sampled &&
		[ $_absolute -lt $((_samples / 2)) ] && _offset=$(told_clock 10.1.0.2 | sed -n 's/.*offset_ns \(-\?[0-9]*\).*/\1/p') &&
		echo "offset $_offset" && [ "$_offset" -gt 4000000 ] && [ "$_offset" -lt 7000000 ] &&
		in_a turnpike clock set 10.1.0.2 1ms 300us --faster -1000000 && sleep 0.9 && sampled &&
		[ $_absolute -gt $((_samples * 9 / 10)) ] &&
		refused "faster" clock set 10.1.0.2 0 1 --faster 1000001 && drift_is_bounded
	_status=$?
	undisciplined
	return $_status
}

# By the kernel, too: ERANGE.
drift_is_bounded() {
	for ppt in 1000000001 -1000000001 -2147483648; do
		[ "$(in_a "$orack" fill 1 1 1 --drift=$ppt)" = "taken=0 error=34" ] || return 1
	done
	[ "$(in_a "$orack" fill 1 1 1 --drift=-1000000000)" = "taken=1 error=0" ] && in_a turnpike clock clear 10.0.0.1
}

clock__offset_expires() {
	acker on && onramp threshold 200us feedback orack &&
		in_a turnpike onramp clock set 10.1.0.2 0 1us --for 2 && sampled &&
		exactly grade '"b"' && told_clock 10.1.0.2 | grep -q "seconds_left [12] " &&
		sleep 2.2 && sampled && exactly grade '"c"' &&
		told_clock 10.1.0.2 | grep -q "seconds_left 0 "
	_status=$?
	undisciplined
	return $_status
}

clock__both_disciplined_is_grade_a() {
	acker on && onramp threshold 200us feedback orack &&
		in_a turnpike clock disciplined 300 && in_b turnpike clock disciplined 2us && sampled &&
		[ $_absolute -gt $((_samples * 9 / 10)) ] && exactly grade '"a"' &&
		exactly error_ns 2300 && owd_is_sound &&
		in_b turnpike clock undisciplined && sleep 0.6 && sampled && [ $_absolute = 0 ] &&
		exactly grade '"c"'
	_status=$?
	undisciplined
	return $_status
}

clock__only_one_disciplined_is_grade_c() {
	acker on && onramp threshold 200us feedback orack && in_b turnpike clock disciplined 2us &&
		sampled && [ $_absolute = 0 ] && in_b turnpike clock undisciplined &&
		in_a turnpike clock disciplined 2us && sleep 0.6 && sampled && [ $_absolute = 0 ]
	_status=$?
	undisciplined
	return $_status
}

clock__what_was_told_of_a_peer_goes_first() {
	acker on && onramp threshold 200us feedback orack &&
		in_a turnpike clock disciplined 300 && in_b turnpike clock disciplined 300 &&
		in_a turnpike clock set 10.1.0.2 0 9us && sampled && exactly grade '"b"' &&
		exactly error_ns 9000 && in_a turnpike clock clear 10.1.0.2 && sampled &&
		exactly grade '"a"' && exactly error_ns 600
	_status=$?
	undisciplined
	return $_status
}

# Somebody asks as a host without On-Ramp would: what it is told, and of which clock.
clock__is_said_to_who_announced_itself() {
	acker on && in_a tc qdisc replace dev veth0 root fq &&
		in_b turnpike onramp clock disciplined 1234 || return 1
	said=$(in_a "$orack" ask 10.1.0.2 5001 1000)
	_status=$?
	undisciplined
	echo "$said"
	[ $_status = 0 ] && [ "$(field clocks "$said")" -gt 0 ] && [ "$(field clocks "$said")" -lt 4 ] &&
		[ "$(field error_ns "$said")" = 1234 ] && [ "$(field real "$said")" = 1 ]
}

# A clock that is set while there is traffic: nobody is held for a queue that is not there, and
# what is said afterwards holds again.
clock__set_under_traffic() {
	acker on && onramp threshold 200us pause_max 20ms feedback orack &&
		in_a turnpike clock disciplined 1us && in_b turnpike clock disciplined 1us &&
		background 1 || return 1
	for _ in 1 2 3 4; do
		sleep 0.2
		date -s "@$(($(date +%s) + 5))" > /dev/null || return 1
	done
	wait "$sender"
	show
	sampled && exactly grade '"a"' && owd_is_sound
	_status=$?
	undisciplined
	return $_status
}

clock__nonsense_is_refused() {
	refused "address" clock set 0.0.0.0 0 1 && refused "address" clock set 224.0.0.1 0 1 &&
		refused "address" clock set ff02::1 0 1 && refused "address" clock set :: 0 1 &&
		refused "no IPv4 or IPv6" clock set host 0 1 &&
		refused "error is 1 to" clock set 10.1.0.2 0 0 &&
		refused "error is 1 to" clock set 10.1.0.2 0 1000001 &&
		refused "error is 1 to" clock set 10.1.0.2 0 -1 &&
		refused "error is 1 to" clock set 10.1.0.2 0 5s &&
		refused "31 years" clock set 10.1.0.2 1000000000000000001 1 &&
		refused "31 years" clock set 10.1.0.2 -1000000000000000001 1 &&
		refused "no time" clock set 10.1.0.2 1.5us 1 &&
		refused "too long" clock set 10.1.0.2 99999999999s 1 &&
		refused "86400\|range" clock set 10.1.0.2 0 1 --for 86401 &&
		refused "86400\|range" clock disciplined 1us --for 0 &&
		refused "error is 1 to" clock disciplined 0 &&
		refused "error is 1 to" clock disciplined 1001us &&
		refused "nothing was said" clock clear 10.1.0.2 &&
		[ "$(in_a turnpike onramp clock show -j | json_lines | paste -sd' ')" = "own_error_ns null clockd null" ]
}

# 16384 and no more; what expired makes room; the table goes with its namespace.
clock__table_is_bounded() {
	ip netns add clocks || return 1
	said=$(ip netns exec clocks "$orack" fill 1 16385 1)
	sleep 1.2
	said="$said $(ip netns exec clocks "$orack" fill 50000 3 60)"
	_count=$(ip netns exec clocks turnpike onramp clock show -j | json_lines | grep -c "^peers.peer ")
	ip netns del clocks
	echo "$said; $_count"
	[ "$said" = "taken=16384 error=28 taken=3 error=0" ] && [ "$_count" = 3 ]
}

# refused WORD COMMAND...
refused() {
	_word=$1
	shift
	said=$(in_a turnpike onramp "$@" 2>&1) && { echo "taken: $*"; return 1; }
	echo "$said" | grep -q "$_word" || { echo "$*: no '$_word' in: $said"; return 1; }
}

keys__none_is_said_while_receipts_are_wanted() {
	onramp feedback orack || return 1
	in_a turnpike onramp show 2>&1 > /dev/null | grep -q 'no key' || { echo "nothing is said"; return 1; }
	in_a turnpike onramp key add 1 "$key_file" || return 1
	_said=$(in_a turnpike onramp show 2>&1 > /dev/null)
	drop_keys
	[ -z "$_said" ] && _said=$(in_a tc qdisc del dev veth0 root && in_a turnpike onramp show 2>&1 > /dev/null) && [ -z "$_said" ]
}

keys__of_a_file_are_used_and_no_others() {
	rm -f "$key_file.new" && in_a turnpike onramp key generate "$key_file.new" &&
		[ -n "$(find "$key_file.new" -perm 600)" ] &&
		refused "exists" key generate "$key_file.new" &&
		in_a turnpike onramp key add 9 "$key_file" || return 1
	{ cat "$key_file.new"; echo "2 $(in_a turnpike onramp key generate -)"; } > "$key_file.both"
	refused "read by others" key load "$key_file.both" && chmod 600 "$key_file.both" &&
		in_a turnpike onramp key load "$key_file.both" &&
		[ "$(settings keys)" = "1 2" ] &&
		in_a turnpike onramp key load "$key_file.both" &&
		in_b turnpike onramp key load "$key_file.new" && acker on && onramp feedback orack && send 0.3 &&
		[ "$(counter samples_orack)" -gt 20 ]
	_status=$?
	drop_keys
	return $_status
}

# What is refused comes back whole, but for the key.
keys__are_wiped_from_what_the_kernel_was_sent() {
	said=$(in_a "$here/wiped.py") || return 1
	echo "$said"
	[ "$(field returned "$said")" -ge 28 ] && [ "$(field key "$said")" = 0 ]
}

# What is set then, as show -j has it.
changes__tell_what_is_set() {
	local said

	said=$(in_a turnpike onramp set --ask 10.0.0.0/8 -j) && [ "$said" = "$(in_a turnpike onramp show -j 2> /dev/null)" ] &&
		[ "$(settings ask)" = 10.0.0.0/8 ] &&
		[ "$(in_a turnpike onramp key add 3 "$key_file" -j | json_lines | grep keys)" = "keys 3" ] &&
		[ "$(in_a turnpike onramp key use 3 -j | json_lines | grep keys)" = "keys 3" ] &&
		! in_a turnpike onramp key del 3 -j | json_lines | grep keys &&
		[ "$(in_a turnpike clock set 10.1.0.2 5us 1us -j | json_lines | grep offset)" = "peers.offset_ns 5000" ] &&
		[ "$(in_a turnpike clock disciplined 2us -j | json_lines | grep own)" = "own_error_ns 2000" ] &&
		[ "$(in_a turnpike clock undisciplined -j | json_lines | grep own)" = "own_error_ns null" ] &&
		[ "$(in_a turnpike clock clear 10.1.0.2 -j | json_lines)" = "own_error_ns null" ]
	_status=$?
	in_a turnpike onramp set --ask all
	# What is refused tells nothing.
	said=$(in_a turnpike onramp key del 9 -j 2> /dev/null) && return 1
	[ $_status = 0 ] && [ -z "$said" ]
}

keys__nonsense_is_refused() {
	echo 001122 > "$key_file.3"
	in_a turnpike onramp key add 1 "$key_file" && in_a turnpike onramp key add 2 "$key_file.2" &&
		refused "two keys" key add 3 "$key_file" && refused "is a key" key add 1 "$key_file" &&
		refused "no key" key use 3 && refused "no key" key del 3 &&
		refused "hexadecimal" key add 3 "$key_file.3" && refused "1 - 255\|1 to 255\|range" key use 0 &&
		[ "$(settings keys)" = "1 2" ]
	_status=$?
	drop_keys
	return $_status
}

refused_in_all() {
	in_a turnpike onramp stats -j | /usr/bin/python3 -c '
import json, sys
print(sum(value for name, value in json.load(sys.stdin).items() if name.startswith("refused_")))'
}

# attacked: one flow, and datagrams from the host that it goes to
attacked() {
	acker off
	onramp feedback orack threshold 20us pause_max 20ms || return 1
	start_sender --seconds 1000 --abort --max-pacing 10000000
	said=$(in_b "$orack" attack veth0 10.1.0.1 --packets "$packets")
	_status=$?
	stop_sender
	wait_for "the flow's end" no_flow_is_left
	echo "$said"
	show
	return $_status
}

hostile__no_flow_is_held_for_long() {
	_refused=$(refused_in_all)
	attacked || return 1
	_refused=$(($(refused_in_all) - _refused))
	echo "refused $_refused, capped $(counter capped)"
	in_a turnpike onramp stats -j | json_lines | grep refused
	# Most have something wrong; pause_max, and a packet more at 10 MB/s.
	[ $_refused -gt $((packets / 2)) ] && [ "$(field gap_ms "$said" | cut -d. -f1)" -lt 30 ] &&
		[ "$(in_a turnpike onramp peers -j | json_lines | wc -l)" -le 1 ]
}

hostile__with_a_key_nothing_happens() {
	in_a turnpike onramp key add 1 "$key_file" || return 1
	_taken=$(stat announcements_taken)$(stat receipts_taken)
	attacked || return 1
	[ "$(counter samples)$(counter held)" = 00 ] && [ "$(peer acks)$(peer hears)" = falsefalse ] &&
		[ "$(stat announcements_taken)$(stat receipts_taken)" = "$_taken" ]
	_status=$?
	drop_keys
	return $_status
}

honest__receipts_work_after_all_that() { held_by_receipts; }

qdisc__goes_and_comes_under_receipts() {
	acker on && onramp feedback orack && background 1 || return 1
	for _ in 1 2 3; do
		sleep 0.05
		acker off && in_a tc qdisc change dev veth0 root onramp feedback auto && acker on &&
			in_a tc qdisc change dev veth0 root onramp feedback orack &&
			onramp feedback orack || return 1
	done
	wait "$sender"
	show
	[ "$(counter samples_orack)" -gt 0 ]
}

unload__under_receipts() {
	acker on && onramp feedback orack && background 1 || return 1
	for _ in 1 2 3; do
		sleep 0.05
		in_a tc qdisc del dev veth0 root && acker off && unload_module && load_module &&
			acker on && onramp feedback orack || return 1
	done
	wait "$sender"
	[ "$(counter samples_orack)" -gt 0 ]
}

netns__removed_under_receipts() {
	acker on && onramp feedback orack && background 1 || return 1
	sleep 0.1
	[ "$(counter samples_orack)" -gt 0 ] || return 1
	ip netns del "$b"
	ip netns del "$a"
	stop_sender
	drop_hosts
	slow_hosts
}

ktap_start
need_module
trap 'drop_hosts; unload_module' EXIT
slow_hosts || ktap_fail "hosts__set_up"
run_cases "$@"
finish_hosts
