#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Feedback where packets pass more than one device, or come back another way: flows are
# held by receipts and by timestamps as they are on a plain cable.

# shellcheck source=selftests/sch_onramp/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

command -v turnpike > /dev/null || skip_all "needs the turnpike command"

# Each case makes hosts of its own: a device that was put into another is not as before.
new_hosts() {
	drop_hosts
	slow_hosts
}

# addresses NETWORK DEVICE_A DEVICE_B: NETWORK.1 and .2, who know each other
addresses() {
	in_a ip addr add "$1.1/24" dev "$2" && in_b ip addr add "$1.2/24" dev "$3" || return 1
	in_a ip link set "$2" up && in_b ip link set "$3" up && to=$1.2
}

# held_on DEVICE: by either kind of feedback, as far as the kernel has it
held_on() {
	device=$1
	held_by_receipts || return 1
	! tcp_has_usec || { usec_ts on "${to%.*}.0/24" && held_by_timestamps; }
}

vlans() {
	new_hosts && in_a ip link add link veth0 name veth0.7 type vlan id 7 &&
		in_b ip link add link veth0 name veth0.7 type vlan id 7 &&
		addresses 10.7.0 veth0.7 veth0.7
}

vlan__qdisc_below_it() { vlans && held_on veth0; }

vlan__qdisc_on_it() { vlans && held_on veth0.7; }

# The receiver's address is that of a bridge, of which the cable is a port.
bridge__receiver_behind_it() {
	new_hosts && in_b ip link add br0 type bridge && in_b ip link set veth0 master br0 &&
		addresses 10.8.0 veth0 br0 && held_on veth0
}

# bond MODE: the sender's address is that of a bond, which has the cable.
bond() {
	new_hosts && in_a ip link add bond0 type bond mode "$1" miimon 10 &&
		in_a ip link set veth0 down && in_a ip link set veth0 master bond0 &&
		addresses 10.9.0 bond0 veth0 && wait_for "the bond" bond_is_up
}

bond_is_up() { in_a ip link show bond0 | grep -q 'state UP'; }

bond__qdisc_on_what_it_sends_by() { bond active-backup && held_on veth0; }

bond__qdisc_on_it() { bond balance-xor && held_on bond0; }

# tunnels DEVICE TYPE OPTION...: one between the two; the last word is the device that it leaves by
tunnels() {
	new_hosts || return 1
	for netns in "$a" "$b"; do
		[ "$netns" = "$a" ] && ends=(10.1.0.1 10.1.0.2) || ends=(10.1.0.2 10.1.0.1)
		ip -n "$netns" link add "$1" type "${@:2}" local "${ends[0]}" remote "${ends[1]}" dev veth0 ||
			{ echo "this kernel has no $2"; return 4; }
	done
	addresses 10.5.0 "$1" "$1"
}

# What is below finds the connection by the packet's inner header.
vxlan__qdisc_below_it() { tunnels vx0 vxlan id 7 dstport 4789 && held_on veth0; }

vxlan__qdisc_on_it() { tunnels vx0 vxlan id 7 dstport 4789 && held_on vx0; }

ipip__qdisc_below_it() { tunnels ipip0 ipip && held_on veth0; }

ipip__qdisc_on_it() { tunnels ipip0 ipip && held_on ipip0; }

macvlan__qdisc_below_it() {
	new_hosts && in_a ip link add mv0 link veth0 type macvlan mode bridge &&
		addresses 10.5.0 mv0 veth0 && held_on veth0
}

ipvlan__qdisc_below_it() {
	new_hosts && in_a ip link add iv0 link veth0 type ipvlan mode l2 &&
		addresses 10.5.0 iv0 veth0 && held_on veth0
}

# held_by_nobody FROM: all is sent and nothing is held: what leaves is not what TCP made
held_by_nobody() {
	device=veth0
	acker on && onramp threshold 200us || return 1
	ip netns exec "$1" "$traffic" send "$to" --flows 4 --seconds 0.4 > "$TMPDIR/sent" && show || return 1
	cat "$TMPDIR/sent"
	[ "$(field bytes "$(cat "$TMPDIR/sent")")" -gt 5000000 ] && [ "$(counter samples)" = 0 ] &&
		[ "$(counter held)" = 0 ] && [ "$(counter drops)" = 0 ]
}

