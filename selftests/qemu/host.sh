# SPDX-License-Identifier: GPL-2.0
# What tests of a whole host share ("# host: systemd"): its network is that of /network, its disk is
# /disk, and it may start again in the midst of a test.
# shellcheck shell=bash

# shellcheck source=selftests/lib/ktap.sh
. /ktap.sh
# shellcheck source=selftests/lib/refused.sh
. /refused.sh
# shellcheck source=selftests/qemu/pair.sh
. /pair.sh

export TC_LIB_DIR=/tc
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
asked=/disk/asked

in_b() { ip netns exec b "$@"; }

# Which boot this is: first, or second after start_again. How many cases there were is on the disk.
# shellcheck disable=SC2034  # of who sources this
boot=first
if [ -e $asked ]; then
	# shellcheck source=/dev/null
	. $asked
	mv $asked /disk/again
	# shellcheck disable=SC2034
	boot=second
elif [ -e /disk/began ]; then
	ktap_fail "the host started again by itself"
	ktap_finish
fi
touch /disk/began

# Ends the test in this boot.
start_again() {
	echo "ktap_number=$ktap_number ktap_failed=$ktap_failed ktap_skipped=$ktap_skipped" > $asked
	sync
	systemctl reboot
	sleep 600
	ktap_fail "the host does not start again"
	ktap_finish
}

serve() {
	in_b flow serve 5000 > /dev/null 2>&1 &
}

# send SECONDS CC...: one of each, until all are through
send() {
	local seconds=$1 cc processes=

	shift
	for cc; do
		flow send 10.0.0.2 5000 "$seconds" "$cc" 1000000 > /dev/null &
		processes="$processes $!"
	done
	# shellcheck disable=SC2086  # a list of processes
	wait $processes
}

# What an administrator sees, without counters, the handles that the kernel chose, and a link that is
# not up yet after its driver began anew.
picture() {
	ip -o route show | sed -E 's/ linkdown| $//g'
	tc qdisc show | sed -E 's/^(qdisc \S+) [89a-f][0-9a-f]{3}:/\1/' | sort
	turnpike onramp show 2> /dev/null
	lsmod_ours
}

lsmod_ours() { cut -d' ' -f1 /proc/modules | grep -xE 'tcp_timely|sch_onramp|tlt' | sort; }

# Nothing is to be undone, in no namespace.
no_state() { ! ls /run/turnpike/state-*.json 2> /dev/null; }

# says STATUS TEXT COMMAND...: it ends so, and says this
says() {
	local out status=0

	out=$("${@:3}" 2>&1) || status=$?
	echo "$out"
	[ $status = "$1" ] && [[ $out == *"$2"* ]] && return 0
	echo "status $status; expected was $1, and: $2"
	return 1
}

# not_broken COMMAND...: doctor has looked at all, and there are warnings at most
not_broken() {
	local out

	out=$("$@" 2>&1)
	echo "$out"
	[[ $out == *", 0 broken" ]]
}

# run_cases CASE...: each with the seconds that it took
run_cases() {
	local case begin

	for case; do
		begin=$(cut -d. -f1 /proc/uptime)
		ktap_case "$case" "$case"
		ktap_note "$(($(cut -d. -f1 /proc/uptime) - begin)) s"
	done
}
