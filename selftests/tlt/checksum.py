# SPDX-License-Identifier: GPL-2.0
"""The Internet checksum (RFC 1071)."""
import struct


def checksum(data):
    """What belongs in the field when it is 0 in data; 0 when data has it and it is right."""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff
