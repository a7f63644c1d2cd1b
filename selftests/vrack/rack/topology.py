# SPDX-License-Identifier: GPL-2.0
"""The topologies a scenario can name, each built into a Graph."""
from . import graph as graphs
from . import hostnames
from .errors import ScenarioError
from .schema import REQUIRED, Bool, Choice, Int, ListOf, MapOf, Number, Record, Text

RATE_GBPS = dict(low=0.01, high=400)
COMMON = {
    "base_rtt_us": Number("base RTT of a pair; the delays of links that have none follow from it",
                          low=0.001),
    "base_rtt_of": ListOf(Text(), "that pair; the first of the first load if not given"),
    "delay_ns": Int("delay of every link that has none of its own and no base_rtt_us rules", 1000),
}
# Of each kind; a network of a few thousand links is refused as a whole.
MOST = 1024

END = Record({
    "rate_gbps": Number("rate of the host's link", REQUIRED, **RATE_GBPS),
    "delay_ns": Int("delay of the host's link"),
    "fcs_ppb": Int("frames damaged on it, per 10^9, both ways", 0, high=1000000000),
})
HOSTS = MapOf(END, "hosts by pattern, such as c[1-10]", REQUIRED)
TRUNK = Record({
    "rate_gbps": Number("rate of each trunk link", REQUIRED, **RATE_GBPS),
    "delay_ns": Int("delay of the trunk"),
    "fcs_ppb": Int("frames damaged on it, per 10^9, both ways", 0, high=1000000000),
    "count": Int("parallel links, used by ECMP", 1, low=1, high=64),
}, "the link between the two switches", REQUIRED)


def _record(kind, **fields):
    return Record({"type": Text("", REQUIRED, choices=[kind]), **COMMON, **fields})


SCHEMA = Choice("type", {
    "rack": _record("rack", hosts=HOSTS),
    "dumbbell": _record("dumbbell", left=HOSTS, right=HOSTS, trunk=TRUNK),
    "leaf-spine": _record(
        "leaf-spine",
        leaves=Int("ToR switches l1..", 12, low=1, high=MOST),
        spines=Int("spine switches sp1..", 4, low=1, high=MOST),
        hosts_per_leaf=Int("hosts h1.. below each ToR", 8, low=1, high=MOST),
        host_gbps=Number("rate of host links", 10, **RATE_GBPS),
        fabric_gbps=Number("rate of links between switches", 40, **RATE_GBPS)),
    "fat-tree": _record(
        "fat-tree",
        pods=Int("pods", 12, low=1, high=MOST),
        tors_per_pod=Int("ToRs of a pod, tP_1..", 4, low=1, high=MOST),
        aggs_per_pod=Int("aggregation switches of a pod, aP_1..", 4, low=1, high=MOST),
        cores_per_agg=Int("cores c1.. above each aggregation switch of a pod", 4, low=1, high=MOST),
        hosts_per_tor=Int("hosts h1.. below each ToR", 4, low=1, high=MOST),
        host_gbps=Number("rate of host links", 10, **RATE_GBPS),
        fabric_gbps=Number("rate of links between switches", 10, **RATE_GBPS)),
    "skinny": _record(
        "skinny",
        cross=ListOf(Int(low=0, high=MOST), "cross flows' host pairs at each link of the chain", REQUIRED,
                     at_least=1),
        rate_gbps=Number("rate of every link", 10, **RATE_GBPS),
        same_rtt=Bool("stretch the cross pairs' links to the base RTT of the long path", True)),
    "custom": _record(
        "custom",
        switches=ListOf(Text(), "switch names", REQUIRED, at_least=1),
        hosts=MapOf(Record({"switch": Text("", REQUIRED), **END.fields}), "", REQUIRED),
        links=ListOf(Record({"a": Text("", REQUIRED), "b": Text("", REQUIRED), **TRUNK.fields}),
                     "links between switches", [])),
}, "what is wired to what", REQUIRED)


def build(settings, mtu_bytes=1500, pair=None):
    """The Graph of a topology section, all delays settled.

    pair: whose base RTT is meant where the section does not say it.
    """
    graph = graphs.Graph()
    try:
        BUILDERS[settings["type"]](graph, settings)
        _check_names(graph)
        graph.reference = _reference(graph, settings["base_rtt_of"] or pair)
        graphs.settle_delays(graph, settings["delay_ns"], settings["base_rtt_us"], mtu_bytes)
    except ValueError as error:
        raise ScenarioError(settings.origin, f"topology: {error}") from None
    return graph


def _reference(graph, pair):
    if not pair:
        return graph.reference
    for host in pair:
        if host not in graph.hosts:
            raise ValueError(f"base_rtt_of: no host '{host}'")
    if len(pair) != 2:
        raise ValueError("base_rtt_of: two hosts expected")
    return tuple(pair)


def _check_names(graph):
    names = graph.hosts + graph.switches
    for name in names:
        if not hostnames.valid(name):
            raise ValueError(f"'{name}' is no name for a host or switch (a letter, "
                             "then letters and digits, 15 in all)")
        if names.count(name) > 1:
            raise ValueError(f"'{name}' stands twice")
    if len(graph.hosts) < 2:
        raise ValueError("two hosts are the least")


