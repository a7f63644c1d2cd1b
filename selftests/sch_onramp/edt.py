#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A program for tc that has packets leave later, as bandwidth managers in eBPF do ("earliest departure time").

edt.py PIN NANOSECONDS
    each packet's departure becomes so long from now; pinned there, on a file system of type bpf
"""
import ctypes
import os
import platform
import struct
import sys

SYSCALL_BPF = {"x86_64": 321, "aarch64": 280}[platform.machine()]
PROG_LOAD, OBJ_PIN, TYPE_SCHED_CLS = 5, 6, 3
KTIME_GET_NS = 5
# of struct __sk_buff
TSTAMP = 152


def instruction(code, to=0, source=0, offset=0, value=0):
    return struct.pack("=BBhi", code, to | source << 4, offset, value)


def program(later_ns):
    return b"".join((
        instruction(0xbf, to=6, source=1),                  # r6 = the packet
        instruction(0x85, value=KTIME_GET_NS),              # r0 = now
        instruction(0x07, to=0, value=later_ns),            # r0 += later_ns
        instruction(0x7b, to=6, source=0, offset=TSTAMP),   # packet->tstamp = r0
        instruction(0xb7, to=0, value=0),                   # TC_ACT_OK
        instruction(0x95)))


def bpf(libc, command, attributes):
    attributes = ctypes.create_string_buffer(attributes, 144)
    result = libc.syscall(SYSCALL_BPF, command, attributes, len(attributes))
    if result < 0:
        sys.exit(f"edt.py: {os.strerror(ctypes.get_errno())}")
    return result


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    libc = ctypes.CDLL(None, use_errno=True)
    code = ctypes.create_string_buffer(program(int(sys.argv[2])))
    license_ = ctypes.create_string_buffer(b"GPL")
    loaded = bpf(libc, PROG_LOAD, struct.pack("=IIQQ", TYPE_SCHED_CLS, len(code) // 8, ctypes.addressof(code),
                                              ctypes.addressof(license_)))
    pin = ctypes.create_string_buffer(os.fsencode(sys.argv[1]))
    bpf(libc, OBJ_PIN, struct.pack("=QI", ctypes.addressof(pin), loaded))


if __name__ == "__main__":
    main()
