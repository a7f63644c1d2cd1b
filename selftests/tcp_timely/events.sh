#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What one flow does when something happens to it: a start, a loss, a timeout that was and one that
# was for nothing, idle times, an application's limit, another congestion control.

# shellcheck source=selftests/tcp_timely/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

steps=$here/steps.py
device=$((10000000000 / 8))	# what veth says of its speed, in bytes a second
line=$((1000000000 / 8))
line_payload=$((line * 1448 / 1538))
floor_payload=$((1000000 / 8 * 1448 / 1538))

set_to() { in_a sh -c "echo $2 > /proc/sys/$settings/$1"; }

# take STEP...: of a flow that has the device for itself; what they said is in $out
take() {
	wait_for "the end of the flow before" no_flow_is_left || return 1
	out=$(in_a "$steps" 10.1.0.2 cc=timely connect=5001 "$@")
	status=$?
	echo "$out"
	return $status
}

# beside STEPS STEP...: of a flow that begins a tenth of a second after another, whose STEPS are one word
beside() {
	wait_for "the end of the flow before" no_flow_is_left || return 1
	# shellcheck disable=SC2086  # words
	in_a "$steps" 10.1.0.2 cc=timely connect=5001 $1 > /dev/null &
	other=$!
	shift
	sleep 0.1
	out=$(in_a "$steps" 10.1.0.2 cc=timely connect=5001 "$@")
	status=$?
	echo "$out"
	wait $other
	return $status
}

# value KEY: what the steps said
value() { field " $1" " ${out//$'\n'/ }"; }

# between KEY LOW HIGH
between() {
	[ "$(value "$1")" -ge "$2" ] && [ "$(value "$1")" -le "$3" ] && return 0
	echo "$1 is not within $2 and $3"
	return 1
}

# about KEY NUMBER: within half a percent
about() { between "$1" $(($2 * 199 / 200)) $(($2 * 201 / 200)); }

# moved_by NAME OLD COUNT
moved_by() {
	[ $(($(counter "$1") - $2)) = "$3" ] && return 0
	echo "$1 went from $2 to $(counter "$1")"
	return 1
}

# with NAME=VALUE... -- COMMAND...: with settings of timely, the preset's afterwards
with() {
	while [ "$1" != -- ]; do
		set_to "${1%%=*}" "${1#*=}" || return 1
		shift
	done
	shift
	"$@"
	status=$?
	set_to preset default
	return $status
}

# The paper's rule alone: it does not drain the path now and then to see how long that is.
papers="preset=verbatim"

# The way there: all is lost or marked, comes late, or nothing happens to it.
way_there() { echo "run=tc qdisc change dev veth0 root netem $*"; }
lost=$(way_there loss 100%)
marked=$(way_there loss 100% ecn)
late=$(way_there delay 300ms)
free=$(way_there loss 0%)
far=$(way_there delay 10ms)
far_lost=$(way_there delay 10ms loss 100%)

way=

# on_the_way COMMAND...: with something on the way there, $way to begin with, that the steps may change
on_the_way() {
	# shellcheck disable=SC2086  # words
	in_a tc qdisc add dev veth0 root netem $way || return 1
	"$@"
	status=$?
	in_a tc qdisc del dev veth0 root
	return $status
}

start__alone_with_all_of_the_line() {
	take write=1 show=a && about a.rate $device && about a.pacing $((device * 1448 / 1538))
}

# Who has nothing to send takes no part.
start__beside_an_idle_flow_with_all_of_the_line() {
	beside "send=0.005 idle=0.3" write=1 show=a && about a.rate $device
}

start__after_an_aborted_flow_with_all_of_the_line() {
	in_a "$traffic" send 10.1.0.2 --cc timely --seconds 0.01 --abort
	take write=1 show=a && about a.rate $device
}

# TCP begins with ten packets at once: where the rate is low, that is a queue.
start__window_is_small_where_the_rate_is_low() {
	with init_rate_bps=10000000 -- take write=1 show=a && between a.cwnd 4 6
}

start__window_opens_with_acks() {
	take write=1 idle=0.0002 show=a send=0.005 show=b && between a.cwnd 10 13 && between b.cwnd 60 120
}

start__knob_for_the_line_goes_first() {
	set_to line_rate_mbps 100
	take write=1 show=a
	set_to line_rate_mbps 0
	about a.rate 12500000
}

rate__payload_leaves_room_for_headers() {
	with max_rate_bps=$((line * 8)) -- take send=0.01 show=a && about a.rate $line && about a.pacing $line_payload
}

# A tenth of a percent of what the rate allows tells nothing of the rest.
rate__does_not_grow_by_what_is_not_used() {
	with init_rate_bps=100000000 -- take trickle=0.3 show=a && about a.rate 12500000
}

rate__grows_by_what_is_used() {
	with init_rate_bps=100000000 -- take send=0.05 show=a && between a.rate $((device / 2)) $device
}

# All that leaves within so short a time.
lose_some() {
	on_the_way take send=0.01 show=a "$lost" send=0.000060 "$free" send=0.003 watch=b
}

loss__much_halves_the_rate_once() {
	losses=$(counter losses) retransmitted=$(counter dropped_retransmitted)
	with $papers loss_milli=30 seg_bytes=1448 max_rate_bps=4000000000 -- lose_some && moved_by losses "$losses" 1 &&
		between b.least_rate $(($(value a.rate) * 49 / 100)) $(($(value a.rate) * 53 / 100)) &&
		counter_moved dropped_retransmitted "$retransmitted"
}

loss__recovery_sends_what_arrives() {
	with $papers loss_milli=30 seg_bytes=1448 max_rate_bps=4000000000 -- lose_some &&
		between b.most_recovery_cwnd 4 $(($(value a.cwnd) * 2 / 5))
}

# On a way of 10 ms: some are lost, some arrive, and all behind is lost, until news of that comes. Then
# the flow may no longer be as fast.
lose_all_but_some() {
	way="delay 10ms" on_the_way take send=0.4 show=a "$far_lost" send=0.0006 "$far" send=0.0006 \
		"$far_lost" send=0.0093 "run=echo 50000000 > /proc/sys/$settings/max_rate_bps" "$far" send=0.002 watch=b
}

# And that is less than what is in flight.
loss__is_repaired_whatever_the_window() {
	losses=$(counter losses)
	with max_rate_bps=200000000 -- lose_all_but_some && moved_by losses "$losses" 1 &&
		between b.most_retransmits 1 5
}

# A lone packet meets what the path does; the flow is still at its rate when it goes on.
lone_packet_meets() { take send=0.01 idle=0.02 show=a "$1" write=1000 idle=0.0001 "$free" send=0.002 watch=b; }

# A bad cable: three percent.
loss__of_a_packet_takes_little() {
	losses=$(counter losses)
	with $papers loss_milli=30 max_rate_bps=$((line * 8)) -- on_the_way lone_packet_meets "$lost" && moved_by losses "$losses" 1 &&
		between b.least_rate $(($(value a.rate) * 96 / 100)) $(($(value a.rate) * 99 / 100))
}

# slow_flow_meets WHAT SECONDS: 8 Mbit/s, then no limit, and something on the way that no queue explains. By
# steps alone the rate is less than four times that after the SECONDS.
slow_flow_meets() {
	with max_rate_bps=8000000 -- on_the_way take send=0.1 \
		"run=echo $((line * 8)) > /proc/sys/$settings/max_rate_bps" "$1" send=0.003 "$free" send="$2" watch=b
}

loss__without_a_queue_leaves_a_frame_a_round_trip() {
	slow_flow_meets "$lost" 0.06 && between b.most_rate 4000000 $line
}

