#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A connection that has data in flight when an echo comes, in a state of the caller's choice.

held.py serve --port N [--what WHAT]
    take connections one after another until killed, and read them to their end
held.py send ADDRESS --port N [--what WHAT]
    write an important byte and then more, so that the echo of the first finds TCP with nothing
    to send. The path is to have 20 ms each way. WHAT is one of
    plain   nothing else
    repair  the socket is in repair mode by then
    md5     with signatures (RFC 2385)
    mptcp   a connection of MPTCP
    shut    a FIN follows the data
    fin     a FIN follows the first byte, and no data
    4: this kernel cannot
"""
import argparse
import errno
import socket
import struct
import sys
import time

TCP_MD5SIG, TCP_REPAIR = 14, 19  # linux/tcp.h; Python has no names for them
REPAIR_ON, REPAIR_OFF = 1, -1
IPPROTO_MPTCP = 262
KEY = b"not a secret"
WITHIN_RTT_S = 0.005
QUIET_S = 0.3
UNABLE = (errno.ENOPROTOOPT, errno.EPROTONOSUPPORT, errno.EINVAL)
NEEDS = {"md5": "CONFIG_TCP_MD5SIG", "mptcp": "CONFIG_MPTCP"}


def sign(sock, address):
    peer = struct.pack("=HH4s", socket.AF_INET, 0, socket.inet_aton(address))
    sock.setsockopt(socket.IPPROTO_TCP, TCP_MD5SIG, struct.pack(
        "=128sBBHi80s", peer, 0, 0, len(KEY), 0, KEY))


def make_socket(args, peer):
    protocol = IPPROTO_MPTCP if args.what == "mptcp" else socket.IPPROTO_TCP
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol)
    if args.what == "md5":
        sign(sock, peer)
    return sock


def serve(args):
    with make_socket(args, "10.1.0.1") as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("", args.port))
        listener.listen()
        while True:
            sock, _ = listener.accept()
            with sock:
                while sock.recv(1 << 16):
                    pass


def hold(sock, what):
    sock.sendall(b"first")
    time.sleep(QUIET_S)
    sock.sendall(b"i")
    time.sleep(WITHIN_RTT_S)
    if what == "fin":
        sock.shutdown(socket.SHUT_WR)
        return
    sock.sendall(b"rest" * 25)
    if what == "shut":
        sock.shutdown(socket.SHUT_WR)
    if what == "repair":
        sock.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, REPAIR_ON)


def send(args):
    with make_socket(args, args.address) as sock:
        sock.settimeout(5)
        sock.connect((args.address, args.port))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        hold(sock, args.what)
        time.sleep(QUIET_S)
        if args.what == "repair":
            sock.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, REPAIR_OFF)


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("serve", "send"):
        command = commands.add_parser(name)
        if name == "send":
            command.add_argument("address")
        command.add_argument("--port", type=int, required=True)
        command.add_argument("--what", default="plain",
                             choices=["plain", "repair", "md5", "mptcp", "shut", "fin"])
    args = parser.parse_args()
    try:
        return serve(args) if args.command == "serve" else send(args)
    except OSError as error:
        if args.what not in NEEDS or error.errno not in UNABLE:
            raise
        print(f"needs {NEEDS[args.what]}, which this kernel lacks")
        return 4


if __name__ == "__main__":
    sys.exit(main())
