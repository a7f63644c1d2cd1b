#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What leaves a device.

wire.py rate DEVICE SECONDS      bytes per second, by the device's counter
wire.py largest DEVICE SECONDS   bytes of the largest packet handed to it, GSO ones whole
"""
import socket
import sys
import time

ETH_P_ALL = 3
PACKET_OUTGOING = 4


def counter(device):
    with open(f"/sys/class/net/{device}/statistics/tx_bytes", encoding="ascii") as file:
        return int(file.read())


def rate(device, seconds):
    start, before = time.monotonic(), counter(device)
    time.sleep(seconds)
    return int((counter(device) - before) / (time.monotonic() - start))


def largest(device, seconds):
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    sock.bind((device, ETH_P_ALL))
    sock.settimeout(0.01)
    end = time.monotonic() + seconds
    found = 0
    while time.monotonic() < end:
        try:
            # MSG_TRUNC: the true length, of whatever fits into the buffer.
            size, _, _, where = sock.recvmsg_into([bytearray(1)], 0, socket.MSG_TRUNC)[:4]
        except TimeoutError:
            continue
        if where[2] == PACKET_OUTGOING:
            found = max(found, size)
    return found


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("rate", "largest"):
        sys.exit(__doc__)
    print({"rate": rate, "largest": largest}[sys.argv[1]](sys.argv[2], float(sys.argv[3])))


if __name__ == "__main__":
    main()