# Marks come with a queue, or before there is one.
loss__mark_gives_a_slow_flow_no_more() {
	cwrs=$(counter cwrs)
	in_a sysctl -q -w net.ipv4.tcp_ecn=1
	slow_flow_meets "$marked" 0.02
	status=$?
	in_a sysctl -q -w net.ipv4.tcp_ecn=2
	[ $status = 0 ] && counter_moved cwrs "$cwrs" && between b.most_rate 500000 4000000
}

loss__mark_halves_the_rate() {
	cwrs=$(counter cwrs) losses=$(counter losses)
	in_a sysctl -q -w net.ipv4.tcp_ecn=1
	with $papers loss_milli=30 max_rate_bps=$((line * 8)) -- on_the_way lone_packet_meets "$marked"
	status=$?
	in_a sysctl -q -w net.ipv4.tcp_ecn=2
	[ $status = 0 ] && moved_by cwrs "$cwrs" 1 && moved_by losses "$losses" 0 &&
		between b.least_rate $(($(value a.rate) * 49 / 100)) $(($(value a.rate) * 53 / 100)) &&
		between b.most_retransmits 0 0
}

# The path is back before the timeout, after 0.2 s.
timeout__begins_at_the_floor_and_climbs() {
	rtos=$(counter rtos) undos=$(counter undos)
	with max_rate_bps=$((line * 8)) -- on_the_way take send=0.01 "$lost" send=0.1 "$free" send=0.14 watch=a \
		send=0.05 show=b
	moved_by rtos "$rtos" 1 && moved_by undos "$undos" 0 &&
		between a.least_pacing $floor_payload $((3 * floor_payload)) && between b.rate $((line * 2 / 5)) $line
}

# All is late for once, and the ACKs say that nothing was lost.
timeout__for_nothing_is_taken_back() {
	rtos=$(counter rtos) undos=$(counter undos)
	with max_rate_bps=$((line * 8)) -- on_the_way take send=0.01 show=a "$late" send=0.25 show=b "$free" \
		send=0.06 watch=c send=0.01 show=d
	moved_by rtos "$rtos" 1 && counter_moved undos "$undos" && about b.pacing $floor_payload && about d.rate $line
}

# Halved for each 200 ms, down to the rate of a start.
idle__rate_halves_down_to_a_starts() {
	restarts=$(counter idle_restarts)
	with init_rate_bps=100000000 max_rate_bps=$((line * 8)) -- take send=0.05 show=a idle=0.1 write=1 show=b \
		send=0.05 idle=0.5 write=1 show=c send=0.05 idle=1.5 write=1 show=d
	about a.rate $line && about b.rate $line && about c.rate $((line / 4)) && about d.rate 12500000 &&
		moved_by idle_restarts "$restarts" 2
}

# As many halvings as the rate has bits, and more: a debug kernel tells what C does not define.
idle__of_any_length_ends_at_a_start() {
	idle_ms=$(in_a cat /proc/sys/$settings/idle_ms)
	set_to idle_ms 10
	with init_rate_bps=100000000 max_rate_bps=$((line * 8)) -- take send=0.05 idle=0.7 write=1 show=a
	set_to idle_ms "$idle_ms"
	about a.rate 12500000
}

idle__of_no_meaning_where_the_knob_says_so() {
	idle_ms=$(in_a cat /proc/sys/$settings/idle_ms)
	set_to idle_ms 0
	with init_rate_bps=100000000 max_rate_bps=$((line * 8)) -- take send=0.05 idle=1.5 write=1 show=a
	set_to idle_ms "$idle_ms"
	about a.rate $line
}

limit__of_the_application_holds_the_rate_too() {
	take pacing=12500000 send=0.05 show=a && between a.pacing 12490000 12500000 &&
		about a.rate $((12500000 * 1538 / 1448))
}

limit__below_the_floor_holds() {
	take send=0.005 pacing=50000 send=0.3 show=a abort=now && between a.pacing 1 50000
}

