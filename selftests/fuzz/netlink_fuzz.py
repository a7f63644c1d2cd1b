#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Messages to the kernel that no tool would send: generic netlink of all modules, options of the
qdisc, datagrams to the port of receipts, words to sysctls.

usage: netlink_fuzz.py KIND COUNT [--seed N] [--user]

KIND is one of onramp, tlt, stamps, qdisc, datagram, sysctl. Prints sent=N taken=N refused=N,
and by=ERRNO:N... of what was refused. --user sends as nobody: all that would change anything must be
refused, or the exit status is 1.

A message is mostly well formed, with attributes of known types and lengths, since what is not is refused
by the kernel's own code: one in eight is noise.
"""
import argparse
import collections
import errno
import glob
import os
import random
import re
import socket
import struct
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
import genl  # noqa: E402  # pylint: disable=wrong-import-position
import netlink  # noqa: E402  # pylint: disable=wrong-import-position

# Of each family: name, prefixes of its commands and attributes in include/uapi/turnpike.h, commands that
# users may send, and its attributes with the lengths that are right (0: a string or a nest).
FAMILIES = {
    "onramp": ("turnpike_onramp", "ONRAMP_CMD_", "ONRAMP_A_", {1, 6},
               {2: [2], 3: [1], 4: [1], 5: [16], 6: [0], 7: [0], 8: [16], 9: [8], 10: [4], 11: [4], 12: [0], 13: [16],
                14: [0, 17, 34, 17 * 16, 17 * 17], 15: [4]}),
    "tlt": ("turnpike_tlt", "TLT_CMD_", "TLT_A_", {3, 4},
            {2: [1], 3: [6], 4: [4], 5: [1], 6: [1], 7: [1], 8: [0], 9: [0], 10: [0], 11: [0]}),
    "stamps": ("turnpike_stamps", "STAMPS_CMD_", "STAMPS_A_", {1, 2},
               {2: [0], 3: [0], 4: [0], 5: [0], 6: [4], 7: [4], 8: [4], 9: [4], 10: [8], 11: [8], 12: [8]}),
}
UAPI = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../include/uapi/turnpike.h")
# Within TLT_A_RULES and TCA_OPTIONS.
TLT_RULE = {1: [4], 2: [2], 3: [2], 4: [4, 16], 5: [1], 6: [4], 7: [4], 8: [0]}
QDISC = {2: [4], 3: [4], 4: [4], 5: [4], 6: [1], 7: [8], 8: [4], 9: [4], 10: [4], 11: [8], 12: [4], 13: [4],
         14: [4], 15: [1], 16: [16], 17: [12], 18: [1], 19: [1], 20: [4], 21: [1], 22: [4], 23: [1], 24: [4],
         25: [1], 26: [1], 27: [8], 29: [4]}

TCA_ONRAMP_PAD = 28
RTM_NEWQDISC, RTM_DELQDISC = 36, 37
TCA_KIND, TCA_OPTIONS = 1, 2
TC_H_ROOT = 0xffffffff
ORACK_PORT = 61004
NOBODY = 65534

with open(UAPI, encoding="utf-8") as _header:
    HEADER = _header.read()


def count_of(prefix):
    """How many numbers an enum has, with those that mean nothing."""
    found = re.search(rf"\t{prefix}UNSPEC,.*?\t__{prefix}MAX", HEADER, re.DOTALL)
    return len(re.findall(rf"^\t{prefix}[A-Z0-9_]+,", found.group(0), re.MULTILINE))


def prefixes_unknown():
    """Those of the header whose attributes are others than this program throws: 0 and 1 are nothing and padding."""
    known = {attributes: set(lengths) for _, _, attributes, _, lengths in FAMILIES.values()}
    known["TCA_ONRAMP_"] = set(QDISC) | {TCA_ONRAMP_PAD}
    return [prefix for prefix, numbers in known.items() if numbers != set(range(2, count_of(prefix)))]


INTERESTING = [0, 1, 2, 3, 7, 16, 64, 255, 256, 1000, 1500, 32767, 32768, 65535, 65536, 10**6, 10**9, 2**31 - 1,
               2**31, 2**32 - 1, 10**15, 2**63 - 1, 2**63, 2**64 - 1]
WORDS = [b"", b"lo", b"veth0", b"none", b"../..", b"/", b"a" * 15, b"a" * 16, b"%s%n", b"\xff\xfe", b"/sys"]


class Generator:
    def __init__(self, seed):
        self.rng = random.Random(seed)

    def value(self, length):
        rng = self.rng
        if not length:
            return rng.choice(WORDS) + bytes(rng.randint(0, 1))
        if length in (1, 2, 4, 8) and rng.random() < .9:
            # Half of them are such as somebody might want.
            number = rng.choice([rng.randint(0, 3), rng.randint(0, 20000), rng.choice(INTERESTING)])
            return (number % (1 << 8 * length)).to_bytes(length, sys.byteorder)
        return rng.randbytes(length)

    def attribute(self, kind, value):
        length = 4 + len(value)
        if self.rng.random() < .01:
            length = self.rng.choice([0, 3, 4, length - 1, length + 1, 65535])
        return struct.pack("=HH", length & 0xffff, kind) + value + bytes(-len(value) % 4)

    def attributes(self, known, nests=()):
        """Some of them, most with a length that is right."""
        rng = self.rng
        body = b""
        for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 4, 8])):
            kind = rng.choice(list(known)) if rng.random() < .95 else rng.randint(0, max(known) + 3)
            if kind in nests and rng.random() < .9:
                inner = b"".join(self.attribute(nests[kind][0] | netlink.NESTED, self.attributes(nests[kind][1]))
                                 for _ in range(rng.choice([0, 1, 2, 16, 17])))
                body += self.attribute(kind | netlink.NESTED, inner)
                continue
            lengths = known.get(kind, [4])
            length = rng.choice(lengths) if rng.random() < .95 else rng.randint(0, 300)
            body += self.attribute(kind, self.value(length))
        return body

    def body(self, known, nests=()):
        """Attributes, and one time in eight noise."""
        if self.rng.random() < .125:
            return self.rng.randbytes(self.rng.randint(0, 200))
        return self.attributes(known, nests)


class Kernel:
    """A netlink socket that counts what the kernel says; of a user it must take nothing but what is public."""

    def __init__(self, protocol, user):
        self.sock = netlink.open_socket(protocol)
        self.user = user
        self.answers = collections.Counter()

    def send(self, kind, flags, body, public=False):
        error = 0
        try:
            netlink.call(self.sock, kind, flags, body)
        except OSError as refused:
            error = refused.errno
        self.answers[errno.errorcode.get(error, str(error)) if error else ""] += 1
        if self.user and not error and not public:
            raise SystemExit(f"taken of a user: {netlink.message(kind, flags, body).hex()}")


def fuzz_family(args, generator):
    name, commands, _, public, known = FAMILIES[args.kind]
    kernel = Kernel(genl.NETLINK_GENERIC, args.user)
    family = genl.family_id(kernel.sock, name)
    rng = generator.rng
    nests = {8: (9, TLT_RULE)} if args.kind == "tlt" else {}
    for _ in range(args.count):
        command = rng.randint(0, count_of(commands) + 1)
        body = generator.body(known, nests)
        # What TLT always needs: six code points that differ.
        if args.kind == "tlt" and rng.random() < .7:
            body += generator.attribute(3, bytes(rng.sample(range(64), 6)))
        kernel.send(family, rng.choice([0] * 9 + [netlink.DUMP]), genl.body(command, body),
                    command in public)
    return kernel.answers


def device_index(name):
    try:
        return socket.if_nametoindex(name)
    except OSError:
        return 1


def fuzz_qdisc(args, generator):
    kernel = Kernel(0, args.user)
    rng = generator.rng
    devices = [device_index(name) for name in ("lo", "veth0")]
    for sent in range(args.count):
        # RCU frees what lockdep keeps of a deleted qdisc, and nobody waits here.
        if sent % 1000 == 999:
            time.sleep(.01)
        body = struct.pack("=BxxxiIII", 0, rng.choice(devices), rng.choice([0, 0, 0x10000, 0x20000]), TC_H_ROOT, 0)
        body += generator.attribute(TCA_KIND, b"onramp\0")
        body += generator.attribute(TCA_OPTIONS | netlink.NESTED, generator.body(QDISC))
        kernel.send(RTM_DELQDISC if rng.random() < .05 else RTM_NEWQDISC,
                    rng.choice([netlink.CREATE | netlink.REPLACE] * 3 + [netlink.REPLACE, 0, netlink.CREATE | netlink.EXCL]), body)
    return kernel.answers


def datagram(rng):
    """Mostly one that the port takes, but for a byte or two."""
    kind = rng.choice([1, 1, 2, 3, 0, 4, 255])
    count = 1 if kind != 1 else rng.choice([1, 2, 32, 33, 0])
    body = struct.pack(">BBBBIQ", 1, kind, rng.choice([0, 0, 0, 1, 255]), count | rng.choice([0, 0, 0x80]),
                       rng.choice([0, 1, 60000, 60001, rng.getrandbits(32)]), rng.getrandbits(64))
    for _ in range(count):
        body += struct.pack(">HHII", rng.choice([5001, 0, rng.getrandbits(16)]), rng.choice([5001, rng.getrandbits(16)]),
                            rng.choice([0, rng.getrandbits(32)]), rng.choice([0, 1000, rng.getrandbits(32)]))
    body += rng.randbytes(rng.choice([0, 0, 8, 1]))
    if rng.random() < .3:
        at = rng.randrange(len(body))
        body = body[:at] + rng.randbytes(1) + body[at + 1:]
    return body[:rng.randint(0, len(body))] if rng.random() < .1 else body


def fuzz_datagram(args, generator):
    """Sent: what is refused of them the host's counters tell."""
    # From the port that peers send from, where it is free, and from others.
    socks = []
    for family, to in ((socket.AF_INET, "10.1.0.2"), (socket.AF_INET6, "fd01::2")):
        for port in (ORACK_PORT, 0):
            sock = socket.socket(family, socket.SOCK_DGRAM)
            try:
                sock.bind(("", port))
            except OSError:
                continue
            sock.connect((to, ORACK_PORT))
            socks.append(sock)
    answers = collections.Counter()
    for _ in range(args.count):
        try:
            generator.rng.choice(socks).send(datagram(generator.rng))
            answers[""] += 1
        except OSError as error:
            answers[errno.errorcode.get(error.errno)] += 1
    return answers


