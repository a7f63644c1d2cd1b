#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# selftests/lib/install-packages and tools/announce beside stand-ins of apt-get, dpkg-query and sudo.

top=$(readlink -f "$(dirname "$(readlink -f "$0")")/../..")
# shellcheck source=selftests/lib/ktap.sh
. "$top/selftests/lib/ktap.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# A copy, since it leaves its log in the tree; and programs that it finds, each of one line.
mkdir -p "$work/tree/selftests/lib" "$work/bin"
cp "$top/selftests/lib/install-packages" "$work/tree/selftests/lib/"
printf 'build\tmake\nbuild\tgcc\nkernel\tbc\n' > "$work/tree/selftests/packages.txt"
for program in bash env awk dirname readlink mkdir tail cat; do
	ln -s "$(command -v $program)" "$work/bin/$program"
done

# stands_for NAME LINE
stands_for() {
	printf '#!/bin/bash\n%s\n' "$2" > "$work/bin/$1"
	chmod 755 "$work/bin/$1"
}

# Only make is installed; apt-get keeps what it was told.
machine() {
	rm -f "$work"/bin/{apt-get,sudo} "$work/told"
	# shellcheck disable=SC2016
	stands_for dpkg-query '[ "${!#}" = make ] && echo installed'
	[ "${1:-}" = "no apt" ] || stands_for apt-get "echo \"\$*\" >> $work/told; exit ${2:-0}"
	stands_for id 'echo 0'
}

install() { PATH=$work/bin "$work/tree/selftests/lib/install-packages" "$@" > "$work/said" 2>&1; }
said() { grep -qx -- "$1" "$work/said" || { cat "$work/said"; return 1; }; }
lines() { [ "$(wc -l < "$work/said")" = "$1" ] || { cat "$work/said"; return 1; }; }

# shellcheck disable=SC2317  # all of these are called through ktap_case
installs_a_class() {
	machine && install build && lines 1 && said "Installing Debian packages (log: build/apt.log): gcc" &&
		grep -q -- '-y install --no-install-recommends gcc$' "$work/told"
}

# shellcheck disable=SC2317
installs_all_classes() {
	machine && install && said "Installing Debian packages .*: gcc bc"
}

# shellcheck disable=SC2317
says_nothing() {
	machine
	stands_for dpkg-query 'echo installed'
	install && lines 0 && [ ! -e "$work/told" ]
}

# shellcheck disable=SC2317
lists() { machine && install --list build && said gcc && [ ! -e "$work/told" ]; }

# shellcheck disable=SC2317
lists_without_apt() {
	machine "no apt"
	rm "$work/bin/dpkg-query"
	install build && return 1
	lines 1 && said "No apt-get here.*: make gcc"
}

# shellcheck disable=SC2317
user_without_sudo() {
	machine
	stands_for id 'echo 1000'
	install build && return 1
	lines 1 && said "Missing packages. As root, run:  apt-get install --no-install-recommends gcc" &&
		[ ! -e "$work/told" ]
}

# shellcheck disable=SC2317
user_with_sudo() {
	machine
	stands_for id 'echo 1000'
	# shellcheck disable=SC2016
	stands_for sudo 'echo "as root" >> '"$work/told"'; exec "$@"'
	install build && grep -q "as root" "$work/told" && grep -q 'install .* gcc$' "$work/told"
}

# shellcheck disable=SC2317
apt_fails() {
	machine apt 100
	install build && return 1
	said "Installing failed. As root, run:  apt-get install --no-install-recommends gcc"
}

# shellcheck disable=SC2317
unknown_class() {
	machine
	install bild
	[ $? = 2 ] && [ ! -e "$work/told" ]
}

# shellcheck disable=SC2317
tool_without_header() {
	CXXFLAGS=-nostdinc "$top/tools/announce" "$work/build" 1 turnpike > "$work/said" 2>&1 && return 1
	lines 1 && said "Tools cannot be built without libmnl/libmnl.h CLI/CLI.hpp .*make deps-build.*"
}

# shellcheck disable=SC2317
tool_without_compiler() {
	CXX=no-such-compiler "$top/tools/announce" "$work/build" 1 turnpike > "$work/said" 2>&1 && return 1
	lines 1 && said "Tools cannot be built without no-such-compiler\..*"
}

# shellcheck disable=SC2317
tools_are_told_once() {
	"$top/tools/announce" "$work/build" 1 turnpike vload > "$work/said" 2>&1 && lines 1 &&
		said "Building tools: turnpike vload"
}

ktap_start
ktap_case install__a_class_and_says_so_in_a_line installs_a_class
ktap_case install__all_classes_when_none_is_named installs_all_classes
ktap_case install__says_nothing_when_all_is_there says_nothing
ktap_case install__list_installs_nothing lists
ktap_case install__without_apt_the_packages_are_named lists_without_apt
ktap_case install__user_without_sudo_gets_the_command user_without_sudo
ktap_case install__user_with_sudo user_with_sudo
ktap_case install__apt_that_fails_is_told apt_fails
ktap_case install__unknown_class_is_refused unknown_class
ktap_case announce__names_missing_headers tool_without_header
ktap_case announce__names_a_missing_compiler tool_without_compiler
ktap_case announce__names_tools_in_a_line tools_are_told_once
ktap_finish