# A rate of nothing is none for TCP, and one that is taken back holds nothing.
limit__of_nothing_that_is_lifted_leaves_the_line() {
	with max_rate_bps=$((line * 8)) -- take send=0.05 pacing=0 send=0.2 show=a pacing=-1 send=0.2 show=b abort=now ||
		return 1
	about a.pacing $line_payload && about b.pacing $line_payload && [ "$(value a.acked)" -gt $((line_payload / 5)) ] &&
		[ $(($(value b.acked) - $(value a.acked))) -gt $((line_payload / 5 * 9 / 10)) ]
}

burst__is_that_of_the_rate() {
	with max_rate_bps=$((line * 8)) -- take send=0.01 packets=a && between a.bytes 2000 5000
}

# At 200 Mbit/s two packets at first, and ten after half a second.
burst__grows_while_there_is_no_queue() {
	take pacing=25000000 send=0.01 packets=a send=0.8 packets=growing send=0.2 packets=b &&
		between a.bytes 2000 3000 && between b.bytes 13000 15000
}

# One that TCP's own rule, a part of a millisecond, would make a packet.
burst__of_a_fixed_size_at_a_low_rate() {
	in_a sysctl -q -w net.ipv4.tcp_tso_rtt_log=0
	with burst_us=0 -- take pacing=11700000 send=0.05 packets=a
	in_a sysctl -q -w net.ipv4.tcp_tso_rtt_log=9
	between a.bytes 8000 17000
}

# waiting_in_fq: packets, of twenty moments; to $waiting
waiting_in_fq() {
	looks=() waiting=0
	# by turns, so as not to keep step with the flow's bursts
	for i in $(seq 20); do
		looks+=("send=0.000$((111 + i * 7))" "run=tc -s qdisc show dev veth0")
	done
	with max_rate_bps=$((line * 8)) -- take send=0.005 "${looks[@]}" > /dev/null || return 1
	for packets in $(sed -n 's/.*backlog [^ ]* \([0-9]*\)p.*/\1/p' <<< "$out"); do
		waiting=$((waiting + packets))
	done
	echo "waiting: $waiting"
}

# A burst that TCP still holds leaves at the rate of then, one in fq at that of now.
pacing__of_its_own_leaves_fq_empty() {
	in_a tc qdisc add dev veth0 root fq || return 4
	waiting_in_fq && own=$waiting && set_to own_pacing 0 && waiting_in_fq
	status=$?
	set_to own_pacing 1
	in_a tc qdisc del dev veth0 root
	[ $status = 0 ] && [ $((own * 3)) -lt $((waiting * 2)) ]
}

# The largest burst and how much waits in the host are a socket's: cubic is to find its own, and the
# device one flow less. A window that bounds bursts, as a 6.6 keeps it here, has two in it.
switch__to_another_and_back() {
	flows=$(counter flows)
	in_a sysctl -q -w net.ipv4.tcp_tso_rtt_log=0
	in_a tc qdisc add dev veth0 root fq
	with max_rate_bps=$((line * 8)) -- take send=0.01 packets=a cc=cubic pacing=60000000 idle=0.002 packets=b \
		send=0.05 show=c packets=c cc=timely idle=0.002 packets=d send=0.01 show=e packets=e
	in_a tc qdisc del dev veth0 root
	in_a sysctl -q -w net.ipv4.tcp_tso_rtt_log=9
	least=$(($(value c.cwnd) * 1448 / 2))
	between a.bytes 2000 5000 && between c.bytes $((least < 30000 ? least : 30000)) 66000 && between e.bytes 1400 5000 &&
		between e.pacing 1 60000000 && moved_by flows "$flows" 2
}

switch__leaves_the_device_to_others() {
	beside "send=0.005 cc=cubic pacing=1000000 send=0.3" write=1 show=a && about a.rate $device
}

