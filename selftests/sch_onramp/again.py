#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Connections that begin and end.

again.py ADDRESS [--port N] [--from-port N] [--times N] [--bytes N] [--together] [--on]
    one after the other: connect, from a port of its own if named, send, wait until
    all is acknowledged, abort; with --together all end after the last; with --on each is
    to the address behind that of the one before; prints how many there were
"""
import argparse
import fcntl
import ipaddress
import socket
import struct
import termios
import time


def unacknowledged(sock):
    return struct.unpack("i", fcntl.ioctl(sock, termios.TIOCOUTQ, struct.pack("i", 0)))[0]


def connect_and_send(args, address):
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # nothing of it waits for the last packets of the connection before
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    if args.from_port:
        sock.bind(("", args.from_port))
    sock.settimeout(20)
    sock.connect((str(address), args.port))
    sock.sendall(bytes(args.bytes))
    end = time.monotonic() + 20
    while unacknowledged(sock) and time.monotonic() < end:
        time.sleep(0.0005)
    if unacknowledged(sock):
        raise TimeoutError("not acknowledged within 20 s")
    return sock


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("address", type=ipaddress.ip_address)
    parser.add_argument("--port", type=int, default=5001)
    parser.add_argument("--from-port", type=int, default=0)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--bytes", type=int, default=100000)
    parser.add_argument("--together", action="store_true")
    parser.add_argument("--on", action="store_true")
    args = parser.parse_args()
    kept = []
    for number in range(args.times):
        sock = connect_and_send(args, args.address + number if args.on else args.address)
        if args.together:
            kept.append(sock)
        else:
            sock.close()
    print(args.times)


main()
