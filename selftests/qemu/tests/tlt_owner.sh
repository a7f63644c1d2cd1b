#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# TLT's rules that name a cgroup, and who may name users: what the UML kernels, which have
# neither cgroups nor user namespaces, cannot show. (Rules of users: selftests/tlt/owner.sh.)

# shellcheck source=selftests/lib/ktap.sh
. /ktap.sh
# shellcheck source=selftests/qemu/pair.sh
. /pair.sh
tree=/sys/fs/cgroup
enough_bytes=100000

tlt_a() { in_a turnpike tlt "$@"; }
tlt_b() { ip netns exec b turnpike tlt "$@"; }

# marked [NETNS]: packets of all kinds that the host has sent
marked() {
	ip netns exec "${1:-a}" turnpike tlt stats -j | json_lines | awk '/^sent[.].*[.]packets / { n += $2 } END { print n }'
}

# within CGROUP COMMAND...
within() {
	bash -c 'echo $$ > "$0/cgroup.procs" && exec "$@"' "$tree$1" "${@:2}"
}

# sends CGROUP: a flow from there; how many of its host's packets were marked is $count
sends() {
	before=$(marked)
	within "$1" ip netns exec a flow send 10.0.0.2 5000 1 cubic $enough_bytes > /dev/null || return 1
	count=$(($(marked) - before))
	echo "from $1: $count marked"
}

is_marked() { sends "$1" && [ $count -gt 0 ]; }
is_not_marked() { sends "$1" && [ $count = 0 ]; }

makes_cgroups() {
	mount -t cgroup2 cgroup2 $tree 2>/dev/null || grep -q " $tree cgroup2 " /proc/mounts || return 1
	mkdir $tree/front $tree/front/inner $tree/frontier
}

cgroup_and_those_below_it() {
	tlt_a set --rule cgroup=/front && tlt_b set --all && is_marked /front && is_marked /front/inner &&
		is_not_marked /frontier && is_not_marked / &&
		tlt_a set --rule cgroup=/front/inner && is_marked /front/inner && is_not_marked /front
}

root_is_all() { tlt_a set --rule cgroup=/ && is_marked / && is_marked /front/inner; }

all_parts_of_a_rule() {
	tlt_a set --rule cgroup=/front,uid=0,port=5000 && is_marked /front &&
		tlt_a set --rule cgroup=/front,uid=1 && is_not_marked /front &&
		tlt_a set --rule cgroup=/front,port=9 && is_not_marked /front
}

# A socket stays where it was made; so does who takes connections.
receiver_by_its_listener() {
	tlt_a set --all && tlt_b set --rule cgroup=/front || return 1
	answers=$(marked b)
	sends / && [ "$(marked b)" = "$answers" ] || return 1
	within /front ip netns exec b flow serve 5001 > /dev/null 2>&1 &
	in_a flow send 10.0.0.2 5001 1 cubic $enough_bytes > /dev/null
	kill "$(cat $tree/front/cgroup.procs)"
	echo "answers marked: $(($(marked b) - answers))"
	[ "$(marked b)" -gt "$answers" ] && tlt_b set --all
}

refused() {
	_shown=$(tlt_a show)
	out=$(tlt_a set --rule "$2" 2>&1) && { echo "accepted: $2"; return 1; }
	echo "$out"
	echo "$out" | grep -q "$1" && [ "$(tlt_a show)" = "$_shown" ]
}

nonsense_is_refused() {
	refused "no such cgroup" cgroup=/nowhere && refused "no such cgroup" cgroup=/front/../front &&
		refused "no such cgroup" cgroup=/cgroup.procs && refused "begins with" cgroup=front
}

path_is_of_the_namespace() {
	bash -c 'echo $$ > /sys/fs/cgroup/front/cgroup.procs &&
		 exec unshare -C ip netns exec a turnpike tlt set --rule cgroup=/inner' || return 1
	tlt_a show
	is_marked /front/inner && is_not_marked /front && refused "no such cgroup" cgroup=/inner
}

