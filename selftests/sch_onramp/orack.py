#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""OR-ACKs as others see them; Documentation/onramp-wire.rst has the format.

orack.py watch DEVICE SECONDS [PORT]
    what passes: announcements=N receipts=N clocks=N icmp=N receipts_bytes=N data_bytes=N
orack.py ask ADDRESS PORT LIFETIME_MS
    a host without On-Ramp that announces itself: connect, announce, send data for two
    lifetimes; checks every receipt, prints during=N after=N receipts that came, uptime=N whose time
    tells how long the host is up, clocks=N and error_ns=N of what was said of the host's clock, and
    real=1 if that was its CLOCK_REALTIME
orack.py sparse ADDRESS PORT
    such a host streams data; prints all=N receipts for some MB, sparse=N for as much once they are sparse
    enough, again=N when all are wanted again, and said=1 if each said which it is
orack.py strange ADDRESS
    each millisecond, until killed, data to a port of this host's that nobody listens on
orack.py attack DEVICE ADDRESS --packets N
    send what no honest peer sends to a host whose data arrives at DEVICE, knowing all that
    can be seen there; prints sent=N and gap_ms=N, the longest time without new data
orack.py fill FIRST PEERS SECONDS [--drift PPT]
    tell offsets of so many peers' clocks, from a number on, until one is refused; prints taken=N error=N
orack.py connect ADDRESS PORT
    make a connection, and send nothing
orack.py crowd COUNT
    send a byte to so many addresses of this host, a connection each; prints sent=N
orack.py bind PORT
    hold the UDP port, until killed
"""
import argparse
import errno
import os
import random
import select
import socket
import struct
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
import genl

ETH_P_ALL = 3
SO_RCVBUFFORCE = 33
PORT = 61004
RECEIPT, ANNOUNCEMENT, CLOCK, PRICE, PRICE_OF_ALL = 1, 2, 3, 4, 5
CLOCK_BODY = struct.Struct("!QL")
PRICE_BODY = struct.Struct("!LLL")
HEADER = struct.Struct("!BBBBLQ")
ENTRY = struct.Struct("!HHLL")
SPARSE = 0x80
TCP, UDP, ICMP, ICMP6 = 6, 17, 1, 58
# include/uapi/turnpike.h
ONRAMP_CMD_CLOCK_SET = 8
ONRAMP_A_CLOCK_PEER, ONRAMP_A_CLOCK_OFFSET, ONRAMP_A_CLOCK_ERROR, ONRAMP_A_CLOCK_SECONDS = 8, 9, 10, 11
ONRAMP_A_CLOCK_DRIFT = 15
AT_ONCE = 50
# More than what ends sparse receipts if it is of another host's (ORACK_SPARSE_COMPANY_BYTES).
STRANGE_BYTES = 16000
GIVEN_BACK_TRIES = 20
PAUSE_S = 50e-6
DAY_NS = 86400 * 10**9
STRANGE = (0, 1, 1000, 10**6, 10**9, 10**9 + 1, 2**31, 2**32 - 1)


def sniffer(device):
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 26)
    sock.bind((device, ETH_P_ALL))
    sock.setblocking(False)
    return sock


def parse(frame):
    """Protocol and payload of an IP packet, (None, b"") for anything else."""
    if frame[12:14] == b"\x08\0":
        start = 14 + (frame[14] & 15) * 4
        return frame[23], frame[start:14 + struct.unpack_from("!H", frame, 16)[0]]
    if frame[12:14] == b"\x86\xdd":
        return frame[20], frame[54:54 + struct.unpack_from("!H", frame, 18)[0]]
    return None, b""


def data_of(segment):
    """(source port, destination port, sequence, bytes) of a TCP segment."""
    sport, dport, seq = struct.unpack_from("!HHL", segment)
    return sport, dport, seq, len(segment) - (segment[12] >> 4) * 4


def watch(args):
    sock = sniffer(args.device)
    count = dict.fromkeys(("announcements", "receipts", "clocks", "icmp", "receipts_bytes", "data_bytes"), 0)
    end = time.monotonic() + args.seconds
    while time.monotonic() < end:
        if not select.select([sock], [], [], 0.01)[0]:
            continue
        frame = sock.recv(1 << 17)
        protocol, payload = parse(frame)
        if protocol == TCP:
            count["data_bytes"] += data_of(payload)[3]
        elif protocol == ICMP or protocol == ICMP6 and payload[0] < 128:
            count["icmp"] += 1
        elif protocol == UDP and struct.unpack_from("!H", payload, 2)[0] == args.port:
            if payload[9] == RECEIPT:
                count["receipts"] += 1
                count["receipts_bytes"] += len(frame)
            else:
                count["clocks" if payload[9] == CLOCK else "announcements"] += 1
    print(" ".join(f"{name}={value}" for name, value in count.items()))


def receipt(entries, clock, now_ns, key=0, sparse=0):
    head = HEADER.pack(1, RECEIPT, key, len(entries) | sparse, clock, now_ns)
    return head + b"".join(ENTRY.pack(*entry) for entry in entries) + bytes(8 if key else 0)


def announcement(sport, dport, lifetime_ms, key=0, sparse=0):
    head = HEADER.pack(1, ANNOUNCEMENT, key, 1 | sparse, lifetime_ms, time.time_ns())
    return head + ENTRY.pack(sport, dport, 0, 0) + bytes(8 if key else 0)


def clock(now_ns, real_ns, error_ns, key=0):
    head = HEADER.pack(1, CLOCK, key, 1, 1, now_ns)
    return head + CLOCK_BODY.pack(real_ns % 2**64, error_ns) + bytes(8 if key else 0)


def bound_socket(family, port):
    """On-Ramp gives its port back by a worker, a little after the qdisc has gone."""
    sock = socket.socket(family, socket.SOCK_DGRAM)
    for _ in range(GIVEN_BACK_TRIES):
        try:
            sock.bind(("", port))
            return sock
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            time.sleep(0.1)
    sys.exit(f"UDP port {port} is in use")


def udp_socket(address):
    sock = bound_socket(socket.AF_INET6 if ":" in address else socket.AF_INET, PORT)
    sock.connect((address, PORT))
    return sock


def check_receipt(data, ports):
    version, kind, key, count, _, _ = HEADER.unpack_from(data)
    if (version, kind, key, count) != (1, RECEIPT, 0, 1) or len(data) != 28:
        sys.exit(f"not a receipt for one flow: {data.hex()}")
    sport, dport, _, age = ENTRY.unpack_from(data, HEADER.size)
    if (sport, dport) != ports or age > 1000000:
        sys.exit(f"a receipt for another flow, or too old: {data.hex()}")


def tells_uptime(data):
    """Its time is within a day of the kernel's monotonic clock."""
    apart_ns = (HEADER.unpack_from(data)[-1] - time.monotonic_ns()) % 2**64
    return min(apart_ns, 2**64 - apart_ns) < DAY_NS


def check_clock(data, said):
    """The two hosts share one kernel, and so its clocks."""
    _, _, _, _, identity, now_ns = HEADER.unpack_from(data)
    real_ns, error_ns = CLOCK_BODY.unpack_from(data, HEADER.size)
    apart_ns = (now_ns + real_ns - time.time_ns()) % 2**64
    if len(data) != 28 or not identity:
        sys.exit(f"nothing about a clock: {data.hex()}")
    said["clocks"] += 1
    said["error_ns"] = error_ns
    said["real"] = int(min(apart_ns, 2**64 - apart_ns) < 10**9)


def came(sock):
    """All that waits in the socket."""
    while select.select([sock], [], [], 0)[0]:
        yield sock.recv(1 << 17)


def without_onramp(args):
    """A host that is to announce itself: sockets of datagrams and of a connection, its ports."""
    tcp = socket.create_connection((args.address, args.port))
    return udp_socket(args.address), tcp, (tcp.getsockname()[1], tcp.getpeername()[1])


