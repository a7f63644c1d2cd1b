#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# In the guest of hour/run: the three quick starts of README.md, each with "see that it works" and
# "undo", then a ticket's page, and the removal.  Lines of host a and of host b say so.
#
#	a, eth0 10.0.0.1 ---- veth ---- 10.0.0.2 eth0, b, a network namespace

# shellcheck source=selftests/qemu/host.sh
. /host.sh
unset TC_LIB_DIR
# make install's programs are there.
PATH=/usr/local/sbin:/usr/local/bin:$PATH
work=/run/test
mkdir -p $work

# on HOST STATUS TEXT LINE: typed there, it ends so and says this
on() {
	echo "$1# $4"
	case $1 in
	a) says "$2" "$3" bash -c "$4" ;;
	b) says "$2" "$3" in_b bash -c "$4" ;;
	esac
}

# Cases are processes of their own: who ends the traffic knows the server by its file. Its clients end with it.
begin_traffic() {
	in_b iperf3 -s -D -I $work/server > /dev/null && soon listens || return 1
	iperf3 -c 10.0.0.2 -P 4 -t 600 -b 20M > $work/iperf3 2>&1 &
	soon flows_of 4
}

listens() { [ -n "$(in_b ss -Htln '( sport = :5201 )')" ]; }
flows_of() { [ "$(ss -Htn state established '( dport = :5201 )' | wc -l)" -gt "$1" ]; }

end_traffic() {
	kill "$(tr -d '\0' < $work/server)"
	soon no_flows
}

no_flows() { [ -z "$(ss -Htn '( dport = :5201 or sport = :5201 )'; in_b ss -Htn '( dport = :5201 or sport = :5201 )')" ]; }

down_at_both_ends() {
	end_traffic && on b 0 "" "turnpike down" && on a 0 "" "turnpike down" && picture | diff $work/before -
}

# -- cases

two_hosts_and_a_cable() {
	ip netns add b && ip link add eth0 type veth peer name eth0 netns b && ip addr add 10.0.0.1/24 dev eth0 &&
		ip link set eth0 up && ip -n b addr add 10.0.0.2/24 dev eth0 && ip -n b link set eth0 up &&
		ip -n b link set lo up && sleep 2 && picture > $work/before && on a 0 "" "uname -r; turnpike version"
}

# TIMELY
doctor__has_nothing_against_it() { on a 0 "0 warnings, 0 broken" "turnpike doctor eth0"; }
up__shows_its_commands() { on a 0 "congctl timely" "turnpike up eth0 --for 10.0.0.0/8 --dry-run"; }
up__sets_timely_up() { on a 0 "" "turnpike up eth0 --for 10.0.0.0/8"; }
status__is_idle() { on a 0 "verdict  idle" "turnpike"; }

status__works_under_traffic() {
	begin_traffic && sleep 5 && on a 0 "verdict  working" "turnpike"
}

# A terminal of 80 columns; the keys come as typed.
top__shows_flows() {
	echo "a# turnpike top"
	(sleep 15; printf q) | TERM=vt100 script -qc "stty cols 80 rows 24; turnpike top" /dev/null > $work/screen
	sed 's/\x1b[[(][0-9;?]*[a-zA-Z]/ /g; s/[\x00-\x08\x0e-\x1f]//g' $work/screen | tr '\r' '\n' | tail -n 20
	grep -q 10.0.0.2 $work/screen && grep -q timely $work/screen
}

record__takes_some_seconds() { on a 0 "none lost" "turnpike record $work/ticket.rec --for 5s"; }

report__makes_a_page() {
	on a 0 "" "turnpike report $work/ticket.rec -o $work/ticket.html" && ls -l $work/ticket.* &&
		[ "$(grep -c '<svg' $work/ticket.html)" -gt 0 ]
}

down__of_timely_undoes_all() {
	end_traffic && on a 0 "" "turnpike down" && picture | diff $work/before - && on a 0 "verdict  off" "turnpike"
}

# On-Ramp
up__sets_onramp_up_at_both_ends() {
	on a 0 "" "turnpike onramp key generate" && on a 0 "" "turnpike up eth0 --profile onramp --for 10.0.0.0/8" &&
		on b 0 "" "turnpike onramp key load" &&
		on b 0 "" "turnpike up eth0 --profile onramp --for 10.0.0.0/8"
}

onramp__has_feedback() {
	begin_traffic && sleep 5 && on a 0 "10.0.0.2" "turnpike onramp flows" && on a 0 "verdict  working" "turnpike"
}

down__of_onramp_undoes_all() { down_at_both_ends; }

# TLT
up__sets_tlt_up_at_both_ends() {
	on a 0 "" "turnpike up eth0 --profile tlt --rule peer=10.0.0.0/8" &&
		on b 0 "" "turnpike up eth0 --profile tlt --rule peer=10.0.0.0/8"
}

tlt__knows_its_peer() {
	begin_traffic && sleep 5 && on a 0 " tlt" "turnpike tlt flows" && on a 0 "verdict  working" "turnpike"
}

down__of_tlt_undoes_all() { down_at_both_ends; }

# A mistake or two
mistakes__are_told() {
	on a 64 "did you mean" "turnpike onramp flow" && on a 2 "nosuch0" "turnpike up nosuch0 --for 10.0.0.0/8" &&
		on a 2 "no device nosuch0" "turnpike doctor nosuch0"
}

uninstall__leaves_nothing() {
	on a 0 "" "make -s -C /src/turnpike uninstall" && ! command -v turnpike &&
		! find "/lib/modules/$(uname -r)" -name 'tcp_timely*' -o -name 'sch_onramp*' -o -name 'tlt.ko*' | grep .
}

ktap_start
run_cases two_hosts_and_a_cable doctor__has_nothing_against_it up__shows_its_commands up__sets_timely_up status__is_idle \
	status__works_under_traffic top__shows_flows record__takes_some_seconds report__makes_a_page \
	down__of_timely_undoes_all up__sets_onramp_up_at_both_ends onramp__has_feedback down__of_onramp_undoes_all \
	up__sets_tlt_up_at_both_ends tlt__knows_its_peer down__of_tlt_undoes_all mistakes__are_told uninstall__leaves_nothing
ktap_finish
