# SPDX-License-Identifier: GPL-2.0
# What the tests of tlt on devices share: what one host marks the other must see, packet
# for packet. Sourced after pair.sh.
# shellcheck shell=bash disable=SC2034,SC2154
enough_bytes=1000000
export TC_LIB_DIR=/tc
attach=

# sums NETNS: packets of all kinds that it has sent and received
sums() {
	ip netns exec "$1" turnpike tlt stats |
		awk '/^sent / { sent += $4; got += $8 } END { print sent, got }'
}

# since BEFORE NOW: differences of two sums each, as "sent got"
since() {
	# shellcheck disable=SC2086  # numbers
	set -- $1 $2
	echo "$(($3 - $1)) $(($4 - $2))"
}

# came SENT SEEN: none twice, and but for what a queue of a busy machine drops all
came() { [ "$2" -le "$1" ] && [ $(($1 - $2)) -le $(($1 / 100)) ]; }

# all_agree: what $from and $to have seen of each other since $before and $before_to; the
# last packets may still be on their way
all_agree() {
	here=$(since "$before" "$(sums "$from")")
	there=$(since "$before_to" "$(sums "$to")")
	[ "${here% *}" -gt 100 ] && came "${here% *}" "${there#* }" && came "${there% *}" "${here#* }"
}

# exactly_once FROM TO ADDRESS: of a flow without bursts
exactly_once() {
	from=$1 to=$2
	# shellcheck disable=SC2086  # words, or none
	both turnpike tlt set $attach || return 1
	before=$(sums "$from")
	before_to=$(sums "$to")
	ip netns exec "$from" flow send "$3" 5000 1 cubic $enough_bytes > /dev/null || return 1
	soon all_agree
	_once=$?
	echo "marked and seen: $from $here, $to $there"
	both turnpike tlt off && [ $_once = 0 ]
}

# by_tc FROM DEVICE TO DEVICE COMMAND...: with the action on these devices
by_tc() {
	attach="--attach tc"
	action "$1" "$2" && action "$3" "$4" && "${@:5}"
	_by_tc=$?
	ip netns exec "$1" tc qdisc del dev "$2" clsact
	ip netns exec "$3" tc qdisc del dev "$4" clsact
	return $_by_tc
}

action() {
	ip netns exec "$1" tc qdisc add dev "$2" clsact &&
		ip netns exec "$1" tc filter add dev "$2" egress matchall action tlt &&
		ip netns exec "$1" tc filter add dev "$2" ingress matchall action tlt
}

# another_cable NAME ADDRESS: another pair of devices; that of b is as it is and has the address
another_cable() {
	ip link add "$1" netns a type veth peer name "$1" netns b &&
		both ip link set "$1" gso_max_segs 1 up && ip -n b addr add "$2" dev "$1"
}
