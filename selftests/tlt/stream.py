#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A stream of known bytes, compared at its other end.

stream.py serve [--port N] [--slow S] [--parallel]
    take connections one after another (or all at once) until killed: read a line
    "SEED BYTES", then the bytes that SEED makes, and answer "ok" or what differs;
    --slow: read a little at a time, with pauses that let the window close
stream.py send ADDRESS --seed N --bytes N [--port N] [--tos N] [--urgent] [--close]
    send such a stream; --urgent: some of it as urgent data, inline; --close:
    shut the sending side at once, so that the FIN is in flight with the data
    prints "seconds=S retransmits=N"
"""
import argparse
import random
import socket
import struct
import sys
import threading
import time

CHUNK = 1 << 16
SLOW_READ = 20000


def content(seed, size):
    generator = random.Random(seed)
    while size > 0:
        part = generator.randbytes(min(size, CHUNK))
        size -= len(part)
        yield part


def check(sock, seed, size, slow):
    """None if the stream is as it should be."""
    seen = 0
    for part in content(seed, size):
        got = b""
        while len(got) < len(part):
            if slow:
                time.sleep(slow)
            data = sock.recv(min(SLOW_READ if slow else CHUNK, len(part) - len(got)))
            if not data:
                return f"the stream ends after {seen + len(got)} of {size} bytes"
            got += data
        if got != part:
            return f"byte {seen + next(i for i in range(len(part)) if got[i] != part[i])} differs"
        seen += len(part)
    return None


def read_line(sock):
    line = b""
    while not line.endswith(b"\n"):
        byte = sock.recv(1)
        if not byte:
            return None
        line += byte
    return line


def serve_one(sock, slow):
    with sock:
        try:
            seed, size = map(int, read_line(sock).split())
            fault = check(sock, seed, size, slow)
            sock.sendall((fault or "ok").encode())
        except (OSError, AttributeError, ValueError) as error:
            print(error, file=sys.stderr)


def serve(args):
    family = socket.AF_INET6
    with socket.create_server(("", args.port), family=family, dualstack_ipv6=True,
                              backlog=100) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 1)
        while True:
            sock, _ = listener.accept()
            if args.parallel:
                threading.Thread(target=serve_one, args=(sock, args.slow), daemon=True).start()
            else:
                serve_one(sock, args.slow)


def send_content(sock, args):
    for number, part in enumerate(content(args.seed, args.bytes)):
        if args.urgent and number % 8 == 3:
            sock.sendall(part[:-1])
            sock.send(part[-1:], socket.MSG_OOB)
        else:
            sock.sendall(part)


def connect(args):
    family = socket.AF_INET6 if ":" in args.address else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.settimeout(args.timeout)
    if args.tos:
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, args.tos)
    sock.connect((args.address, args.port))
    return sock


def send(args):
    start = time.monotonic()
    with connect(args) as sock:
        sock.sendall(f"{args.seed} {args.bytes}\n".encode())
        send_content(sock, args)
        if args.close:
            sock.shutdown(socket.SHUT_WR)
        answer = sock.recv(1000).decode()
        info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 232)
    retransmits = struct.unpack_from("I", info, 100)[0]
    print(f"seconds={time.monotonic() - start:.3f} retransmits={retransmits}")
    if answer != "ok":
        print(answer or "no answer")
        return 1
    return 0


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    server = commands.add_parser("serve")
    server.add_argument("--port", type=int, default=5100)
    server.add_argument("--slow", type=float, default=0)
    server.add_argument("--parallel", action="store_true")
    sender = commands.add_parser("send")
    sender.add_argument("address")
    sender.add_argument("--port", type=int, default=5100)
    sender.add_argument("--seed", type=int, required=True)
    sender.add_argument("--bytes", type=int, required=True)
    sender.add_argument("--tos", type=int, default=0)
    sender.add_argument("--urgent", action="store_true")
    sender.add_argument("--close", action="store_true")
    sender.add_argument("--timeout", type=float, default=60)
    args = parser.parse_args()
    return {"serve": serve, "send": send}[args.command](args)


if __name__ == "__main__":
    sys.exit(main())
