#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Thousands of connections at once, each with bytes of its own, compared at their end.

many.py serve [--port N]
    take them until killed; each begins with its number and the count of its bytes
many.py send ADDRESS --connections N --bytes N --ready FILE [--port N]
    open all, then write to all and wait for their verdicts; FILE appears when the first bytes
    are written. Prints "connections=N right=N seconds=S"; 1 where one is not right
"""
import argparse
import resource
import selectors
import socket
import struct
import sys
import time

PATTERN = bytes(i * i * 7919 + i // 251 & 255 for i in range(1 << 16))
HEADER = struct.Struct("!LL")
OPENING = 64    # at a time, for a listener's queue of SYNs
RIGHT, WRONG = b"r", b"w"
READ_BYTES = 1 << 16


def content(number, start, end):
    """Of a connection, from `start' to `end': no two have the same at the same place."""
    begin = (number * 8191 + start) % len(PATTERN)
    data = PATTERN[begin:begin + end - start]
    while len(data) < end - start:
        data += PATTERN[:end - start - len(data)]
    return data


class Taken:
    """One connection at the server."""

    def __init__(self):
        self.header = b""
        self.number = self.bytes = self.seen = 0
        self.right = True

    def take(self, data):
        if len(self.header) < HEADER.size:
            more = HEADER.size - len(self.header)
            self.header, data = self.header + data[:more], data[more:]
            if len(self.header) < HEADER.size:
                return
            self.number, self.bytes = HEADER.unpack(self.header)
        end = self.seen + len(data)
        self.right &= data == content(self.number, self.seen, end)
        self.seen = end

    def verdict(self):
        return RIGHT if self.right and self.seen == self.bytes else WRONG


def serve_one(poll, sock, taken):
    try:
        data = sock.recv(READ_BYTES)
    except BlockingIOError:
        return
    except ConnectionError:
        poll.unregister(sock)
        sock.close()
        return
    if data:
        taken.take(data)
        return
    poll.unregister(sock)
    sock.send(taken.verdict())
    sock.close()


def serve(args):
    poll = selectors.DefaultSelector()
    listener = socket.create_server(("", args.port), family=socket.AF_INET6,
                                    dualstack_ipv6=True, backlog=4096)
    listener.setblocking(False)
    poll.register(listener, selectors.EVENT_READ)
    while True:
        for key, _ in poll.select():
            if key.fileobj is listener:
                sock, _ = listener.accept()
                sock.setblocking(False)
                poll.register(sock, selectors.EVENT_READ, Taken())
            else:
                serve_one(poll, key.fileobj, key.data)


def connect(address, port):
    sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    sock.setblocking(False)
    sock.connect_ex((address, port))
    return sock


def connect_all(args):
    socks = []
    while len(socks) < args.connections:
        poll = selectors.DefaultSelector()
        batch = [connect(args.address, args.port)
                 for _ in range(min(OPENING, args.connections - len(socks)))]
        for sock in batch:
            poll.register(sock, selectors.EVENT_WRITE)
        while poll.get_map():
            for key, _ in poll.select():
                poll.unregister(key.fileobj)
        socks += batch
    return socks


def write(poll, sock, data):
    """What of `data' is left."""
    try:
        data = data[sock.send(data):]
    except BlockingIOError:
        return data
    if not data:
        sock.shutdown(socket.SHUT_WR)
        poll.modify(sock, selectors.EVENT_READ)
    return data


def verdict(sock):
    try:
        return sock.recv(1)
    except ConnectionError:
        return WRONG


def send(args):
    start = time.monotonic()
    left = {sock: HEADER.pack(number, args.bytes) + content(number, 0, args.bytes)
            for number, sock in enumerate(connect_all(args))}
    poll = selectors.DefaultSelector()
    for sock in left:
        poll.register(sock, selectors.EVENT_WRITE)
    with open(args.ready, "w", encoding="ascii"):
        pass
    right = 0
    while poll.get_map():
        for key, _ in poll.select():
            if left[key.fileobj]:
                left[key.fileobj] = write(poll, key.fileobj, left[key.fileobj])
                continue
            right += verdict(key.fileobj) == RIGHT
            poll.unregister(key.fileobj)
            key.fileobj.close()
    print(f"connections={args.connections} right={right} seconds={time.monotonic() - start:.3f}")
    return right != args.connections


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    server = commands.add_parser("serve")
    server.add_argument("--port", type=int, default=5100)
    sender = commands.add_parser("send")
    sender.add_argument("address")
    sender.add_argument("--port", type=int, default=5100)
    sender.add_argument("--connections", type=int, required=True)
    sender.add_argument("--bytes", type=int, required=True)
    sender.add_argument("--ready", required=True)
    args = parser.parse_args()
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    return serve(args) if args.command == "serve" else send(args)


if __name__ == "__main__":
    sys.exit(main())
