# SPDX-License-Identifier: GPL-2.0
# KTAP output for shell tests.  A test file sources this, calls one reporting
# function per case and ends with ktap_finish, which prints the plan and exits.
# shellcheck shell=sh

ktap_number=0
ktap_failed=0
ktap_skipped=0

ktap_start() { echo "TAP version 13"; }

ktap_pass() {
	ktap_number=$((ktap_number + 1))
	echo "ok $ktap_number - $*"
}

ktap_fail() {
	ktap_number=$((ktap_number + 1))
	ktap_failed=$((ktap_failed + 1))
	echo "not ok $ktap_number - $*"
}

# ktap_skip NAME REASON
ktap_skip() {
	ktap_number=$((ktap_number + 1))
	ktap_skipped=$((ktap_skipped + 1))
	echo "ok $ktap_number - $1 # SKIP $2"
}

# A remark on the case before or after it; ignored by what counts.
ktap_note() { echo "# $*"; }

# ktap_case NAME COMMAND [ARGUMENT...]: one case that is as good as its command.
# The command's output becomes notes; exit status 4 is a skip.
ktap_case() {
	_ktap_name=$1
	shift
	_ktap_status=0
	_ktap_output=$("$@" 2>&1) || _ktap_status=$?
	[ -z "$_ktap_output" ] || echo "$_ktap_output" | sed 's/^/# /'
	case $_ktap_status in
	0) ktap_pass "$_ktap_name" ;;
	4) ktap_skip "$_ktap_name" "$(echo "$_ktap_output" | tail -n 1)" ;;
	*) ktap_fail "$_ktap_name (status $_ktap_status)" ;;
	esac
}

ktap_finish() {
	echo "1..$ktap_number"
	[ "$ktap_failed" -eq 0 ] || exit 1
	[ "$ktap_number" -gt "$ktap_skipped" ] || exit 4
	exit 0
}
