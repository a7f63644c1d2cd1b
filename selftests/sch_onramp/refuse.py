#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Datagrams of OR-ACKs that are refused, one for each reason that there is.

refuse.py each NETNS NETNS TURNPIKE   sender and receiver of one connection, which sends datagrams to
                                      the sender; a line for each case: its name, and what was counted
refuse.py full NETNS NETNS ADDRESSES  hosts that announce themselves, each with a connection to the first:
                                      fd02::1 and so on; ends with the last

The first host has onramp with feedback orack, the second has none.
"""
import json
import socket
import subprocess
import sys
import time

from hold import DEVICE, Flow, Hosts, wait
from orack import (ANNOUNCEMENT, CLOCK, CLOCK_BODY, ENTRY, HEADER, PORT, PRICE, PRICE_BODY, PRICE_OF_ALL,
                   RECEIPT, SPARSE)
from rackctl import Namespace

COUNTED = ("refused_", "samples", "receipts_taken", "announcements_taken", "clocks_taken",
           "prices_")
STRANGER = "10.1.0.3"
KEY = "00112233445566778899aabbccddeeff"


def datagram(kind, entries, lifetime_or_clock=256, time_ns=None, version=1, key=0, count=None):
    body = b"".join(ENTRY.pack(*entry) if isinstance(entry, tuple) else entry for entry in entries)
    return HEADER.pack(version, kind, key, len(entries) if count is None else count, lifetime_or_clock,
                       time.monotonic_ns() if time_ns is None else time_ns) + body


class Attack:
    def __init__(self, sender, receiver, turnpike):
        self.hosts = Hosts(sender, receiver)
        self.turnpike = ["ip", "netns", "exec", sender, turnpike, "onramp"]
        self.flow = Flow(self.hosts).meet()
        with Namespace(receiver):
            self.stranger = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.stranger.bind((STRANGER, PORT))

    def stats(self):
        done = subprocess.run([*self.turnpike, "stats", "-j"], check=True, capture_output=True)
        return {name: value for name, value in json.loads(done.stdout).items() if name.startswith(COUNTED)}

    def key(self, *words):
        subprocess.run([*self.turnpike, "key", *words], check=True, input=KEY + "\n", text=True)

    def send(self, data, sock=None):
        (sock or self.hosts.udp).sendto(data, ("10.1.0.1", PORT))
        wait(0.1)

    def connect(self):
        """The stranger, which has never been sent anything, to the first host; its ports."""
        with Namespace(self.hosts.sender):
            self.listener = socket.create_server(("10.1.0.1", 0))
        with Namespace(self.hosts.receiver):
            self.visitor = socket.create_connection(self.listener.getsockname(), 5, (STRANGER, 0))
        return self.visitor.getsockname()[1], self.visitor.getpeername()[1]

    def newest(self, age_ns=0, beyond=0):
        """An entry of the newest data."""
        return (*self.flow.ports, (self.flow.data()[-1][1] + beyond) & 0xffffffff, age_ns)

    def fresh(self):
        self.flow.send(100)
        wait(0.1)
        return self.newest()

    def back(self, *ports):
        """An announcement's entry."""
        return (*(ports or reversed(self.flow.ports)), 0, 0)

    def loses(self, everything):
        subprocess.run(["tc", "-n", self.hosts.receiver, "qdisc", "replace", "dev", DEVICE, "root",
                        "netem", *(("loss", "100%") if everything else ("delay", "20us"))], check=True)

    # -- cases, in the order of Documentation/onramp-wire.rst ----------------------------------

    def none(self):
        """A good one, for comparison."""
        self.send(datagram(RECEIPT, [self.fresh()]))

    def port(self):
        """Anybody at the peer may send from another one."""
        with Namespace(self.hosts.receiver):
            anybody = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        for data in (datagram(RECEIPT, [self.fresh()]), datagram(ANNOUNCEMENT, [self.back()], 60000),
                     datagram(CLOCK, [CLOCK_BODY.pack(0, 1000)])):
            self.send(data, anybody)

    def length(self):
        good = datagram(RECEIPT, [self.fresh()])
        for data in (good[:15], good[:-1], good + b"\0", datagram(RECEIPT, [self.newest()] * 33),
                     datagram(RECEIPT, [self.newest()], key=1)):
            self.send(data)

    def version(self):
        for version in (0, 2, 255):
            self.send(datagram(RECEIPT, [self.fresh()], version=version))

    def kind(self):
        for kind in (0, 6, 255):
            self.send(datagram(kind, [self.fresh()]))

    def count(self):
        self.send(datagram(RECEIPT, [self.fresh()], count=0))
        self.send(datagram(RECEIPT, [self.newest()], count=33))
        self.send(datagram(ANNOUNCEMENT, [self.back()] * 2, 60000))
        self.send(datagram(CLOCK, [self.back()] * 2))

    def value(self):
        sport, dport, end, _ = self.fresh()
        for entry in ((0, dport, end, 0), (sport, 0, end, 0), (sport, dport, end, 10**9 + 1)):
            self.send(datagram(RECEIPT, [entry]))
        self.send(datagram(ANNOUNCEMENT, [self.back()], 60001))
        self.send(datagram(ANNOUNCEMENT, [(dport, sport, 1, 0)], 60000))
        self.send(datagram(ANNOUNCEMENT, [(dport, sport, 0, 1)], 60000))
        self.send(datagram(CLOCK, [CLOCK_BODY.pack(0, 10**6 + 1)]))
        for price, ports, clock in ((2**28, self.ports(), 0), (1, 1, 0), (1, self.ports(), 256)):
            self.send(datagram(PRICE, [PRICE_BODY.pack(price, 1, ports)], clock))

    def key_unknown(self):
        self.send(datagram(RECEIPT, [self.fresh(), bytes(8)], key=1, count=1))
        self.key("add", "1", "-")
        self.send(datagram(RECEIPT, [self.newest()]))
        self.send(datagram(RECEIPT, [self.newest(), bytes(8)], key=2, count=1))
        self.key("del", "1")

    def mac(self):
        entry = self.fresh()
        self.key("add", "1", "-")
        self.send(datagram(RECEIPT, [entry, bytes(8)], key=1, count=1))
        self.key("del", "1")

    def replay_of_announcement(self):
        data = datagram(ANNOUNCEMENT, [self.back()], 60000)
        self.send(data)
        self.send(data)
        # overtaken on its way
        self.send(datagram(ANNOUNCEMENT, [self.back()], 0, time_ns=time.monotonic_ns() - 10**6))

    def announcement_of_anybody(self):
        """Who knows no connection can end nothing, nor have less sent or later ones refused."""
        for lifetime, sparse, ahead_ns in ((60000, SPARSE, 0), (0, 0, 0), (59000, 0, 0), (60000, 0, 10**12)):
            self.send(datagram(ANNOUNCEMENT, [self.back(1, 2)], lifetime, count=1 | sparse,
                               time_ns=time.monotonic_ns() + ahead_ns))
        # more is no harm; and what knows one counts, as does what comes behind it
        self.send(datagram(ANNOUNCEMENT, [self.back(1, 2)], 60000))
        self.send(datagram(ANNOUNCEMENT, [self.back()], 60000, time_ns=time.monotonic_ns() + 10**12))
        self.send(datagram(ANNOUNCEMENT, [self.back()], 60000))

    def announcements_at_once(self):
        """More than a host has use for."""
        wait(20)
        first_ns = time.monotonic_ns()
        for number in range(130):
            data = datagram(ANNOUNCEMENT, [self.back()], 60000, time_ns=first_ns + number)
            self.hosts.udp.sendto(data, ("10.1.0.1", PORT))
        wait(20)

    def announcements_of_nobody(self):
        """However many do not count, one that does is not refused for them."""
        wait(20)
        first_ns = time.monotonic_ns()
        for number in range(200):
            data = datagram(ANNOUNCEMENT, [self.back(1, 2)], 0, time_ns=first_ns + number)
            self.hosts.udp.sendto(data, ("10.1.0.1", PORT))
        data = datagram(ANNOUNCEMENT, [self.back()], 60000, time_ns=first_ns + 1000)
        self.hosts.udp.sendto(data, ("10.1.0.1", PORT))
        wait(20)

    def announcements_ahead(self):
        """Who knows no connection says what its host said, a little earlier and often: that is heard all the same."""
        self.send(datagram(ANNOUNCEMENT, [self.back()], 60000, count=1 | SPARSE))
        ahead_ns = time.monotonic_ns() + 9 * 10**6
        for number in range(130):
            data = datagram(ANNOUNCEMENT, [self.back(1, 2)], 60000, time_ns=ahead_ns + number, count=1 | SPARSE)
            self.hosts.udp.sendto(data, ("10.1.0.1", PORT))
        data = datagram(ANNOUNCEMENT, [self.back()], 60000)
        self.hosts.udp.sendto(data, ("10.1.0.1", PORT))
        wait(20)

    def replay_of_clock(self):
        data = datagram(CLOCK, [CLOCK_BODY.pack(0, 1000)])
        self.send(data)
        self.send(data)
        # a far one, and its peer's own behind it
        self.send(datagram(CLOCK, [CLOCK_BODY.pack(0, 1000)], time_ns=time.monotonic_ns() + 10**15))
        self.send(datagram(CLOCK, [CLOCK_BODY.pack(0, 1000)]))

    def clock_of_nobody(self):
        """Not that of the receipts that came."""
        self.send(datagram(CLOCK, [CLOCK_BODY.pack(0, 1000)], 512))

    def ports(self):
        """In a report: those of a connection that its host sends on."""
        own, other = reversed(self.flow.ports)
        return own << 16 | other

    def price(self):
        """Of one who announced himself: one counts, and not its copy, nor another so soon."""
        wait(3)
        data = datagram(PRICE, [PRICE_BODY.pack(1 << 20, 1, self.ports())], 0)
        self.send(data)
        self.send(data)
        self.send(datagram(PRICE, [PRICE_BODY.pack(1 << 20, 1, self.ports())], 0))

    def price_of_no_flow(self):
        """In another's name, by one who knows none of its connections."""
        wait(5)
        self.send(datagram(PRICE, [PRICE_BODY.pack(1 << 20, 65535, 1 << 16 | 2)], 0))

    def price_is_answered(self):
        """Each report."""
        for _ in range(3):
            wait(5)
            self.send(datagram(PRICE, [PRICE_BODY.pack(1 << 20, 1, self.ports())], 0))

    def price_of_nobody(self):
        """Of whom we have not heard: a report, and an answer; and an answer to no report."""
        self.send(datagram(PRICE, [PRICE_BODY.pack(1 << 20, 1, self.ports())], 0), self.stranger)
        self.send(datagram(PRICE_OF_ALL, [PRICE_BODY.pack(1 << 20, 1, 0)], 0), self.stranger)
        self.send(datagram(PRICE_OF_ALL, [PRICE_BODY.pack(1 << 20, 1, 0)], 0))

    def peer(self):
        """Of whom we want nothing: receipts, a clock; and an announcement taken back that was not made."""
        ports = self.connect()
        self.send(datagram(RECEIPT, [self.newest()]), self.stranger)
        self.send(datagram(CLOCK, [CLOCK_BODY.pack(0, 1000)]), self.stranger)
        self.send(datagram(ANNOUNCEMENT, [self.back(*ports)], 0), self.stranger)

    def receipts_unasked(self):
        """Of one who has announced himself, with a connection."""
        ports = self.connect()
        self.send(datagram(ANNOUNCEMENT, [self.back(*ports)], 60000), self.stranger)
        for _ in range(2):
            self.send(datagram(RECEIPT, [self.newest()]), self.stranger)

    def rate(self):
        data = datagram(RECEIPT, [self.newest()])
        wait(2)
        for part in (600, 403):
            for _ in range(part):
                self.hosts.udp.sendto(data, ("10.1.0.1", PORT))
            wait(0.1)
        wait(2)

    def flow_unknown(self):
        self.send(datagram(RECEIPT, [(1, 2, 3, 0), self.fresh()]))
        # its sport is that of who announces
        self.send(datagram(ANNOUNCEMENT, [self.back(*self.flow.ports)], 60000), self.stranger)

    def sequence(self):
        self.fresh()
        self.send(datagram(RECEIPT, [self.newest(beyond=1), self.newest(), self.newest(),
                                      self.newest(beyond=-1)]))

    def ambiguous(self):
        self.loses(True)
        self.flow.send(100)
        wait(500)
        self.loses(False)
        self.send(datagram(RECEIPT, [self.newest()]))
        wait(1000)

    def time(self):
        self.flow.send(100)
        wait(1)
        self.send(datagram(RECEIPT, [self.newest(age_ns=9 * 10**8)]))


CASES = [Attack.none, Attack.port, Attack.length, Attack.version, Attack.kind, Attack.count, Attack.value,
         Attack.key_unknown, Attack.mac, Attack.flow_unknown, Attack.peer, Attack.replay_of_announcement,
         Attack.announcement_of_anybody, Attack.announcements_at_once, Attack.announcements_of_nobody, Attack.announcements_ahead,
         Attack.price, Attack.price_of_no_flow, Attack.price_is_answered, Attack.price_of_nobody, Attack.replay_of_clock, Attack.clock_of_nobody, Attack.rate, Attack.sequence, Attack.ambiguous, Attack.time,
         # the last: the stranger is none any more
         Attack.receipts_unasked]


def each(sender, receiver, turnpike):
    attack = Attack(sender, receiver, turnpike)
    before = attack.stats()
    for case in CASES:
        case(attack)
        after = attack.stats()
        print(case.__name__, *(f"{name}={after[name] - before[name]}" for name in after
                               if after[name] != before[name]), flush=True)
        before = after


def full(sender, receiver, addresses):
    """A connection ends when its host has announced itself: that is remembered."""
    with Namespace(sender):
        listener = socket.create_server(("fd01::1", 0), family=socket.AF_INET6)
    port = listener.getsockname()[1]
    for number in range(1, int(addresses) + 1):
        address = f"fd02::{number:x}"
        with Namespace(receiver):
            visitor = socket.create_connection(("fd01::1", port), 5, (address, 0))
            udp = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
            udp.bind((address, PORT))
        there, _ = listener.accept()
        udp.sendto(datagram(ANNOUNCEMENT, [(visitor.getsockname()[1], port, 0, 0)], 60000), ("fd01::1", PORT))
        wait(0.1)
        for sock in (visitor, there, udp):
            sock.close()


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    {"each": each, "full": full}[sys.argv[1]](*sys.argv[2:])


if __name__ == "__main__":
    main()