# Two components of the longest names that there are.
longest_paths_are_shown() {
	long=/$(printf '%254s' '' | tr ' ' a)/$(printf '%255s' '' | tr ' ' b)
	mkdir "$tree${long%/*}" "$tree$long" || return 1
	rules=
	for port in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
		rules="$rules --rule port=$port,cgroup=$long"
	done
	# shellcheck disable=SC2086  # a list
	tlt_a set $rules && [ "$(tlt_a show -j | json_lines | grep -c "cgroup $long\$")" = 16 ] &&
		rmdir "$tree$long" "$tree${long%/*}"
}

dying() { sed -n 's/^nr_dying_descendants //p' $tree/cgroup.stat; }
let_go() { [ "$(dying)" = 0 ]; }
none_is_dying() { soon let_go || { echo "$(dying) cgroups are held"; return 1; }; }

# What is removed is held by its rule, and by nothing after that.
removed_is_let_go() {
	tlt_a set --all && none_is_dying && mkdir $tree/gone || return 1
	tlt_a set --rule cgroup=/gone --rule cgroup=/gone,port=1 && rmdir $tree/gone || return 1
	[ "$(dying)" = 1 ] && tlt_a show -j | json_lines | grep -q 'cgroup /gone$' && is_not_marked / &&
		refused "no such cgroup" cgroup=/gone && tlt_a set --all && none_is_dying || return 1
	# A configuration that is refused holds nothing either.
	mkdir $tree/gone && ! tlt_a set --rule cgroup=/gone --rule cgroup=/nowhere || return 1
	rmdir $tree/gone && none_is_dying
}

replaced_under_traffic() {
	within /front ip netns exec a flow send 10.0.0.2 5000 4 cubic $enough_bytes > /run/sent &
	flow=$!
	for _ in $(seq 20); do
		tlt_a set --rule cgroup=/front && tlt_b set --rule cgroup=/ &&
			tlt_a set --rule cgroup=/frontier,uid=0 --rule uid=0 && tlt_b off &&
			tlt_a off && tlt_b set --all || return 1
	done
	wait $flow
	[ "$(cat /run/sent)" -ge $enough_bytes ] && tlt_a set --all
}

# Numbers mean what they mean to who owns the network namespace, who may set rules there.
users_of_another_namespace_are_refused() {
	unshare -U -r -n sleep 1000 &
	_owner=$!
	soon grep -q '^sleep$' /proc/$_owner/comm || return 1
	_shown=$(nsenter -t $_owner -n turnpike tlt show -j | json_lines)
	out=$(nsenter -t $_owner -n turnpike tlt set --rule uid=0 2>&1) && return 1
	echo "$out"
	nsenter -t $_owner -U -n --preserve-credentials turnpike tlt set --rule uid=0-9 &&
		nsenter -t $_owner -n turnpike tlt show -j | json_lines | grep -x 'rules.uid 0-9'
	_status=$?
	kill $_owner
	[ $_status = 0 ] && [ "$_shown" = "enabled false" ] && echo "$out" | grep -q 'another user namespace'
}

namespace_goes_with_its_rule() {
	tlt_a set --rule cgroup=/front,port=5000 --rule cgroup=/frontier || return 1
	drop_pair
	rmdir $tree/front/inner $tree/front $tree/frontier && none_is_dying
}

ktap_start
ktap_case "module loads" insmod /modules/tlt.ko
ktap_case "cgroups are made" makes_cgroups
make_pair netem delay 1ms || ktap_fail "hosts are made"
for case in cgroup_and_those_below_it root_is_all all_parts_of_a_rule receiver_by_its_listener \
	nonsense_is_refused path_is_of_the_namespace longest_paths_are_shown removed_is_let_go \
	replaced_under_traffic users_of_another_namespace_are_refused namespace_goes_with_its_rule; do
	ktap_case "${case//_/ }" $case
done
ktap_case "module unloads" unload tlt
ktap_finish
