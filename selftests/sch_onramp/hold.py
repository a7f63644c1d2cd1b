#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What a pause holds, and what it does not: connections of one host whose packets are seen as
they leave it, and whose receipts (OR-ACKs) are made by hand at the other.

hold.py CASE NETNS NETNS        a case of those below, sender and receiver; prints name=value ...

    Times are milliseconds: NAME_ms=N from the moment a program sent it to its leaving the
    device. The first host has onramp with feedback orack, the second has none.

How a flow is paused: data is sent, and its receipt as much later as the pause is to last.
Round trips have it, and so it is believed.
"""
import os
import socket
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.append(os.path.join(HERE, "../vrack/tests"))
from orack import ANNOUNCEMENT, HEADER, PORT, TCP, UDP, parse, receipt, sniffer
from rackctl import Namespace

DEVICE = "veth0"
SO_TIMESTAMPNS = 35
SO_MAX_PACING_RATE = 47
TCP_CONGESTION, TCP_CC_INFO = 13, 26
OUTGOING = 4
FIN, SYN, RST, ACK = 1, 2, 4, 16
MS = 10**6


class Tap:
    """What left the sender's device, and when."""

    def __init__(self, netns):
        with Namespace(netns):
            self.sock = sniffer(DEVICE)
        self.sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.seen = []          # (time, protocol, payload)

    def look(self):
        while True:
            try:
                frame, extra, _, where = self.sock.recvmsg(1 << 17, 64)
            except BlockingIOError:
                return self.seen
            if where[2] == OUTGOING:
                seconds, rest = struct.unpack("qq", extra[0][2])
                self.seen.append((seconds * 10**9 + rest, *parse(frame)))


def now():
    return time.time_ns()


def segment(payload):
    """Ports, end of its data, bytes of it, flags."""
    sport, dport, seq = struct.unpack_from("!HHL", payload)
    length = len(payload) - (payload[12] >> 4) * 4
    return sport, dport, (seq + length) & 0xffffffff, length, payload[13]


class Hosts:
    def __init__(self, sender, receiver):
        self.sender, self.receiver = sender, receiver
        self.tap = Tap(sender)
        with Namespace(receiver):
            self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.udp.bind(("10.1.0.2", PORT))
            self.udp.settimeout(5)
        self.met = False

    def counter(self, name):
        done = subprocess.run(["tc", "-n", self.sender, "-j", "-s", "qdisc", "show", "dev", DEVICE,
                               "root"], check=True, capture_output=True, text=True)
        return done.stdout.split(f'"{name}":')[1].split(",")[0]

    def be_announced(self):
        """One with a lifetime: a qdisc that has gone takes back what it announced."""
        while not self.met:
            _, kind, _, _, lifetime_ms, _ = HEADER.unpack_from(self.udp.recv(2048))
            self.met = kind == ANNOUNCEMENT and lifetime_ms > 0

    def receipt(self, *entries):
        """By a clock of the receiver's."""
        self.udp.sendto(receipt(entries, 1 << 8, time.monotonic_ns()), ("10.1.0.1", PORT))
        # its way back
        time.sleep(0.0002)


class Flow:
    def __init__(self, hosts, address="10.1.0.2"):
        self.hosts = hosts
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with Namespace(hosts.receiver):
            listener = socket.create_server((address, 0), family=family)
        with Namespace(hosts.sender):
            self.sock = socket.create_connection(listener.getsockname()[:2], timeout=5)
        self.far, _ = listener.accept()
        listener.close()
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.ports = self.sock.getsockname()[1], self.sock.getpeername()[1]

    def left(self, wanted, since=0):
        """Time, end and bytes of each of its packets since then that are wanted."""
        found = []
        for at_ns, protocol, payload in self.hosts.tap.look():
            if protocol != TCP or at_ns < since:
                continue
            *ports, end, length, flags = segment(payload)
            if tuple(ports) == self.ports and wanted(length, flags):
                found.append((at_ns, end, length))
        return found

    def data(self, since=0):
        return self.left(lambda length, flags: length, since)

    def acks(self, since):
        return self.left(lambda length, flags: not length and flags == ACK, since)

    def flagged(self, flag, since):
        return self.left(lambda length, flags: flags & flag, since)

    def send(self, length=1000):
        """When it was; the packet may be held."""
        at_ns = now()
        self.sock.sendall(bytes(length))
        return at_ns

    def receipt_of_newest(self, age_ns=0):
        self.hosts.receipt((*self.ports, self.data()[-1][1], age_ns))

    def meet(self):
        """The hosts know each other, and the path is known when empty."""
        self.send(100)
        self.hosts.be_announced()
        self.receipt_of_newest()
        time.sleep(0.02)                # asked again
        for _ in range(4):
            self.send(100)
            time.sleep(0.0001)
            self.receipt_of_newest()
        return self

    def spread(self, count):
        """So many packets without a receipt; as data() has them."""
        for _ in range(count):
            self.send(100)
            wait(0.1)
        return self.data()[-count:]

    def pause(self, milliseconds):
        """From now on, for so long."""
        self.send(100)
        time.sleep(milliseconds / 1e3)
        self.receipt_of_newest()


