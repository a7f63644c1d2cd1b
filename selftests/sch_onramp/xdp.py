#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""An XDP program that passes everything, on a device, by the kernel's own (generic) XDP.

xdp.py on DEVICE | off DEVICE

Two instructions are no reason for a compiler: they are loaded by bpf(2) and put on by netlink.
Exit status 4: this kernel has no bpf(2).
"""
import ctypes
import errno
import os
import platform
import socket
import struct
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
import netlink  # noqa: E402  # pylint: disable=wrong-import-position

BPF_CALL = {"x86_64": 321, "aarch64": 280}
BPF_PROG_LOAD = 5
BPF_PROG_TYPE_XDP = 6
XDP_PASS = 2
# r0 = XDP_PASS; exit
PROGRAM = struct.pack("=BBhi", 0xb7, 0, 0, XDP_PASS) + struct.pack("=BBhi", 0x95, 0, 0, 0)
RTM_SETLINK = 19
IFLA_XDP, IFLA_XDP_FD, IFLA_XDP_FLAGS = 43, 1, 3
XDP_FLAGS_SKB_MODE = 2


def load():
    program, licence = ctypes.create_string_buffer(PROGRAM), ctypes.create_string_buffer(b"GPL")
    attr = struct.pack("=IIQQ", BPF_PROG_TYPE_XDP, len(PROGRAM) // 8, ctypes.addressof(program),
                       ctypes.addressof(licence)).ljust(128, b"\0")
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall(BPF_CALL[platform.machine()], BPF_PROG_LOAD, attr, len(attr))
    if fd < 0:
        code = ctypes.get_errno()
        print(f"this kernel loads no XDP program: {os.strerror(code)}")
        sys.exit(4 if code == errno.ENOSYS else 1)
    return fd


def put(device, fd):
    """-1 takes it away."""
    xdp = netlink.nest(IFLA_XDP, netlink.attribute(IFLA_XDP_FD, struct.pack("=i", fd)),
                       netlink.attribute(IFLA_XDP_FLAGS, struct.pack("=I", XDP_FLAGS_SKB_MODE)))
    link = struct.pack("=BxHiII", socket.AF_UNSPEC, 0, socket.if_nametoindex(device), 0, 0)
    with netlink.open_socket(socket.NETLINK_ROUTE) as sock:
        netlink.call(sock, RTM_SETLINK, 0, link + xdp)


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("on", "off"):
        sys.exit(__doc__)
    put(sys.argv[2], load() if sys.argv[1] == "on" else -1)


if __name__ == "__main__":
    main()