def ask(args):
    udp, tcp, ports = without_onramp(args)
    udp.send(announcement(*ports, args.lifetime_ms))
    start, lifetime = time.monotonic(), args.lifetime_ms / 1e3
    count = {"during": 0, "after": 0, "uptime": 0, "clocks": 0, "error_ns": 0, "real": 0}
    while time.monotonic() < start + 2 * lifetime:
        tcp.sendall(bytes(20000))
        time.sleep(0.002)
        for data in came(udp):
            if data[1] == CLOCK:
                check_clock(data, count)
                continue
            check_receipt(data, ports)
            count["uptime"] += tells_uptime(data)
            # The last batch goes out a moment later, and jiffies are coarse.
            count["after" if time.monotonic() > start + lifetime * 1.1 else "during"] += 1
    print(" ".join(f"{name}={value}" for name, value in count.items()))


def streamed(udp, tcp, sparse):
    """Receipts for 30 MB, and how many of them have that flag; a round trip first, for what was asked."""
    tcp.sendall(bytes(10000))
    time.sleep(0.01)
    list(came(udp))
    count = right = 0
    for _ in range(500):
        tcp.sendall(bytes(60000))
        for data in came(udp):
            if data[1] == RECEIPT:
                count += 1
                right += data[3] & SPARSE == sparse
    return count, right


def sparse(args):
    udp, tcp, ports = without_onramp(args)
    said, total, counts = 0, 0, []
    for bit in (0, SPARSE, 0):
        udp.send(announcement(*ports, 60000, sparse=bit))
        count, right = streamed(udp, tcp, bit)
        counts.append(count)
        total += count
        said += right
    print("all={} sparse={} again={} said={}".format(*counts, int(said == total)))


