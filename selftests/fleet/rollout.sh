#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The collection turnpike.fleet on six hosts of this machine, each a root of its own:
#
#	ansible-playbook --- connection/root.py --- chroot to a copy on write of /
#	                                             with bin/ first in its PATH
#
# Programs in bin/ say how a host fares; what ansible does is what it does on real hosts.
# Nothing of this machine is touched: the roots are in memory, in a mount namespace of their own.

here=$(dirname "$(readlink -f "$0")")
top=$(readlink -f "$here/../..")
cd "$top" || exit 1
# shellcheck source=selftests/lib/ktap.sh
. selftests/lib/ktap.sh

skip() { echo "SKIP: $*"; exit 4; }

if [ -z "${FLEET_WORK:-}" ]; then
	command -v ansible-playbook > /dev/null || skip "ansible is not installed (selftests/lib/install-packages fleet)"
	[ "$(id -u)" -eq 0 ] || skip "needs root, for roots of hosts"
	FLEET_WORK=$(mktemp -d) || exit 1
	trap 'rmdir "$FLEET_WORK"' EXIT
	export FLEET_WORK
	unshare --mount "$0" "$@"
	exit
fi
mount -t tmpfs none "$FLEET_WORK" || skip "no file system in memory"

hosts=(h1 h2 h3 h4 h5 h6)
installed=$FLEET_WORK/ansible_collections/turnpike/fleet

# make_host NAME: nothing is on it.
make_host() {
	local host=$FLEET_WORK/$1

	mkdir -p "$host"/{upper,work,tree} || return 1
	mount -t overlay overlay -o "lowerdir=/,upperdir=$host/upper,workdir=$host/work" "$host/tree" || return 1
	mount --rbind /proc "$host/tree/proc" && mount --rbind /dev "$host/tree/dev" || return 1
	mkdir -p "$host/tree/fleet" && cp -r "$here/bin" "$host/tree/fleet/" || return 1
	# Those of this machine are none of the hosts'.
	rm -rf "$host/tree/etc/turnpike" "$host/tree/var/lib/turnpike-fleet"
	echo "$1 fleet_host=$host" >> "$FLEET_WORK/inventory"
}

# Each case begins with hosts that nothing was done to.
fresh() {
	local name

	for name in "${hosts[@]}"; do
		rm -rf "$FLEET_WORK/$name/tree/fleet" "$FLEET_WORK/$name/tree"/{etc/turnpike,var/lib/turnpike-fleet}
		mkdir "$FLEET_WORK/$name/tree/fleet" && cp -r "$here/bin" "$FLEET_WORK/$name/tree/fleet/" || return 1
	done
}

# that KIND HOST...: a file of /fleet
that() {
	local kind=$1 name

	shift
	for name; do
		touch "$FLEET_WORK/$name/tree/fleet/$kind"
	done
}

# play NAME [ARGUMENT...]: its status is ansible's, what it said is in said.
play() {
	local name=$1

	shift
	(cd "$FLEET_WORK" && ansible-playbook -i inventory "$installed/playbooks/$name.yml" -e @variables.json "$@" \
		< /dev/null) > "$FLEET_WORK/said" 2>&1
}

says() {
	grep -qE "$1" "$FLEET_WORK/said" && return 0
	echo "nothing says '$1':"
	grep -vE '^(ok|skipping|included|TASK|$)' "$FLEET_WORK/said" | tail -n 40
	return 1
}

# expect_set HOST...: these have the settings, and no others.
expect_set() {
	local name bad=0 is

	for name in "${hosts[@]}"; do
		is=0
		[ -e "$FLEET_WORK/$name/tree/fleet/set" ] && [ -e "$FLEET_WORK/$name/tree/etc/turnpike/turnpike.conf" ] && is=1
		[[ $is -eq 1 || ! -e $FLEET_WORK/$name/tree/etc/turnpike/turnpike.conf ]] || { echo "$name is half done"; bad=1; }
		[[ " $* " == *" $name "* ]] && [ $is -eq 0 ] && { echo "$name is not set"; bad=1; }
		[[ " $* " != *" $name "* ]] && [ $is -eq 1 ] && { echo "$name is set"; bad=1; }
	done
	[ $bad -eq 0 ] || says 'no such words'
}

# Nobody ever changed these.
untouched() {
	local name

	for name; do
		grep -qsx 'up --all' "$FLEET_WORK/$name/tree/fleet/calls" && { echo "$name was changed"; return 1; }
	done
	return 0
}

