#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Have each memory allocation of an operation fail once: the first, the second, and so on, until the
operation ends without (fail-nth of the kernel's fault injection, which counts this thread's alone).

usage: faults.py OPERATION [ARGUMENT...] [--step N] [--first N]

  load FILE           a module is loaded, and unloaded where that was done; what the kernel allocates for it
                      before the module has its turn does not fail: pages, which are not counted so, must not either
  namespace           a network namespace is made, with all modules that are there
  qdisc DEVICE        onramp is set and changed
  tlt DEVICE          TLT is set, with rules, and changed
  keys                a key of OR-ACKs is added and used, networks that may be asked are set
  flow ADDRESS PORT   a connection of timely's is made and sends

--step N tries every N-th allocation, from --first on.  Prints tried=N refused=N done=N: how many failed,
how often the operation was refused for it, and how often it was done all the same.  What must not
be there after a refusal, and is, ends the program, as does an operation that fails for another reason.
"""
import argparse
import ctypes
import os
import socket
import struct
import sys
import threading

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
import genl  # noqa: E402  # pylint: disable=wrong-import-position
import netlink  # noqa: E402  # pylint: disable=wrong-import-position
from netlink import attribute, nest  # noqa: E402  # pylint: disable=wrong-import-position

CLONE_NEWNET = 0x40000000
SYS_FINIT_MODULE, SYS_DELETE_MODULE = 313, 176
# More than any operation has: one that goes on does not end.
MOST = 100000
LIBC = ctypes.CDLL(None, use_errno=True)

RTM_NEWQDISC, RTM_DELQDISC = 36, 37
TCA_KIND, TCA_OPTIONS, TC_H_ROOT = 1, 2, 0xffffffff
TCA_ONRAMP_LIMIT = 2
ONRAMP_SET, ONRAMP_KEY_ADD, ONRAMP_KEY_USE, ONRAMP_KEY_DEL = 2, 3, 4, 5
ONRAMP_A_KEY_ID, ONRAMP_A_KEY, ONRAMP_A_ASK = 4, 5, 14
TLT_SET, TLT_OFF, TLT_A_MAP, TLT_A_RULES, TLT_A_RULE = 1, 2, 3, 8, 9
TLT_RULE_IFINDEX, TLT_RULE_PORT_LOW = 1, 2


def check(result):
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


class Netlink:
    """One message after another; what undoes them may be refused where they were not taken."""

    def __init__(self, protocol, messages, undo):
        self.sock = netlink.open_socket(protocol)
        self.messages, self.last = messages, undo

    def prepare(self):
        pass

    def act(self):
        for message in self.messages:
            netlink.call(self.sock, *message)

    def undo(self, done):
        for message in self.last:
            try:
                netlink.call(self.sock, *message)
            except OSError:
                if done:
                    raise


def qdisc(device):
    def message(kind, flags, limit):
        body = struct.pack("=BxxxiIII", 0, socket.if_nametoindex(device), 0x10000, TC_H_ROOT, 0)
        body += attribute(TCA_KIND, b"onramp\0")
        return kind, flags, body + nest(TCA_OPTIONS, attribute(TCA_ONRAMP_LIMIT, struct.pack("=I", limit)))

    return Netlink(0, [message(RTM_NEWQDISC, netlink.CREATE | netlink.EXCL, 1000), message(RTM_NEWQDISC, 0, 10)],
                   [message(RTM_DELQDISC, 0, 10)])


def family(name, messages, undo):
    """Messages of generic netlink are (command, attributes)."""
    number = genl.family_id(netlink.open_socket(genl.NETLINK_GENERIC), name)

    def whole(command, *attributes):
        return number, 0, genl.body(command, *attributes)

    return Netlink(genl.NETLINK_GENERIC, [whole(*m) for m in messages], [whole(*m) for m in undo])


def tlt(device):
    code_points = attribute(TLT_A_MAP, bytes(range(10, 16)))
    rules = [nest(TLT_A_RULE, attribute(TLT_RULE_IFINDEX, struct.pack("=i", socket.if_nametoindex(device)))),
             nest(TLT_A_RULE, attribute(TLT_RULE_PORT_LOW, struct.pack("=H", 5001)))]
    return family("turnpike_tlt", [(TLT_SET, code_points), (TLT_SET, code_points, nest(TLT_A_RULES, *rules))],
                  [(TLT_OFF,)])


def keys():
    key_id = attribute(ONRAMP_A_KEY_ID, b"\7")
    asked = socket.inet_pton(socket.AF_INET6, "::ffff:10.0.0.0") + bytes([104])
    return family("turnpike_onramp",
                  [(ONRAMP_KEY_ADD, key_id, attribute(ONRAMP_A_KEY, bytes(range(16)))), (ONRAMP_KEY_USE, key_id),
                   (ONRAMP_SET, attribute(ONRAMP_A_ASK, asked))],
                  [(ONRAMP_KEY_DEL, key_id), (ONRAMP_SET, attribute(ONRAMP_A_ASK, b""))])


class Trace:
    """What this thread allocates of slabs, by the kernel's trace events."""

    EVENTS = ("kmem/kmalloc", "kmem/kmem_cache_alloc", "module/module_load")

    @staticmethod
    def write(name, text):
        with open(f"/sys/kernel/tracing/{name}", "w", encoding="utf-8") as file:
            file.write(text)

    def __enter__(self):
        self.write("buffer_size_kb", "8192")
        self.write("set_event_pid", str(threading.get_native_id()))
        for event in self.EVENTS:
            self.write(f"events/{event}/enable", "1")
        self.write("trace", "")

    def __exit__(self, *_error):
        for event in self.EVENTS:
            self.write(f"events/{event}/enable", "0")

    @staticmethod
    def count_before(event):
        with open("/sys/kernel/tracing/trace", encoding="utf-8") as trace:
            lines = [line for line in trace if not line.startswith("#")]
        return next(i for i, line in enumerate(lines) if f" {event}: " in line)


