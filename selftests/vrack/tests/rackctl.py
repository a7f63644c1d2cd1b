# SPDX-License-Identifier: GPL-2.0
"""Drive vrack.ko from a test inside the guest, and report in KTAP."""

import collections
import ctypes
import json
import os
import socket
import subprocess
import sys
import threading
import time
import traceback

DIR = "/sys/kernel/debug/vrack/"
FRAME = 1538  # wire bytes of a 1500-byte IP packet
CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


class Rack:
    """One rack, from its description to its removal."""

    modules = ["vrack"]     # in the order they are loaded
    parameters = {}         # of a module, as insmod takes them

    def __init__(self, module, *lines):
        # selftests/vrack/vrack.ko lies beside drivers/nicstamp/nicstamp.ko
        here = os.path.dirname(module)
        for name in self.modules:
            path = os.path.join(here, "../../drivers/nicstamp" if name == "nicstamp" else "", name + ".ko")
            subprocess.run(["insmod", path, *self.parameters.get(name, ())], check=True)
        self.namespaces = []
        self.ctl(*lines, "up")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for name in self.namespaces:
            subprocess.run(["ip", "netns", "del", name], check=True)
        subprocess.run(["rmmod", *reversed(self.modules)], check=True)

    def ctl(self, *lines):
        # unbuffered: a refused write must not be tried again at close
        with open(DIR + "ctl", "wb", buffering=0) as f:
            f.write(("\n".join(lines) + "\n").encode())

    def stats(self):
        with open(DIR + "stats", encoding="ascii") as f:
            return json.load(f)

    def pairs(self):
        """OWD of the next packet, OWD, RTT and the receiver's part of it, each in ns."""
        with open(DIR + "pairs", encoding="ascii") as f:
            return [tuple(map(int, line.split()[3:])) for line in f]

    def port(self, path):
        switch, port = path.split(".")
        return self.stats()["switches"][switch]["ports"][port]

    def nic(self, name):
        return self.stats()["nics"][name]

    def host(self, nic, address=None):
        """Put the NIC into a namespace of its own, up, perhaps with an address."""
        self.namespaces.append(nic)
        run = lambda *a: subprocess.run(["ip", *a], check=True, stderr=subprocess.DEVNULL)
        run("netns", "add", nic)
        with Namespace(nic):  # no neighbour or router chatter beside the test
            with open("/proc/sys/net/ipv6/conf/default/disable_ipv6", "w", encoding="ascii") as f:
                f.write("1")
        run("link", "set", nic, "netns", nic, "name", "eth0")
        if address:
            run("-n", nic, "addr", "add", address, "dev", "eth0")
        run("-n", nic, "link", "set", "lo", "up")
        run("-n", nic, "link", "set", "eth0", "up")


