#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# selftests/lib/apt-fetch beside an apt that knows linux-source-6.12 alone.

top=$(readlink -f "$(dirname "$(readlink -f "$0")")/../..")
# shellcheck source=selftests/lib/ktap.sh
. "$top/selftests/lib/ktap.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

mkdir "$work/bin"
# As apt-cache does: a name that it does not know is a pattern.
cat > "$work/bin/apt-cache" <<'APT_CACHE'
#!/bin/bash
[[ linux-source-6.12 =~ ${!#} ]] || exit 0
echo "linux-source-6.12:"
echo "  Installed: (none)"
echo "  Candidate: 6.12.117-1"
echo "  Version table:"
APT_CACHE
cat > "$work/bin/apt-get" <<'APT_GET'
#!/bin/bash
[ "$1" = indextargets ] && echo "http://mirror.invalid/debian http://mirror.invalid/debian/dists/$CODENAME/ main Packages"
exit 0
APT_GET
chmod 755 "$work"/bin/*
# shellcheck source=/dev/null
CODENAME=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
export CODENAME

version() { PATH=$work/bin:$PATH TURNPIKE_CACHE=$work/cache "$top/selftests/lib/apt-fetch" version "$1" 2>&1; }

# shellcheck disable=SC2317  # called through ktap_case
exact() { [ "$(version linux-source-6.12)" = 6.12.117-1 ]; }

# shellcheck disable=SC2317
not_a_pattern() {
	local said

	said=$(version linux-source-6.1) && { echo "$said"; return 1; }
	[[ $said == *"package linux-source-6.1 is in no known suite"* ]] || { echo "$said"; return 1; }
}

ktap_start
ktap_case version__of_a_package exact
ktap_case version__of_a_package_whose_name_begins_that_of_another not_a_pattern
ktap_finish
