# SPDX-License-Identifier: GPL-2.0
"""The rack as a graph: hosts, switches, links, and the base RTT of a path.

The base RTT is what one full frame and its ACK need through empty queues:
at every hop the frame is received whole before it is sent on (store and
forward), so each link costs its serialization plus its propagation delay.
"""
import collections
import dataclasses

# preamble 8, FCS 4, gap between frames 12; header 14; no frame is under 64
ETHERNET_OVERHEAD_BYTES = 24
ETHERNET_HEADER_BYTES = 14
ETHERNET_MIN_BYTES = 60
ACK_BYTES = {4: 20 + 20 + 12, 6: 40 + 20 + 12}


# What a guest with all of a machine's memory has room for, and more than any of the papers' networks.
MOST_LINKS = 4096


@dataclasses.dataclass
class Link:
    """A cable; rate_bps is the egress rate of both ends."""
    a: str
    b: str
    rate_bps: int
    delay_ns: int = None        # None: derived from the base RTT
    port_a: str = None          # name of the port of a switch, without the switch
    port_b: str = None
    fcs_ppb: int = 0            # frames damaged, per 10^9, both ways


class Graph:
    def __init__(self):
        self.hosts = []
        self.switches = []
        self.links = []
        self.padded = []        # host pairs whose links are stretched to the reference RTT
        self.reference = None   # the pair whose base RTT is given
        self._near = collections.defaultdict(list)
        self._ends = set()      # the hosts, for fast look-up
        self._trees = {}

    def add_host(self, name):
        self.hosts.append(name)
        self._ends.add(name)

    def add_switch(self, name):
        self.switches.append(name)

    def add_link(self, *args, **fields):
        if len(self.links) == MOST_LINKS:
            raise ValueError(f"more than {MOST_LINKS} links")
        link = Link(*args, **fields)
        link.port_a = link.port_a or link.b
        link.port_b = link.port_b or link.a
        self.links.append(link)
        self._near[link.a].append((link.b, link))
        self._near[link.b].append((link.a, link))
        return link

    def path(self, source, sink):
        """The links of one shortest path (parallel ones are alike)."""
        came = self._tree(sink)
        if source not in came:
            raise ValueError(f"no path from {source} to {sink}")
        links = []
        while came[source]:
            source, link = came[source]
            links.append(link)
        return links

    def _tree(self, sink):
        """node -> (next node, link) on the way to sink; one search serves all sources."""
        if sink in self._trees:
            return self._trees[sink]
        came, todo = {sink: None}, collections.deque([sink])
        while todo:
            here = todo.popleft()
            if here in self._ends and here != sink:
                continue        # hosts do not forward
            for there, link in self._near[here]:
                if there not in came:
                    came[there] = (here, link)
                    todo.append(there)
        self._trees[sink] = came
        return came

    def ports_towards(self, host):
        """The switch ports that end at host."""
        return [f"{there}.{link.port_a if link.a == there else link.port_b}"
                for there, link in self._near[host] if there in self.switches]

    def port_names(self):
        for link in self.links:
            for end, port in ((link.a, link.port_a), (link.b, link.port_b)):
                if end in self.switches:
                    yield f"{end}.{port}"


def wire_bytes(ip_bytes):
    frame = max(ip_bytes + ETHERNET_HEADER_BYTES, ETHERNET_MIN_BYTES)
    return frame + ETHERNET_OVERHEAD_BYTES


def serialization_ns(link, ip_bytes):
    return wire_bytes(ip_bytes) * 8e9 / link.rate_bps


def base_rtt_ns(graph, source, sink, mtu_bytes=1500, family=4):
    """Propagation and serialization of a frame there and its ACK back."""
    return sum(2 * link.delay_ns + serialization_ns(link, mtu_bytes)
               + serialization_ns(link, ACK_BYTES[family])
               for link in graph.path(source, sink))


def settle_delays(graph, delay_ns, base_rtt_us=None, mtu_bytes=1500):
    """Give every link its delay: the default, or what the base RTT leaves."""
    if base_rtt_us is not None:
        delay_ns = _delay_for(graph, base_rtt_us * 1000, mtu_bytes)
    for link in graph.links:
        if link.delay_ns is None:
            link.delay_ns = delay_ns
    for pair in graph.padded:
        _pad(graph, pair, mtu_bytes)


def _reference(graph):
    """The pair given, or the first host and the host farthest from it."""
    if not graph.reference:
        first = graph.hosts[0]
        graph.reference = first, max(graph.hosts[1:],
                                     key=lambda host: len(graph.path(first, host)))
    return graph.reference


def _delay_for(graph, base_ns, mtu_bytes):
    path = graph.path(*_reference(graph))
    fixed = sum(2 * (link.delay_ns or 0) + serialization_ns(link, mtu_bytes)
                + serialization_ns(link, ACK_BYTES[4]) for link in path)
    free = [link for link in path if link.delay_ns is None]
    if not free or base_ns < fixed:
        raise ValueError(f"serialization and given delays alone make {fixed / 1000:.3f} us")
    return round((base_ns - fixed) / (2 * len(free)))


def _pad(graph, pair, mtu_bytes):
    """Lengthen the two host links of a pair until it has the reference RTT."""
    missing = base_rtt_ns(graph, *_reference(graph), mtu_bytes) - \
        base_rtt_ns(graph, *pair, mtu_bytes)
    path = graph.path(*pair)
    for link in (path[0], path[-1]):
        link.delay_ns += max(0, round(missing / 4))
