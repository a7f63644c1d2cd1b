#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# turnpike up, down, diff: a host becomes what is wanted, all or nothing, and what it was.

# shellcheck source=selftests/setup/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

all=(veth0 --for "10.0.0.0/8,fd00::/8" --profile all --rule port=5001)

up__dry_run_prints_commands_and_changes_nothing() {
	before=$(picture)
	out=$(up "${all[@]}" --dry-run) || return 1
	echo "$out"
	[ "$(picture)" = "$before" ] && [ ! -e "$work/modprobed" ] &&
		grep -qx 'tc qdisc replace dev veth0 root onramp' <<< "$out" &&
		grep -qx 'ip route change 10.9.0.0/16 via 10.1.0.2 dev veth0 metric 7 congctl timely' <<< "$out" &&
		grep -qx 'ip route add 10.0.0.0/8 proto static via 10.1.0.2 dev veth0 congctl timely' <<< "$out" &&
		grep -qx 'turnpike tlt set --rule port=5001' <<< "$out" && ! grep -q 'route change default' <<< "$out"
}

# Guests have no such unit.
up__dry_run_refuses_what_the_run_would() {
	refused_with "needs systemd and its unit turnpike.service" up "${all[@]}" --dry-run --persist
}

up__makes_all_of_it_and_down_undoes_it() {
	before=$(picture)
	up "${all[@]}" || return 1
	picture
	[[ $(in_a tc qdisc show dev veth0) == *"qdisc onramp"* ]] &&
		[[ $(ip -n "$a" route show 10.1.0.0/24) == *"congctl timely"* ]] &&
		[[ $(ip -n "$a" route show 10.0.0.0/8) == *"congctl timely"* ]] &&
		[[ $(ip -n "$a" -6 route show fd01::/64) == *"congctl timely"* ]] &&
		[[ $(ip -n "$a" route show default) != *congctl* ]] &&
		[[ $(in_a "$turnpike" tlt show -j) == *'"enabled": true'* ]] || return 1
	down || return 1
	after=$(picture)
	diff <(echo "$before") <(echo "$after") && [ ! -e /sys/module/sch_onramp ] && [ ! -e /sys/module/tlt ]
}

# options: of host a's onramp
options() { in_a tc qdisc show dev veth0 | grep -o ' threshold [^ ]*\| line_rate [^ ]*' | xargs; }

# The options of an onramp follow what is wanted, and go with it. tc needs its plugin for them.
up__gives_onramp_its_options() (
	export TC_LIB_DIR="$TURNPIKE_BUILD/tc"
	up veth0 --profile onramp --threshold 100us --line-rate 2gbit > /dev/null && options && [ "$(options)" = "threshold 100us line_rate 2Gbit" ] &&
		[[ $(up veth0 --profile onramp --threshold 100us --line-rate 2gbit) == "nothing to do"* ]] &&
		up veth0 --profile onramp --threshold 1ms --line-rate 2gbit && [[ $(options) == "threshold 1ms "* ]] &&
		refused_with "1us to 1s" up veth0 --profile onramp --threshold 2s &&
		refused_with "are for On-Ramp" up veth0 --for 10.0.0.0/8 --threshold 1ms &&
		down && [[ $(in_a tc qdisc show dev veth0) != *onramp* ]]
)

up__twice_does_nothing() {
	up "${all[@]}" > /dev/null && before=$(picture) && out=$(up "${all[@]}") || return 1
	echo "$out"
	[[ $out == "nothing to do"* ]] && [ "$(picture)" = "$before" ]
}

up__that_fails_leaves_all_as_it_was() {
	touch "$work/refuse-tlt"
	refused_with "no tlt today; all is as it was before; turnpike doctor says why" up "${all[@]}" && [ ! -e /sys/module/sch_onramp ] || return 1
	refused_with "there is no device" up veth0 nowhere --for 10.0.0.0/8
}

up__needs_to_know_which_hosts_are_near() {
	refused_with "--for" up veth0 && refused_with "no route of many leads" up many --for 172.16.0.0/12
}

up__puts_nothing_in_the_place_of_classes() {
	in_a tc qdisc add dev veth0 root handle 1: prio || return 1
	refused_with "veth0 has prio (1:)" up veth0 --profile onramp
	status=$?
	in_a tc qdisc del dev veth0 root
	return $status
}