class Load:
    def __init__(self, path):
        self.path, self.file = path, -1
        self.name = os.path.basename(path).removesuffix(".ko").encode()
        self.prepare()
        with Trace():
            self.act()
        self.undo(True)
        self.before = Trace.count_before("module_load")

    def prepare(self):
        self.file = os.open(self.path, os.O_RDONLY)

    def act(self):
        check(LIBC.syscall(SYS_FINIT_MODULE, self.file, b"", 0))

    def undo(self, done):
        os.close(self.file)
        if done:
            check(LIBC.syscall(SYS_DELETE_MODULE, self.name, 0))
        elif os.path.isdir(b"/sys/module/" + self.name):
            raise SystemExit(f"{self.name.decode()} did not load, and is there")


class Namespace:
    """It is left again; what ends it runs later."""

    def __init__(self):
        self.home = os.open("/proc/self/ns/net", os.O_RDONLY)

    def prepare(self):
        pass

    def act(self):
        check(LIBC.unshare(CLONE_NEWNET))

    def undo(self, done):
        if done:
            check(LIBC.setns(self.home, CLONE_NEWNET))


class Flow:
    def __init__(self, address, port):
        self.to, self.sock = (address, int(port)), None

    def prepare(self):
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.sock.settimeout(10)

    def act(self):
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"timely")
        self.sock.connect(self.to)
        self.sock.sendall(bytes(100000))

    def undo(self, _done):
        self.sock.close()


OPERATIONS = {"load": Load, "namespace": Namespace, "qdisc": qdisc, "tlt": tlt, "keys": keys,
              "flow": Flow}


class Fault:
    """The allocation of this thread that is to fail."""

    def __init__(self):
        self.file = os.open(f"/proc/self/task/{threading.get_native_id()}/fail-nth", os.O_RDWR)

    def set(self, number):
        os.pwrite(self.file, b"%d" % number, 0)

    def happened(self):
        left = int(os.pread(self.file, 16, 0).rstrip(b"\n\0"))
        self.set(0)
        return left == 0


def attempt(operation, fault, number):
    """What the operation said, None if nothing, and whether an allocation failed."""
    operation.prepare()
    error = None
    fault.set(number)
    try:
        operation.act()
    except OSError as refused:
        error = refused
    happened = fault.happened()
    operation.undo(error is None)
    return error, happened


def fail_each(operation, first, step):
    fault = Fault()
    refused = done = 0
    for number in range(first + getattr(operation, "before", 0), MOST, step):
        error, happened = attempt(operation, fault, number)
        if not happened:
            if error:
                raise SystemExit(f"after {number} allocations, none of which failed: {error}")
            return refused, done
        if error:
            refused += 1
        else:
            done += 1
    raise SystemExit("there is no end")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operation", choices=OPERATIONS)
    parser.add_argument("arguments", nargs="*")
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--first", type=int, default=1)
    args = parser.parse_args()
    refused, done = fail_each(OPERATIONS[args.operation](*args.arguments), args.first, args.step)
    print(f"tried={refused + done} refused={refused} done={done}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