class Namespace:
    """with Namespace("h0"): what is opened inside lives in that host."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        self.home = os.open("/proc/self/ns/net", os.O_RDONLY)
        target = os.open("/run/netns/" + self.name, os.O_RDONLY)
        if _libc.setns(target, CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns")
        os.close(target)

    def __exit__(self, *_):
        _libc.setns(self.home, CLONE_NEWNET)
        os.close(self.home)


def insmod(name, *settings):
    """A module by its path in the tree of those of this kernel."""
    subprocess.run(["insmod", os.path.join(os.path.dirname(sys.argv[1]), "../..", name), *settings], check=True)


def rmmod(name):
    """Sockets, and packets on their way, let go of a module some time after they are closed."""
    for _ in range(100):
        if not os.path.isdir(f"/sys/module/{name}"):
            return
        if subprocess.run(["rmmod", name], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return
        settle(0.1)
    raise AssertionError(f"{name} stays in use")


Pace = collections.namedtuple("Pace", "bytes_per_s, megabytes")


def paced(host, bytes_per_s):
    """A new socket there that sends no faster."""
    with Namespace(host):
        sender = socket.socket()
    sender.setsockopt(socket.SOL_SOCKET, 47, bytes_per_s)  # SO_MAX_PACING_RATE
    return sender


def exchange(sender, receiver, count, during=None, linger=0):
    """Send so many bytes by a connection; during() runs in the middle of it. It ends so many
    seconds after its last data."""
    feeder = threading.Thread(target=lambda: (sender.sendall(bytes(count)),
                                              settle(linger),
                                              sender.shutdown(socket.SHUT_WR)))
    feeder.start()
    got = 0
    while chunk := receiver.recv(1 << 20):
        got += len(chunk)
        if during and got > count // 2:
            during()
            during = None
    feeder.join()
    same("bytes received", got, count)
    sender.close()
    receiver.close()


def connect(sender, address="10.0.0.2"):
    """Connect a new socket to h1. Returns the receiver."""
    with Namespace("h1"):
        listener = socket.create_server((address, 5000), family=sender.family)
    sender.connect((address, 5000))
    receiver, _ = listener.accept()
    listener.close()
    return receiver


def move(sender, megabytes, during=None, linger=0):
    """exchange() by a new socket to h1."""
    exchange(sender, connect(sender), megabytes << 20, during, linger)


class Load(threading.Thread):
    """TCP from h0 to h1, as much as goes, until it is told to end."""

    def __init__(self, congestion_control=None, address="10.0.0.2"):
        super().__init__()
        with Namespace("h0"):
            self.sender = socket.socket()
        if congestion_control:
            self.sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion_control)
        self.receiver = connect(self.sender, address)
        self.feeder = threading.Thread(target=self.feed)
        self.ending = False
        self.bytes = 0

    def feed(self):
        chunk = bytes(1 << 20)
        while not self.ending:
            self.sender.sendall(chunk)
        self.sender.close()

    def run(self):
        self.feeder.start()
        while got := self.receiver.recv(1 << 20, socket.MSG_TRUNC):
            self.bytes += len(got)
        self.receiver.close()

    def end(self):
        self.ending = True
        self.join()
        self.feeder.join()


def make_device_nodes():
    """The guest's root is the machine's, whose /dev knows nothing of the guest's clocks."""
    subprocess.run(["mount", "-t", "devtmpfs", "dev", "/dev"], check=True)
    for link, target in (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"),
                         ("stderr", "fd/2")):
        if not os.path.lexists("/dev/" + link):
            os.symlink(target, "/dev/" + link)


def settle(seconds):
    """Let simulated time pass."""
    time.sleep(seconds)


def near(what, measured, expected, tolerance):
    """Fail unless measured is within a relative tolerance of expected."""
    print(f"# {what}: measured {measured:g}, expected {expected:g} +- {tolerance:.3%}")
    assert abs(measured - expected) <= tolerance * abs(expected), what


def same(what, measured, expected):
    print(f"# {what}: measured {measured}, expected {expected}")
    assert measured == expected, what


def main(cases):
    """Run the test functions of a module's namespace; KTAP on stdout.  Words after the first of the
    command line name some.

    Those that TURNPIKE_LEAVE_OUT names are skipped (selftests/short-tier).
    """
    tests = [(n, f) for n, f in cases.items() if "__" in n and not n.startswith("_")]
    named = set(sys.argv[2:])
    if named - {name for name, _ in tests}:
        sys.exit(f"not ok - there is no {' '.join(sorted(named))}")
    tests = [(n, f) for n, f in tests if n in named or not named]
    left_out = os.environ.get("TURNPIKE_LEAVE_OUT", "").split()
    unknown = set(left_out) - set(cases)
    if unknown:
        sys.exit(f"not ok - TURNPIKE_LEAVE_OUT: there is no {' '.join(sorted(unknown))}")
    failed = 0
    print(f"TAP version 13\n1..{len(tests)}")
    for number, (name, test) in enumerate(tests, 1):
        if name in left_out:
            print(f"ok {number} - {name} # SKIP not in this kernel's short tier; make reproduce runs it", flush=True)
            continue
        try:
            test()
            print(f"ok {number} - {name}", flush=True)
        except Exception:  # a broken case must not hide the others
            failed += 1
            print("".join("# " + l + "\n" for l in traceback.format_exc().splitlines()), end="")
            print(f"not ok {number} - {name}", flush=True)
            for module in ("vrack_phc", "vrack", "nicstamp"):
                subprocess.run(["rmmod", module], check=False, stderr=subprocess.DEVNULL)
    sys.exit(1 if failed else 0)
