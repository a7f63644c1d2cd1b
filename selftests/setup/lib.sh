# SPDX-License-Identifier: GPL-2.0
# What the tests of `turnpike up' and its like share: host a is set up, with a second device of four queues;
# modprobe takes modules from where they were built.
# shellcheck shell=bash disable=SC2034

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
module=sch_onramp
port=5001
# shellcheck source=selftests/lib/hosts.sh
. "$here/../lib/hosts.sh"
# shellcheck source=selftests/lib/refused.sh
. "$here/../lib/refused.sh"

turnpike=${TURNPIKE_BUILD:-$here/../../build}/turnpike
work=$(mktemp -d)
modules=${TURNPIKE_MODULES:-}
[ -n "$modules" ] || skip_all "TURNPIKE_MODULES names no modules"

# Its words are written down. As after a package went, it knows no file of what is loaded.
cat > "$work/modprobe" <<END
#!/bin/sh
echo "\$*" >> "$work/modprobed"
[ ! -e "$work/refuse-\$1" ] || { echo "no \$1 today" >&2; exit 1; }
case \$1 in
-r) echo "Module \$2 not found" >&2; exit 1 ;;
*) exec insmod "$modules/\$1/\$1.ko" ;;
esac
END
# Guests have no systemd: units are files here.
cat > "$work/systemctl" <<END
#!/bin/sh
for unit; do :; done
[ ! -e "$work/refuse-\$unit" ] || { echo "no \$unit today" >&2; exit 1; }
case \$1 in
is-active) [ -e "$work/unit-\$unit" ] ;;
start) touch "$work/unit-\$unit" ;;
stop) rm -f "$work/unit-\$unit" ;;
*) exit 1 ;;
esac
END
chmod +x "$work/modprobe" "$work/systemctl"
PATH=$work:$PATH
ktap_start

# Routes to the rest of the datacenter, and devices of other kinds.
make_host() {
	make_hosts &&
		in_a sysctl -q -w net.ipv4.tcp_orphan_retries=1 && in_b sysctl -q -w net.ipv4.tcp_orphan_retries=1 &&
		ip -n "$a" route add default via 10.1.0.2 &&
		ip -n "$a" route add 10.9.0.0/16 via 10.1.0.2 metric 7 &&
		ip -n "$a" link add many numtxqueues 4 type veth peer name many0 &&
		ip -n "$a" link set many up && ip -n "$a" link set many0 up &&
		ip -n "$a" addr add 10.2.0.1/24 dev many
}

traffic=$here/../lib/traffic.py

# send OPTION...: from a to b as traffic.py sends, until `sent'
send() {
	receive_in "$b" "$traffic" sink --port "$port" || return 1
	in_a "$traffic" send 10.1.0.2 --port "$port" "$@" > /dev/null 2>&1 &
	sender=$!
}

sent() {
	kill "$sender" 2> /dev/null
	wait "$sender" 2> /dev/null
	end_receiver
}

# On host b by hand: its module is that of both.
onramp_on_b() { in_b tc qdisc replace dev veth0 root onramp; }
no_onramp_on_b() { in_b tc qdisc del dev veth0 root; }

up() { in_a "$turnpike" up "$@"; }
down() { in_a "$turnpike" down; }

# What an administrator sees of host a, without counters.
picture() {
	ip -n "$a" -o route show
	ip -n "$a" -6 -o route show
	in_a tc qdisc show
	in_a "$turnpike" onramp show 2> /dev/null
}

# Connections of a case that is over hold a module for a while.
gone() { [ ! -d "/sys/module/$1" ] || rmmod "$1" 2> /dev/null; }

# Modules go with a case that loaded them.
clean_up() {
	down > /dev/null 2>&1
	for name in tcp_timely sch_onramp tlt; do
		wait_for "the end of $name" gone $name
	done
}

each_case=fresh
# fresh CASE: on a host where nothing was done before
fresh() {
	clean_up
	rm -f "$work"/refuse-* "$work"/unit-* "$work/modprobed"
	"$@"
}