# state NETNS FROM TO NUMBER
state() {
	ip -n "$1" xfrm state add src "$2" dst "$3" proto esp spi "$4" reqid 1 mode transport \
		auth digest_null '' enc cipher_null ''
}

# policy NETNS FROM TO in|out
policy() {
	ip -n "$1" xfrm policy add src "$2" dst "$3" dir "$4" tmpl src "$2" dst "$3" proto esp reqid 1 mode transport
}

ipsec__leaves_as_by_fq() {
	new_hosts && to=10.1.0.2 || return 1
	for netns in "$a" "$b"; do
		state "$netns" 10.1.0.1 10.1.0.2 1 && state "$netns" 10.1.0.2 10.1.0.1 2 ||
			{ echo "this kernel has no IPsec"; return 4; }
	done
	policy "$a" 10.1.0.1 10.1.0.2 out && policy "$a" 10.1.0.2 10.1.0.1 in &&
		policy "$b" 10.1.0.1 10.1.0.2 in && policy "$b" 10.1.0.2 10.1.0.1 out && held_by_nobody "$a"
}

# wireguards: one between the two
wireguards() {
	command -v wg > /dev/null || { echo "needs wg"; return 4; }
	new_hosts || return 1
	for netns in "$a" "$b"; do
		ip -n "$netns" link add wg0 type wireguard || { echo "this kernel has no WireGuard"; return 4; }
		(umask 077 && wg genkey > "$TMPDIR/$netns.key")
	done
	in_a wg set wg0 private-key "$TMPDIR/$a.key" listen-port 51820 peer "$(wg pubkey < "$TMPDIR/$b.key")" \
		allowed-ips 10.5.0.2/32 endpoint 10.1.0.2:51820 &&
		in_b wg set wg0 private-key "$TMPDIR/$b.key" listen-port 51820 peer "$(wg pubkey < "$TMPDIR/$a.key")" \
			allowed-ips 10.5.0.1/32 endpoint 10.1.0.1:51820 && addresses 10.5.0 wg0 wg0
}

# What it encrypted cannot be read: nobody is asked for receipts.
wireguard__qdisc_below_it_sends_as_fq() {
	wireguards && held_by_nobody "$a" && [ "$(json_value announced "$(in_a turnpike onramp stats -j)")" = 0 ]
}

wireguard__qdisc_on_it() { wireguards && held_on wg0; }

# A service, which no host has the address of.
translated__address_leaves_as_by_fq() {
	command -v nft > /dev/null || { echo "needs nft"; return 4; }
	new_hosts && to=10.96.0.1 && in_a ip route add 10.96.0.1 via 10.1.0.2 || return 1
	in_a nft -f - <<-END || { echo "this kernel has no NAT"; return 4; }
		table ip service {
			chain output {
				type nat hook output priority -100; policy accept;
				ip daddr 10.96.0.1 tcp dport 5001 dnat to 10.1.0.2:5001
			}
		}
	END
	held_by_nobody "$a" && to=10.1.0.2 held_on veth0
}

# Whose own namespace has no qdisc of ours, and no feedback with it.
ipvlan__container_leaves_as_by_fq() {
	container=$a-c
	new_hosts && to=10.1.0.2 && ip netns add "$container" || return 1
	in_a ip link add iv0 link veth0 type ipvlan mode l2 && in_a ip link set iv0 netns "$container" &&
		ip -n "$container" addr add 10.1.0.5/24 dev iv0 && ip -n "$container" link set iv0 up && held_by_nobody "$container"
	status=$?
	ip netns del "$container"
	return $status
}

# masqueraded: a $container behind a NAT of the first host's
masqueraded() {
	command -v nft > /dev/null || { echo "needs nft"; return 4; }
	ip netns add "$container" && in_a ip link add c0 type veth peer name eth0 netns "$container" || return 1
	in_a ip addr add 10.9.0.1/24 dev c0 && in_a ip link set c0 up && ip -n "$container" addr add 10.9.0.2/24 dev eth0 &&
		ip -n "$container" link set eth0 up && ip -n "$container" route add default via 10.9.0.1 &&
		in_a sysctl -q -w net.ipv4.ip_forward=1 || return 1
	in_a nft -f - <<-END || { echo "this kernel has no NAT"; return 4; }
		table ip container {
			chain postrouting {
				type nat hook postrouting priority 100; policy accept;
				oifname "veth0" masquerade
			}
		}
	END
}

