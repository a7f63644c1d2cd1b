#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# TLT among netfilter's other hooks: one that comes after its own, a queue to user space
# before it, from which packets come in the context of the process that gives the verdicts, one
# before it that makes bursts its own, one that marks packets as TLT does; and a VRF and a
# container, whose packets come by twice.
#
#	netns $a   veth0 10.1.0.1 -------------------- 10.1.0.2 veth0   netns $b
#	vrf-red (netem) --- veth8 10.8.0.1 ----------- 10.8.0.2 veth8
#	netns $a-c   ipvl0 10.9.1.1, on veth0

# shellcheck source=selftests/tlt/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

# shellcheck source=selftests/lib/nfqueue.sh
. "$here/../lib/nfqueue.sh"
last=2147483647
bytes=4000000

# sends [ADDRESS]
sends() { in_a "$stream" send "${1:-10.1.0.2}" --seed 1 --bytes $bytes; }

# A hook of the last priority that was there before TLT's comes after it. Where a round trip takes no
# time echoes come before the application writes, and clock data in the place of bursts.
behind__sees_bursts_that_are_cut() {
	path_from in_a delay 1ms && tlt_off && in_a "$nft" count out $last || return
	tlt_on || return 1
	_cuts=$(counter cuts)
	sends
	_status=$?
	_cuts=$(($(counter cuts) - _cuts))
	_seen=$(in_a "$nft" show)
	in_a "$nft" drop
	in_a tc qdisc del dev veth0 root
	echo "$_seen, $_cuts bursts cut"
	[ $_status = 0 ] && [ $_cuts -gt 0 ] && [ "$(field bytes "$_seen")" -ge $bytes ]
}

foreign=${TURNPIKE_MODULES:-}/selftests/tlt/foreign/foreign.ko
# count_of taken|returned
count_of() { cat "/sys/module/foreign/parameters/$1"; }
all_returned() { [ "$(count_of taken)" = "$(count_of returned)" ]; }

# A destructor that is not TCP's, once for each burst: a second packet with it would be one too many.
destructor__of_others_leaves_bursts_whole() {
	[ -e "$foreign" ] || { echo "needs foreign.ko (make test-modules)"; return 4; }
	path_from in_a delay 1ms && insmod "$foreign" || return 1
	_cuts=$(counter cuts) _failed=$(counter cut_failed)
	sends && wait_for "what was taken" all_returned
	_status=$?
	_cuts=$(($(counter cuts) - _cuts)) _failed=$(($(counter cut_failed) - _failed)) _taken=$(count_of taken)
	echo "bursts: $_taken taken, $(count_of returned) returned, $_cuts cut, $_failed not"
	# One that returned too many has others under way.
	[ $_status != 0 ] || rmmod foreign || return 1
	in_a tc qdisc del dev veth0 root
	[ $_status = 0 ] && [ "$_taken" -gt 0 ] && [ $_cuts = 0 ] && [ $_failed -gt 0 ]
}

# What is marked on one side is seen on the other.
is_marked() {
	_marked=$(received data "$b")
	sends || return 1
	_marked=$(($(received data "$b") - _marked))
	echo "$_marked important packets came"
	[ $_marked -gt 0 ]
}

queue__of_what_arrives_at_the_receiver() { tlt_on && queued "$b" in is_marked; }
queue__of_what_arrives_at_the_sender() { tlt_on && queued "$a" in is_marked; }
queue__of_what_leaves_the_sender() { tlt_on && queued "$a" out is_marked; }
queue__of_what_leaves_the_receiver() { tlt_on && queued "$b" out is_marked; }

# A socket that is bound to no device sends to 10.8.0.2 through the VRF, too.
make_vrf() {
	ip link add veth8 netns "$a" type veth peer name veth8 netns "$b" &&
		in_b ip addr add 10.8.0.2/24 dev veth8 && in_b ip link set veth8 up &&
		in_a ip link add vrf-red type vrf table 10 && in_a ip link set vrf-red up &&
		in_a ip link set veth8 master vrf-red && in_a ip link set veth8 up &&
		in_a ip addr add 10.8.0.1/24 dev veth8 && in_a ip rule add to 10.8.0.0/24 lookup 10 &&
		in_a sysctl -q net.ipv4.tcp_l3mdev_accept=1 &&
		in_a tc qdisc add dev vrf-red root netem limit 10000 delay 1ms
}

drop_vrf() {
	in_a ip rule del to 10.8.0.0/24
	in_a ip link del veth8
	in_a ip link del vrf-red
}

