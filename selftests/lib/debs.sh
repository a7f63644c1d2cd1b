# SPDX-License-Identifier: GPL-2.0
# The Debian packages of this tree, built by a user in a chroot (chroot.sh).  Sourced by bash
# scripts that stand at the top of the tree.
# shellcheck shell=bash disable=SC2154  # $chroot is that of chroot.sh

# Where the tree is in the chroot: a place with a name of its own.
debs_tree=/src/turnpike

# Headers bring a kernel with them, which nobody starts: it needs no initramfs.
install_packages() { chroot_run env INITRD=No apt-get -qq -y install "$@"; }

# quietly COMMAND...: what it says is told if it fails
quietly() {
	"$@" > "$chroot/tmp/said" 2>&1 || { tail -n 20 "$chroot/tmp/said"; return 1; }
}

as_builder() { chroot_run su builder -c "cd $debs_tree && $1"; }

# copy_tree [COMMIT]: as it stands, or that of a commit; git stays outside.
copy_tree() {
	rm -rf "${chroot:?}$debs_tree"
	mkdir -p "$chroot$debs_tree"
	if [ -n "${1:-}" ]; then
		git archive "$1"
	else
		git ls-files -z | while read -rd '' file; do
			[ ! -e "$file" ] || printf '%s\0' "$file"
		done | tar --null --files-from=- -cf -
	fi | tar -C "$chroot$debs_tree" -xf -
	chroot_run sh -c "id builder > /dev/null 2>&1 || useradd -m builder; chown -R builder: $debs_tree"
}

set_version() { echo "$1" > "$chroot$debs_tree/VERSION"; }

# build_debs INTO [SETTING...]: make deb, whose packages are then in INTO.
build_debs() {
	quietly as_builder "env ${*:2} make -s deb" && chroot_run mv "$debs_tree/build/deb" "$1"
}

# Kernels that have a directory of modules in the chroot.
kernels() { (cd "$chroot/lib/modules" && ls); }

# modinfo finds modules by what depmod wrote, which a kernel's own package starts.
index_kernels() {
	local kernel

	for kernel in $(kernels); do
		chroot_run depmod "$kernel"
	done
}
