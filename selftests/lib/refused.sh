# SPDX-License-Identifier: GPL-2.0
# Commands that must say no. Who sources this has picture, which prints what they might have changed.
# shellcheck shell=bash

# refused_with REASON COMMAND...: it says no, and why, and changes nothing
refused_with() {
	local reason=$1 before out

	before=$(picture)
	if out=$("${@:2}" 2>&1); then
		echo "$out"
		echo "accepted: ${*:2}"
		return 1
	fi
	echo "$out"
	[[ $out == *"$reason"* ]] && diff <(echo "$before") <(picture)
}