# Without the VRF the receiver would wait for the end of the stream for ever.
stream_has_ended() { [ -z "$(in_b ss -Htn sport = $port)" ]; }

sent_plain_bytes() { counter sent.plain.bytes; }

# through_vrf BURST: bursts of so many segments; each packet counts once where it leaves
through_vrf() {
	tlt_on && make_vrf && in_a ip link set vrf-red gso_max_segs "$1" && in_a ip link set veth8 gso_max_segs "$1" || return 1
	_cuts=$(counter cuts) _sent=$(sent data) _received=$(received data "$b")
	_plain=$(sent_plain_bytes) _failed=$(counter cut_failed)
	sends 10.8.0.2 && wait_for "the end of the stream" stream_has_ended
	_status=$?
	_cuts=$(($(counter cuts) - _cuts)) _sent=$(($(sent data) - _sent)) _received=$(($(received data "$b") - _received))
	_plain=$(($(sent_plain_bytes) - _plain)) _failed=$(($(counter cut_failed) - _failed))
	drop_vrf
	echo "$_sent important packets left, $_received came; $_plain bytes of others; $_cuts bursts cut, $_failed not"
	[ $_status = 0 ] && [ $_sent -gt 0 ] && [ $_sent = $_received ] && [ $_failed = 0 ] &&
		[ $_plain -gt $((bytes / 2)) ] && [ $_plain -lt $((bytes * 3 / 2)) ]
}

# netem gives the socket's charge back before they come again: cut then, they would be charged for nothing.
vrf__with_a_queue_has_its_bursts_cut() { through_vrf 44 && [ $_cuts -gt 0 ]; }
vrf__counts_each_segment_once() { through_vrf 1 && [ $_cuts = 0 ]; }

make_container() {
	ip netns add "$a-c" && ip -n "$a-c" link set lo up && in_a ip link add link veth0 name ipvl0 type ipvlan mode l3 &&
		in_a ip link set ipvl0 netns "$a-c" && ip -n "$a-c" addr add 10.9.1.1/24 dev ipvl0 &&
		ip -n "$a-c" link set ipvl0 up && ip -n "$a-c" route add default dev ipvl0 &&
		in_b ip route add 10.9.1.0/24 via 10.1.0.1
}

# A container's packets come by the host's hooks, too, which know none of its connections.
ipvlan__marks_of_a_container_stay() {
	tlt_on && make_container && ip netns exec "$a-c" "$turnpike" tlt set --all || return 1
	_received=$(received data "$b") _hosts=$(sent data) _plain=$(sent_plain_bytes)
	ip netns exec "$a-c" "$stream" send 10.1.0.2 --seed 1 --bytes $bytes && wait_for "the end of the stream" stream_has_ended
	_status=$?
	_received=$(($(received data "$b") - _received)) _sent=$(sent data "$a-c")
	_hosts=$(($(sent data) - _hosts)) _plain=$(($(sent_plain_bytes) - _plain))
	ip netns del "$a-c"
	echo "$_sent important packets left the container, $_received came; the host sent $_hosts, and $_plain bytes of others"
	[ $_status = 0 ] && [ "$_received" -gt 0 ] && [ "$_received" -le "$_sent" ] && [ $_hosts = 0 ] && [ $_plain = 0 ]
}

# A rule of the operator's gives all of the stream TLT's code point for important data.
marked__by_a_rule_is_not_marked_anew() {
	command -v nft > /dev/null || { echo "needs nft"; return 4; }
	tlt_on || return 1
	_dscp=$(in_a "$turnpike" tlt show -j | tr -d ' \n' | sed -n 's/.*"dscp":{[^}]*"data":\([0-9]*\).*/\1/p')
	in_a nft -f - <<-END || return 1
	table ip marks {
		chain output {
			type filter hook output priority 0; policy accept;
			tcp dport $port ip dscp set $_dscp
		}
	}
	END
	_sent=$(sent data) _received=$(received data "$b")
	sends
	_status=$?
	in_a nft delete table ip marks
	_sent=$(($(sent data) - _sent)) _received=$(($(received data "$b") - _received))
	echo "code point ${_dscp:-unknown}: TLT marked $_sent, $_received came"
	[ $_status = 0 ] && [ $_sent = 0 ] && [ $_received -gt 0 ]
}

ktap_start
need_module
make_hosts && path delay 100us loss 0.3% || ktap_fail "hosts__made"
trap 'drop_hosts; unload_module' EXIT
tlt_on || ktap_fail "tlt__set"
start_server || ktap_fail "receiver__starts"
run_cases "$@"
finish_hosts
