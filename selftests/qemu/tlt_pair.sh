# SPDX-License-Identifier: GPL-2.0
# What the tests of tlt on devices share: what one host marks the other must see, packet
# for packet. Sourced after pair.sh.
# shellcheck shell=bash disable=SC2034,SC2154
enough_bytes=1000000

# counter NAME: of a's TLT
counter() { in_a turnpike tlt stats -j | json_lines | sed -n "s/^$1 //p"; }

# Packets of clocking's.
injected() { echo $(($(counter injected_byte) + $(counter injected_segment))); }

# sums NETNS: packets of all kinds that it has sent and received
sums() {
	ip netns exec "$1" turnpike tlt stats -j | json_lines |
		awk '/^sent[.].*[.]packets / { sent += $2 } /^received[.]/ { got += $2 } END { print sent, got }'
}

# since BEFORE NOW: differences of two sums each, as "sent got"
since() {
	# shellcheck disable=SC2086  # numbers
	set -- $1 $2
	echo "$(($3 - $1)) $(($4 - $2))"
}

# What queues and devices of all hosts have dropped, as a machine that is busy with others has them do.
drops() {
	for _netns in $(ip netns list | cut -d' ' -f1); do
		ip netns exec "$_netns" sh -c 'cat /proc/net/dev; tc -s qdisc show'
	done | awk '/:/ && NF == 17 { sum += $5 + $13 } match($0, /dropped [0-9]+/) {
		sum += substr($0, RSTART + 8, RLENGTH - 8) } END { print sum + 0 }'
	# By the processors' backlogs, of all namespaces.
	while read -r _ _dropped _; do
		echo $((16#$_dropped))
	done < /proc/net/softnet_stat
}

dropped() { drops | awk '{ sum += $1 } END { print sum }'; }

# came SENT SEEN: none twice, and none is missing that nobody dropped
came() { [ "$2" -le "$1" ] && [ $(($1 - $2)) -le "$lost" ]; }

# all_agree: what $from and $to have seen of each other since $before and $before_to; the
# last packets may still be on their way
all_agree() {
	here=$(since "$before" "$(sums "$from")")
	there=$(since "$before_to" "$(sums "$to")")
	lost=$(($(dropped) - before_lost))
	[ "${here% *}" -gt 100 ] && came "${here% *}" "${there#* }" && came "${there% *}" "${here#* }"
}

# exactly_once FROM TO ADDRESS: of a flow without bursts
exactly_once() {
	from=$1 to=$2
	both turnpike tlt set --all || return 1
	before=$(sums "$from")
	before_to=$(sums "$to")
	before_lost=$(dropped)
	ip netns exec "$from" flow send "$3" 5000 1 cubic $enough_bytes > /dev/null || return 1
	soon all_agree
	_once=$?
	echo "marked and seen: $from $here, $to $there; dropped $lost"
	both turnpike tlt off && [ $_once = 0 ]
}

# another_cable NAME ADDRESS: another pair of devices; that of b is as it is and has the address
another_cable() {
	ip link add "$1" netns a type veth peer name "$1" netns b &&
		both ip link set "$1" gso_max_segs 1 up && ip -n b addr add "$2" dev "$1"
}
