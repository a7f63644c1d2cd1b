#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# turnpike status, doctor and metrics: what they say of a host while there is traffic, feedback or none, rights or none.

# shellcheck source=selftests/setup/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

status_of_a() { in_a "$turnpike" status "$@"; }
doctor_of_a() { in_a "$turnpike" doctor "$@"; }

# 2 KB a millisecond on each of four connections, which stay until `sent'
send_a_little() {
	send --seconds 0.1 --write 2000 --interval 0.001 --flows 4 --idle 30 && sleep 1
}

status__is_off_where_nothing_is_on() {
	out=$(status_of_a)
	echo "$out"
	[[ $out == *"verdict  off: turnpike up"* ]] && [ "$(in_a "$turnpike")" = "$out" ]
}

status__works_with_feedback() {
	up veth0 --profile onramp > /dev/null && onramp_on_b && send_a_little || return 1
	out=$(status_of_a)
	json=$(status_of_a -j)
	sent
	no_onramp_on_b
	echo "$out"
	[[ $out == *"onramp   veth0: 4 flows, queueing delay p50 "* && $out == *"set up   by root, "*"all of it stands"* &&
		$out == *"1 host with receipts"* && $out == *"verdict  working"* &&
		$out == *"network namespace $b"*"verdict  idle"* ]] || return 1
	python3 -c '
import json, sys
one = json.load(sys.stdin)["namespaces"][0]
device = one["devices"][0]
assert device["samples"] > 50 and device["queues"] == 1 and device["drops"] == 0, device
assert one["peers"] == {"answering": 1, "silent": []}, one["peers"]
' <<< "$json"
}

status__says_that_no_feedback_comes() {
	up veth0 --profile onramp > /dev/null && send_a_little || return 1
	out=$(status_of_a)
	found=$(doctor_of_a -j)
	sent
	echo "$out"
	[[ $out == *"no effect because onramp on veth0 gets no feedback"* ]] && python3 -c '
import json, sys
found = {one["check"]: one for one in json.load(sys.stdin) if one["severity"] == "warning"}
assert {"feedback", "key"} <= set(found), sorted(found)
assert "61004" in found["feedback"]["mend"]
' <<< "$found"
}

status__counts_connections_of_timely() {
	up veth0 --for 10.1.0.0/24 > /dev/null && send_a_little || return 1
	out=$(status_of_a)
	sent
	echo "$out"
	[[ $out == *"timely   4 flows, RTT p50 "*"by routes of veth0"* && $out == *"verdict  working"* ]] || return 1
	[[ $(status_of_a veth0) == *"by routes of veth0"* ]] && ! status_of_a many
}

status__tells_of_what_somebody_undid() {
	up veth0 --profile onramp > /dev/null && in_a tc qdisc replace dev veth0 root fq || return 1
	out=$(status_of_a)
	doctor=$(doctor_of_a)
	in_a tc qdisc del dev veth0 root
	echo "$out$doctor"
	[[ $out == *"not so any more: qdisc of veth0"* && $out == *"verdict  not as it was set up"* &&
		$doctor == *"not as turnpike up made it"* ]]
}

status__of_all_namespaces() {
	up veth0 --profile onramp > /dev/null || return 1
	out=$("$turnpike" status)
	echo "$out"
	[[ $out == *"network namespace $a"*"onramp   veth0: 0 flows"* && $out != *"network namespace $b"* ]] &&
		[[ $("$turnpike" status veth0) == *"onramp   veth0"* ]] && ! "$turnpike" status nowhere
}

# `script' is a terminal, of 40 columns here.
status__folds_on_a_terminal_alone() {
	in_a script -qec "stty cols 40; '$turnpike' status" /dev/null | tr -d '\r' > "$work/terminal"
	in_a "$turnpike" status > "$work/whole"
	cat "$work/terminal" "$work/whole"
	grep -q "^verdict  off" "$work/terminal" && ! grep -qE "^.{41}" "$work/terminal" && grep -qE "^.{41}" "$work/whole"
}