# windows_while_receiving BYTES: a.cwnd with so many a second on the way back, b.cwnd after them
windows_while_receiving() {
	ip netns exec "$a" "$traffic" sink --port 5002 > /dev/null 2>&1 &
	back_sink=$!
	sleep 0.2
	in_b "$traffic" send 10.1.0.1 --port 5002 --cc cubic --max-pacing "$1" --seconds 0.4 &
	back=$!
	sleep 0.1
	set_to line_rate_mbps 1000
	take send=0.2 show=a idle=0.3 send=0.1 show=b
	set_to line_rate_mbps 0
	kill $back_sink
	wait $back_sink $back 2>/dev/null
	return 0
}

# ACKs wait where the link to this host is busy: half of it is worth four times the room, and that of
# eight full frames at 1 Gbit/s is 100 us.
receiving__much_leaves_more_room_while_it_does() {
	windows_while_receiving 60000000 && between a.cwnd $(($(value b.cwnd) + 30)) $(($(value b.cwnd) + 42))
}

# Less than a 16th are ACKs of others.
receiving__acks_alone_leaves_none() {
	windows_while_receiving 5000000 && between a.cwnd "$(value b.cwnd)" "$(value b.cwnd)"
}

# send_with_acks_by NETEM...: how the way back is meanwhile
send_with_acks_by() {
	merged=$(counter events_merged) samples=$(counter samples)
	in_b tc qdisc del dev veth0 root && in_b tc qdisc add dev veth0 root netem "$@" || return 1
	take send=0.2 show=a
	status=$?
	in_b tc qdisc del dev veth0 root && in_b tc qdisc add dev veth0 root netem delay 20us || return 1
	merged=$(($(counter events_merged) - merged)) samples=$(($(counter samples) - samples))
	echo "$merged of $samples samples are merged"
	return $status
}

# ACKs that wait for a late interrupt come all at once, and the first of them is the sample. That it
# waited is no queue.
noise__acks_of_a_late_interrupt_are_one_sample() {
	send_with_acks_by slot 100us 100us && [ $merged -ge $((samples * 3 / 4)) ] && about a.rate $device
}

noise__acks_that_come_in_time_are_samples() {
	send_with_acks_by delay 20us && [ $merged -le $((samples / 10)) ] && about a.rate $device
}

# Time on the wire is taken off RTTs, but not by what only says that it has a speed.
device__that_pretends_takes_nothing_off() {
	fast=$(counter dropped_too_fast) samples=$(counter samples)
	in_b tc qdisc del dev veth0 root
	take send=0.002 show=a
	status=$?
	in_b tc qdisc add dev veth0 root netem delay 20us
	[ $status = 0 ] && moved_by dropped_too_fast "$fast" 0 && counter_moved samples "$samples"
}

device__loopback_has_no_line() {
	ip netns exec "$a" "$traffic" sink --port 5002 > /dev/null 2>&1 &
	local_sink=$!
	sleep 0.2
	out=$(in_a "$steps" 127.0.0.1 cc=timely connect=5002 write=1 show=a)
	echo "$out"
	kill $local_sink
	wait $local_sink 2>/dev/null
	about a.rate 50000000000
}

# Nobody knows how fast a tunnel is.
device__without_a_speed_has_that_of_the_knob() {
	ip -n "$a" link add tunnel type ipip local 10.1.0.1 remote 10.1.0.2 &&
		ip -n "$b" link add tunnel type ipip local 10.1.0.2 remote 10.1.0.1 || return 1
	ip -n "$a" addr add 10.2.0.1/24 dev tunnel && ip -n "$a" link set tunnel up
	ip -n "$b" addr add 10.2.0.2/24 dev tunnel && ip -n "$b" link set tunnel up
	set_to default_line_rate_mbps 1000
	out=$(in_a "$steps" 10.2.0.2 cc=timely connect=5001 write=1 show=a)
	echo "$out"
	set_to default_line_rate_mbps 10000
	about a.rate $line
}

begin_on_path
run_against_sink "$@"
