#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The kernel's dump of flows, by hand: no message is put together with another.

flow_dump.py dump [--wait SECONDS]
    read it, waiting so long before each of the kernel's buffers; prints messages=N, distinct=N of these,
    interrupted=1 if the kernel said that it began anew, and missing=N of the local ports read from
    standard input, one a line
"""
import argparse
import os
import socket
import struct
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
import genl
import netlink

NLM_F_DUMP_INTR = 0x10
# include/uapi/turnpike.h
ONRAMP_CMD_FLOWS = 12
ONRAMP_A_FLOW = 12
LOCAL, REMOTE, LOCAL_PORT, REMOTE_PORT = 2, 3, 4, 5


def messages(sock, wait_s):
    """Flags, type and payload of each that comes, to the dump's end."""
    while True:
        time.sleep(wait_s)
        data = sock.recv(1 << 16)
        while data:
            length, kind, flags = struct.unpack_from("=LHH", data)
            if kind == netlink.NLMSG_DONE:
                return
            if kind == netlink.NLMSG_ERROR:
                sys.exit("refused")
            yield flags, data[16:length]
            data = data[(length + 3) & ~3:]


def dump(args):
    wanted = {int(line) for line in sys.stdin.read().split()}
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, genl.NETLINK_GENERIC)
    family = genl.family_id(sock, "turnpike_onramp")
    # The kernel fills one buffer at a time, and not those that are not waited for.
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    # The answer to the question for the family ends with an acknowledgement, which was read.
    sock.send(netlink.message(family, netlink.DUMP, genl.body(ONRAMP_CMD_FLOWS)))
    count, interrupted, seen = 0, 0, set()
    for flags, payload in messages(sock, args.wait):
        flow = netlink.attributes(netlink.attributes(payload[genl.HEADER_BYTES:])[ONRAMP_A_FLOW])
        count += 1
        interrupted |= flags & NLM_F_DUMP_INTR
        seen.add(tuple(flow[kind] for kind in (LOCAL, REMOTE, LOCAL_PORT, REMOTE_PORT)))
    ports = {struct.unpack("=H", key[2])[0] for key in seen}
    print(f"messages={count} distinct={len(seen)} interrupted={int(interrupted != 0)} "
          f"missing={len(wanted - ports)}")


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("dump")
    command.add_argument("--wait", type=float, default=0)
    dump(parser.parse_args())
    return 0


if __name__ == "__main__":
    sys.exit(main())