# Not even help.
output__that_cannot_be_written_is_an_error() {
	for words in version --help --version "status --help" status "doctor -j"; do
		# shellcheck disable=SC2086  # words
		! in_a "$turnpike" $words > /dev/full || { echo "turnpike $words: content"; return 1; }
	done
}

status__needs_no_rights() {
	command -v setpriv > /dev/null || { echo "setpriv is missing"; return 4; }
	up veth0 --profile onramp > /dev/null || return 1
	out=$(in_a setpriv --reuid=65534 --clear-groups "$turnpike" status) || return 1
	echo "$out"
	[[ $out == *"onramp   veth0: 0 flows"* ]]
}

# The kernel loads the module of a netlink family that somebody asks for by its name.
looks__load_no_module() {
	printf '#!/bin/sh\necho "$*" >> %s/asked\n' "$work" > "$work/kernels-modprobe" && chmod +x "$work/kernels-modprobe"
	before=$(cat /proc/sys/kernel/modprobe)
	rm -f "$work/asked" "$work/x.rec"
	echo "$work/kernels-modprobe" > /proc/sys/kernel/modprobe
	for look in status "doctor veth0 --all" diff metrics version "record $work/x.rec --for 10ms" "onramp show" "onramp flows" \
		"onramp peers" "onramp stats" "tlt show" "tlt flows" "tlt stats"; do
		# shellcheck disable=SC2086  # words
		in_a "$turnpike" $look
	done
	# What it does if one is asked for by name.
	in_a "${TC:-tc}" qdisc add dev veth0 root nothing 2> /dev/null
	echo "$before" > /proc/sys/kernel/modprobe
	cat "$work/asked"
	grep -q nothing "$work/asked" && ! grep -q turnpike "$work/asked"
}