def fuzz_sysctl(args, generator):
    names = glob.glob("/proc/sys/net/ipv4/*timely*/*")
    for module in ("tcp_timely", "sch_onramp", "tlt", "nicstamp"):
        names += glob.glob(f"/sys/module/{module}/parameters/*")
    if not names:
        raise SystemExit("there is no sysctl of ours")
    rng = generator.rng
    answers = collections.Counter()
    for _ in range(args.count):
        text = rng.choice([str(rng.choice(INTERESTING)).encode(), b"-" + str(rng.choice(INTERESTING)).encode(),
                           rng.choice(WORDS), rng.randbytes(rng.randint(1, 40)), b"1" * 5000, b"1 2 3", b"0x10"])
        try:
            with open(rng.choice(names), "wb", buffering=0) as setting:
                setting.write(text)
            answers[""] += 1
        except OSError as error:
            answers[errno.errorcode.get(error.errno)] += 1
    if args.user and answers[""]:
        raise SystemExit("a user wrote a sysctl")
    return answers


def become_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


KINDS = {**{family: fuzz_family for family in FAMILIES}, "qdisc": fuzz_qdisc, "datagram": fuzz_datagram, "sysctl": fuzz_sysctl}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--user", action="store_true")
    args = parser.parse_args()
    if prefixes_unknown():
        raise SystemExit(f"{UAPI} has other attributes than this program knows: {prefixes_unknown()}")
    if args.user:
        become_nobody()
    answers = KINDS[args.kind](args, Generator(args.seed))
    taken = answers.pop("", 0)
    refused = sum(answers.values())
    print(f"sent={taken + refused} taken={taken} refused={refused} by=" +
          ",".join(f"{name}:{count}" for name, count in sorted(answers.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
