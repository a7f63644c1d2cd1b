#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Datagrams in bursts that the kernel cuts (UDP_SEGMENT), as a QUIC server sends them.

segments.py NETNS NETNS ADDRESS --clock CLOCK     each burst with a departure time (SO_TXTIME), by the
                                                  clock monotonic, real or tai
segments.py NETNS NETNS ADDRESS --rate BYTES/S    at SO_MAX_PACING_RATE

prints arrived=N datagrams of sent=N, early=N of them before their burst's time, disordered=N before
one that was sent earlier, late_ms=N from a burst's time to its last datagram at most, last_ms=N from
the first burst to the last datagram
"""
import argparse
import os
import socket
import struct
import sys
import threading
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.append(os.path.join(HERE, "../vrack/tests"))
from rackctl import Namespace  # noqa: E402  # pylint: disable=wrong-import-position

SO_MAX_PACING_RATE, SO_SNDBUFFORCE, SO_RCVBUFFORCE, SO_TXTIME = 47, 32, 33, 61
UDP_SEGMENT = 103
CLOCKS = {"monotonic": time.CLOCK_MONOTONIC, "real": time.CLOCK_REALTIME, "tai": time.CLOCK_TAI}
PORT = 4433
BURSTS, SEGMENTS, BYTES = 40, 40, 1200
APART_NS = 5 * 10**6
# The first burst is there before its time.
AHEAD_NS = 50 * 10**6
MS = 10**6


def new_socket(netns):
    with Namespace(netns):
        return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


class Receiver(threading.Thread):
    """Numbers of datagrams, and when they came."""

    def __init__(self, netns):
        super().__init__(daemon=True)
        self.sock = new_socket(netns)
        self.sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 24)
        self.sock.bind(("", PORT))
        # No burst is due so late.
        self.sock.settimeout(2)
        self.came = []

    def run(self):
        try:
            while True:
                number, = struct.unpack_from("!I", self.sock.recv(2 * BYTES))
                self.came.append((number, time.monotonic_ns()))
        except TimeoutError:
            pass


def send(args):
    """By the monotonic clock, when each burst is due and the first was handed over."""
    sock = new_socket(args.sender)
    sock.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 26)
    if args.rate:
        sock.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, args.rate)
    else:
        sock.setsockopt(socket.SOL_SOCKET, SO_TXTIME, struct.pack("iI", CLOCKS[args.clock], 0))
    sock.connect((args.address, PORT))
    begin, base = time.monotonic_ns(), time.clock_gettime_ns(CLOCKS[args.clock])
    due = []
    for burst in range(BURSTS):
        control = [(socket.IPPROTO_UDP, UDP_SEGMENT, struct.pack("H", BYTES))]
        after = 0
        if not args.rate:
            after = AHEAD_NS + burst * APART_NS
            control.append((socket.SOL_SOCKET, SO_TXTIME, struct.pack("Q", base + after)))
        due.append(begin + after)
        numbers = range(burst * SEGMENTS, (burst + 1) * SEGMENTS)
        sock.sendmsg([struct.pack("!I", number) + bytes(BYTES - 4) for number in numbers], control)
    return due


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ("sender", "receiver", "address"):
        parser.add_argument(name)
    parser.add_argument("--clock", choices=CLOCKS, default="monotonic")
    parser.add_argument("--rate", type=int, default=0)
    args = parser.parse_args()
    receiver = Receiver(args.receiver)
    receiver.start()
    due = send(args)
    receiver.join()
    after = [at - due[number // SEGMENTS] for number, at in receiver.came]
    disordered = sum(b[0] < a[0] for a, b in zip(receiver.came, receiver.came[1:]))
    last = receiver.came[-1][1] - due[0] if receiver.came else 0
    print(f"arrived={len(after)} sent={BURSTS * SEGMENTS} early={sum(ns < 0 for ns in after)} "
          f"disordered={disordered} late_ms={max(after, default=0) / MS:.3f} last_ms={last / MS:.3f}")


if __name__ == "__main__":
    main()
