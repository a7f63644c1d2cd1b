#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Count the TCP packets on a device by code point, until SIGTERM.

watch.py DEVICE FILE
    FILE.ready appears when it watches. FILE then gets lines "dscp CODE WHAT COUNT"
    (syn, ack, data), "longest CODE BYTES" of payload, "ect COUNT" of packets that say
    ECN-capable, "wrong COUNT" of TCP checksums.
"""
import collections
import signal
import socket
import struct
import sys

from checksum import checksum

ETH_P_ALL = 3
ETH_P_IP, ETH_P_IPV6 = 0x0800, 0x86dd
TCP = 6
QUIET_SECONDS = 0.05
SO_RCVBUFFORCE = 33  # beyond net.core.rmem_max; Python has no name for it


class Seen:
    def __init__(self):
        self.count = collections.Counter()
        self.longest = collections.Counter()
        self.ect = 0
        self.wrong = 0

    def packet(self, traffic_class, addresses, segment):
        code, flags, header = traffic_class >> 2, segment[13], (segment[12] >> 4) * 4
        data = len(segment) - header
        what = "syn" if flags & 2 else "data" if data else "ack"
        self.count[code, what] += 1
        self.longest[code] = max(self.longest[code], data)
        self.ect += traffic_class & 3 != 0
        pseudo = addresses + struct.pack("!LL", len(segment), TCP)
        self.wrong += checksum(pseudo + segment) != 0

    def frame(self, frame):
        kind = struct.unpack_from("!H", frame, 12)[0]
        if kind == ETH_P_IP and frame[23] == TCP:
            start = 14 + (frame[14] & 15) * 4
            end = 14 + struct.unpack_from("!H", frame, 16)[0]
            self.packet(frame[15], frame[26:34], frame[start:end])
        elif kind == ETH_P_IPV6 and frame[20] == TCP:
            word, length = struct.unpack_from("!LH", frame, 14)
            self.packet(word >> 20 & 255, frame[22:54], frame[54:54 + length])

    def lines(self):
        for (code, what), count in sorted(self.count.items()):
            yield f"dscp {code} {what} {count}"
        for code, size in sorted(self.longest.items()):
            yield f"longest {code} {size}"
        yield f"ect {self.ect}"
        yield f"wrong {self.wrong}"


def main():
    device, path = sys.argv[1:]
    seen = Seen()
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL)) as sock:
        sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 26)
        sock.bind((device, ETH_P_ALL))

        ended = []
        signal.signal(signal.SIGTERM, lambda _number, _frame: ended.append(True))
        sock.settimeout(QUIET_SECONDS)
        with open(path + ".ready", "w", encoding="ascii"):
            pass
        while True:
            # what has arrived by the signal and was not read yet counts
            last = bool(ended)
            try:
                seen.frame(sock.recv(1 << 17))
            except TimeoutError:
                if last:
                    break
    with open(path, "w", encoding="ascii") as out:
        out.writelines(line + "\n" for line in seen.lines())


if __name__ == "__main__":
    main()
