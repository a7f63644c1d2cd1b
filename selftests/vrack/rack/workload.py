# SPDX-License-Identifier: GPL-2.0
"""Loads of a scenario: their format, and what vload is told of them."""
from . import hostnames
from .errors import ScenarioError
from .schema import REQUIRED, Bool, Choice, Int, ListOf, Number, Record, Text

HOSTS = ListOf(Text(), "host patterns", REQUIRED, single=True, at_least=1)

PAIRS = {
    "from": HOSTS, "to": HOSTS,
    "pairing": Text("all: everyone with everyone; zip: first with first, and so on",
                    choices=["all", "zip"]),
    "per_pair": Int("connections of each pair", 1, low=1),
}
SPREAD = {"spread_us": Number("flows start at random within this time", 0)}
COMMON = {
    "name": Text("name in metrics and plots", REQUIRED, pattern=r"[A-Za-z][\w-]*"),
    "start_s": Number("start of the load", 0),
    "stop_s": Number("end of the load; the run's end if not given"),
    "family": Int("4 or 6", 4, low=4, high=6),
    "dscp": Int("DSCP of its packets", high=63),
    "sndbuf_bytes": Int("SO_SNDBUF", low=1),
    "rcvbuf_bytes": Int("SO_RCVBUF", low=1),
    "samples": Bool("keep every completion time or RTT in the result"),
}
TCP = {
    "cc": Text("congestion control of these flows in place of the host's"),
    "max_pacing_bps": Number("SO_MAX_PACING_RATE, in bit/s", low=8),
    "notsent_lowat_bytes": Int("TCP_NOTSENT_LOWAT", low=1),
    "sample_interval_us": Number("time between samples of TCP_INFO, in place of the scenario's"),
}
PAUSE = Record({
    "at_s": Number("when the reader stops", REQUIRED),
    "for_s": Number("for how long", REQUIRED),
})


def _load(kind, *groups, **fields):
    merged = {"type": Text("", REQUIRED, choices=[kind]), **COMMON}
    for group in groups:
        merged.update(group)
    return Record({**merged, **fields})


SCHEMA = Choice("type", {
    "long": _load(
        "long", TCP, PAIRS, SPREAD,
        stop_count=Int("connections that end at stop_s; all if not given", low=1),
        stop_mode=Text("abort: with RST; drain: with what is in the buffers",
                       choices=["abort", "drain"]),
        write_bytes=Int("bytes of each write of a slow writer", low=1),
        write_interval_us=Number("time between its writes"),
        reader_pause=PAUSE,
        bytes=Int("bytes of a finite flow", low=1)),
    "incast": _load(
        "incast", TCP, {"from": HOSTS, "to": HOSTS},
        fanout=Int("answers of a round; every server once if not given", low=1),
        bytes=Int("bytes of an answer", REQUIRED, low=1),
        request_bytes=Int("bytes of a request; 0: servers start by themselves"),
        period_us=Number("time between a client's rounds; 0: as they complete", 0),
        poisson=Bool("random periods of that mean"),
        jitter_us=Number("random delay of an answer"),
        rounds=Int("rounds; until the end if not given"),
        persistent=Bool("keep the connections")),
    "rpc": _load(
        "rpc", TCP, PAIRS, SPREAD,
        request_bytes=Int("bytes of a request", REQUIRED, low=1),
        response_bytes=Int("bytes of a response", REQUIRED, low=1),
        outstanding=Int("requests in flight on a connection; 0: no bound"),
        interval_us=Number("time between requests; 0: as answers come"),
        poisson=Bool("random intervals of that mean")),
    "poisson": _load(
        "poisson", TCP,
        **{"from": ListOf(Text(), "senders, in place of hosts", single=True),
           "to": ListOf(Text(), "receivers, in place of hosts", single=True),
           "hosts": ListOf(Text(), "hosts that send and receive", single=True)},
        sizes=Text("size distribution: a file, one that ships, or a number of bytes", REQUIRED),
        load=Number("share of rate_bps that each host sends", REQUIRED, low=1e-9, high=10),
        rate_bps=Number("rate of a host's link", REQUIRED, low=1),
        pattern=Text("who sends to whom", choices=["all-to-all", "permutation"]),
        per_pair=Int("connections of each pair that may wait open", low=0),
        max_messages=Int("end after so many; 0: never"),
        persistent=Bool("keep the connections")),
    "ping": _load(
        "ping", PAIRS,
        interval_us=Number("time between pings", 1000, low=0.001),
        bytes=Int("bytes of a ping", low=12, high=65507),
        poisson=Bool("random intervals of that mean"),
        reply=Bool("answers come back; without, only one way is loaded")),
})


def resolve(loads, hosts):
    """The loads with host patterns expanded and unset keys left out."""
    names = [load["name"] for load in loads]
    resolved = []
    for index, load in enumerate(loads):
        if names.index(load["name"]) != index:
            raise ScenarioError(load.where("name"), f"a second load '{load['name']}'")
        resolved.append(_resolve(load, hosts))
    return resolved


def _resolve(load, hosts):
    out = {key: value for key, value in load.items() if value is not None}
    for key in ("from", "to", "hosts"):
        if key in out:
            try:
                out[key] = hostnames.select(out[key], hosts)
            except ValueError as error:
                raise ScenarioError(load.where(key), f"{key}: {error}") from None
    if load["type"] == "poisson" and not (out.get("hosts") or (out.get("from") and out.get("to"))):
        raise ScenarioError(load.origin, "a poisson load needs hosts, or from and to")
    return out


def pairs(load):
    """(source, sink) of a load's data; a poisson load's are all."""
    if load["type"] == "ping":
        return []
    sources = load.get("from") or load["hosts"]
    targets = load.get("to") or load["hosts"]
    if load.get("pairing") == "zip":
        return list(zip(sources, targets))
    return [(source, sink) for sink in targets for source in sources if source != sink]


def sinks(loads):
    """Hosts that receive bulk data, in order; an RPC's answers count too."""
    found = {}
    for load in loads:
        for source, sink in pairs(load):
            found[sink] = True
            if load["type"] == "rpc" and load["response_bytes"] > load["request_bytes"]:
                found[source] = True
    return list(found)
