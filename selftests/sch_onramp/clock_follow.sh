#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# turnpike clock follow: what the kernel is told of what chronyc says. chronyc is a script here that says what the case wants;
# vrack/tests/ptp4l.py has the real ptp4l.

# shellcheck source=selftests/sch_onramp/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

command -v turnpike > /dev/null || skip_all "needs the turnpike command"

says=$TMPDIR/chrony
log=$TMPDIR/follow
cat > "$TMPDIR/chronyc" <<END
#!/bin/sh
[ "\$*" = "-n -c tracking" ] && [ -e $says ] || { echo "506 Cannot talk to daemon"; exit 1; }
cat $says
END
chmod +x "$TMPDIR/chronyc"
PATH=$TMPDIR:$PATH

# chrony DISPERSION [STATE]: in seconds; half of the delay is 10 us, and it drifts by .25 ppm
chrony() {
	echo "0A000005,10.0.0.5,2,1700000000.0,0.000000000,0,0,0,-0.05,0.20,0.000020000,$1,16,${2:-Normal}" > "$says"
}

told() { json_value own_error_ns "$(in_a turnpike clock show -j)"; }
told_is() { [ "$(told)" = "$1" ]; }

# 30 us, and the drift until the next look.
once__says_what_chrony_says() {
	chrony 0.000020000
	in_a turnpike clock follow --once && told_is 31000 || return 1
	in_a turnpike clock follow --once --source chrony --every 1 -j && told_is 30250 || return 1
	in_a turnpike clock undisciplined && told_is null
}

once__without_a_clock_that_is_right_says_why_and_tells_nothing() {
	rm -f "$says"
	_said=$(in_a turnpike clock follow --once 2>&1) && { echo "$_said"; return 1; }
	echo "$_said"
	[[ $_said == *"chrony: chronyc: 506 Cannot talk to daemon"*"ptp4l: "*"kernel: "* ]] && told_is null || return 1
	chrony 0.000020000 "Not synchronised"
	_said=$(in_a turnpike clock follow --once --source chrony 2>&1) && { echo "$_said"; return 1; }
	[[ $_said == *"chronyd is not synchronized"* ]] || { echo "$_said"; return 1; }
	chrony 0.002
	_said=$(in_a turnpike clock follow --once 2>&1) && { echo "$_said"; return 1; }
	[[ $_said == *"more than 1 ms"* ]] && told_is null || { echo "$_said"; return 1; }
}

grows() { _now=$(told); [ "$_now" != null ] && [ "$_now" -gt 31000 ]; }

# A line for each change of who or whether, none for what is the same; after four looks it is over.
follow__tells_a_change_once_and_takes_all_back_at_its_end() {
	chrony 0.000020000
	ip netns exec "$a" turnpike clock follow --every 1 > "$log" &
	_follow=$!
	wait_for "the first word" told_is 30250 && sleep 3 || return 1
	rm "$says"
	wait_for "an error that grows" grows && wait_for "the end of it" told_is null && sleep 3 || return 1
	chrony 0.000010000
	wait_for "the next word" told_is 20250 || return 1
	kill $_follow && wait $_follow
	_status=$?
	cat "$log"
	[ $_status = 0 ] && told_is null && [ "$(wc -l < "$log")" = 4 ] && [ "$(grep -c 'chrony follows 10.0.0.5: right to' "$log")" = 2 ] &&
		grep -q '506 Cannot talk to daemon; the last error counts on' "$log" &&
		grep -q '506 Cannot talk to daemon; the clock counts as not disciplined' "$log"
}

follow__needs_the_right() {
	command -v setpriv > /dev/null || { echo "setpriv is missing"; return 4; }
	chrony 0.000020000
	_said=$(in_a setpriv --bounding-set=-net_admin --inh-caps=-net_admin turnpike clock follow 2>&1) && { echo "$_said"; return 1; }
	echo "$_said"
	[[ $_said == *CAP_NET_ADMIN* ]] && told_is null
}

begin_on_path
run_cases "$@"
finish_hosts
