#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Netfilter by hand, for tests whose machine need not have nft(8).

nft.py count HOOK PRIORITY     a chain at that place (in, out) whose rule counts packets
nft.py show                    "packets=N bytes=N" of such
nft.py refuse                  a rule of such that drops all packets
nft.py queue HOOK PRIORITY     a chain there that gives all packets to user space
nft.py accept                  be what takes them, and has each go on, until killed; say "ready"
nft.py drop                    no chain any more

IPv4.  Exit status 4 where the kernel has no such thing.
"""
import errno
import socket
import struct
import sys

import netlink
from netlink import attribute, attributes, messages, nest

NETLINK_NETFILTER = 12
SUBSYS_QUEUE, SUBSYS_TABLES = 3, 10
BATCH_BEGIN, BATCH_END = 16, 17
NEW_TABLE, DEL_TABLE, NEW_CHAIN, NEW_RULE, GET_RULE = 0, 2, 3, 6, 7
QUEUE_PACKET, QUEUE_VERDICT, QUEUE_CONFIG = 0, 1, 2
HOOKS = {"in": 1, "out": 3}
TABLE, CHAIN = b"turnpike\0", b"here\0"
NF_DROP = 0
QUEUE_MOST_PACKETS = 4096
GSO = 1 << 2
# A kernel without nf_tables, nfnetlink_queue or the rule's expression.
MISSING = {errno.EINVAL, errno.ENOENT, errno.EOPNOTSUPP, errno.EPROTONOSUPPORT}


def message(subsystem, kind, flags, body=b"", family=socket.AF_INET, number=0):
    body = struct.pack(">BBH", family, 0, number) + body
    return netlink.message(subsystem << 8 | kind, flags, body)


def check(answer):
    for part in netlink.messages(answer):
        netlink.check(*part)


def netfilter():
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_NETFILTER)
    sock.bind((0, 0))
    return sock


def batch(*asked):
    """All or none of these changes."""
    def edge(kind):
        return message(0, kind, 0, family=socket.AF_UNSPEC, number=SUBSYS_TABLES)
    with netfilter() as sock:
        sock.send(edge(BATCH_BEGIN) + b"".join(asked) + edge(BATCH_END))
        for _ in asked:
            check(sock.recv(1 << 16))


def add(hook, priority, name, *options):
    """A table with a chain with a rule of one expression."""
    place = nest(4, attribute(1, struct.pack(">L", HOOKS[hook])), attribute(2, struct.pack(">l", priority)))
    expression = nest(1, attribute(1, name.encode() + b"\0"), nest(2, *options))
    flags = netlink.CREATE | netlink.ACK
    batch(message(SUBSYS_TABLES, NEW_TABLE, flags, attribute(1, TABLE)),
          message(SUBSYS_TABLES, NEW_CHAIN, flags, attribute(1, TABLE) + attribute(3, CHAIN) + place +
                  attribute(7, b"filter\0")),
          message(SUBSYS_TABLES, NEW_RULE, flags, attribute(1, TABLE) + attribute(2, CHAIN) +
                  nest(4, expression)))


def refuse():
    """In the chain that is there."""
    verdict = nest(2, nest(2, attribute(1, struct.pack(">L", NF_DROP))))
    expression = nest(1, attribute(1, b"immediate\0"), nest(2, attribute(1, bytes(4)), verdict))
    batch(message(SUBSYS_TABLES, NEW_RULE, netlink.CREATE | netlink.ACK,
                  attribute(1, TABLE) + attribute(2, CHAIN) + nest(4, expression)))


def show():
    with netfilter() as sock:
        sock.send(message(SUBSYS_TABLES, GET_RULE, netlink.DUMP, attribute(1, TABLE)))
        for kind, body in messages(sock.recv(1 << 16)):
            if kind in (netlink.NLMSG_DONE, netlink.NLMSG_ERROR):
                continue
            rule = attributes(body[4:])
            counter = attributes(attributes(attributes(rule[4])[1])[2])
            print(f"packets={int.from_bytes(counter[2], 'big')} bytes={int.from_bytes(counter[1], 'big')}")


def configure(sock, body):
    sock.send(message(SUBSYS_QUEUE, QUEUE_CONFIG, netlink.ACK, body))
    check(sock.recv(1 << 16))


def accept():
    with netfilter() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
        configure(sock, attribute(1, struct.pack(">BBH", 1, 0, socket.AF_INET)))
        # Numbers of packets and no more of them; bursts as they are.
        configure(sock, attribute(2, struct.pack(">LB", 0, 1)) + attribute(3, struct.pack(">L", QUEUE_MOST_PACKETS)) +
                  attribute(4, struct.pack(">L", GSO)) + attribute(5, struct.pack(">L", GSO)))
        print("ready", flush=True)
        while True:
            try:
                data = sock.recv(1 << 16)
            except OSError as lost:
                if lost.errno != errno.ENOBUFS:
                    raise
                continue
            for kind, body in messages(data):
                if kind != SUBSYS_QUEUE << 8 | QUEUE_PACKET:
                    continue
                number = attributes(body[4:])[1][:4]
                sock.send(message(SUBSYS_QUEUE, QUEUE_VERDICT, 0, attribute(2, struct.pack(">L", 1) + number)))


def main(words):
    if words[0] == "count":
        add(words[1], int(words[2]), "counter")
    elif words[0] == "queue":
        add(words[1], int(words[2]), "queue", attribute(1, struct.pack(">H", 0)),
            attribute(2, struct.pack(">H", 1)))
    elif words[0] == "drop":
        batch(message(SUBSYS_TABLES, DEL_TABLE, netlink.ACK, attribute(1, TABLE)))
    elif words[0] == "refuse":
        refuse()
    elif words[0] == "show":
        show()
    else:
        accept()


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except OSError as refused:
        print(f"nft.py {' '.join(sys.argv[1:])}: {refused}")
        sys.exit(4 if refused.errno in MISSING else 1)
