#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A connection that lives long and says little: each turn it sends some data, which must be acknowledged
within half a minute.

usage: soak.py ADDRESS PORT CC PERIOD_S

Until SIGTERM; then, or when a turn is stuck, it prints turns=N stuck=N and ends.
"""
import array
import fcntl
import signal
import socket
import sys
import termios
import time

TCP_CONGESTION = 13
TURN_BYTES = 20000
PATIENCE_S = 30
LOOK_S = 0.01


class Ended(Exception):
    pass


def end(_number, _frame):
    raise Ended


def unacknowledged(sock):
    left = array.array("i", [0])
    fcntl.ioctl(sock, termios.TIOCOUTQ, left)
    return left[0]


def takes_a_turn(sock):
    sock.sendall(bytes(TURN_BYTES))
    patience = time.monotonic() + PATIENCE_S
    while unacknowledged(sock):
        if time.monotonic() > patience:
            return False
        time.sleep(LOOK_S)
    return True


def main():
    address, port, cc, period_s = sys.argv[1:]
    signal.signal(signal.SIGTERM, end)
    sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    sock.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, cc.encode())
    sock.connect((address, int(port)))
    turns = stuck = 0
    try:
        while not stuck:
            time.sleep(float(period_s))
            stuck = int(not takes_a_turn(sock))
            turns += 1
    except Ended:
        pass
    print(f"turns={turns} stuck={stuck}", flush=True)
    return stuck


if __name__ == "__main__":
    sys.exit(main())