no_record_left() {
	find "$FLEET_WORK"/h*/upper/var/lib/turnpike-fleet -type f 2> /dev/null | grep . && return 1
	return 0
}

rollout__reaches_all() {
	fresh && play rollout || { says 'no such words'; return 1; }
	expect_set "${hosts[@]}" && says '6 changed and accepted, 0 left out' && no_record_left
}

rollout__again_changes_nothing() {
	fresh && play rollout && play rollout || { says 'no such words'; return 1; }
	says '0 changed and accepted, 0 left out' || return 1
	grep -E 'changed=[1-9]' "$FLEET_WORK/said" && return 1
	expect_set "${hosts[@]}"
}

rollout__check_changes_nothing() {
	fresh && play rollout --check || { says 'no such words'; return 1; }
	says 'ip route change' && expect_set && untouched "${hosts[@]}"
}

rollout__a_sick_canary_ends_it() {
	fresh && that sick h1
	play rollout && { echo "status 0"; return 1; }
	says 'worse off: h1: .*doctor, queues: the test says so' && says 'rolled back: h1"' && expect_set &&
		untouched h2 h3 h4 h5 h6 && no_record_left
}

rollout__a_sick_third_takes_all_back() {
	fresh && that sick h5 h6
	play rollout && { echo "status 0"; return 1; }
	says 'worse off: h5' && says 'rolled back: h1, h2, h3, h4, h5, h6' && expect_set && no_record_left
}

rollout__back_means_the_file_of_before() {
	fresh && that sick h3
	mkdir -p "$FLEET_WORK/h2/tree/etc/turnpike"
	echo '[net] # of before' | tee "$FLEET_WORK/h2/tree/etc/turnpike/turnpike.conf" > "$FLEET_WORK/h2/tree/fleet/set"
	play rollout && { echo "status 0"; return 1; }
	says 'rolled back: h1, h2, h3' && grep -qx '\[net\] # of before' "$FLEET_WORK/h2/tree/etc/turnpike/turnpike.conf" &&
		cmp "$FLEET_WORK/h2/tree/etc/turnpike/turnpike.conf" "$FLEET_WORK/h2/tree/fleet/set" && expect_set h2
}

rollout__goes_on_without_a_host_that_is_not_reached() {
	fresh && that cable-is-out h2
	play rollout || { says 'no such words'; return 1; }
	says 'left out: h2: not reached' && says '5 changed and accepted, 1 left out' && expect_set h1 h3 h4 h5 h6
}

rollout__stops_if_too_many_are_not_reached() {
	fresh && that cable-is-out h2 h3
	play rollout -e turnpike_left_out_limit=1 && { echo "status 0"; return 1; }
	says 'stopped, as 2 hosts were left out; 1 changed and accepted' && expect_set h1 && untouched h4 h5 h6
}

rollout__a_host_that_the_change_cuts_off_takes_all_back() {
	fresh && that pulls-the-cable h3
	play rollout && { echo "status 0"; return 1; }
	says 'worse off: h3: not reached after the change' && says 'not rolled back: h3' && says 'rolled back: h1, h2"' &&
		untouched h4 h5 h6 || return 1
	# When it is reached again, the next run has its record.
	rm "$FLEET_WORK/h3/tree/fleet/"{cable-is-out,pulls-the-cable}
	play rollout || { says 'no such words'; return 1; }
	says '6 changed and accepted' && expect_set "${hosts[@]}" && no_record_left
}

rollout__without_traffic_there_is_no_verdict() {
	fresh && that idle h1
	play rollout && { echo "status 0"; return 1; }
	says 'worse off: h1: cannot tell: 0 segments sent before' && expect_set || return 1
	play rollout -e turnpike_accept_no_traffic=true || { says 'no such words'; return 1; }
	expect_set "${hosts[@]}"
}

rollout__a_host_set_up_by_hand_is_left_out() {
	fresh && echo '[net]' > "$FLEET_WORK/h2/tree/fleet/set"
	play rollout || { says 'no such words'; return 1; }
	says "left out: h2: somebody called 'turnpike up' here" && untouched h2
}

rollout__a_profile_that_is_not_understood_changes_nothing() {
	fresh
	play rollout -e '{"turnpike_for": [], "turnpike_congestion": ""}' && { echo "status 0"; return 1; }
	says 'stopped, as 3 hosts were left out' && expect_set && untouched "${hosts[@]}"
}