# with NAME COMMAND...: up is refused, with that in its reason, where host a's device has what the command puts there
with() {
	"${@:2}" || return 1
	had=$(in_a tc qdisc show dev veth0; in_a tc filter show dev veth0)
	refused_with "$1" up veth0 --profile onramp && [ "$(in_a tc qdisc show dev veth0; in_a tc filter show dev veth0)" = "$had" ]
	status=$?
	in_a tc qdisc del dev veth0 root
	return $status
}

up__loses_no_filters() {
	in_a tc qdisc add dev veth0 root handle 7: fq_codel || return 1
	with "fq_codel (7:) with filters (pref 10 matchall, pref 20 u32)" eval \
		'in_a tc filter add dev veth0 parent 7: pref 10 matchall classid 7:1 &&
		in_a tc filter add dev veth0 parent 7: pref 20 protocol ip u32 match u32 0 0 classid 7:2' || return 1
	in_a tc qdisc replace dev veth0 root handle 7: fq_codel && up veth0 --profile onramp > /dev/null && down > /dev/null
	status=$?
	in_a tc qdisc del dev veth0 root
	return $status
}

up__loses_no_size_table() {
	with "fq (7:) with a size table (stab)" in_a tc qdisc add dev veth0 root handle 7: stab overhead 24 linklayer ethernet fq
}

down__gives_an_administrators_qdisc_back_with_its_options() {
	in_a tc qdisc add dev veth0 root handle 7: fq limit 77 || return 1
	up veth0 --profile onramp > /dev/null && [[ $(in_a tc qdisc show dev veth0) == *onramp* ]] &&
		down && [[ $(in_a tc qdisc show dev veth0) == *"qdisc fq 7: root"*"limit 77p"* ]]
	status=$?
	in_a tc qdisc del dev veth0 root
	return $status
}

down__leaves_what_somebody_changed_since() {
	up veth0 --profile onramp > /dev/null && in_a tc qdisc replace dev veth0 root pfifo limit 9 && down &&
		[[ $(in_a tc qdisc show dev veth0) == *"qdisc pfifo"* ]]
	status=$?
	in_a tc qdisc del dev veth0 root
	return $status
}

# The gateway of a route may be another by then, as after a new lease.
down__leaves_a_new_gateway() {
	up veth0 --for 10.9.0.0/16 > /dev/null || return 1
	ip -n "$a" route change 10.9.0.0/16 via 10.1.0.9 dev veth0 metric 7 congctl timely || return 1
	down && [ "$(ip -n "$a" -o route show 10.9.0.0/16 | xargs)" = "10.9.0.0/16 via 10.1.0.9 dev veth0 metric 7" ]
	status=$?
	ip -n "$a" route change 10.9.0.0/16 via 10.1.0.2 dev veth0 metric 7
	return $status
}

down__leaves_a_route_that_is_an_administrators_by_now() {
	up veth0 --for 172.16.0.0/12 > /dev/null && ip -n "$a" route replace 172.16.0.0/12 via 10.1.0.9 dev veth0 || return 1
	out=$(down)
	echo "$out"
	[[ $out == *"left alone"* && $(ip -n "$a" route show 172.16.0.0/12) == *"via 10.1.0.9"* ]]
	status=$?
	ip -n "$a" route del 172.16.0.0/12
	return $status
}

# The kernel changes the first of them, whichever was meant.
up__leaves_two_routes_to_one_place() {
	ip -n "$a" route append 10.9.0.0/16 via 10.1.0.3 metric 7 || return 1
	before=$(picture)
	out=$(up veth0 --for 10.9.0.0/16 2>&1)
	echo "$out"
	after=$(picture)
	ip -n "$a" route del 10.9.0.0/16 via 10.1.0.3 metric 7
	[[ $out == *"10.9.0.0/16 of veth0 stays as it is: it is one of several to there"* && $before == "$after" ]]
}

up__takes_ipv6s_rest_and_gives_it_back() {
	ip -n "$a" -6 route add default via fd01::2 dev veth0 || return 1
	before=$(picture)
	up veth0 --for fd00::/8 > /dev/null && [[ $(ip -n "$a" -6 route show fd00::/8) == *"congctl timely"* ]] && down &&
		diff <(echo "$before") <(picture)
	status=$?
	ip -n "$a" -6 route del default
	return $status
}