# As on each host with systemd, users do not see what is in /sys/fs/bpf.
doctor__needs_no_rights() {
	command -v setpriv > /dev/null || { echo "setpriv is missing"; return 4; }
	up veth0 --profile onramp > /dev/null || return 1
	out=$(in_a sh -c "mount -t tmpfs -o mode=700 hidden /sys/fs && mkdir -m 700 /sys/fs/bpf &&
		exec setpriv --reuid=65534 --clear-groups $turnpike doctor" 2>&1)
	echo "$out"
	[[ $out == *" fine, "*" broken" ]]
}

# A name that no ioctl takes, as it is too long.
doctor__knows_other_names_of_a_device() {
	other=the-cable-to-the-second-switch
	ip -n "$a" link property add dev veth0 altname $other || return 1
	out=$(up $other --for 10.1.0.0/24 --with timely,onramp --dry-run; up $other --profile onramp; status_of_a $other
		doctor_of_a $other --all; doctor_of_a nowhere 2>&1)
	ip -n "$a" link property del dev veth0 altname $other
	echo "$out"
	[[ $out == *"tc qdisc replace dev veth0 root onramp"* && $out == *"dev veth0 "*"congctl timely"* &&
		$out == *"onramp   veth0: 0 flows"* && $out == *"veth0 "*"further frames"* && $out == *"no device nowhere"* ]]
}

# A listener, and connections; the file still names the module, as after `down --persist'.
doctor__names_who_holds_a_module() {
	up veth0 --for 10.1.0.0/24 > /dev/null && send_a_little || return 1
	ip netns exec "$a" python3 -c '
import socket, time
listener = socket.socket()
listener.setsockopt(socket.IPPROTO_TCP, 13, b"timely")
listener.bind(("10.1.0.1", 7001))
listener.listen()
time.sleep(600)' &
	listener=$!
	wait_for "a listener" listens_on 7001 && out=$(down 2>&1)
	doctor=$(in_a sh -c "mount -t tmpfs none /etc && mkdir /etc/turnpike && printf '%s\n' '[net]' 'for = 10.1.0.0/24' \
		'congestion = timely' '[device veth0]' > /etc/turnpike/turnpike.conf && exec $turnpike doctor")
	kill $listener
	wait $listener
	sent
	echo "$out"
	echo "$doctor"
	held="held by 1 listener (10.1.0.1:7001), 4 connections (to 10.1.0.2:5001, to 10.1.0.2:5001, ...)"
	[[ $out == *"tcp_timely stays loaded"*"$held; later: rmmod"* ]] || return 1
	[[ $doctor == *"tcp_timely is in use"*"$held"* ]]
}

listens_on() { [ -n "$(ss -N "$a" -Htln sport = "$1")" ]; }

doctor__tells_of_timely_for_everything() {
	up veth0 --for 10.1.0.0/24 > /dev/null || return 1
	before=$(in_a sysctl -n net.ipv4.tcp_congestion_control)
	in_a sysctl -q -w net.ipv4.tcp_congestion_control=timely
	out=$(doctor_of_a)
	code=$?
	in_a sysctl -q -w net.ipv4.tcp_congestion_control="$before"
	echo "$out"
	[ $code = 2 ] && [[ $out == *"broken  timely is the congestion control of all connections"* ]]
}

# severity_of CHECK: of the first finding of that, in what doctor -j printed
severity_of() { python3 -c 'import json, sys; print(next(one["severity"] for one in json.load(sys.stdin) if one["check"] == sys.argv[1]))' "$1"; }

doctor__compares_pauses_with_timeouts() {
	up veth0 --profile onramp > /dev/null || return 1
	before=$(doctor_of_a -j | severity_of rto)
	ip -n "$a" route change 10.1.0.0/24 dev veth0 src 10.1.0.1 rto_min 5ms || return 1
	after=$(doctor_of_a -j | severity_of rto)
	out=$(doctor_of_a)
	ip -n "$a" route change 10.1.0.0/24 dev veth0 proto kernel scope link src 10.1.0.1
	echo "$before, then $after; $out"
	[ "$before $after" = "fine warning" ] && [[ $out == *"holds a flow for 50.0 ms at most"*"after 5.00 ms at the least"* ]]
}

doctor__says_that_nothing_is_kept() {
	before=$(doctor_of_a -j | severity_of saved)
	up veth0 --profile onramp > /dev/null || return 1
	after=$(doctor_of_a -j | severity_of saved)
	echo "$before, then $after"
	[ "$before $after" = "fine info" ]
}

doctor__knows_how_right_the_clock_is() {
	up veth0 --profile onramp > /dev/null && in_a "$turnpike" clock disciplined 50us > /dev/null || return 1
	before=$(doctor_of_a -j | severity_of clock)
	in_a "$turnpike" clock disciplined 51us > /dev/null
	after=$(doctor_of_a -j | severity_of clock)
	in_a "$turnpike" clock undisciplined > /dev/null
	echo "$before, then $after"
	[ "$before $after" = "fine warning" ]
}

# net.core.default_qdisc is the first namespace's alone.
doctor__tells_of_qdiscs_from_before() {
	before=$(sysctl -n net.core.default_qdisc) || return 4
	up veth0 --profile onramp > /dev/null && sysctl -q -w net.core.default_qdisc=pfifo_fast || return 1
	ip tuntap add before0 mode tap && ip link set before0 up
	sysctl -q -w net.core.default_qdisc=onramp
	ip tuntap add behind0 mode tap && ip link set behind0 up
	out=$("$turnpike" doctor)
	sh -c "$(sed -n 's/.*try: \(tc .* before0 .*\)/\1/p' <<< "$out")"
	mended=$("$turnpike" doctor -j | severity_of qdisc)
	in_namespace=$(doctor_of_a)
	ip link del before0
	ip link del behind0
	sysctl -q -w net.core.default_qdisc="$before"
	echo "$out, then $mended"
	[[ $out == *"before0 has pfifo_fast from before"* && $out != *"behind0 has"* && $in_namespace != *"from before"* ]] && [ "$mended" = fine ]
}

# The least rate is above that of all connections.
metrics__counts_flows_at_the_floor() {
	up veth0 --for 10.1.0.0/24 > /dev/null && send_a_little || return 1
	before=$(in_a "$turnpike" metrics | grep '^turnpike_flows_at_floor')
	least=$(in_a sysctl -n net.ipv4.tcp_timely.min_rate_bps)
	in_a sysctl -q -w net.ipv4.tcp_timely.min_rate_bps="$(in_a sysctl -n net.ipv4.tcp_timely.max_rate_bps)"
	after=$(in_a "$turnpike" metrics | grep '^turnpike_flows_at_floor')
	in_a sysctl -q -w net.ipv4.tcp_timely.min_rate_bps="$least"
	sent
	echo "$before, then $after"
	[[ $before == *" 0" && $after == *" 4" ]]
}

url_is_told() { grep -q http "$work/url"; }

# By a thread of its own, of all namespaces. Asking is a connection itself.
metrics__are_served_as_they_are_printed() {
	up veth0 --for 10.1.0.0/24 --with timely,onramp > /dev/null && onramp_on_b && send_a_little || return 1
	ip -n "$a" link set lo up
	ip netns exec "$a" "$turnpike" metrics --listen 127.0.0.1:0 > "$work/url" 2> "$work/errors" &
	server=$!
	wait_for "a server" url_is_told || cat "$work/errors"
	served=$(in_a python3 -c 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=60).read().decode())' \
		"$(cat "$work/url")" | grep '^turnpike_' | grep -v -e _time_ -e tcp_other)
	printed=$(in_a "$turnpike" metrics | grep '^turnpike_' | grep -v -e _time_ -e tcp_other)
	kill $server
	wait $server
	status=$?
	sent
	no_onramp_on_b
	diff <(echo "$printed") <(echo "$served") && [[ $served == *"netns=\"$b\""* ]] && [ $status = 0 ]
}

