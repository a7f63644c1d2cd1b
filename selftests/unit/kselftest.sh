#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What `make -C selftests run_tests` says of programs that pass, skip and fail.

here=$(dirname "$(readlink -f "$0")")
# shellcheck source=selftests/lib/ktap.sh
. "$here/../lib/ktap.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lib" "$work/good" "$work/bad" "$work/none"
cp "$here/../Makefile" "$work/"
cp "$here/../lib/kselftest" "$work/lib/"
program() { printf '#!/bin/sh\necho said\nexit %s\n' "$2" > "$work/$1" && chmod +x "$work/$1"; }
program good/passes.sh 0
program good/skips.sh 4
program bad/fails.sh 3
echo "a library" > "$work/good/lib.sh"

# run FOLDERS: what it says is in $out, its status in $status
run() {
	out=$(make -s -C "$work" run_tests TARGETS="$1" 2>&1)
	status=$?
	echo "$out"
}

run__passes_and_skips_are_0() {
	run good && [ $status = 0 ] && [[ $out == *"1..2"*"# said"*"ok 1 selftests: turnpike/good: passes.sh"* ]] &&
		[[ $out == *"ok 2 selftests: turnpike/good: skips.sh # SKIP"* ]]
}

run__a_failure_is_told() {
	run "bad good" || true
	[ $status != 0 ] && [[ $out == *"not ok 1 selftests: turnpike/bad: fails.sh # exit=3"*"ok 3 "* ]]
}

run__without_tests_stops() {
	run none || true
	[ $status != 0 ] && [[ $out == *"Bail out! no tests in selftests/none"* ]]
}

ktap_start
for case in run__passes_and_skips_are_0 run__a_failure_is_told run__without_tests_stops; do
	ktap_case $case $case
done
ktap_finish
