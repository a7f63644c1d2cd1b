#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# In the guest of upgrade/run: connections go on while dpkg upgrades turnpike-dkms and
# turnpike-tools, and the operator is told what is old and how to load what is new.
#
#	eth0 10.0.0.1 ---- veth ---- 10.0.0.2 eth0  netns b, set up likewise

# shellcheck source=selftests/qemu/host.sh
. /host.sh
# tc's plugin is the package's.
unset TC_LIB_DIR

old=0.0.9
new=0.1.0
near=10.0.0.0/8
ports="5000 5001"	# of the first one TLT has a rule
restarting="turnpike-metrics-listen turnpike-clockd turnpike-clock"
standing="turnpike.service turnpike-metrics.timer"
work=/run/test
mkdir -p $work

modules() { sh /usr/src/turnpike-*/packaging/modules | cut -d' ' -f2; }

# What is loaded, "name version references" a line; nicstamp serves no NIC here.
loaded() {
	local module

	for module in $(modules); do
		[ ! -e "/sys/module/$module" ] || echo "$module $(cat "/sys/module/$module/version") $(cat "/sys/module/$module/refcnt")"
	done
}

# all_loaded VERSION: each that turnpike up wants
all_loaded() {
	loaded
	[ "$(loaded | grep -cE "^(tcp_timely|sch_onramp|tlt) $1 ")" = 3 ]
}

same_as() { diff "$work/$1" -; }

# -- connections

# A numbered line after the other, ten at a time, until $work/enough is there: how many is in sent.PORT.
stream() {
	local number=0 _ignored

	exec 3<> "/dev/tcp/10.0.0.2/$1" || return 1
	until [ -e $work/enough ]; do
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			printf '%01399d\n' $((++number)) >&3 || return 1
		done
		# The other end says nothing: whatever comes is its end.
		read -r -t 0.2 -u 3 _ignored
		[ $? -gt 128 ] || return 1
	done
	echo $number > "$work/sent.$1"
}

streams() {
	local port

	for port in $ports; do
		# It says nothing, and does not end what it might say.
		{ sleep infinity | in_b busybox nc -l -p "$port" > "$work/got.$port"; } > /dev/null 2>&1 &
	done
	soon both_listen || return 1
	for port in $ports; do
		stream "$port" > /dev/null 2> "$work/stream.$port" &
	done
	soon all_timely
}

both_listen() { [ "$(in_b ss -Htln '( sport = :5000 or sport = :5001 )' | wc -l)" = 2 ]; }

# By their ports at both ends: another connection has another one here.
connections() { ss -Htn state established dst 10.0.0.2 '( dport = :5000 or dport = :5001 )' | awk '{ print $3, $4 }' | sort; }

all_timely() { [ "$(ss -Htin state established dst 10.0.0.2 '( dport = :5000 or dport = :5001 )' | grep -cw timely)" = 2 ]; }

lines() { cat $work/got.* | wc -l; }
more_than() { [ "$(wc -l < "$work/got.5000")" -gt "$1" ] && [ "$(wc -l < "$work/got.5001")" -gt "$2" ]; }

# Both of them, by now.
go_on() {
	connections | same_as connections && all_timely &&
		soon more_than "$(wc -l < $work/got.5000)" "$(wc -l < $work/got.5001)"
}

resets() { awk '/^Tcp: [0-9]/ { print $9 }' /proc/net/snmp; in_b awk '/^Tcp: [0-9]/ { print $9 }' /proc/net/snmp; }

# -- services

pid_of() { systemctl show -P MainPID "$1"; }
begun() { systemctl show -P ActiveEnterTimestampMonotonic "$1"; }
runs() { systemctl is-active --quiet "$1" && [ "$(pid_of "$1")" != 0 ]; }

# A program whose file dpkg replaced is one of a deleted file.
runs_the_installed() { runs "$1" && [ "$(readlink "/proc/$(pid_of "$1")/exe")" = /usr/bin/turnpike ]; }

start_services() {
	local unit

	printf '10.0.0.1\n10.0.0.2\n' > /etc/turnpike/clockd.hosts
	[ -e /etc/turnpike/clockd.key ] || turnpike onramp key generate /etc/turnpike/clockd.key || return 1
	mkdir -p /var/lib/prometheus/node-exporter
	systemctl start turnpike-clockd turnpike-metrics.timer || return 1
	# Without a daemon that keeps the time it ends, and systemd calls it again.
	systemctl start turnpike-clock
	for unit in turnpike-metrics-listen turnpike-clockd; do
		soon runs "$unit" || { systemctl status "$unit"; return 1; }
	done
}

# -- cases

set_up_by_the_older__with_connections() {
	ip netns add b && ip link add eth0 type veth peer name eth0 netns b && ip addr add 10.0.0.1/24 dev eth0 &&
		ip link set eth0 up && ip -n b addr add 10.0.0.2/24 dev eth0 && ip -n b link set eth0 up &&
		ip -n b link set lo up && soon link_is_up || return 1
	picture > $work/before
	[ "$(turnpike --version)" = "turnpike $old" ] || { turnpike --version; return 1; }
	turnpike up eth0 --profile all --for $near --rule port=5000 --persist &&
		printf '[metrics]\nlisten = 127.0.0.1:9733\n' >> /etc/turnpike/turnpike.conf && turnpike up --all &&
		in_b turnpike up eth0 --profile all --for $near --rule port=5000 && all_loaded $old || return 1
	start_services && streams || return 1
	connections > $work/connections
	[ "$(wc -l < $work/connections)" = 2 ] && go_on && says 0 "all is as wanted" turnpike diff
}