# What it prints agrees with what status and tc say; the connections send nothing meanwhile.
metrics__tells_of_real_devices() {
	up veth0 --for 10.1.0.0/24 --with timely,onramp > /dev/null && onramp_on_b && send_a_little || return 1
	printed=$(in_a "$turnpike" metrics)
	json=$(status_of_a -j)
	device=$(TC_LIB_DIR=${TURNPIKE_BUILD:-$here/../../build}/tc in_a tc -s -j qdisc show dev veth0)
	in_a "$turnpike" metrics --write "$work/a.prom"
	written=$(cat "$work/a.prom")
	sent
	no_onramp_on_b
	echo "$printed"
	python3 - "$printed" "$json" "$device" <<-'END' || return 1
		import json, re, sys
		printed = dict(re.findall(r"^([^#].*) (\S+)$", sys.argv[1], re.MULTILINE))
		one = json.loads(sys.argv[2])["namespaces"][0]
		qdisc = next(q for q in json.loads(sys.argv[3]) if q["kind"] == "onramp")
		def value(name, labels):
		    return float(printed["turnpike_" + name + "{" + labels + "}"])
		dev = 'dev="veth0",netns=""'
		device = one["devices"][0]
		assert value("onramp_packets_total", dev) == device["packets"] == qdisc["packets"] > 0
		assert value("onramp_samples_total", dev) == device["samples"] == qdisc["samples"] > 50
		assert value("onramp_held_packets_total", dev) == device["held_packets"] == qdisc["held"]
		assert abs(value("onramp_held_seconds_total", dev) * 1e9 - device["held_ns"]) < 1
		assert device["held_ns"] == qdisc["held_time_ns"]
		assert value("onramp_drops_total", dev) == qdisc["drops"]
		assert abs(value("onramp_delay_seconds", dev + ',percentile="99"') * 1e9 - device["delay_p99_ns"]) < 1
		assert value("timely_flows", 'netns=""') == one["timely"]["flows"] == 4
		assert value("timely_samples_total", 'netns=""') > 0
		assert value("peers", 'netns="",state="answering"') == one["peers"]["answering"] == 1
		assert value("receipts_taken_total", 'netns=""') > 0
		assert value("setup_differs", 'netns=""') == 0
		assert value("module_loaded", 'module="sch_onramp"') == 1 and value("module_loaded", 'module="tlt"') == 0
	END
	# Of the other namespace, too.
	[[ $printed == *"netns=\"$b\"} 1"* && $written == *turnpike_up_info* ]]
}

make_host || { ktap_fail "hosts__are_made"; ktap_finish; }
trap 'clean_up; drop_hosts' EXIT
run_cases "$@"
ktap_finish
