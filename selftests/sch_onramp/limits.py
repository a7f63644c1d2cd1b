#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A connection whose application sets and lifts SO_MAX_PACING_RATE while it sends.

limits.py ADDRESS PORT CC RATE[:SECONDS]...

The first rate is set before it connects. It sends for SECONDS, a fifth of one by default, at each of
them, then waits for what was not acknowledged, a quarter of a minute at most, and resets.

prints bytes=N,N... written at each rate, unacknowledged=N
"""
import array
import fcntl
import socket
import struct
import sys
import termios
import time

TCP_CONGESTION = 13
SO_MAX_PACING_RATE = 47
PATIENCE_S = 15
LOOK_S = 0.001


def limit(sock, rate):
    sock.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, struct.pack("Q", rate))


def write_for(sock, seconds):
    end, written = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        try:
            written += sock.send(bytes(1 << 16))
        except BlockingIOError:
            time.sleep(LOOK_S)
    return written


def unacknowledged(sock):
    left = array.array("i", [0])
    fcntl.ioctl(sock, termios.TIOCOUTQ, left)
    return left[0]


def main():
    address, port, cc, *phases = sys.argv[1:]
    phases = [phase.split(":") + ["0.2"] for phase in phases]
    sock = socket.socket()
    sock.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, cc.encode())
    limit(sock, int(phases[0][0]))
    sock.connect((address, int(port)))
    sock.setblocking(False)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    written = []
    for rate, seconds, *_ in phases:
        limit(sock, int(rate))
        written.append(write_for(sock, float(seconds)))
    patience = time.monotonic() + PATIENCE_S
    while unacknowledged(sock) and time.monotonic() < patience:
        time.sleep(LOOK_S)
    print(f"bytes={','.join(map(str, written))} unacknowledged={unacknowledged(sock)}")


if __name__ == "__main__":
    main()
