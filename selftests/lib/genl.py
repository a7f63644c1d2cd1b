# SPDX-License-Identifier: GPL-2.0
"""Generic netlink by hand, for tests that say what no tool would."""

import os
import struct
import sys

# Tests are called from anywhere.
sys.path.append(os.path.dirname(os.path.realpath(__file__)))
import netlink  # noqa: E402  # pylint: disable=wrong-import-position

NETLINK_GENERIC, GENL_ID_CTRL = 16, 16
CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 3, 1, 2
HEADER_BYTES = 4


def body(command, *attributes):
    """What follows netlink's header, of packed attributes."""
    return struct.pack("BBH", command, 1, 0) + b"".join(attributes)


def netlink_call(sock, family, command, attributes):
    """Payload of the answer to pairs of kind and value; raises OSError as the kernel says."""
    packed = [netlink.attribute(*pair) for pair in attributes]
    return netlink.call(sock, family, 0, body(command, *packed))[HEADER_BYTES:]


def family_id(sock, name):
    """Ends the program if the kernel has none of that name in this namespace."""
    try:
        answer = netlink_call(sock, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, [(CTRL_ATTR_FAMILY_NAME, name.encode() + bytes(1))])
    except FileNotFoundError:
        sys.exit(f"no family {name} in this namespace")
    return struct.unpack("=H", netlink.attributes(answer)[CTRL_ATTR_FAMILY_ID])[0]
