# SPDX-License-Identifier: GPL-2.0
# A system that chroot.sh made, as a disk that QEMU starts with the release's own kernel, systemd, and
# a test named guest.sh.  Sourced by bash scripts that stand at the top of the tree, after debs.sh.
#
#	disk_possible || exit 4			# says what is missing
#	disk_begin upgrade-trixie trixie	# a fresh system with a kernel of clouds, which is small
#	chroot_run apt-get install -y make
#	disk_test selftests/upgrade/guest.sh && disk_run --timeout 10000
#
# shellcheck shell=bash disable=SC2154  # $chroot is that of chroot.sh

disk_name=
disk_made=

disk_possible() {
	local tool

	[ "$(dpkg --print-architecture)" = amd64 ] || { echo "QEMU's guest is an amd64 one"; return 1; }
	chroot_possible || return 1
	PATH=$PATH:/usr/sbin:/sbin
	for tool in qemu-system-x86_64 busybox mke2fs cpio; do
		command -v $tool > /dev/null || { echo "$tool is missing (make deps)"; return 1; }
	done
}

# disk_begin NAME RELEASE: qemu/run knows it by that name.  What a compiler made stays for the next time.
disk_begin() {
	disk_name=$1
	disk_made=$PWD/build/qemu/$1
	mkdir -p "$cache_dir/ccache-$2" "$disk_made"
	trap disk_remove EXIT
	chroot_new "$2" && chroot_bind "$cache_dir/ccache-$2" /ccache &&
		quietly install_packages iproute2 kmod systemd-sysv linux-image-cloud-amd64
}

disk_remove() {
	chroot_remove
	[ -z "$disk_made" ] || rm -rf "$disk_made/disk" "$disk_made"/tree.*
}

# disk_test FILE: what begins when the host is up, and what it needs of the tests in QEMU.
disk_test() {
	mkdir -p "$chroot/tests" "$chroot/disk"
	cp selftests/lib/{ktap,json,refused}.sh selftests/qemu/{pair,host}.sh selftests/qemu/service "$chroot/"
	cp "$1" "$chroot/tests/guest.sh"
	cp "$(command -v busybox)" "$chroot/usr/bin/"
	cp selftests/lib/guest.service "$chroot/etc/systemd/system/"
	chroot_run systemctl --quiet enable guest.service || return 1
	# apt must not be at work when dpkg is wanted.
	chroot_run systemctl --quiet mask apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer
}

# disk_run [OPTION...]: qemu/run's; exits as the test does.
disk_run() {
	local kernel

	kernel=$(kernels)
	disk_initrd "$kernel" && cp "$chroot/boot/vmlinuz-$kernel" "$disk_made/vmlinuz" && disk_image || return 1
	chroot_remove
	selftests/qemu/emulator > "$disk_made/emulator" || return 1
	selftests/qemu/run --root "$disk_made/disk" "$@" "$disk_name" guest.sh
}

# The kernel's modules for the disk, and who mounts it.
disk_initrd() {
	local kernel=$1 tree file name

	tree=$(mktemp -d "$disk_made/tree.XXXXXX") && mkdir -p "$tree"/{bin,dev,proc,root} || return 1
	cp "$(command -v busybox)" "$tree/bin/"
	cp selftests/lib/disk-init "$tree/init"
	for name in virtio_pci virtio_blk ext4; do
		modprobe -d "$chroot" -S "$kernel" --show-depends "$name" || return 1
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' > "$tree/files"
	while read -r file; do
		name=$(basename "${file%.xz}")
		case $file in
		*.xz) xz -dc "$file" > "$tree/$name" ;;
		*) cp "$file" "$tree/$name" ;;
		esac
		echo "$name" >> "$tree/order"
	done < "$tree/files"
	(cd "$tree" && find . | cpio -o -H newc --quiet) | gzip -1 > "$disk_made/initrd"
	rm -r "$tree"
}

disk_image() {
	local megabytes

	rm -rf "$chroot"/var/cache/apt/* "$chroot/ccache"
	megabytes=$(($(du -xsm "$chroot" | cut -f1) * 5 / 4 + 1024))
	rm -f "$disk_made/disk"
	mke2fs -q -t ext4 -d "$chroot" "$disk_made/disk" "${megabytes}M" > /dev/null
}
