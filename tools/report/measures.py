# SPDX-License-Identifier: GPL-2.0
"""What a recording tells: delays, rates and shares; all times in ns, all sorted."""
import math
from collections import defaultdict

from reading import host_of, mapping, number, objects, text

PEERS_MOST = 15
BINS = 100


def percentile(values, hundredths):
    """Of sorted values, by nearest rank; None of none."""
    if not values:
        return None
    return values[max(0, math.ceil(len(values) * hundredths / 100) - 1)]


def tail(values, points=300):
    """Points of the share of values that are as large or larger: all of the largest, few of the many."""
    count = len(values)
    ranks = sorted({min(count - 1, int(count * (1 - 10 ** (-math.log10(max(count, 2)) * i / points))))
                    for i in range(points + 1)}) if count else []
    ranks = sorted({*ranks, *range(max(0, count - 10), count)})
    return [(values[rank], (count - rank) / count) for rank in ranks]


# -- looks

def spaces(look):
    """Network namespaces of a look by name."""
    return {text(space, "netns"): space for space in objects(look, "namespaces")}


def connections(look):
    """Connections of a look, by namespace and ends."""
    return {(name, text(one, "local"), text(one, "remote")): one
            for name, space in spaces(look).items() for one in objects(space, "connections")}


def pairs(recording):
    """Looks, each with the one before it."""
    return zip(recording.looks, recording.looks[1:])


def seconds_between(before, after):
    return (number(after, "t_ns") - number(before, "t_ns")) / 1e9


def grown(before, after, key):
    """How much a counter grew; 0 where it began anew, or is not there."""
    old, new = number(before, key), number(after, key)
    return max(0, new - old) if old is not None and new is not None else 0


def time_ns(one, name):
    """A connection's; older recordings tell it in microseconds."""
    ns, us = number(one, name + "_ns"), number(one, name + "_us")
    return us * 1000 if ns is None and us is not None else ns


def rtts(recording):
    """(t_ns, host, smoothed RTT in ns) of connections whose data were acknowledged since the look before."""
    found = []
    for before, after in pairs(recording):
        old = connections(before)
        for key, one in connections(after).items():
            rtt_ns = time_ns(one, "rtt")
            if key in old and rtt_ns and grown(old[key], one, "bytes_acked"):
                found.append((number(after, "t_ns"), host_of(key[2]), rtt_ns))
    return found


def rates(recording):
    """(t_ns, bit/s) that were acknowledged, from look to look."""
    found = []
    for before, after in pairs(recording):
        old, seconds = connections(before), seconds_between(before, after)
        grew = sum(grown(old[key], one, "bytes_acked") if key in old else number(one, "bytes_acked") or 0
                   for key, one in connections(after).items())
        if seconds > 0:
            found.append((number(after, "t_ns"), 8 * grew / seconds))
    return found


def device_counters(look, key):
    """The sum of a counter of all devices with onramp."""
    return {(name, text(device, "name")): device for name, space in spaces(look).items()
            for device in objects(space, "devices") if number(device, key) is not None}


def grown_of_devices(before, after, key):
    old, new = device_counters(before, key), device_counters(after, key)
    return sum(grown(old[name], device, key) for name, device in new.items() if name in old)


def held(recording):
    """(t_ns, share of On-Ramp's packets that were held), from look to look; by the trace where no device is seen."""
    found = []
    for before, after in pairs(recording):
        packets = grown_of_devices(before, after, "packets")
        if packets:
            found.append((number(after, "t_ns"), min(1, grown_of_devices(before, after, "held_packets") / packets)))
    return found


def tcp_grown(before, after, key):
    """A counter of TCP over all namespaces."""
    old, new = spaces(before), spaces(after)
    return sum(grown(mapping(old[name], "tcp"), mapping(new[name], "tcp"), key) for name in new if name in old)


def resent(recording):
    """(t_ns, segments a second that were sent again), from look to look."""
    return [(number(after, "t_ns"), tcp_grown(before, after, "retrans_segs") / seconds_between(before, after))
            for before, after in pairs(recording) if seconds_between(before, after) > 0]


# -- all of it

class Kind:
    """Something that takes time, of which there are samples: (t_ns, host, ns)."""

    def __init__(self, name, what, samples):
        self.name = name
        self.what = what
        self.samples = samples
        self.values = sorted(sample[2] for sample in samples)

    def at(self, hundredths):
        return percentile(self.values, hundredths)

    def by_host(self):
        """[(host, sorted values)], those with most samples first."""
        hosts = defaultdict(list)
        for _, host, value in self.samples:
            hosts[host].append(value)
        return sorted(((host, sorted(values)) for host, values in hosts.items()), key=lambda pair: (-len(pair[1]), pair[0]))

    def over_time(self, start_ns):
        """[(seconds, p50, p99)], at most BINS; of steps that have a sample."""
        if not self.samples:
            return []
        times = sorted(sample[0] for sample in self.samples)
        step = max(1, (times[-1] - start_ns) / BINS)
        bins = defaultdict(list)
        for t_ns, _, value in self.samples:
            bins[min(BINS - 1, int((t_ns - start_ns) / step))].append(value)
        return [((index + 0.5) * step / 1e9, percentile(sorted(values), 50), percentile(sorted(values), 99))
                for index, values in sorted(bins.items())]


def kinds(recording):
    """{name: Kind} of what there are samples of, that which tells most first."""
    every = [Kind("queue", "queueing delay, as On-Ramp's feedback tells it", [event[:3] for event in recording.samples]),
             Kind("timely", "RTT, as timely takes it", [event[:3] for event in recording.decisions]),
             Kind("rtt", "smoothed RTT of connections that send", rtts(recording))]
    return {kind.name: kind for kind in every if kind.values}


def totals(recording):
    """Numbers of the whole, by name; None where nothing tells."""
    looks = recording.looks
    first, last = (looks[0], looks[-1]) if len(looks) > 1 else ({}, {})
    speeds = [rate for _, rate in rates(recording)]
    packets = grown_of_devices(first, last, "packets") if first else 0
    return {"rate_bps": sum(speeds) / len(speeds) if speeds else None,
            "held": grown_of_devices(first, last, "held_packets") / packets if packets else None,
            "drops": grown_of_devices(first, last, "drops") if packets else None,
            "resent": tcp_grown(first, last, "retrans_segs") if first else None,
            "sent": tcp_grown(first, last, "out_segs") if first else None,
            "timeouts": tcp_grown(first, last, "timeouts") if first else None}


