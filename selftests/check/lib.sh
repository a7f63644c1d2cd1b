# SPDX-License-Identifier: GPL-2.0
# What the checks share.  Run from anywhere; they look at the whole tree, at the
# files git knows and at new ones that are not ignored.
# shellcheck shell=bash

here=$(dirname "$(readlink -f "$0")")
top=$(readlink -f "$here/../..")
cd "$top" || exit 1
# shellcheck source=selftests/lib/ktap.sh
. selftests/lib/ktap.sh
# shellcheck source=selftests/lib/cache.sh
. selftests/lib/cache.sh

# tree_files PATHSPEC...
tree_files() {
	if git rev-parse --git-dir > /dev/null 2>&1; then
		git ls-files --cached --others --exclude-standard -- "$@"
	else
		find . -path ./build -prune -o -path ./.git -prune -o -type f -print | sed 's@^\./@@' |
			while read -r file; do
				for pattern; do
					# shellcheck disable=SC2053  # a pattern
					[[ $file != $pattern ]] || { echo "$file"; break; }
				done
			done
	fi | sort -u | while read -r file; do [ ! -f "$file" ] || echo "$file"; done
}

# C files that are compiled into kernel modules.
kernel_files() {
	tree_files 'tcp_timely/*.[ch]' 'selftests/vrack/*.[ch]' 'selftests/cc/*.[ch]' 'compat/*.[ch]' 'include/*.[ch]' \
		'drivers/nicstamp/*.[ch]' 'sch_onramp/*.[ch]' 'tlt/*.[ch]' 'selftests/qemu/hooks/*.[ch]' \
		'selftests/tlt/foreign/*.[ch]'
}

# Newest cached test kernel of series $1, if there is one.
cached_kernel() {
	find "$cache_dir/kernels" -maxdepth 1 -type d -name "$1-plain-*" -printf '%T@ %p\n' 2>/dev/null |
		sort -n | tail -n 1 | cut -d' ' -f2-
}