up__cannot_be_held_up_by_users() {
	up veth0 --profile onramp > /dev/null
	[ "$(stat -c %a /run/turnpike/lock)" = 600 ]
}

# The kernel numbers them anew.
classes() { in_a tc qdisc show dev many | sed 's/^qdisc \(\S*\) \S*/\1/' | sort; }

down__gives_the_classes_of_an_administrators_mq_back() {
	in_a tc qdisc replace dev many root handle 5: mq && in_a tc qdisc replace dev many parent 5:2 fq limit 88 || return 1
	before=$(classes)
	up many --profile onramp > /dev/null && [ "$(in_a tc qdisc show dev many | grep -c 'onramp.*parent 5:')" = 4 ] &&
		[[ $(up many --profile onramp) == "nothing to do"* ]] && down > /dev/null && diff <(echo "$before") <(classes)
	status=$?
	in_a tc qdisc del dev many root
	return $status
}

up__of_another_profile_takes_the_first_back() {
	up veth0 --profile onramp > /dev/null && up veth0 --for 10.0.0.0/8 || return 1
	[[ $(in_a tc qdisc show dev veth0) != *onramp* ]] && [ ! -e /sys/module/sch_onramp ] &&
		[[ $(ip -n "$a" route show 10.1.0.0/24) == *"congctl timely"* ]]
}

diff__tells_what_somebody_undid() {
	up "${all[@]}" > /dev/null && in_a "$turnpike" diff || return 1
	ip -n "$a" route del 10.0.0.0/8 && in_a tc qdisc replace dev veth0 root fq || return 1
	out=$(in_a "$turnpike" diff) && return 1
	echo "$out"
	[[ $out == *"qdisc of veth0: wanted onramp, is fq"* && $out == *"route 10.0.0.0/8"* ]] || return 1
	up "${all[@]}" && in_a "$turnpike" diff && down > /dev/null || return 1
	# The fq was somebody's when it was replaced.
	[[ $(in_a tc qdisc show dev veth0) == *"qdisc fq "* ]] && in_a tc qdisc del dev veth0 root
}

up__all_takes_the_file() {
	cat > "$work/conf" <<-END
		[net]
		for = 10.9.0.0/16   # those racks
		congestion = timely
		[device veth0]
		qdisc = onramp
	END
	up --all --config "$work/conf" && [[ $(ip -n "$a" route show 10.9.0.0/16) == *"congctl timely"* ]] &&
		[[ $(in_a tc qdisc show dev veth0) == *onramp* ]] || return 1
	echo "qdisc = htb" >> "$work/conf"
	refused_with "line 6: 'htb' is none of onramp" up --all --config "$work/conf"
}

units() { (cd "$work" && echo unit-*); }

up__all_starts_what_gives_metrics_and_down_stops_it() {
	touch "$work/unit-turnpike-metrics.timer"
	printf '[metrics]\ntextfile = /var/lib/node_exporter/t.prom\nlisten = 127.0.0.1:9733\n' > "$work/conf"
	up --all --config "$work/conf" || return 1
	[ "$(units)" = "unit-turnpike-metrics-listen.service unit-turnpike-metrics.timer" ] &&
		in_a "$turnpike" diff --config "$work/conf" || return 1
	rm "$work/unit-turnpike-metrics.timer"
	[[ $(in_a "$turnpike" diff --config "$work/conf") == *"unit turnpike-metrics.timer: wanted on, is off"* ]] || return 1
	# It was somebody's.
	touch "$work/unit-turnpike-metrics.timer"
	down && [ "$(units)" = "unit-turnpike-metrics.timer" ] || return 1
	touch "$work/refuse-turnpike-metrics-listen.service"
	refused_with "no turnpike-metrics-listen.service today; all is as it was before" up --all --config "$work/conf"
}

# As many as a host with a full table of a routing daemon; of them 500 are named one by one.
many_routes() {
	python3 -c '
for i in range(2000):
    print(f"route add 10.{20 + i // 250}.{i % 250}.0/24 via 10.1.0.2 dev veth0")' | ip -n "$a" -batch -
}

