# SPDX-License-Identifier: GPL-2.0
# What selftests/kernel/series says.
# shellcheck shell=bash

series_list=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/series

# All series, oldest first.
all_series() { awk '/^[0-9]/ { print $1 }' "$series_list"; }

# The series that has a role: oldest, main or newest.
series_of() { awk -v role="$1" '/^[0-9]/ && $2 == role { print $1 }' "$series_list"; }

is_series() { all_series | grep -qxF -- "$1"; }

# The releases that have a series' packages, with commas between them.
series_releases() {
	awk -v series="$1" '/^[0-9]/ && $1 == series {
		for (i = 3; i <= NF; i++)
			printf "%s%s", $i, i < NF ? "," : "\n"
	}' "$series_list"
}
