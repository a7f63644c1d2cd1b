#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# turnpike up, down, diff, status and doctor on a whole host: NICs of two queues, systemd, modules
# where modprobe finds them, and a second boot. In the end its kernel takes signed modules alone.
#
# nics: igb
# processors: 1
# host: systemd

# shellcheck source=selftests/qemu/host.sh
. /host.sh

near=10.0.0.0/8
all=(eth0 --for "$near" --profile all --rule port=5000)

# qdiscs: kind, parent and options of each of eth0; the kernel numbers them anew
qdiscs() { tc qdisc show dev eth0 | sed -E 's/^qdisc (\S+) \S+/\1/' | sort; }

onramps() { tc qdisc show dev eth0 | grep -c '^qdisc onramp .* parent'; }

nothing_loaded__is_said_and_harmless() {
	says 0 "verdict  off" turnpike && says 2 "nothing is wanted" turnpike diff && says 0 "nothing to undo" turnpike down &&
		not_broken turnpike doctor eth0 --all
}

up__gives_each_queue_an_onramp() {
	local before

	before=$(picture)
	up_onramp && [ "$(onramps)" = 2 ] && [[ $(tc qdisc show dev eth0) == *"qdisc mq 1: root"* ]] || return 1
	turnpike status eth0 && says 0 "all is as wanted" turnpike diff || return 1
	# It has no key, of which doctor warns.
	says 1 "eth0 has one onramp for each queue" turnpike doctor eth0 --all && turnpike down && diff <(echo "$before") <(picture)
}

up_onramp() { turnpike up eth0 --profile onramp --for $near; }

# of the queues together, by tc
by_tc() { tc -s qdisc show dev eth0 | awk '/^qdisc/ { onramp = $2 == "onramp" } onramp && / Sent / { n += $4 } END { print n }'; }
by_status() { turnpike status eth0 -j | sed -n 's/^ *"packets": \([0-9]*\),*$/\1/p'; }
by_metrics() { turnpike metrics | sed -n 's/^turnpike_onramp_packets_total{.*dev="eth0".*} \([0-9]*\).*/\1/p'; }

both_queues_sent() {
	send 0.2 cubic cubic cubic cubic
	[ "$(tc -s qdisc show dev eth0 | awk '/^qdisc/ { onramp = $2 == "onramp" } onramp && / Sent / && $4 { n++ } END { print n }')" = 2 ]
}

status__and_metrics_sum_the_queues() {
	local before sum metrics

	up_onramp > /dev/null && serve && soon both_queues_sent || return 1
	before=$(by_tc)
	sum=$(by_status)
	metrics=$(by_metrics)
	echo "tc $before, status $sum, metrics $metrics, tc $(by_tc)"
	[ "$before" -gt 0 ] && [ "$before" -le "$sum" ] && [ "$sum" -le "$metrics" ] && [ "$metrics" -le "$(by_tc)" ] &&
		[[ $(turnpike) == *"eth0: 2 queues"* ]] && turnpike down > /dev/null
}

administrators_mq() {
	tc qdisc replace dev eth0 root handle 5: mq && tc qdisc replace dev eth0 parent 5:1 fq limit 88 &&
		tc qdisc replace dev eth0 parent 5:2 fq_codel limit 99 target 7ms
}

down__gives_an_administrators_mq_back_with_its_options() {
	local before after

	administrators_mq || return 1
	before=$(qdiscs)
	up_onramp > /dev/null && [ "$(onramps)" = 2 ] && turnpike down || return 1
	after=$(qdiscs)
	tc qdisc del dev eth0 root
	diff <(echo "$before") <(echo "$after")
}

# As `ethtool -L' makes them while all goes on.
queues_that_come_later__are_told_of_and_taken() {
	local before status

	before=$(picture)
	up_onramp > /dev/null && ethtool -L eth0 combined 4 && says 1 "qdisc of eth0: wanted mq with onramp" turnpike diff &&
		up_onramp && [ "$(onramps)" = 4 ] && says 0 "all is as wanted" turnpike diff && turnpike down
	status=$?
	no_state || status=1
	ethtool -L eth0 combined 2
	diff <(echo "$before") <(picture) && return $status
}

# owned COMMAND TEXT...: somebody else's qdisc while all is up; status, doctor, diff say so, and down leaves it
owned() {
	up_onramp > /dev/null && eval "$1" || return 1
	says 0 "not so any more: qdisc of eth0" turnpike && says 1 "qdisc of eth0: wanted" turnpike diff &&
		says 1 "not as turnpike up made it: qdisc of eth0" turnpike doctor eth0 || return 1
	says 0 "" turnpike down
	qdiscs
	[[ $(qdiscs) == *"$2"* ]] && [ "$(onramps)" = 0 ] && [ -z "$(lsmod_ours)" ]
}

and_is_removed() {
	"$@"
	local status=$?
	turnpike down > /dev/null
	tc qdisc del dev eth0 root
	return $status
}

foreign_root__is_told_of_and_left() { and_is_removed owned "tc qdisc replace dev eth0 root handle 9: fq limit 77" "limit 77p"; }

foreign_class__is_told_of_and_left() {
	and_is_removed owned "tc qdisc replace dev eth0 parent 1:2 fq limit 77" "limit 77p"
}

# 1: is what everybody calls theirs.
foreign_mq__is_told_of_and_left() {
	and_is_removed owned "tc qdisc replace dev eth0 root pfifo && tc qdisc replace dev eth0 root handle 1: mq &&
		tc qdisc replace dev eth0 parent 1:1 fq limit 66 && tc qdisc replace dev eth0 parent 1:2 fq limit 77" "limit 66p"
}

foreign_class__that_up_replaced_comes_back() { and_is_removed replaced_by_up; }

replaced_by_up() {
	up_onramp > /dev/null && tc qdisc replace dev eth0 parent 1:2 fq limit 77 && up_onramp && [ "$(onramps)" = 2 ] &&
		turnpike down && [[ $(qdiscs) == *"limit 77p"* ]] && [ "$(onramps)" = 0 ]
}

persist__needs_its_unit() {
	local status

	mv /lib/systemd/system/turnpike.service /run/
	systemctl daemon-reload
	refused_with "turnpike.service" turnpike up "${all[@]}" --persist && [ ! -e /etc/turnpike/turnpike.conf ]
	status=$?
	mv /run/turnpike.service /lib/systemd/system/
	systemctl daemon-reload
	return $status
}

persist__enables_the_unit() {
	turnpike up "${all[@]}" --persist && systemctl is-enabled turnpike.service &&
		systemctl is-active turnpike.service && [ "$(onramps)" = 2 ] &&
		says 0 "all is as wanted" turnpike diff || return 1
	picture > /disk/picture
	cat /disk/picture
}

unit_ended() { systemctl is-active turnpike.service > /dev/null || systemctl is-failed turnpike.service > /dev/null; }

second_boot__makes_all_again() {
	[ -e /disk/picture ] && soon unit_ended
	systemctl status --no-pager turnpike.service
	systemctl is-active turnpike.service && picture > /run/picture && diff /disk/picture /run/picture &&
		says 0 "all is as wanted" turnpike diff && says 0 "by systemd" turnpike
}

second_boot__down_takes_it_back() {
	turnpike down --persist && [ "$(onramps)" = 0 ] && [ -z "$(lsmod_ours)" ] && ! ip route show | grep congctl &&
		[[ $(tc qdisc show dev eth0) == *"qdisc mq 0: root"* ]] && ! systemctl is-enabled turnpike.service &&
		! systemctl is-active turnpike.service
}

only_signed_modules() { echo 1 > /sys/module/module/parameters/sig_enforce; }

signed_modules_alone__doctor_names_the_cause() {
	only_signed_modules && says 2 "nobody signed" turnpike doctor eth0
}

signed_modules_alone__up_refuses_and_changes_nothing() {
	refused_with "Key was rejected by service" turnpike up "${all[@]}" && no_state
}

first_boot="nothing_loaded__is_said_and_harmless up__gives_each_queue_an_onramp status__and_metrics_sum_the_queues
	down__gives_an_administrators_mq_back_with_its_options queues_that_come_later__are_told_of_and_taken
	foreign_root__is_told_of_and_left foreign_class__is_told_of_and_left foreign_mq__is_told_of_and_left
	foreign_class__that_up_replaced_comes_back persist__needs_its_unit persist__enables_the_unit"
second_boot="second_boot__makes_all_again second_boot__down_takes_it_back
	signed_modules_alone__doctor_names_the_cause signed_modules_alone__up_refuses_and_changes_nothing"

ktap_note "$boot boot, after $(cut -d' ' -f1 /proc/uptime) s"
if [ $boot = first ]; then
	ktap_start
	# shellcheck disable=SC2086  # a list
	run_cases $first_boot
	start_again
fi
# shellcheck disable=SC2086  # a list
run_cases $second_boot
ktap_finish