def strange(args):
    """By fragments, which arrive as one packet."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
    segment = struct.pack("!HHLLBBHHH", 4711, 4712, 1, 1, 5 << 4, 0x10, 1000, 0, 0) + bytes(STRANGE_BYTES)
    while True:
        sock.sendto(segment, (args.address, 0))
        time.sleep(0.001)


class Victim:
    """What can be seen of its connections."""

    def __init__(self, device):
        self.sock = sniffer(device)
        self.flow = {}			# (sport, dport): newest sequence number
        self.newest_s = None
        self.gap_s = 0

    def look(self):
        for frame in came(self.sock):
            protocol, payload = parse(frame)
            if protocol != TCP:
                continue
            sport, dport, seq, length = data_of(payload)
            if dport != 5001 or not length:
                continue
            self.flow[sport, dport] = (seq + length) & 0xffffffff
            now = time.monotonic()
            if self.newest_s:
                self.gap_s = max(self.gap_s, now - self.newest_s)
            self.newest_s = now


def entry(dice, victim):
    (sport, dport), seq = dice.choice(list(victim.flow.items()))
    seq += dice.choice((0, 0, 0, 1, -1, dice.randrange(-100000, 100000), dice.randrange(2**32)))
    return sport, dport, seq & 0xffffffff, dice.choice((*STRANGE, dice.randrange(10**6)))


def forged(dice, victim, old):
    what = dice.randrange(9)
    key = dice.choice((0, 0, 0, 1, 2))
    if what == 0:
        return dice.randbytes(dice.randrange(500))
    if what == 1:
        sport, dport = dice.choice(list(victim.flow))
        return announcement(dport, sport, dice.choice((0, 1, 1000, 60000, 60001)), key, dice.choice((0, SPARSE)))
    if what == 2:
        return announcement(dice.randrange(65536), dice.randrange(65536), 60000, key)
    if what == 3 and old:
        return dice.choice(old)
    if what == 8:
        return clock(time.monotonic_ns() + dice.choice((0, 10**9, dice.randrange(2**40))),
                     dice.choice((0, time.time_ns() - time.monotonic_ns(), dice.randrange(2**64))),
                     dice.choice((0, 1, 1000, 10**6, 10**6 + 1, 2**32 - 1)), key)
    data = receipt([entry(dice, victim) for _ in range(dice.choice((1, 1, 2, 32)))],
                    dice.choice((1, 1, 1, 2)),
                    (time.monotonic_ns() + dice.choice((0, 10**7, 10**10, -10**7,
                                                        dice.randrange(2**63)))) % 2**64, key,
                    dice.choice((0, SPARSE)))
    if what == 4:
        return data[:dice.randrange(len(data))]
    if what == 5:
        place = dice.randrange(len(data))
        return data[:place] + dice.randbytes(1) + data[place + 1:]
    old.append(data)
    del old[:-1000]
    return data


def attack(args):
    dice, victim, old = random.Random(args.packets), Victim(args.device), []
    udp = udp_socket(args.address)
    udp.setblocking(False)
    while not victim.flow:
        time.sleep(0.001)
        victim.look()
    for number in range(args.packets):
        if number % AT_ONCE == 0:
            time.sleep(PAUSE_S)
            victim.look()
        udp.send(forged(dice, victim, old))
        if number % 1000 == 0:
            list(came(udp))
    print(f"sent={args.packets} gap_ms={victim.gap_s * 1e3:.3f}")


def fill(args):
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, genl.NETLINK_GENERIC)
    family, taken, error = genl.family_id(sock, "turnpike_onramp"), 0, 0
    for number in range(args.first, args.first + args.peers):
        peer = socket.inet_pton(socket.AF_INET6, f"::ffff:10.{number >> 16}.{number >> 8 & 255}.{number & 255}")
        try:
            genl.netlink_call(sock, family, ONRAMP_CMD_CLOCK_SET, [
                (ONRAMP_A_CLOCK_PEER, peer), (ONRAMP_A_CLOCK_OFFSET, bytes(8)),
                (ONRAMP_A_CLOCK_ERROR, struct.pack("=L", 1)),
                (ONRAMP_A_CLOCK_DRIFT, struct.pack("=l", args.drift)),
                (ONRAMP_A_CLOCK_SECONDS, struct.pack("=L", args.seconds))])
            taken += 1
        except OSError as refusal:
            error = refusal.errno
            break
    print(f"taken={taken} error={error}")


def connect(args):
    with socket.create_connection((args.address, args.port)):
        time.sleep(1)


def crowd(args):
    """Connections end with a reset: none waits for a minute."""
    wildcard = socket.create_server(("0.0.0.0", 0))
    port = wildcard.getsockname()[1]
    for number in range(args.count):
        with socket.create_connection((f"127.1.{number >> 8}.{number & 255}", port)) as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            sock.sendall(b"x")
            wildcard.accept()[0].close()
        if number % 100 == 0:
            time.sleep(0.001)
    print(f"sent={args.count}")


def bind(args):
    with bound_socket(socket.AF_INET6, args.port):
        print("bound", flush=True)
        time.sleep(1000)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("watch")
    command.add_argument("device")
    command.add_argument("seconds", type=float)
    command.add_argument("port", type=int, nargs="?", default=PORT)
    command = commands.add_parser("ask")
    command.add_argument("address")
    command.add_argument("port", type=int)
    command.add_argument("lifetime_ms", type=int)
    command = commands.add_parser("sparse")
    command.add_argument("address")
    command.add_argument("port", type=int)
    command = commands.add_parser("strange")
    command.add_argument("address")
    command = commands.add_parser("attack")
    command.add_argument("device")
    command.add_argument("address")
    command.add_argument("--packets", type=int, default=20000)
    command = commands.add_parser("fill")
    command.add_argument("first", type=int)
    command.add_argument("peers", type=int)
    command.add_argument("seconds", type=int)
    command.add_argument("--drift", type=int, default=0)
    command = commands.add_parser("connect")
    command.add_argument("address")
    command.add_argument("port", type=int)
    command = commands.add_parser("crowd")
    command.add_argument("count", type=int)
    command = commands.add_parser("bind")
    command.add_argument("port", type=int)
    args = parser.parse_args()
    {"watch": watch, "ask": ask, "sparse": sparse, "strange": strange, "attack": attack, "fill": fill,
     "connect": connect, "crowd": crowd, "bind": bind}[args.command](args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
