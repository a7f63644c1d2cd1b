# SPDX-License-Identifier: GPL-2.0
"""Netlink by hand, for tests that say what no tool would."""

import os
import socket
import struct

NLMSG_ERROR, NLMSG_DONE = 2, 3
REQUEST, ACK, DUMP = 1, 4, 0x300
REPLACE, EXCL, CREATE = 0x100, 0x200, 0x400
NESTED = 0x8000
HEADER_BYTES = 16


def attribute(kind, value):
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def nest(kind, *parts):
    return attribute(kind | NESTED, b"".join(parts))


def attributes(data):
    """By kind, the values of those in a row."""
    found = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        if length < 4:
            break
        found[kind & ~NESTED] = data[4:length]
        data = data[(length + 3) & ~3:]
    return found


def message(kind, flags, body):
    return struct.pack("=LHHLL", HEADER_BYTES + len(body), kind, flags | REQUEST, 1, 0) + body


def messages(data):
    """Pairs of a message's kind and what follows its header."""
    while len(data) >= HEADER_BYTES:
        length, kind = struct.unpack_from("=LH", data)
        yield kind, data[HEADER_BYTES:length]
        data = data[(length + 3) & ~3:]


def check(kind, body):
    """Raises OSError if a message says so."""
    error = -struct.unpack_from("=l", body)[0] if kind == NLMSG_ERROR else 0
    if error:
        raise OSError(error, os.strerror(error))


def open_socket(protocol):
    """One on which nothing is waited for without end."""
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol)
    sock.settimeout(5)
    return sock


def call(sock, kind, flags, body):
    """What the kernel answers, but for its word that all is well; raises OSError as it says."""
    sock.send(message(kind, flags | ACK, body))
    answer = b""
    while True:
        try:
            data = sock.recv(1 << 17)
        except TimeoutError:
            # No refusal: nobody is to take it for one.
            raise SystemExit("the kernel does not answer") from None
        for answered, payload in messages(data):
            check(answered, payload)
            if answered in (NLMSG_ERROR, NLMSG_DONE):
                return answer
            answer = payload