def _bps(gbps):
    return round(gbps * 1e9)


def _attach(graph, hosts, switch=None):
    for pattern, end in hosts.items():
        for name in hostnames.expand(pattern):
            graph.add_host(name)
            graph.add_link(name, switch or end["switch"], _bps(end["rate_gbps"]), end["delay_ns"],
                           fcs_ppb=end["fcs_ppb"])


def _trunk(graph, a, b, trunk):
    """Parallel links get numbered ports: s0.s1, s0.s1_2, ..."""
    for number in range(trunk["count"]):
        suffix = f"_{number + 1}" if number else ""
        graph.add_link(a, b, _bps(trunk["rate_gbps"]), trunk["delay_ns"],
                       port_a=b + suffix, port_b=a + suffix, fcs_ppb=trunk["fcs_ppb"])


def _rack(graph, settings):
    graph.add_switch("s0")
    _attach(graph, settings["hosts"], "s0")


def _dumbbell(graph, settings):
    graph.switches += ["s0", "s1"]
    _attach(graph, settings["left"], "s0")
    _attach(graph, settings["right"], "s1")
    _trunk(graph, "s0", "s1", settings["trunk"])


def _leaf_spine(graph, settings):
    fabric = _bps(settings["fabric_gbps"])
    for spine in range(1, settings["spines"] + 1):
        graph.add_switch(f"sp{spine}")
    for leaf in range(1, settings["leaves"] + 1):
        graph.add_switch(f"l{leaf}")
        _tor_hosts(graph, f"l{leaf}", leaf - 1, settings["hosts_per_leaf"], settings["host_gbps"])
        for spine in range(1, settings["spines"] + 1):
            graph.add_link(f"l{leaf}", f"sp{spine}", fabric)


def _tor_hosts(graph, tor, index, count, gbps):
    for number in range(index * count + 1, (index + 1) * count + 1):
        graph.add_host(f"h{number}")
        graph.add_link(f"h{number}", tor, _bps(gbps))


def _fat_tree(graph, settings):
    for core in range(1, settings["aggs_per_pod"] * settings["cores_per_agg"] + 1):
        graph.add_switch(f"c{core}")
    for pod in range(1, settings["pods"] + 1):
        _pod(graph, pod, settings)


def _pod(graph, pod, settings):
    fabric = _bps(settings["fabric_gbps"])
    aggs = range(1, settings["aggs_per_pod"] + 1)
    cores = settings["cores_per_agg"]
    for agg in aggs:
        graph.add_switch(f"a{pod}_{agg}")
        for core in range((agg - 1) * cores + 1, agg * cores + 1):
            graph.add_link(f"a{pod}_{agg}", f"c{core}", fabric)
    for tor in range(1, settings["tors_per_pod"] + 1):
        name = f"t{pod}_{tor}"
        graph.add_switch(name)
        index = (pod - 1) * settings["tors_per_pod"] + tor - 1
        _tor_hosts(graph, name, index, settings["hosts_per_tor"], settings["host_gbps"])
        for agg in aggs:
            graph.add_link(name, f"a{pod}_{agg}", fabric)


def _skinny(graph, settings):
    """src - s1 - s2 - ... - dst; at link i the pairs xI_J -> yI_J cross it."""
    rate = _bps(settings["rate_gbps"])
    count = len(settings["cross"])
    graph.switches += [f"s{number}" for number in range(1, count + 2)]
    graph.add_host("src")
    graph.add_host("dst")
    graph.add_link("src", "s1", rate)
    graph.add_link(f"s{count + 1}", "dst", rate)
    for number, pairs in enumerate(settings["cross"], 1):
        graph.add_link(f"s{number}", f"s{number + 1}", rate)
        for pair in range(1, pairs + 1):
            _cross_pair(graph, number, pair, rate, settings["same_rtt"])
    graph.reference = ("src", "dst")


def _cross_pair(graph, number, pair, rate, same_rtt):
    source, sink = f"x{number}_{pair}", f"y{number}_{pair}"
    graph.add_host(source)
    graph.add_host(sink)
    graph.add_link(source, f"s{number}", rate)
    graph.add_link(sink, f"s{number + 1}", rate)
    if same_rtt:
        graph.padded.append((source, sink))


def _custom(graph, settings):
    graph.switches += settings["switches"]
    for pattern, end in settings["hosts"].items():
        if end["switch"] not in graph.switches:
            raise ValueError(f"{pattern}: no switch '{end['switch']}'")
    _attach(graph, settings["hosts"])
    for link in settings["links"]:
        for end in (link["a"], link["b"]):
            if end not in graph.switches:
                raise ValueError(f"link {link['a']}-{link['b']}: no switch '{end}'")
        _trunk(graph, link["a"], link["b"], link)


BUILDERS = {"rack": _rack, "dumbbell": _dumbbell, "leaf-spine": _leaf_spine,
            "fat-tree": _fat_tree, "skinny": _skinny, "custom": _custom}
