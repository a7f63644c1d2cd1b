#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Packets that no honest peer sends, to a host that has a connection with us.

hostile.py serve PORT BYTES
    the victim: send BYTES to whoever connects, which nobody will acknowledge, and
    read what comes
hostile.py flood DEVICE MAC SOURCE TARGET PORT --packets N --first N --what every|echoes|data
    open connection after connection to the victim from an address of nobody's, from
    the N-th port on, and send on each a thousand packets; prints "sent N"
      every   all code points with all flags; sequence numbers, lengths, options and
              checksums right and wrong; cut short
      echoes  echoes of both kinds, all of them possible, that acknowledge nothing new
      data    important data of both kinds, all of it old, half with a wrong checksum
hostile.py raw SOURCE TARGET PORT
    segments from a connected raw socket of protocol TCP, which is no TCP socket
"""
import argparse
import contextlib
import random
import select
import socket
import struct
import sys
import time

from checksum import checksum

ETH_P_IP, ETH_P_IPV6 = 0x0800, 0x86dd
TCP = 6
FIN, SYN, RST, ACK = 1, 2, 4, 16
OUR_MAC = bytes.fromhex("0200000000ee")
BATCH = 1000		# packets a connection
AT_ONCE = 50		# packets between two pauses
PAUSE_S = 50e-6		# so that a million packets are a second
OPEN_MAX = 16		# connections of the victim: older ones it resets
# the code points of `turnpike tlt set --map local'
DATA, ECHO, CLOCK, CLOCK_ECHO, CONTROL = 3, 7, 11, 15, 19


class Wire:
    """Frames between an address of nobody's and the victim."""

    def __init__(self, device, mac, source, target):
        self.six = ":" in target
        family = socket.AF_INET6 if self.six else socket.AF_INET
        self.source = socket.inet_pton(family, source)
        self.target = socket.inet_pton(family, target)
        kind = ETH_P_IPV6 if self.six else ETH_P_IP
        self.ether = bytes.fromhex(mac.replace(":", "")) + OUR_MAC + struct.pack("!H", kind)
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(kind))
        self.sock.bind((device, kind))

    def segment(self, header, options, data, wrong_sum=False, doff=None):
        sport, dport, seq, ack, flags, window = header
        words = 5 + len(options) // 4 if doff is None else doff
        tcp = struct.pack("!HHLLBBHHH", sport, dport, seq & 0xffffffff, ack & 0xffffffff,
                          words << 4, flags, window, 0, 0) + options + data
        pseudo = self.source + self.target + struct.pack("!LL", len(tcp), TCP)
        value = checksum(pseudo + tcp) ^ (0x55 if wrong_sum else 0)
        return tcp[:16] + struct.pack("!H", value) + tcp[18:]

    def frame(self, code, segment, cut=None):
        """`cut`: how much of the segment there is, and the IP header says so."""
        segment = segment[:cut]
        if self.six:
            ip = struct.pack("!LHBB", 6 << 28 | code << 22, len(segment), TCP, 64)
            return self.ether + ip + self.source + self.target + segment
        ip = struct.pack("!BBHHHBBH", 0x45, code << 2, 20 + len(segment), 0, 0, 64, TCP, 0)
        ip += self.source + self.target
        return self.ether + ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:] + segment

    def answer_to(self, port):
        """Sequence number of the victim's SYN-ACK to our port."""
        start = 54 if self.six else 34
        while select.select([self.sock], [], [], 5)[0]:
            frame = self.sock.recv(2048)
            if frame[6:12] != OUR_MAC and struct.unpack_from("!H", frame, start + 2)[0] == port \
                    and frame[start + 13] == SYN | ACK:
                return struct.unpack_from("!L", frame, start + 4)[0]
        raise TimeoutError("the victim does not answer")

    def drain(self):
        while select.select([self.sock], [], [], 0)[0]:
            self.sock.recv(2048)


class Connection:
    """With the victim: what it takes for our next byte, and its first unacknowledged one."""

    def __init__(self, wire, number, port):
        self.ports = 10000 + number % 50000, port
        self.seq = number * 7919
        wire.drain()
        self.send(wire, CONTROL, SYN, 0, struct.pack("!BBHBBBB", 2, 4, 1460, 4, 2, 1, 1))
        self.ack = wire.answer_to(self.ports[0]) + 1
        self.seq += 1
        self.send(wire, CONTROL, ACK, self.ack, b"")

    def send(self, wire, code, flags, ack, options):
        wire.sock.send(wire.frame(code, wire.segment(
            (*self.ports, self.seq, ack, flags, 65535), options, b"")))

    def end(self, wire):
        self.send(wire, CONTROL, RST | ACK, self.ack, b"")


