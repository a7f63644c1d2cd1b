# SPDX-License-Identifier: GPL-2.0
"""What an ACK foretells: of each pair of packets, the delays of the one acked last
and the one-way delay of the next that left (vr_pairs.c)."""
import os
import random
import sys
from array import array

from .hist import quantile

SIGNALS = ("owd", "rtt", "wire_rtt")


class Pairs:
    """Of one run; delays in ns, as the rack measured them."""

    def __init__(self, hosts, seed):
        self.hosts = hosts
        self.seed = seed
        self.ends = []                  # (from, to) of each pair
        self.next_ns = array("q")       # the next packet's OWD
        self.owd_ns = array("q")
        self.rtt_ns = array("q")
        self.wire_rtt_ns = array("q")   # RTT but for what the receiver took
        self.known = {}                 # what was computed before

    @classmethod
    def read(cls, run):
        path = os.path.join(run.directory, "pairs.txt")
        if not os.path.exists(path):
            raise ValueError("no pairs of packets; see the parameter pairs of vrack_phc")
        pairs = cls(list(run.plan.graph.hosts), run.seed)
        with open(path, encoding="ascii") as stream:
            for line in stream:
                if line.startswith("#"):
                    raise ValueError(line[1:].strip())
                words = line.split()
                if int(words[0]) <= run.stats["time_ns"]:
                    pairs.add(words[1:3], *map(int, words[3:7]))
        return pairs

    def add(self, ends, next_ns, owd_ns, rtt_ns, host_ns):
        self.ends.append(tuple(map(sys.intern, ends)))
        self.next_ns.append(next_ns)
        self.owd_ns.append(owd_ns)
        self.rtt_ns.append(rtt_ns)
        self.wire_rtt_ns.append(rtt_ns - host_ns)

    def __len__(self):
        return len(self.ends)

    def signal_ns(self, signal="owd", clock_us=0):
        """The signal of each pair; clock_us: the deviation of hosts' clocks, each
        drawn once by the seed, of which only an OWD has to do with two."""
        if signal not in SIGNALS:
            raise ValueError(f"'{signal}' is no signal ({', '.join(SIGNALS)})")
        if signal == "owd":
            ahead = self._clocks_ns(clock_us)
            return [owd + ahead[to] - ahead[sender]
                    for (sender, to), owd in zip(self.ends, self.owd_ns)]
        return self.rtt_ns if signal == "rtt" else self.wire_rtt_ns

    def _clocks_ns(self, clock_us):
        draw = random.Random(self.seed)
        return {host: draw.gauss(0, clock_us * 1e3) for host in self.hosts}

    def _once(self, key, compute):
        if key not in self.known:
            self.known[key] = compute()
        return self.known[key]

    def correlation(self, kind, signal, clock_us):
        """Of the signal and the next packet's OWD; None where one does not vary."""
        if kind not in ("pearson", "spearman"):
            raise ValueError(f"'{kind}' is no correlation (pearson, spearman)")
        return self._once((kind, signal, clock_us),
                          lambda: self._correlation(kind, self.signal_ns(signal, clock_us)))

    def _correlation(self, kind, values):
        if kind == "pearson":
            return pearson(values, self.next_ns)
        return pearson(ranks(values), self._once("ranks", lambda: ranks(self.next_ns)))

    def tenths(self, signal="owd", clock_us=0):
        """Tenths by the signal's size: its mean in each, and the next packets' OWD in order, in ns."""
        return self._once((signal, clock_us),
                          lambda: list(self._tenths(self.signal_ns(signal, clock_us))))

    def _tenths(self, values):
        order = sorted(zip(values, self.next_ns))
        edges = [len(order) * tenth // 10 for tenth in range(11)]
        for first, last in zip(edges, edges[1:]):
            if first < last:
                part = order[first:last]
                yield (sum(value for value, _ in part) / len(part),
                       array("q", sorted(owd for _, owd in part)))

    def within(self, share, tenth, signal, clock_us):
        """A quantile of the next OWD in ns, where the signal is in that tenth (1 to 10)."""
        tenths = self.tenths(signal, clock_us)
        if not 1 <= tenth <= len(tenths):
            return None
        return quantile(tenths[int(tenth) - 1][1], share)


def pearson(first, second):
    count = len(first)
    if count < 2:
        return None
    mean_first, mean_second = sum(first) / count, sum(second) / count
    both = sum((a - mean_first) * (b - mean_second) for a, b in zip(first, second))
    squares = (sum((a - mean_first) ** 2 for a in first) *
               sum((b - mean_second) ** 2 for b in second))
    return both / squares ** 0.5 if squares else None


def ranks(values):
    """Of each its place in order; equals share the mean of theirs."""
    order = sorted(range(len(values)), key=values.__getitem__)
    places = array("d", bytes(8 * len(values)))
    first = 0
    while first < len(order):
        last = first
        while last + 1 < len(order) and values[order[last + 1]] == values[order[first]]:
            last += 1
        for index in order[first:last + 1]:
            places[index] = (first + last) / 2
        first = last + 1
    return places
