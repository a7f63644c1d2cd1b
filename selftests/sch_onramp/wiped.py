#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A key that is refused: the kernel sends the message back with its refusal, and the key is not in it.

usage: wiped.py

In a namespace that has no key; the first one added is taken away again. Prints returned=N bytes of the
message that came back, and key=N bytes of the key among them.
"""
import os
import struct
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.append(os.path.join(HERE, "../lib"))
import genl  # noqa: E402  # pylint: disable=wrong-import-position
import netlink  # noqa: E402  # pylint: disable=wrong-import-position

KEY_ADD, KEY_DEL = 3, 5
A_KEY_ID, A_KEY = 4, 5
KEY = bytes(range(0x41, 0x51))
ERROR_BYTES = 4


def main():
    with netlink.open_socket(genl.NETLINK_GENERIC) as sock:
        family = genl.family_id(sock, "turnpike_onramp")
        attributes = [(A_KEY_ID, b"\1"), (A_KEY, KEY)]
        genl.netlink_call(sock, family, KEY_ADD, attributes)
        packed = [netlink.attribute(*pair) for pair in attributes]
        # There is one of this number now.
        sock.send(netlink.message(family, netlink.ACK, genl.body(KEY_ADD, *packed)))
        kind, body = next(netlink.messages(sock.recv(1 << 16)))
        genl.netlink_call(sock, family, KEY_DEL, attributes[:1])
    error, = struct.unpack_from("=l", body)
    if kind != netlink.NLMSG_ERROR or not error:
        sys.exit("the key is taken twice")
    returned = body[ERROR_BYTES + netlink.HEADER_BYTES + genl.HEADER_BYTES:]
    known = max((n for n in range(len(KEY) + 1) if KEY[:n] in returned), default=0)
    print(f"returned={len(returned)} key={known}")


if __name__ == "__main__":
    main()
