# SPDX-License-Identifier: GPL-2.0
"""Generic netlink by hand, for tests that say what no tool would."""

import struct
import sys

NETLINK_GENERIC, GENL_ID_CTRL, NLMSG_ERROR, NLM_F_REQUEST_ACK = 16, 16, 2, 5
CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 3, 1, 2


def netlink_call(sock, family, command, version, attributes):
    """Payload of the answer; raises OSError as the kernel says."""
    body = struct.pack("BBH", command, version, 0)
    for kind, value in attributes:
        body += struct.pack("HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)
    sock.send(struct.pack("=LHHLL", 16 + len(body), family, NLM_F_REQUEST_ACK, 1, 0) + body)
    answer = b""
    while True:
        data = sock.recv(1 << 16)
        if struct.unpack_from("=H", data, 4)[0] != NLMSG_ERROR:
            answer = data[20:]
            continue
        error = -struct.unpack_from("=l", data, 16)[0]
        if error:
            raise OSError(error, "refused")
        return answer


def family_id(sock, name):
    answer = netlink_call(sock, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1,
                          [(CTRL_ATTR_FAMILY_NAME, name.encode() + bytes(1))])
    while answer:
        length, kind = struct.unpack_from("=HH", answer)
        if kind == CTRL_ATTR_FAMILY_ID:
            return struct.unpack_from("=H", answer, 4)[0]
        answer = answer[(length + 3) & ~3:]
    return sys.exit("no such family")
