#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Count the TCP packets on a device by code point, until SIGTERM.

watch.py DEVICE FILE
    FILE.ready appears when it watches. FILE then gets lines
    "dscp CODE WHAT COUNT" (syn, ack, data)
    "longest CODE BYTES" of payload
    "new COUNT" of packets with data that the cable had not yet, "ect COUNT" of those of them
    that say ECN-capable: what TCP sends again never does (RFC 3168, 6.1.5)
    "wrong COUNT" of TCP checksums
    "from PORT CODE PACKETS BYTES PAYLOAD" of each code point's packets that come from a port,
    bursts as the packets that they become and without those that open a connection, bytes
    with IP's header and without any
"""
import collections
import sys

from capture import SYN, record

MTU = 1500


class Seen:
    def __init__(self):
        self.count = collections.Counter()
        self.longest = collections.Counter()
        self.sent = collections.Counter()
        self.sent_bytes = collections.Counter()
        self.sent_data = collections.Counter()
        self.new = 0
        self.ect = 0
        self.reached = {}  # by a connection's two ports: the sequence number after its newest byte
        self.wrong = 0

    def count_sent(self, segment, data):
        packets = max(1, -(-data // (MTU - segment.header_bytes)))
        key = segment.sport, segment.code
        self.sent[key] += packets
        self.sent_bytes[key] += packets * segment.header_bytes + data
        self.sent_data[key] += data

    def is_new(self, segment):
        ports = segment.sport, segment.dport
        reached = self.reached.get(ports, segment.seq)
        ahead = (segment.end - reached) % 2 ** 32
        if not 0 < ahead < 2 ** 31:
            return False
        self.reached[ports] = segment.end
        return True

    def packet(self, segment):
        data = len(segment.data)
        what = "syn" if segment.flags & SYN else "data" if data else "ack"
        self.count[segment.code, what] += 1
        self.longest[segment.code] = max(self.longest[segment.code], data)
        if data and self.is_new(segment):
            self.new += 1
            self.ect += segment.ect != 0
        self.wrong += not segment.sum_is_right
        if what != "syn":
            self.count_sent(segment, data)

    def lines(self):
        for (code, what), count in sorted(self.count.items()):
            yield f"dscp {code} {what} {count}"
        for code, size in sorted(self.longest.items()):
            yield f"longest {code} {size}"
        for key, count in sorted(self.sent.items()):
            yield f"from {key[0]} {key[1]} {count} {self.sent_bytes[key]} {self.sent_data[key]}"
        yield f"new {self.new}"
        yield f"ect {self.ect}"
        yield f"wrong {self.wrong}"


def main():
    device, path = sys.argv[1:]
    seen = Seen()
    record(device, path, lambda _, segment: seen.packet(segment), seen.lines)


if __name__ == "__main__":
    main()