def show(**values):
    print(" ".join(f"{name}={value}" if isinstance(value, int) else f"{name}={value:.3f}"
                   for name, value in values.items()))


def after(found, since):
    """Milliseconds to the first of what was found."""
    return (found[0][0] - since) / MS if found else 1e6


def wait(milliseconds):
    time.sleep(milliseconds / 1e3)


# -- cases --------------------------------------------------------------------------------

def overtake(hosts):
    """Data is held, and the rest is sent at once: an ACK, UDP, another flow and its data."""
    flow = Flow(hosts).meet()
    with Namespace(hosts.sender):
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    flow.pause(100)
    begin = flow.send()
    flow.far.sendall(bytes(5000))
    udp.sendto(bytes(100), ("10.1.0.2", 9))
    other = Flow(hosts, "fd01::2")
    other.send()
    wait(150)
    datagrams = [(at_ns,) for at_ns, protocol, payload in hosts.tap.look()
                 if protocol == UDP and payload[2:4] == b"\0\x09"]
    show(data_ms=after(flow.data(begin), begin), ack_ms=after(flow.acks(begin), begin),
         udp_ms=after(datagrams, begin), syn_ms=after(other.flagged(SYN, begin), begin),
         other_ms=after(other.data(begin), begin))


def fin(hosts):
    """Behind data that is held, and at once where there is none."""
    flow = Flow(hosts).meet()
    flow.pause(100)
    begin = flow.send()
    flow.sock.shutdown(socket.SHUT_WR)
    wait(150)
    data, end = flow.data(begin), flow.flagged(FIN, begin)
    alone = Flow(hosts).meet()
    alone.pause(100)
    alone_begin = now()
    alone.sock.shutdown(socket.SHUT_WR)
    wait(150)
    show(data_ms=after(data, begin), fin_ms=after(end, begin), fin_bytes=end[0][2] if end else -1,
         alone_ms=after(alone.flagged(FIN, alone_begin), alone_begin))


def rst(hosts):
    flow = Flow(hosts).meet()
    flow.pause(100)
    begin = flow.send()
    flow.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    flow.sock.close()
    wait(150)
    show(data_ms=after(flow.data(begin), begin), rst_ms=after(flow.flagged(RST, begin), begin))


def lasts(hosts):
    """One sample, and silence; then what is sent is not held any more."""
    flow = Flow(hosts).meet()
    flow.pause(120)
    begin = flow.send()
    wait(200)
    again = flow.send()
    wait(200)
    show(data_ms=after(flow.data(begin), begin), again_ms=after(flow.data(again), again))


def goes_on(hosts):
    """Every two ms a receipt that asks for more, each of another packet in flight."""
    flow = Flow(hosts).meet()
    in_flight = flow.spread(20)
    wait(60)
    hosts.receipt((*flow.ports, in_flight[0][1], 0))
    begin = flow.send()
    for _, end, _ in in_flight[1:]:
        wait(2)
        hosts.receipt((*flow.ports, end, 0))
    wait(100)
    show(data_ms=after(flow.data(begin), begin))


def two_in_turn(hosts):
    """The bound is of each packet: what comes behind one that left is held anew."""
    flow = Flow(hosts).meet()
    in_flight = flow.spread(2)
    wait(60)
    hosts.receipt((*flow.ports, in_flight[0][1], 0))
    begin = flow.send()
    wait(1)
    second = flow.send()
    wait(25)
    hosts.receipt((*flow.ports, in_flight[1][1], 0))
    third = flow.send()
    wait(150)
    show(data_ms=after(flow.data(begin), begin), second_ms=after(flow.data(second)[1:], second),
         third_ms=after(flow.data(third), third))


def limited(hosts):
    """A sender that may not go faster than its own rate: is it late for good after a pause?"""
    flow = Flow(hosts).meet()
    flow.pause(30)
    flow.sock.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, 1000000)
    flow.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    flow.far.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    begin = flow.send(250000)
    held = []
    for pause_ms in (90, 40, 40):
        wait(pause_ms)
        held.append(int(hosts.counter("held")))
    show(data_ms=after(flow.data(begin), begin), packets=len(flow.data(begin)), held=held[0],
         more=held[1] - held[0], and_more=held[2] - held[1])


def many(hosts):
    """A flow whose bursts are two segments each has more of them waiting than flow_limit."""
    flow = Flow(hosts).meet()
    flow.sock.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, 100000000)
    flow.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    flow.far.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    flow.send(300000)
    wait(10)
    flow.pause(30)
    begin = flow.send(90000)
    wait(5)
    waiting = len(flow.data(begin))
    wait(40)
    show(early=waiting, packets=len(flow.data(begin)), data_ms=after(flow.data(begin), begin))


def newest_rtt_ms(flow):
    """That timely made a sample of."""
    info = flow.sock.getsockopt(socket.IPPROTO_TCP, TCP_CC_INFO, 32)
    return struct.unpack_from("I", info, 8)[0] / 1e3


def cut_in_two(hosts):
    """TLT cuts each burst of timely's, whose first part leaves after a pause and is acknowledged while
    the other waits for its turn."""
    flow = Flow(hosts)
    flow.sock.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, b"timely")
    flow.meet().pause(50)
    flow.sock.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, 1000000)
    flow.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    begin, rtts = flow.send(29000), []
    for _ in range(1000):
        flow.far.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        rtts.append(newest_rtt_ms(flow))
        wait(0.1)
    data = flow.data(begin)
    show(data_ms=after(data, begin), packets=len(data), most_rtt_ms=max(rtts))


def recall(hosts):
    """Flows to the same place, to another, and to the same after a while."""
    first = Flow(hosts).meet()
    elsewhere = Flow(hosts, "10.1.0.3")
    first.pause(100)
    begin = first.send()
    second, later = Flow(hosts), Flow(hosts)
    second_begin = second.send()
    elsewhere_begin = elsewhere.send()
    wait(150)
    during = int(hosts.counter("recalled"))
    later_begin = later.send()
    wait(150)
    show(first_ms=after(first.data(begin), begin), second_ms=after(second.data(), second_begin),
         elsewhere_ms=after(elsewhere.data(), elsewhere_begin),
         later_ms=after(later.data(), later_begin), during=during,
         recalled=int(hosts.counter("recalled")))


def kicked(hosts):
    """A pause is cut while the qdisc's parent is busy and asks for nothing. Before it asks again, the first
    data of another connection has the control block of a silent one taken away."""
    silent, flow, other, comer = Flow(hosts).meet(), Flow(hosts).meet(), Flow(hosts), Flow(hosts)
    with Namespace(hosts.sender):
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    # the qdisc looks at a flow that has nothing when others take turns
    for _ in range(3):
        other.send(100)
        flow.send(100)
    # it is dead after 3 s
    wait(4000)
    in_flight = flow.spread(2)
    wait(400)
    hosts.receipt((*flow.ports, in_flight[0][1], 0))
    begin = flow.send()
    # more than the parent sends at once
    for _ in range(10):
        udp.sendto(bytes(1000), ("10.1.0.2", 9))
    # of a queue of a millisecond: the pause ends then
    hosts.receipt((*flow.ports, in_flight[1][1], now() - in_flight[1][0] - MS))
    comer.send()
    wait(500)
    show(data_ms=after(flow.data(begin), begin), comer_ms=after(comer.data(begin), begin),
         silent=len(silent.data(begin)))


def prompt(flow, count=5):
    """The empty path, by timestamps: each packet is acknowledged at once."""
    for _ in range(count):
        flow.far.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        flow.send(100)
        wait(1)
    return flow


def delayed(hosts):
    """A receiver that is in no hurry: 40 ms, for what it has no answer to, and 2 ms with an answer."""
    flow = prompt(Flow(hosts))
    for answer in (False, True):
        for _ in range(20):
            # or what is always there would be taken for the path
            prompt(flow, 1).far.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)
            flow.send(100)
            wait(2)
            if answer:
                flow.far.sendall(bytes(100))
            wait(100)
    begin = flow.send()
    wait(100)
    show(data_ms=after(flow.data(begin), begin), packets=len(flow.data()))


def tc(netns, device, *words):
    subprocess.run(["tc", "-n", netns, "qdisc", "replace", "dev", device, "root", "netem", *words],
                   check=True)


def silenced(hosts):
    """The way, by the receiver's device ifb0, gets a queue of 100 ms, one ACK tells so, and those
    behind it are lost."""
    flow = prompt(Flow(hosts))
    tc(hosts.receiver, "ifb0", "delay", "100ms")
    for _ in range(5):
        flow.send(1448)
        wait(1)
    wait(95.5)
    tc(hosts.receiver, DEVICE, "loss", "100%")
    begin = flow.send()
    wait(150)
    show(data_ms=after(flow.data(begin), begin))
    tc(hosts.receiver, "ifb0", "delay", "20us")
    tc(hosts.receiver, DEVICE, "delay", "20us")


def constant(hosts):
    """Segments of a stranger, whose timestamp stands still, and which hit nothing in flight."""
    flow = prompt(Flow(hosts))
    with Namespace(hosts.receiver):
        raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
    sport, dport = flow.ports
    for _ in range(8):
        options = struct.pack("!BBBBLL", 1, 1, 8, 10, 1, 0)
        header = struct.pack("!HHLLBBHHH", dport, sport, 1, (flow.data()[-1][1] + 2**30) & 0xffffffff, 8 << 4, ACK,
                             1000, 0, 0)
        raw.sendto(header + options, ("10.1.0.1", 0))
        wait(11)
    prompt(flow)
    show(coarse=int(hosts.counter("coarse")), samples=int(hosts.counter("samples")))


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    cases = {case.__name__: case for case in (overtake, fin, rst, lasts, goes_on, two_in_turn, limited, many,
                                            cut_in_two, recall, kicked, delayed, silenced, constant)}
    cases[sys.argv[1]](Hosts(*sys.argv[2:]))


if __name__ == "__main__":
    main()
