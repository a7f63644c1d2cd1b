#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Packets that a qdisc counts something for.

usage: provoke.py late ADDRESS    one that is to leave in five seconds
       provoke.py wait ADDRESS    60 of four sockets, likewise
       provoke.py many ADDRESS    40 of two sockets at once, that may be marked (ECN)
"""
import socket
import struct
import sys
import time

SO_TXTIME = 61


def udp(address):
    """A socket to a port that nobody listens on."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.connect((address, 9))
    return sock


def late(address, packets=1):
    """Sends the one, or more of a socket."""
    sock = udp(address)
    sock.setsockopt(socket.SOL_SOCKET, SO_TXTIME, struct.pack("iI", time.CLOCK_MONOTONIC, 0))
    when = struct.pack("Q", time.monotonic_ns() + 5 * 10**9)
    for _ in range(packets):
        sock.sendmsg([b"late"], [(socket.SOL_SOCKET, SO_TXTIME, when)])


def hold(address):
    """Sends the 60."""
    for _ in range(4):
        late(address, 15)


def many(address):
    """Sends the 40; what an answer says of those before is of no interest."""
    for sock in [udp(address), udp(address)]:
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 2)
        for _ in range(20):
            try:
                sock.send(bytes(1000))
            except OSError:
                pass


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("late", "wait", "many"):
        sys.exit(__doc__)
    {"late": late, "wait": hold, "many": many}[sys.argv[1]](sys.argv[2])
