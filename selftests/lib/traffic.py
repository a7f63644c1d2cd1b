#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A TCP sender and a receiver for the tests of modules.

traffic.py sink [--port N] [--stop-after S --stop-for S]
    accept connections and read them, until killed
traffic.py send ADDRESS [--port N] [--cc NAME] [--seconds S] [--flows N]
                [--write BYTES] [--interval S] [--idle S] [--max-pacing BYTES] [--abort]
    send for so long; --idle: then be silent for so long and send again;
    --abort: connections end with the process, and do not send what it has written

send prints one line per phase: seconds, bytes, TCP_INFO's pacing rate (bytes/s)
and smoothed RTT (us) of the first flow at the end of the phase, retransmits.
"""
import argparse
import selectors
import socket
import struct
import sys
import time

TCP_CONGESTION = 13
SO_MAX_PACING_RATE = 47
MSG_TRUNC = 0x20
READ_BYTES = 1 << 20


def let_time_pass():
    """A loop that only computes would last for ever in simulated time."""
    time.sleep(0.0001)


def tcp_info(sock):
    info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 232)
    rtt_us = struct.unpack_from("I", info, 68)[0]
    retransmits = struct.unpack_from("I", info, 100)[0]
    pacing = struct.unpack_from("Q", info, 104)[0]
    return pacing, rtt_us, retransmits


def sink(args):
    listener = socket.create_server(("", args.port), family=socket.AF_INET6,
                                    dualstack_ipv6=True, backlog=1000)
    listener.setblocking(False)
    poll = selectors.DefaultSelector()
    poll.register(listener, selectors.EVENT_READ)
    stop_at = time.monotonic() + args.stop_after if args.stop_for else None
    while True:
        for key, _ in poll.select(0.01 if stop_at else None):
            if key.fileobj is listener:
                sock, _ = listener.accept()
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1 << 16)
                sock.setblocking(False)
                poll.register(sock, selectors.EVENT_READ)
                continue
            try:
                if not key.fileobj.recv(READ_BYTES, MSG_TRUNC):
                    poll.unregister(key.fileobj)
                    key.fileobj.close()
            except BlockingIOError:
                let_time_pass()
            except ConnectionError:
                poll.unregister(key.fileobj)
                key.fileobj.close()
        if stop_at and time.monotonic() >= stop_at:
            time.sleep(args.stop_for)
            stop_at = None


def connect(args):
    family = socket.AF_INET6 if ":" in args.address else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    if args.cc:
        sock.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, args.cc.encode())
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if args.max_pacing is not None:
        sock.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, args.max_pacing)
    sock.settimeout(5)
    # With the scope of an address, if it has one.
    sock.connect(socket.getaddrinfo(args.address, args.port, family, socket.SOCK_STREAM)[0][4])
    sock.setblocking(False)
    if args.abort:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return sock


def send_phase(args, socks):
    data = bytes(args.write)
    start = time.monotonic()
    end = start + args.seconds
    sent = 0
    poll = selectors.DefaultSelector()
    for sock in socks:
        poll.register(sock, selectors.EVENT_WRITE)
    while time.monotonic() < end:
        for key, _ in poll.select(0.01):
            try:
                sent += key.fileobj.send(data)
            except BlockingIOError:
                let_time_pass()
        if args.interval:
            time.sleep(args.interval)
    pacing, rtt_us, retransmits = tcp_info(socks[0])
    print(f"seconds={time.monotonic() - start:.3f} bytes={sent} pacing={pacing} "
          f"rtt_us={rtt_us} retransmits={retransmits}", flush=True)


def send(args):
    socks = [connect(args) for _ in range(args.flows)]
    send_phase(args, socks)
    if args.idle:
        time.sleep(args.idle)
        args.seconds = min(args.seconds, 0.02)
        send_phase(args, socks)


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    receiver = commands.add_parser("sink")
    receiver.add_argument("--port", type=int, default=5001)
    receiver.add_argument("--stop-after", type=float, default=0)
    receiver.add_argument("--stop-for", type=float, default=0)
    sender = commands.add_parser("send")
    sender.add_argument("address")
    sender.add_argument("--port", type=int, default=5001)
    sender.add_argument("--cc")
    sender.add_argument("--seconds", type=float, default=0.1)
    sender.add_argument("--flows", type=int, default=1)
    sender.add_argument("--write", type=int, default=1 << 18)
    sender.add_argument("--interval", type=float, default=0)
    sender.add_argument("--idle", type=float, default=0)
    sender.add_argument("--max-pacing", type=int)
    sender.add_argument("--abort", action="store_true")
    args = parser.parse_args()
    {"sink": sink, "send": send}[args.command](args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