def options_of(dice, connection):
    return dice.choice((
        b"",
        b"\1\1\5\x0a" + struct.pack("!LL", (connection.ack + 1448) & 0xffffffff,
                                    (connection.ack + 2896) & 0xffffffff),
        b"\1\1\5\x12" + dice.randbytes(16),
        b"\5\0\5\1" + dice.randbytes(4),
        b"\1\1\5\xff" + dice.randbytes(8),
        b"\1\1\x08\x0a" + dice.randbytes(8),
        dice.randbytes(4 * dice.randrange(11)),
    ))


def every(dice, wire, connection, number):
    code, flags = number % 64, number // 64 % 256
    near = dice.randrange(-70000, 70000)
    seq = connection.seq + dice.choice((0, 0, -1, 1, near))
    # what ends the connection ends the test of it: seldom at the right place
    if flags & (SYN | RST) or flags & FIN and dice.randrange(100):
        seq = connection.seq + 1 + dice.randrange(60000)
    ack = connection.ack + dice.choice((0, 0, 0, -1, 1, 1448, near, dice.randrange(1 << 32)))
    data = bytes(dice.choice((0, 0, 0, 1, 100, 1400)))
    header = (*connection.ports, seq, ack, flags, dice.choice((65535, 65535, 0, 1)))
    doff = dice.randrange(16) if dice.randrange(16) == 0 else None
    cut = dice.randrange(60) if dice.randrange(16) == 0 else None
    segment = wire.segment(header, options_of(dice, connection), data,
                           dice.randrange(8) == 0, doff)
    return wire.frame(code, segment, cut)


def echoes(dice, wire, connection, number):
    code = (ECHO, CLOCK_ECHO)[number % 2]
    header = (*connection.ports, connection.seq, connection.ack, ACK, 65535)
    return wire.frame(code, wire.segment(header, b"", b""))


def old_data(dice, wire, connection, number):
    code = (DATA, CLOCK)[number % 2]
    header = (*connection.ports, connection.seq - dice.randrange(1, 1000), connection.ack, ACK, 65535)
    return wire.frame(code, wire.segment(header, b"", b"x", number // 2 % 2 == 1))


WHAT = {"every": every, "echoes": echoes, "data": old_data}


def flood(args):
    wire = Wire(args.device, args.mac, args.source, args.target)
    dice = random.Random(args.packets)
    make = WHAT[args.what]
    for number in range(args.packets):
        if number % BATCH == 0:
            connection = Connection(wire, args.first + number // BATCH, args.port)
        elif number % AT_ONCE == 0:
            time.sleep(PAUSE_S)
        wire.sock.send(make(dice, wire, connection, number))
        if number % BATCH == BATCH - 1:
            connection.end(wire)
    print(f"sent {args.packets}")


def serve(args):
    """The end of a connection, however it comes, is no matter."""
    server = socket.create_server(("::", args.port), family=socket.AF_INET6, backlog=64,
                                  dualstack_ipv6=True)
    poll = select.epoll()
    poll.register(server, select.EPOLLIN)
    socks = {}
    while True:
        for number, _ in poll.poll():
            more = False
            with contextlib.suppress(OSError):
                if number == server.fileno():
                    sock = server.accept()[0]
                    number = sock.fileno()
                    socks[number] = sock
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    poll.register(sock, select.EPOLLIN)
                    sock.sendall(bytes(args.bytes))
                    more = True
                else:
                    more = socks[number].recv(65536)
            if len(socks) > OPEN_MAX:
                number, more = next(iter(socks)), False
            if not more and number in socks:
                poll.unregister(number)
                socks.pop(number).close()


def raw(args):
    family = socket.AF_INET6 if ":" in args.target else socket.AF_INET
    with socket.socket(family, socket.SOCK_RAW, TCP) as sock:
        sock.bind((args.source, 0))
        sock.connect((args.target, 0))
        for flags in range(256):
            sock.send(struct.pack("!HHLLBBHHH", args.port, args.port, 1, 1, 5 << 4, flags,
                                  1000, 0, 0) + bytes(flags % 7))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("serve")
    command.add_argument("port", type=int)
    command.add_argument("bytes", type=int)
    command = commands.add_parser("flood")
    for name in ("device", "mac", "source", "target"):
        command.add_argument(name)
    command.add_argument("port", type=int)
    command.add_argument("--packets", type=int, default=100000)
    command.add_argument("--first", type=int, default=0)
    command.add_argument("--what", choices=WHAT, default="every")
    command = commands.add_parser("raw")
    for name in ("source", "target"):
        command.add_argument(name)
    command.add_argument("port", type=int)
    args = parser.parse_args()
    return {"serve": serve, "flood": flood, "raw": raw}[args.command](args)


if __name__ == "__main__":
    sys.exit(main())