link_is_up() { [ "$(cat /sys/class/net/eth0/operstate)" = up ]; }

upgrade__ends_well() {
	local unit before

	for unit in $restarting; do
		pid_of "$unit" > "$work/pid.$unit"
	done
	for unit in $standing; do
		begun "$unit" > "$work/begun.$unit"
	done
	resets > $work/resets
	loaded > $work/loaded
	before=$(lines)
	DEBIAN_FRONTEND=noninteractive dpkg -i /src/$new/turnpike-dkms_*.deb /src/$new/turnpike-tools_*.deb > $work/dpkg 2>&1 ||
		{ cat $work/dpkg /var/lib/dkms/turnpike/*/build/make.log; return 1; }
	cat $work/dpkg
	echo "lines before $before, after $(lines)"
	[ "$(turnpike --version)" = "turnpike $new" ] && [ "$(modinfo -F version tcp_timely)" = $new ]
}

upgrade__says_that_the_loaded_modules_are_old() {
	grep "turnpike-dkms: .*tcp_timely.*turnpike doctor" $work/dpkg
}

upgrade__leaves_what_is_loaded() { loaded | same_as loaded; }

upgrade__lets_connections_go_on() {
	go_on && resets | same_as resets
}

upgrade__leaves_what_is_set_up() {
	local unit

	for unit in $standing; do
		[ "$(begun "$unit")" = "$(cat "$work/begun.$unit")" ] || { systemctl status "$unit"; return 1; }
	done
	says 0 "all is as wanted" turnpike diff && says 0 "all is as wanted" in_b turnpike diff
}

upgrade__restarts_what_only_looks() {
	local unit

	for unit in turnpike-metrics-listen turnpike-clockd; do
		soon runs_the_installed "$unit" && [ "$(pid_of "$unit")" != "$(cat "$work/pid.$unit")" ] ||
			{ systemctl status "$unit"; return 1; }
	done
	# It ends again and again here, but is not given up.
	[ "$(systemctl show -P ActiveState turnpike-clock)" != inactive ] || { systemctl status turnpike-clock; return 1; }
	soon metrics_tell
}

metrics_tell() { busybox wget -q -O - http://127.0.0.1:9733/metrics | grep '^turnpike_module_mismatch.*tcp_timely.* 1'; }

status__says_which_modules_are_old() {
	local module

	for module in tcp_timely sch_onramp tlt; do
		says 0 "$module: $old is loaded, $new is on disk; turnpike doctor says" turnpike || return 1
	done
	says 0 "module   tlt: $old is loaded" turnpike status eth0 > /dev/null && says 0 '"stale"' turnpike status -j > /dev/null
}

doctor__says_how_to_load_the_new_ones() {
	local module

	turnpike doctor > $work/doctor
	cat $work/doctor
	for module in tcp_timely sch_onramp tlt; do
		grep -qF "$module is loaded in another version than the one on disk: $old is loaded, $new is on disk" $work/doctor &&
			grep -qF "turnpike down; rmmod $module, if it stays, when nothing uses it; turnpike up" $work/doctor || return 1
	done
}

up_again__says_that_it_loads_nothing_new() {
	says 0 "tcp_timely: $old is loaded, $new is on disk" turnpike up --all && all_loaded $old && go_on
}

# What the older one wrote in /run is what the newer one goes by.
down__of_the_newer_undoes_the_older_ones_up() {
	in_b turnpike down && says 0 "tcp_timely stays loaded" turnpike down && no_state || return 1
	picture | grep -vxE 'tcp_timely|tlt' | same_as before && go_on
}

connections__lost_nothing() {
	local port

	touch $work/enough
	for port in $ports; do
		soon [ -e "$work/sent.$port" ] && soon came_whole "$port" || return 1
	done
	resets | same_as resets
}

came_whole() { awk -v sent="$(cat "$work/sent.$1")" '$1 + 0 != NR { exit 1 } END { exit NR != sent }' "$work/got.$1"; }

# Each of the lines that doctor names.
rmmod_and_modprobe__load_the_newer() {
	local module

	systemctl stop turnpike-clockd turnpike-clock
	for module in $(loaded | cut -d' ' -f1); do
		soon rmmod "$module" || { loaded; return 1; }
	done
	[ -z "$(loaded)" ] && modprobe -a tcp_timely sch_onramp tlt && all_loaded $new && rmmod tlt sch_onramp tcp_timely
}

service__sets_the_newer_up_and_undoes_it() {
	systemctl restart turnpike.service && all_loaded $new && says 0 "all is as wanted" turnpike diff || return 1
	turnpike doctor -a | grep "those loaded are those on disk" || { turnpike doctor; return 1; }
	[[ $(turnpike) != *"on disk"* ]] && turnpike down --persist && no_state && picture | same_as before
}

ktap_start
run_cases set_up_by_the_older__with_connections
[ "$ktap_failed" = 0 ] || ktap_finish
run_cases upgrade__ends_well upgrade__says_that_the_loaded_modules_are_old upgrade__leaves_what_is_loaded \
	upgrade__lets_connections_go_on upgrade__leaves_what_is_set_up upgrade__restarts_what_only_looks \
	status__says_which_modules_are_old doctor__says_how_to_load_the_new_ones up_again__says_that_it_loads_nothing_new \
	down__of_the_newer_undoes_the_older_ones_up connections__lost_nothing rmmod_and_modprobe__load_the_newer \
	service__sets_the_newer_up_and_undoes_it
ktap_finish
