#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Packets that are handed to a host's qdisc at one moment, and when they leave its device.

leave.py udp NETNS ADDRESS [--packets N] [--bytes N] [--ports N] [--rate BYTES/S] [--ect]
             [--at SECONDS,SECONDS...] [--clock CLOCK] [--for SECONDS]
    datagrams by one socket: to so many ports, one packet each (the socket is connected where it is one
    port); --rate: paced; --at: a departure time of each by SO_TXTIME, from now,
    by the clock monotonic, real or tai
leave.py tcp NETNS NETNS --bytes N
    one connection's data

prints left=N packets, instants=N different times to 20 us, first_ms=N and last_ms=N from the first
moment to the first and last packet, ce=N of them marked, turns=N times
that the next is another port's, wire_bytes=N of all but that one as Ethernet has them, headers and gaps too
"""
import argparse
import socket
import struct
import time

from hold import OUTGOING, SO_TIMESTAMPNS, DEVICE, Flow, Hosts
from orack import TCP, UDP, parse, sniffer
from rackctl import Namespace

SO_MAX_PACING_RATE, SO_SNDBUFFORCE, SO_TXTIME = 47, 32, 61
CLOCKS = {"monotonic": time.CLOCK_MONOTONIC, "real": time.CLOCK_REALTIME, "tai": time.CLOCK_TAI}
UDP_HEADERS, TCP_HEADERS = 42, 66
# FCS, preamble and gap
AROUND = 24
MSS = 1448
APART_NS = 20000


class Departures:
    def __init__(self, netns, protocol):
        with Namespace(netns):
            self.sock = sniffer(DEVICE)
        self.sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.protocol = protocol
        self.times, self.ce, self.wire_bytes = [], 0, []
        self.ports = []

    def look(self):
        while True:
            try:
                frame, extra, _, where = self.sock.recvmsg(1 << 17, 64)
            except BlockingIOError:
                return
            protocol, payload = parse(frame)
            if where[2] != OUTGOING or protocol != self.protocol:
                continue
            seconds, rest = struct.unpack("qq", extra[0][2])
            self.times.append(seconds * 10**9 + rest)
            self.ce += frame[15] & 3 == 3
            self.ports.append(struct.unpack_from("!H", payload, 2)[0])
            self.wire_bytes.append(self.on_wire(payload))

    def on_wire(self, payload):
        if self.protocol == UDP:
            return len(payload) - 8 + UDP_HEADERS + AROUND
        data = len(payload) - (payload[12] >> 4) * 4
        return data + max(1, -(-data // MSS)) * (TCP_HEADERS + AROUND)

    def show(self, begin):
        self.look()
        instants = sum(b - a > APART_NS for a, b in zip([0, *self.times], self.times))
        turns = sum(a != b for a, b in zip(self.ports, self.ports[1:]))
        first, last = ((t - begin) / 1e6 for t in (self.times[0], self.times[-1])) if self.times else (-1, -1)
        print(f"left={len(self.times)} instants={instants} first_ms={first:.3f} last_ms={last:.3f} "
              f"ce={self.ce} turns={turns} wire_bytes={sum(self.wire_bytes[:-1])}")


def udp_socket(args):
    with Namespace(args.netns):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 26)
    if args.rate:
        sock.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, args.rate)
    if args.ect:
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 2)
    if args.at:
        sock.setsockopt(socket.SOL_SOCKET, SO_TXTIME, struct.pack("iI", CLOCKS[args.clock], 0))
    # what is hashed is the same in each run
    sock.bind(("", 3999))
    if args.ports == 1:
        sock.connect((args.address, 4000))
    return sock


def udp(args):
    departures, sock = Departures(args.netns, UDP), udp_socket(args)
    begin, base = time.time_ns(), time.clock_gettime_ns(CLOCKS[args.clock])
    for number in range(args.packets):
        control = []
        if args.at:
            at_ns = base + int(args.at[number % len(args.at)] * 1e9)
            control = [(socket.SOL_SOCKET, SO_TXTIME, struct.pack("Q", at_ns))]
        to = (args.address, 4000 + number % args.ports) if args.ports > 1 else None
        sock.sendmsg([bytes(args.bytes)], control, 0, to)
    time.sleep(args.seconds)
    departures.show(begin)


def tcp(args):
    departures, flow = Departures(args.netns, TCP), Flow(Hosts(args.netns, args.address))
    flow.sock.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 26)
    flow.far.settimeout(0.5)
    departures.look()
    departures.times, departures.wire_bytes, begin = [], [], time.time_ns()
    flow.sock.setblocking(False)
    sent = got = 0
    while got < args.bytes:
        try:
            sent += flow.sock.send(bytes(args.bytes - sent)) if sent < args.bytes else 0
        except BlockingIOError:
            pass
        got += len(flow.far.recv(1 << 20))
        departures.look()
    departures.show(begin)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("kind", choices=["udp", "tcp"])
    parser.add_argument("netns")
    parser.add_argument("address")
    for name, default in (("--packets", 1), ("--bytes", 1000), ("--ports", 1), ("--rate", 0)):
        parser.add_argument(name, type=int, default=default)
    parser.add_argument("--ect", action="store_true")
    parser.add_argument("--at", type=lambda text: [float(number) for number in text.split(",")])
    parser.add_argument("--clock", choices=CLOCKS, default="monotonic")
    parser.add_argument("--for", dest="seconds", type=float, default=1)
    args = parser.parse_args()
    {"udp": udp, "tcp": tcp}[args.kind](args)


if __name__ == "__main__":
    main()
