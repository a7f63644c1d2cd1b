#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Judge the packets that clocking injects by TCP's own, until SIGTERM.

injected.py DEVICE FILE
    FILE.ready appears when it watches DEVICE, which nothing may delay: what is seen of the
    host's TCP is then what it has sent and received by that time. FILE gets "bytes COUNT",
    "segments COUNT", "last COUNT" of those segments that are not the first, "sacks COUNT" of
    packets with SACK blocks, "urgent COUNT", and a line "wrong ..." for each fault.

Sequence numbers count from the connection's first, so that they do not wrap.
"""
import collections
import sys

from capture import ACK, CWR, ECE, FIN, SACK, SYN, TIMESTAMPS, URG, record

CLOCK = 11      # of `turnpike tlt set --map local'
MOST_SACKS = 4


class Ranges:
    """Of sequence numbers that are there."""

    def __init__(self):
        self.all = []

    def add(self, start, end):
        merged = [(start, end)] if start < end else []
        for low, high in self.all:
            if merged and low <= merged[0][1] and high >= merged[0][0]:
                merged[0] = min(low, merged[0][0]), max(high, merged[0][1])
            else:
                merged.append((low, high))
        self.all = sorted(merged)

    def cover(self, start, end):
        return start >= end or any(low <= start and end <= high for low, high in self.all)


def counter_of_marks(segment):
    """AccECN's, in three flags (RFC 9768)."""
    return segment.reserved & 1, bool(segment.flags & CWR), bool(segment.flags & ECE)


class Way:
    """What one end has sent: `own' is by TCP."""

    def __init__(self, syn):
        self.first = syn.seq
        self.sack_ok = any(kind == 4 for kind, _ in syn.options())
        self.stamps_ok = syn.timestamps() is not None
        # What asks for AccECN, and none of the answers that say that the other has it not.
        self.accecn = counter_of_marks(syn) not in ((0, False, False), (0, False, True))
        self.content = bytearray()
        self.there = Ranges()
        self.there.add(0, 1)
        self.end = 1
        self.acked = 0          # of the other way, by TCP
        self.last = None        # of TCP's own, with an ACK
        self.first_stamp = (syn.timestamps() or (0, 0))[0]
        self.stamp = 0
        self.stamps = set()     # seen
        self.sacked = Ranges()  # of the other way
        self.urgent = set()     # ends of urgent data that TCP told of
        self.said_urgent = set()        # and those that clocking did, perhaps before that

    def relative(self, number):
        return (number - self.first) & 0xffffffff

    def relative_stamp(self, number):
        return (number - self.first_stamp) & 0xffffffff

    def note_data(self, segment):
        start = self.relative(segment.seq)
        self.content += bytes(max(0, start - len(self.content)))
        self.content[start:start + len(segment.data)] = segment.data
        end = start + len(segment.data) + bool(segment.flags & FIN)
        self.there.add(start, end)
        self.end = max(self.end, end)

    def note_own(self, segment, other):
        self.note_data(segment)
        self.last = segment
        if segment.flags & URG:
            self.urgent.add(self.relative(segment.seq) + segment.urgent)
        if other:
            self.acked = max(self.acked, other.relative(segment.ack))
            for start, end in segment.sacks():
                self.sacked.add(other.relative(start), other.relative(end))

    def note_stamps(self, segment):
        stamps = segment.timestamps()
        if not stamps:
            return True
        stamp = self.relative_stamp(stamps[0])
        monotonic = stamp >= self.stamp
        self.stamp = max(self.stamp, stamp)
        self.stamps.add(stamp)
        return monotonic