# What is forwarded is another host's data, and the address that it leaves with is ours.
masqueraded__container_leaves_as_by_fq() {
	container=$a-c
	new_hosts && to=10.1.0.2 && masqueraded && held_by_nobody "$container"
	status=$?
	ip netns del "$container" 2>/dev/null
	[ $status = 0 ] || return $status
	held_on veth0
}

# Data goes by one cable, ACKs and receipts come back by another.
route__another_way_back() {
	new_hosts && in_a ip link add veth1 address 02:00:00:00:01:01 type veth \
		peer name veth1 address 02:00:00:00:01:02 netns "$b" || return 1
	in_a ip link set veth1 up && in_b ip link set veth1 up && to=10.1.0.2
	in_b ip neigh add 10.1.0.1 lladdr 02:00:00:00:01:01 dev veth1 nud permanent &&
		in_b ip route add 10.1.0.1/32 dev veth1 || return 1
	before=$(in_a cat /sys/class/net/veth0/statistics/rx_packets)
	held_on veth0 || return 1
	back=$(($(in_a cat /sys/class/net/veth0/statistics/rx_packets) - before))
	echo "packets that came back by the first cable: $back"
	[ "$back" -lt 10 ]
}

# packets_of_ip: how many IP saw arrive at b
packets_of_ip() { in_b awk '/^Ip: [0-9]/ { print $4 }' /proc/net/snmp; }

# A veth has GRO for a sender without TSO. The slow link brings one frame at a time: they are
# kept for the next ones.
gro__on() {
	command -v ethtool > /dev/null || { echo "needs ethtool"; return 4; }
	new_hosts && in_a ethtool -K veth0 gro on tso off &&
		in_b ethtool -K veth0 gro on tso off || return 1
	for netns in "$a" "$b"; do
		ip netns exec "$netns" sh -c 'echo 50000 > /sys/class/net/veth0/gro_flush_timeout &&
			echo 2 > /sys/class/net/veth0/napi_defer_hard_irqs' || return 1
	done
	packets=$(packets_of_ip)
	frames=$(in_b cat /sys/class/net/veth0/statistics/rx_packets)
	to=10.1.0.2 && held_on veth0 || return 1
	packets=$(($(packets_of_ip) - packets))
	frames=$(($(in_b cat /sys/class/net/veth0/statistics/rx_packets) - frames))
	echo "$frames frames were $packets packets"
	[ $packets -lt $((frames * 9 / 10)) ]
}

gro__and_gso_off() {
	command -v ethtool > /dev/null || { echo "needs ethtool"; return 4; }
	new_hosts && to=10.1.0.2 || return 1
	for netns in "$a" "$b"; do
		ip netns exec "$netns" ethtool -K veth0 gro off gso off tso off || return 1
	done
	held_on veth0
}

# xdp GRO: a program that passes all at the receiver, which looks at frames before anybody does
xdp() {
	command -v ethtool > /dev/null || { echo "needs ethtool"; return 4; }
	new_hosts && to=10.1.0.2 || return 1
	for netns in "$a" "$b"; do
		ip netns exec "$netns" ethtool -K veth0 gro "$1" tso off || return 1
	done
	in_b "$here/xdp.py" on veth0 || return
	[[ $(in_b ip link show veth0) == *xdpgeneric* ]] || { echo "the program is not there"; return 1; }
	held_on veth0 && in_b "$here/xdp.py" off veth0 && [[ $(in_b ip link show veth0) != *xdp* ]]
}

xdp__receiver_with_gro() { xdp on; }

xdp__receiver_without_gro() { xdp off; }

ktap_start
need_module
trap 'drop_hosts; unload_module' EXIT
slow_hosts || ktap_fail "hosts__set_up"
run_cases "$@"
finish_hosts
