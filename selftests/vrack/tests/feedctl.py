# SPDX-License-Identifier: GPL-2.0
"""What tests of nicstamp's generic feed share: hosts, turnpike stamps, traffic of timely."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading

from rackctl import Namespace, Rack, insmod, move, rmmod, same, settle

MODULE = sys.argv[1]
TURNPIKE = os.path.join(os.environ["TURNPIKE_BUILD"], "turnpike")
GBIT = 10**9
DELAY_NS = 5000
VETH_RTT_NS = 50000
# a debug kernel is a hundred times slower; a megabyte is 64 bursts
MEGABYTES = 1 if os.environ.get("TURNPIKE_DEBUG") == "1" else 4
ENOUGH = 20
# readings of a NIC's clock by which its rate is known; they come ten times a second
SETTLED = 0.4
ADDRESSES = (("h0", "10.0.0.1/8"), ("h1", "10.0.0.2/8"))


def run(*words):
    subprocess.run(words, check=True)


def ip(*words):
    run("ip", *words)


def rename(old, new):
    """Linux 6.1 does that to an interface that is down."""
    link = ["ip", "-n", "h0", "link", "set"]
    if subprocess.run([*link, old, "name", new], stderr=subprocess.DEVNULL, check=False).returncode:
        run(*link, old, "down")
        run(*link, old, "name", new)
        run(*link, new, "up")


def feed(verb, device="eth0", netns="h0"):
    run(TURNPIKE, "stamps", verb, device, *(("--netns", netns) if netns else ()))


def refused(words, *command):
    """The command fails and says why; nothing changes."""
    before = tell("devices")
    done = subprocess.run([TURNPIKE, "stamps", *command], stderr=subprocess.PIPE, text=True, check=False)
    print(f"# {' '.join(command)}: {done.returncode} {done.stderr.strip()}")
    assert done.returncode == 2 and words in done.stderr, f"not refused with '{words}'"
    same("devices", names(tell("devices")), names(before))


def tell(what):
    done = subprocess.run([TURNPIKE, "stamps", what, "-j"], check=True, capture_output=True)
    return json.loads(done.stdout)


def names(devices):
    return [(device["dev"], device["feed"]) for device in devices]


def samples():
    return tell("stats")["samples"]


def knob(name, word, host="h0"):
    with Namespace(host), open("/proc/sys/net/ipv4/" + name, "w", encoding="ascii") as f:
        f.write(word)


def counters():
    with Namespace("h0"), open("/proc/net/tcp_timely", encoding="ascii") as lines:
        return {name: int(value) for name, value in map(str.split, lines)}


def timely_socket():
    with Namespace("h0"):
        sender = socket.socket()
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"timely")
    return sender


def transfer(during=None):
    move(timely_socket(), MEGABYTES, during)


def more(least=ENOUGH):
    """Another transfer, and so many samples of it."""
    before = samples()
    transfer()
    got = samples() - before
    assert got >= least, f"{got} samples"


def none_comes():
    before = samples()
    transfer()
    same("samples more", samples() - before, 0)


class Wire(Rack):
    """The rack's NICs, at 10 Gbit/s."""

    modules = ["nicstamp", "vrack", "vrack_phc"]

    def __init__(self, nic=""):
        super().__init__(MODULE, "switch add s0", f"nic add h0 ip=10.0.0.1 {nic}", "nic add h1 ip=10.0.0.2",
                         *(f"link add {host} s0 rate_bps={10 * GBIT} delay_ns={DELAY_NS}"
                           for host in ("h0", "h1")))
        insmod("tcp_timely/tcp_timely.ko")
        for name, address in ADDRESSES:
            self.host(name, address)

    def __exit__(self, *args):
        rmmod("tcp_timely")
        super().__exit__(*args)


class Cable:
    """The same hosts on the ends of a veth, which takes no simulated time; ACKs take some."""

    def __enter__(self):
        insmod("drivers/nicstamp/nicstamp.ko")
        insmod("tcp_timely/tcp_timely.ko")
        for host, _ in ADDRESSES:
            ip("netns", "add", host)
        self.lay()
        return self

    def lay(self):
        ip("link", "add", "eth0", "netns", "h0", "type", "veth", "peer", "name", "eth0", "netns", "h1")
        for host, address in ADDRESSES:
            ip("-n", host, "addr", "add", address, "dev", "eth0")
            ip("-n", host, "link", "set", "lo", "up")
            ip("-n", host, "link", "set", "eth0", "up")
        with Namespace("h1"):
            run("tc", "qdisc", "add", "dev", "eth0", "root", "netem", "delay",
                f"{VETH_RTT_NS // 1000}us")

    def __exit__(self, *_):
        for host, _address in ADDRESSES:
            ip("netns", "del", host)
        rmmod("tcp_timely")
        rmmod("nicstamp")


class Background:
    """A flow that sends until it is stopped, whatever becomes of its path."""

    def __init__(self, port=5001):
        with Namespace("h1"):
            listener = socket.create_server(("10.0.0.2", port))
        self.sender = timely_socket()
        self.sender.connect(("10.0.0.2", port))
        self.receiver, _ = listener.accept()
        listener.close()
        self.threads = [threading.Thread(target=self.send), threading.Thread(target=self.receive)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        settle(0.01)
        return self

    def send(self):
        with contextlib.suppress(OSError):
            while True:
                self.sender.sendall(bytes(1 << 16))

    def receive(self):
        with contextlib.suppress(OSError):
            while self.receiver.recv(1 << 20):
                pass

    def __exit__(self, *_):
        for sock in (self.sender, self.receiver):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join()
        self.sender.close()
        self.receiver.close()


def echo(times, size):
    """Messages one by one, each sent back; what the stamps say of the last, while it lives."""
    with Namespace("h1"):
        listener = socket.create_server(("10.0.0.2", 5000))
    sender = timely_socket()
    sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sender.connect(("10.0.0.2", 5000))
    receiver, _ = listener.accept()
    listener.close()
    receiver.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for _ in range(times):
        sender.sendall(bytes(size))
        receiver.sendall(receiver.recv(size, socket.MSG_WAITALL))
        sender.recv(size, socket.MSG_WAITALL)
    flow = tell("flows")[0]
    sender.close()
    receiver.close()
    return flow


class Follower:
    """turnpike stamps follow."""

    def __init__(self, host="h0"):
        self.process = subprocess.Popen([TURNPIKE, "stamps", "follow", "eth0", "--netns", host],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        said = self.process.stdout.readline()
        assert "stamped by the NIC" in said, (said, self.process.stderr.read())
        settle(SETTLED)
        return self

    def ends(self, status, words=""):
        """By itself, saying so."""
        _, said = self.process.communicate(timeout=60)
        print(f"# ended with {self.process.returncode}: {said.strip()}")
        same("status", self.process.returncode, status)
        assert words in said if words else not said, said

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.ends(0)

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()