# Packages of the names that a host needs, with nothing in them.
make_packages() {
	local name tree

	for name in turnpike-dkms turnpike-tools; do
		tree=$FLEET_WORK/packages/$name
		mkdir -p "$tree/DEBIAN" || return 1
		printf '%s\n' "Package: $name" "Version: 0.1.0" "Architecture: all" "Maintainer: Test <test@example.org>" \
			"Description: nothing" > "$tree/DEBIAN/control"
		dpkg-deb --build "$tree" "$FLEET_WORK/packages/$name.deb" > /dev/null || return 1
	done
}

# play_packages NAME [ARGUMENT...]: on one host, with them.
play_packages() {
	local name=$1

	shift
	play "$name" -e '{"turnpike_hosts": "h1", "turnpike_install": true, "turnpike_headers": []}' \
		-e "{\"turnpike_debs\": [\"$FLEET_WORK/packages/turnpike-dkms.deb\", \"$FLEET_WORK/packages/turnpike-tools.deb\"]}" "$@"
}

has_packages() { [ "$(chroot "$FLEET_WORK/h1/tree" dpkg-query -W -f '${db:Status-Status} ' turnpike-dkms turnpike-tools 2> /dev/null)" = "$1" ]; }

packages__come_and_go() {
	/usr/bin/python3 -c 'import apt' 2> /dev/null || { echo "python3-apt is not installed"; return 4; }
	fresh && make_packages && that sick h1 || return 1
	play_packages rollout && { echo "status 0"; return 1; }
	has_packages "" && says 'rolled back: h1' && expect_set || { echo "of a host that is rolled back"; return 1; }
	rm "$FLEET_WORK/h1/tree/fleet/sick"
	play_packages rollout && has_packages "installed installed " && expect_set h1 || { says 'no such words'; return 1; }
	play_packages rollout && says '0 changed and accepted' || return 1
	grep -E 'changed=[1-9]' "$FLEET_WORK/said" && return 1
	play_packages remove && has_packages "" && expect_set
}

packages__of_others_than_debian_are_refused() {
	fresh && make_packages && play_packages rollout -e '{"ansible_facts": {"pkg_mgr": "dnf", "kernel": "6.12"}}' ||
		{ says 'no such words'; return 1; }
	says 'left out: h1: This role installs by apt alone, and this host has dnf' && untouched h1
}

remove__leaves_nothing() {
	fresh && play rollout && play remove || { says 'no such words'; return 1; }
	expect_set || return 1
	find "$FLEET_WORK"/h*/tree/{etc/turnpike/turnpike.conf,var/lib/turnpike-fleet} 2> /dev/null | grep . && return 1
	play remove || { says 'no such words'; return 1; }
	grep -E 'changed=[1-9]' "$FLEET_WORK/said" && return 1
	return 0
}

export HOME=$FLEET_WORK ANSIBLE_HOME=$FLEET_WORK/.ansible ANSIBLE_COLLECTIONS_PATH=$FLEET_WORK LC_ALL=C.UTF-8
export ANSIBLE_CONNECTION_PLUGINS=$here/connection ANSIBLE_NOCOLOR=1 ANSIBLE_RETRY_FILES_ENABLED=0 PYTHONDONTWRITEBYTECODE=1
export ANSIBLE_DEPRECATION_WARNINGS=0 ANSIBLE_LOCALHOST_WARNING=0 ANSIBLE_PIPELINING=1 ANSIBLE_FORKS=6
unset ANSIBLE_CONFIG
cat > "$FLEET_WORK/variables.json" <<-'END'
	{"ansible_connection": "root", "ansible_python_interpreter": "/usr/bin/python3", "turnpike_become": false,
	 "turnpike_install": false, "turnpike_at_boot": false, "turnpike_batches": [1, 2, "100%"], "turnpike_baseline_s": 1,
	 "turnpike_soak_s": 1, "turnpike_for": ["10.0.0.0/8"], "turnpike_devices": [{"name": "eth0"}]}
END
mkdir -p "$installed" && cp -r tools/deploy/ansible/. "$installed/" || exit 1
for name in "${hosts[@]}"; do
	make_host "$name" || skip "this kernel makes no roots of hosts (overlayfs)"
done

cases=("$@")
[ ${#cases[@]} -gt 0 ] || mapfile -t cases < <(sed -n 's/^\([a-z]*__[a-z_]*\)() {$/\1/p' "$0")
ktap_start
for case in "${cases[@]}"; do
	ktap_case "$case" "$case"
done
ktap_finish