# calls COMMAND...: how many programs of iproute2's it starts
calls() {
	rm -f "$work/called"
	for program in ip tc; do
		printf '#!/bin/sh\necho %s >> %s/called\nexec %s "$@"\n' "$program" "$work" "$(command -v $program)" > "$work/called-$program"
	done
	mkdir -p "$work/counting"
	for program in ip tc; do
		install -m 755 "$work/called-$program" "$work/counting/$program"
	done
	in_a env PATH="$work/counting:$PATH" "$@" > "$work/said" || { tail "$work/said"; return 1; }
	wc -l < "$work/called"
}

up__of_many_routes_starts_few_programs() {
	many_routes || return 1
	before=$(ip -n "$a" -o route show | sort)
	named=$(python3 -c 'print(",".join(f"10.{20 + i // 250}.{i % 250}.0/24" for i in range(500)))')
	count=$(calls "$turnpike" up veth0 --for "$named") || return 1
	echo "$count calls for 500 prefixes"
	[ "$(ip -n "$a" -o route show | grep -c "congctl timely")" = 500 ] && [ "$count" -le 10 ] || return 1
	down > /dev/null
	[ "$(ip -n "$a" -o route show | sort)" = "$before" ] || return 1
	count=$(calls "$turnpike" up veth0 --for 10.0.0.0/8) || return 1
	echo "$count calls for 2000 routes"
	[ "$(ip -n "$a" -o route show | grep -c "^10\\.2[0-7]\\..*congctl timely")" = 2000 ] && [ "$count" -le 10 ] || return 1
	count=$(calls "$turnpike" down) || return 1
	echo "$count calls to undo them"
	[ "$count" -le 10 ] && [ "$(ip -n "$a" -o route show | sort)" = "$before" ]
	status=$?
	in_a ip route flush via 10.1.0.2 table main root 10.0.0.0/8
	in_a ip route replace default via 10.1.0.2
	in_a ip route replace 10.9.0.0/16 via 10.1.0.2 metric 7
	return $status
}

# A route that goes meanwhile ends the batch; what was changed before it is taken back.
up__that_fails_among_many_routes_says_which() {
	ip -n "$a" route add 10.21.0.0/24 via 10.1.0.2 && ip -n "$a" route add 10.22.0.0/24 via 10.1.0.2 || return 1
	mkdir -p "$work/failing"
	cat > "$work/failing/ip" <<-END
		#!/bin/sh
		[ "\$1" != -batch ] || "$(command -v ip)" route del 10.22.0.0/24
		exec "$(command -v ip)" "\$@"
	END
	chmod +x "$work/failing/ip"
	out=$(in_a env PATH="$work/failing:$PATH" "$turnpike" up veth0 --for 10.21.0.0/24,10.22.0.0/24 2>&1) && return 1
	echo "$out"
	[[ $out == *"ip route change 10.22.0.0/24"*"all is as it was before"* ]] &&
		[[ $(ip -n "$a" route show 10.21.0.0/24) != *congctl* ]]
	status=$?
	ip -n "$a" route del 10.21.0.0/24
	return $status
}

up__of_two_namespaces_are_apart() {
	up veth0 --profile onramp > /dev/null && [[ $(in_b "$turnpike" down) == "nothing to undo"* ]] &&
		[[ $(in_a tc qdisc show dev veth0) == *onramp* ]]
}

up_in() { ip netns exec "$1" "$turnpike" up veth0 --with timely,onramp --for 10.1.0.0/24; }

# Routes name a congestion control, and do not hold its module.
down__leaves_modules_that_another_namespace_needs() {
	up_in "$a" > /dev/null && up_in "$b" || return 1
	[[ $(in_a "$turnpike" down --dry-run) != *rmmod* ]] && out=$(down) || return 1
	echo "$out"
	[[ $out == *"tcp_timely: stays loaded for another network namespace"* ]] && [ -e /sys/module/tcp_timely ] &&
		in_b "$turnpike" diff && in_b "$turnpike" down && [ ! -e /sys/module/tcp_timely ] && [ ! -e /sys/module/sch_onramp ]
	status=$?
	in_b "$turnpike" down > /dev/null
	return $status
}

# It left its file.
down__waits_for_no_namespace_that_is_gone() {
	up_in "$a" > /dev/null && ip netns add gone && ip -n gone link add veth0 type veth peer name veth1 &&
		ip -n gone link set veth0 up && ip -n gone link set veth1 up && ip -n gone addr add 10.1.0.9/24 dev veth0 &&
		up_in gone && ip netns del gone || return 1
	wait_for "the end of its onramp" only_one_onramp && down && [ ! -e /sys/module/tcp_timely ]
}

