# SPDX-License-Identifier: GPL-2.0
# Small Debian systems to install in, one per release, thrown away afterwards.  Sourced by
# bash scripts that run as root; nothing of the machine is touched.
#
#	chroot_possible || exit 4		# says what is missing
#	chroot_new trixie			# leaves $chroot set; removed when the script ends
#	chroot_bind DIR /mnt/there [ro]		# seen by all commands that follow
#	chroot_run apt-get install -y make
#	chroot_keep_packages			# what apt downloaded, for the next one
#
# Commands run in a mount and a process namespace of their own: mounts and whatever was
# left running end with each command, so that removing the directory removes nothing else.
# shellcheck shell=bash

# shellcheck source=selftests/lib/cache.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/cache.sh"

chroot=
chroot_store=$cache_dir/chroots
# "from to ro|rw" by tabs.
chroot_binds=()

chroot_possible() {
	local tool

	[ "$(id -u)" -eq 0 ] || { echo "chroots can only be made by root"; return 1; }
	for tool in debootstrap unshare apt-get; do
		PATH=$PATH:/usr/sbin command -v $tool > /dev/null ||
			{ echo "$tool is missing (make deps)"; return 1; }
	done
	unshare --mount true 2>/dev/null || { echo "mounts are not allowed here"; return 1; }
}

# The machine's own mirrors, "repository suite" each; its release's name is in the suites.
chroot_machine_suites() {
	# shellcheck disable=SC2016  # apt expands these
	apt-get indextargets --format '$(REPO_URI) $(BASE_URI) $(COMPONENT) $(CREATED_BY)' |
		awk -v code="$1" '$3 == "main" && $4 == "Packages" {
			suite = $2
			sub(/\/$/, "", suite)
			sub(/.*\/dists\//, "", suite)
			if (suite == code || index(suite, code "-") == 1)
				print $1, suite
		}' | sort -u
}

# The same mirrors for another release, as lines of sources.list; with backports, which
# have the kernels that operators of stable run.
chroot_sources() {
	local release=$1 machine repo suite

	# shellcheck source=/dev/null
	machine=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	chroot_machine_suites "$machine" | while read -r repo suite; do
		suite=$release${suite#"$machine"}
		echo "deb $repo $suite main"
		[ "$suite" != "$release" ] || echo "deb $repo $release-backports main"
	done | sort -u
}

# What the machine's apt was told about proxies and clocks holds for the chroot's, too.
chroot_apt_settings() {
	apt-config dump | grep -E '^Acquire::(https?::Proxy|Check-)'
	echo 'APT::Install-Recommends "false";'
	echo 'Acquire::Languages "none";'
}

# Print the packed system of a release, made when there is none or it is older than a week.
chroot_base() (
	release=$1
	base=$chroot_store/$release.tar
	mkdir -p "$chroot_store"
	exec 9> "$base.lock"
	flock 9
	if [ -z "$(find "$base" -mtime -7 2>/dev/null)" ]; then
		mirror=$(chroot_sources "$release" | awk -v suite="$release" '$3 == suite { print $2; exit }')
		[ -n "$mirror" ] || { echo "chroot: apt's sources name no Debian mirror" >&2; exit 1; }
		echo "chroot: making a minimal system of $release" >&2
		tree=$(mktemp -d "$chroot_store/base.XXXXXX")
		chmod 755 "$tree"
		trap 'rm -rf "$tree"' EXIT
		PATH=$PATH:/usr/sbin:/sbin debootstrap --variant=minbase "$release" "$tree" "$mirror" \
			> "$base.log" 2>&1 9>&- || { tail -n 5 "$base.log" >&2; exit 1; }
		chroot_sources "$release" > "$tree/etc/apt/sources.list"
		chroot_apt_settings > "$tree/etc/apt/apt.conf.d/90turnpike"
		# Thrown away soon: nothing need reach the disk.
		echo force-unsafe-io > "$tree/etc/dpkg/dpkg.cfg.d/turnpike"
		rm -f "$tree"/var/cache/apt/archives/*.deb
		# shellcheck disable=SC2030  # for this command alone
		chroot_binds=()
		chroot=$tree chroot_run apt-get -qq update >&2 || exit 1
		tar -C "$tree" -cf "$base.new" . && mv "$base.new" "$base" || exit 1
	fi
	echo "$base"
)

# A fresh system of a release in $chroot; chroot_remove is called when the script ends.
# A script with an EXIT trap of its own calls chroot_remove there.
chroot_new() {
	local base

	base=$(chroot_base "$1") || return 1
	chroot_release=$1
	chroot_remove
	chroot=$(mktemp -d "$chroot_store/$1.XXXXXX") || return 1
	[ -n "$(trap -p EXIT)" ] || trap chroot_remove EXIT
	tar -C "$chroot" -xf "$base" && chmod 755 "$chroot" || return 1
	# Links, since both are in the cache: apt finds what it downloaded before.
	mkdir -p "$chroot_store/$1.debs"
	find "$chroot_store/$1.debs" -name '*.deb' -exec \
		cp -l -t "$chroot/var/cache/apt/archives" {} +
}

chroot_keep_packages() {
	find "$chroot/var/cache/apt/archives" -maxdepth 1 -name '*.deb' -exec \
		cp -ln -t "$chroot_store/$chroot_release.debs" {} +
}

chroot_remove() {
	[ -z "$chroot" ] || rm -rf --one-file-system "$chroot"
	chroot=
}

# chroot_bind FROM TO [ro]: what is at FROM here is at TO there.
chroot_bind() {
	# shellcheck disable=SC2031  # chroot_base has none
	chroot_binds+=("$1"$'\t'"$2"$'\t'"${3:-rw}")
}

# The first half of chroot_run, in namespaces of its own.  Not to be called.
chroot_mount() {
	local root=$1 bind from to mode

	mount -t proc proc "$root/proc" && mount -t sysfs -o ro sysfs "$root/sys" &&
		mount --rbind /dev "$root/dev" || return 1
	for bind in "${@:2}"; do
		IFS=$'\t' read -r from to mode <<< "$bind"
		if [ -d "$from" ]; then
			mkdir -p "$root$to"
		else
			mkdir -p "$(dirname "$root$to")" && touch "$root$to"
		fi
		mount --bind "$from" "$root$to" || return 1
		[ "$mode" = rw ] || mount -o "remount,bind,$mode" "$root$to" || return 1
	done
}

# Run a command in $chroot with a user's plain environment; its exit status is the command's.
chroot_run() {
	# shellcheck disable=SC2031
	local binds=("${chroot_binds[@]}") file

	# Or all of this would happen to the machine itself.
	[ -n "$chroot" ] || { echo "chroot: there is none yet" >&2; return 125; }
	for file in /etc/resolv.conf /etc/hosts; do
		[ ! -e "$file" ] || binds+=("$(readlink -f "$file")"$'\t'"$file"$'\t'ro)
	done
	# shellcheck disable=SC2016  # for the shell in there
	unshare --mount --pid --fork --kill-child bash -c '
		root=$2
		. "$1" && chroot_mount "$root" "${@:4:$3}" || exit 125
		shift $((3 + $3))
		exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
			HOME=/root USER=root LOGNAME=root SHELL=/bin/bash TERM=dumb LC_ALL=C.UTF-8 \
			DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"
	' chroot_run "$(readlink -f "${BASH_SOURCE[0]}")" "$chroot" "${#binds[@]}" "${binds[@]}" "$@"
}
