# SPDX-License-Identifier: GPL-2.0
# What the tests of modules share: two hosts and a cable, in network namespaces.
#
#	netns $a                                   netns $b
#	veth0  10.1.0.1, fd01::1  ------------  veth0  10.1.0.2, fd01::2
#
# They run in UML (selftests/lib/uml-run) and on any machine with root, where
# TURNPIKE_MODULES names the directory that holds the modules; without it installed
# ones are taken. Who sources this has set $here (selftests/PART), $module, and $port,
# on which the receivers listen.
# shellcheck shell=bash disable=SC2034,SC2154

# shellcheck source=selftests/lib/ktap.sh
. "$here/../lib/ktap.sh"
# shellcheck source=selftests/lib/json.sh
. "$here/../lib/json.sh"

a=$module-a-$$
b=$module-b-$$

skip_all() {
	ktap_start
	echo "1..0 # SKIP $*"
	exit 4
}

load_module() {
	if [ -n "${TURNPIKE_MODULES:-}" ]; then
		insmod "$TURNPIKE_MODULES/$module/$module.ko"
	else
		modprobe "$module"
	fi
}

unload_module() {
	[ ! -d "/sys/module/$module" ] || rmmod "$module"
}

# A module that was named must load; one that is not installed is a reason to skip.
need_module() {
	load_module && return 0
	[ -n "${TURNPIKE_MODULES:-}" ] || skip_all "$module is not installed"
	ktap_fail "module__loads"
	ktap_finish
}

in_a() { ip netns exec "$a" "$@"; }
in_b() { ip netns exec "$b" "$@"; }

make_hosts() {
	ip netns add "$a" && ip netns add "$b" || return 1
	ip link add veth0 address 02:00:00:00:00:01 netns "$a" type veth \
		peer name veth0 address 02:00:00:00:00:02 netns "$b" || return 1
	ip -n "$a" addr add 10.1.0.1/24 dev veth0
	ip -n "$b" addr add 10.1.0.2/24 dev veth0
	ip -n "$a" addr add fd01::1/64 dev veth0 nodad
	ip -n "$b" addr add fd01::2/64 dev veth0 nodad
	for netns in "$a" "$b"; do
		ip -n "$netns" link set lo up
		ip -n "$netns" link set veth0 up
	done
	# Neighbours are known and the cable is in use, or a first SYN is sent twice.
	ip -n "$a" neigh add fd01::2 lladdr 02:00:00:00:00:02 dev veth0 nud permanent
	ip -n "$b" neigh add fd01::1 lladdr 02:00:00:00:00:01 dev veth0 nud permanent
	ip -n "$a" neigh add 10.1.0.2 lladdr 02:00:00:00:00:02 dev veth0 nud permanent
	ip -n "$b" neigh add 10.1.0.1 lladdr 02:00:00:00:00:01 dev veth0 nud permanent
	wait_for "the cable" cable_is_up
}

cable_is_up() {
	[[ $(ip -n "$a" link show veth0) == *"state UP"* ]] &&
		[[ $(ip -n "$b" link show veth0) == *"state UP"* ]]
}

# Who lives in a namespace keeps it: also what a case, a shell of its own, has started.
drop_hosts() {
	end_receiver
	# shellcheck disable=SC2046  # a list of processes
	kill $(ip netns pids "$a" 2>/dev/null; ip netns pids "$b" 2>/dev/null) 2>/dev/null
	ip netns del "$a" 2>/dev/null
	ip netns del "$b" 2>/dev/null
	return 0
}

# receive_in NETNS COMMAND...: a receiver on $port, until end_receiver. Background
# processes hold no pipe of the case that started them, and are started without a
# function between, so that $! is theirs.
receiver=
receive_in() {
	receiver_netns=$1
	ip netns exec "$@" > /dev/null 2>&1 &
	receiver=$!
	wait_for "the receiver" listening
}

end_receiver() {
	[ -z "$receiver" ] || { kill "$receiver"; wait "$receiver"; } 2>/dev/null
	receiver=
}

listening() { [ -n "$(ss -N "$receiver_netns" -Htln sport = "$port")" ]; }

# wait_for WHAT COMMAND...: until the command succeeds, ten seconds at most. Looking may take
# a debug kernel a second, in which its own clock stands still: it is not done often.
wait_for() {
	_what=$1
	shift
	for _sleep in .05 .05 .1 .1 .2 .2 .3 .5 .5 1 1 1 1 1 1 1 1; do
		"$@" && return 0
		sleep $_sleep
	done
	echo "waited in vain for $_what"
	return 1
}

# field NAME TEXT: the value of NAME=value, the last one
field() { [[ $2 =~ .*$1=([0-9.]*) ]] && echo "${BASH_REMATCH[1]}"; }

# json_value NAME JSON: the first value of that name, true and numbers and strings in quotes and
# lists as they stand. Without a program, each of which takes a debug kernel half a second.
json_value() {
	[[ $2 =~ \"$1\":[[:space:]]*(\"[^\"]*\"|\[[^]]*\]|[^],}[:space:]]*) ]] &&
		echo "${BASH_REMATCH[1]}"
}

# specification FAMILY COMMAND...: turnpike in the first host tells what Documentation/netlink says
specification() {
	/usr/bin/python3 -c 'import yaml' 2> /dev/null || { echo "needs python3-yaml"; return 4; }
	ip netns exec "$a" "$here/../lib/specification.py" "$1" "$(command -v "${turnpike:-turnpike}")" "${@:2}"
}

# ynl FAMILY OPERATION [ATTRIBUTES]: sent in the first host by a client that knows the specification alone
ynl() {
	ip netns exec "$a" "$here/../lib/ynl.py" "$here/../../Documentation/netlink/turnpike_$1.yaml" "${@:2}"
}

left_out="not in this kernel's short tier; make reproduce runs it"

# run_cases [CASE...]: all functions that are named as cases are, if none is given; those that
# TURNPIKE_LEAVE_OUT names are skipped, or all but those that TURNPIKE_ONLY does (selftests/short-tier).
# Where $each_case is set, it is called with each of them.
run_cases() {
	# shellcheck disable=SC2046  # a list
	[ $# -gt 0 ] || set -- $(declare -F | grep -o '[a-z][a-z_0-9]*__[a-z_0-9]*')
	for _case in ${TURNPIKE_LEAVE_OUT:-} ${TURNPIKE_ONLY:-}; do
		declare -F "$_case" > /dev/null || ktap_fail "short-tier: there is no $_case"
	done
	for _case; do
		if [[ " ${TURNPIKE_LEAVE_OUT:-} " == *" $_case "* || " ${TURNPIKE_ONLY:-$_case} " != *" $_case "* ]]; then
			ktap_skip "$_case" "$left_out"
		else
			ktap_case "$_case" ${each_case:+"$each_case"} "$_case"
		fi
	done
}

# What was made goes, the module too; the last case of a test.
finish_hosts() {
	drop_hosts
	ktap_case "unload__nothing_left" unload_module
	ktap_finish
}

[ "$(id -u)" = 0 ] || skip_all "needs root"
command -v ip > /dev/null || skip_all "needs iproute2"
ip netns add "$a" 2>/dev/null || skip_all "needs network namespaces"
ip netns del "$a"