only_one_onramp() { [ "$(grep ^sch_onramp /proc/modules | cut -d' ' -f3)" = 1 ]; }

rename() { ip -n "$a" link set "$1" down && ip -n "$a" link set "$1" name "$2" && ip -n "$a" link set "$2" up; }

# The qdisc stays with it.
down__follows_a_device_that_got_another_name() {
	up many --profile onramp > /dev/null && rename many other || return 1
	in_a "$turnpike"
	out=$(in_a "$turnpike" down)
	status=$?
	echo "$out"
	[[ $(in_a tc qdisc show dev other) != *onramp* && $out == *"qdisc of other: as before"* ]] &&
		[ ! -e /sys/module/sch_onramp ] || status=1
	in_a tc qdisc del dev other root 2> /dev/null
	rename other many && return $status
}

# Who meets it learns what to do.
state__that_is_damaged_is_told_of() {
	up veth0 --for 10.0.0.0/8 > /dev/null || return 1
	# Namespaces that are gone left theirs.
	state=$(find /run/turnpike -name "state-*.json" -printf "%T@ %p\n" | sort -n | tail -n 1 | cut -d" " -f2)
	cp "$state" "$work/whole" && truncate -s 30 "$state" || return 1
	refused_with "damaged at byte" up veth0 --for 10.0.0.0/8 && refused_with "remove this file" in_a "$turnpike" down
	status=$?
	out=$(in_a "$turnpike")
	echo "$out"
	[[ $out == *"cannot be told: $state: damaged"* ]] || status=1
	cp "$work/whole" "$state" && down > /dev/null && return $status
}

# What a module was loaded for is still there.
down__without_rights_leaves_modules_to_what_it_left() {
	command -v setpriv > /dev/null || { echo "setpriv is missing"; return 4; }
	before=$(picture)
	up veth0 --with timely,onramp --for 10.0.0.0/8 > /dev/null || return 1
	out=$(in_a setpriv --bounding-set=-net_admin --inh-caps=-net_admin "$turnpike" down 2>&1) && return 1
	echo "$out"
	[[ $out == *"not all could be taken back"* && $out != *"module tcp_timely"* ]] && [ -e /sys/module/tcp_timely ] && down &&
		diff <(echo "$before") <(picture) && [ ! -e /sys/module/tcp_timely ] && [ ! -e /sys/module/sch_onramp ]
}

# A module that connections use is none that is as before.
down__says_what_stays_loaded() {
	up veth0 --for 10.0.0.0/8 > /dev/null && send --seconds 1000 --write 2000 --interval 0.001 --cc timely && wait_for "a flow" flow_of_timely || return 1
	out=$(down 2>&1)
	sent
	echo "$out"
	[[ $out == *"tcp_timely stays loaded, as something uses it"*"module tcp_timely: stays loaded"* ]]
}

flow_of_timely() { in_a ss -tin dst 10.1.0.2 | grep -q timely; }

# Host a's own way out is a veth, too.
up__names_the_veth_of_a_container() {
	ip -n "$a" link add to-pod type veth peer name eth0 netns "$b" || return 1
	out=$(up "${all[@]}" --dry-run 2>&1 > /dev/null)
	diff=$(up veth0 --profile onramp > /dev/null 2>&1 && in_a "$turnpike" diff 2>&1)
	ip -n "$a" link del to-pod
	echo "$out"
	[[ $out == *"turnpike: to-pod leads to a container, "*"nsenter -t PID -n turnpike up DEV"* && $diff == "all is as wanted" ]] &&
		[[ $(up "${all[@]}" --dry-run 2>&1 > /dev/null) != *container* ]]
}

up__needs_root() {
	command -v setpriv > /dev/null || { echo "setpriv is missing"; return 4; }
	refused_with "needs root" in_a setpriv --reuid=65534 --clear-groups "$turnpike" up veth0 --profile onramp
}

make_host || { ktap_fail "hosts__are_made"; ktap_finish; }
trap 'clean_up; drop_hosts' EXIT
run_cases "$@"
ktap_finish