class Judge:
    """Of what `way' sends to `other'."""

    def __init__(self, way, other):
        self.way, self.other = way, other
        self.count = collections.Counter()

    def judge(self, segment):
        """Yields what is wrong."""
        yield from self.judge_data(segment)
        yield from self.judge_header(segment)
        yield from self.judge_stamps(segment)
        yield from self.judge_sacks(segment)

    def judge_data(self, segment):
        way = self.way
        start = way.relative(segment.seq)
        end = start + len(segment.data)
        first = start == self.other.acked
        if not segment.data:
            yield "no data"
        if way.content[start:end] != segment.data:
            yield f"other bytes than TCP sent at {start}"
        if len(segment.data) == 1 and not first:
            yield f"byte {start} in place of the first unacknowledged, {self.other.acked}"
        if not first and not self.other.sacked.cover(end, way.end):
            yield f"{start} to {end}, neither first nor last of {self.other.acked} to {way.end}"
        self.count["bytes" if len(segment.data) == 1 else "segments"] += 1
        self.count["last"] += not first

    def judge_header(self, segment):
        own = self.way.last
        accecn = self.way.accecn and self.other.accecn
        if accecn:
            right = counter_of_marks(segment) == counter_of_marks(own) and \
                segment.flags & ~(URG | ECE | CWR) == ACK and segment.reserved <= 1
        else:
            right = segment.flags & ~(URG | ECE) == ACK and not segment.reserved
        self.count["accecn"] += accecn
        if not right:
            yield f"flags {segment.flags:#x} and {segment.reserved}, TCP's {own.flags:#x} and {own.reserved}"
        if segment.flags & URG:
            self.count["urgent"] += 1
            self.way.said_urgent.add(self.way.relative(segment.seq) + segment.urgent)
        elif segment.urgent or self.must_be_urgent(segment):
            yield f"urgent pointer {segment.urgent} without its flag"
        if segment.ack != own.ack:
            yield f"acknowledges {self.other.relative(segment.ack)}, TCP " \
                  f"{self.other.relative(own.ack)}"
        if segment.window != own.window:
            yield f"window {segment.window}, TCP's {own.window}"
        if segment.fixed != own.fixed:
            yield f"IP header {segment.fixed}, TCP's {own.fixed}"
        if not segment.sum_is_right:
            yield "checksum"

    def must_be_urgent(self, segment):
        return any(at > self.way.relative(segment.seq) and at > self.other.acked
                   for at in self.way.urgent)

    def judge_stamps(self, segment):
        stamps, own = segment.timestamps(), self.way.last.timestamps()
        both = self.way.stamps_ok and self.other.stamps_ok
        kinds = [kind for kind, _ in segment.options()]
        if set(kinds) - {TIMESTAMPS, SACK} or len(kinds) > len(set(kinds)):
            yield f"options {kinds}"
        if both != (stamps is not None):
            yield f"timestamps {stamps}"
        if stamps and own:
            echoed, before = (self.other.relative_stamp(of[1]) for of in (stamps, own))
            if echoed not in self.other.stamps or echoed < before:
                yield f"echoed timestamp {echoed}, TCP's {before}"

    def judge_sacks(self, segment):
        blocks = [(self.other.relative(a), self.other.relative(b)) for a, b in segment.sacks()]
        next_byte = self.other.there.all[0][1]
        holes = [part for part in self.other.there.all if part[0] > next_byte]
        most = min(len(holes), MOST_SACKS - self.way.stamps_ok)
        allowed = self.way.sack_ok and self.other.sack_ok
        if len(set(blocks)) < len(blocks) or not set(blocks) <= set(holes):
            yield f"SACK {blocks}, of {holes}"
        if blocks and not allowed:
            yield "SACK was not agreed upon"
        # A segment that is full has no room for them.
        if allowed and len(blocks) < most and len(segment.data) == 1:
            yield f"SACK {blocks}, there are {holes}"
        self.count["sacks"] += bool(blocks)


class Watcher:
    def __init__(self):
        self.ways = {}
        self.judges = {}
        self.faults = []
        self.count = collections.Counter()

    def take(self, leaves, segment):
        key, back = (segment.sport, segment.dport), (segment.dport, segment.sport)
        if segment.flags & SYN and key not in self.ways:
            self.ways[key] = Way(segment)
        way, other = self.ways.get(key), self.ways.get(back)
        if not way:
            return
        if leaves and segment.code == CLOCK and segment.data:
            self.judge(Judge(way, other), segment)
        elif not segment.flags & SYN:
            way.note_own(segment, other)
        if not way.note_stamps(segment) and leaves:
            self.faults.append(f"timestamp {segment.timestamps()[0]} is older than one before")

    def judge(self, judge, segment):
        self.faults += judge.judge(segment)
        self.count += judge.count

    def lines(self):
        for name in ("bytes", "segments", "last", "sacks", "urgent", "accecn"):
            yield f"{name} {self.count[name]}"
        self.faults += [f"urgent data ends at {at}" for way in self.ways.values()
                        for at in way.said_urgent - way.urgent]
        for fault in self.faults:
            yield f"wrong {fault}"


def main():
    device, path = sys.argv[1:]
    watcher = Watcher()
    record(device, path, watcher.take, watcher.lines)


if __name__ == "__main__":
    main()
