# SPDX-License-Identifier: GPL-2.0
"""Loads of a scenario: their format, and what vload is told of them."""
from . import hostnames
from .errors import ScenarioError
from .schema import REQUIRED, Bool, Choice, Int, ListOf, Number, Record, Text

HOSTS = ListOf(Text(), "host patterns", REQUIRED, single=True, at_least=1)

TIMES = {
    "start_s": Number("start of the load", 0),
    "stop_s": Number("end of the load; the run's end if not given"),
    "spread_us": Number("flows start at random within this time", 0),
}
COMMON = {
    "name": Text("name in metrics and plots", REQUIRED, pattern=r"[A-Za-z][\w-]*"),
    "cc": Text("congestion control of these flows in place of the host's"),
    "family": Int("4 or 6", 4, low=4, high=6),
}


def _load(kind, **fields):
    return Record({"type": Text("", REQUIRED, choices=[kind]), **COMMON, **fields})


PAUSE = Record({
    "at_s": Number("when the reader stops", REQUIRED),
    "for_s": Number("for how long", REQUIRED),
})

SCHEMA = Choice("type", {
    "long": _load(
        "long",
        **{"from": HOSTS, "to": HOSTS}, **TIMES,
        per_pair=Int("connections of each pair", 1, low=1),
        stop_count=Int("connections that end at stop_s; all if not given", low=1),
        write_bytes=Int("bytes of each write of a slow writer", low=1),
        write_interval_us=Number("time between its writes"),
        reader_pause=PAUSE,
        max_pacing_bps=Number("SO_MAX_PACING_RATE, in bit/s"),
        bytes=Int("bytes of a finite flow", low=1)),
    "incast": _load(
        "incast",
        **{"from": HOSTS, "to": HOSTS}, **TIMES,
        fanout=Int("answers of a round; every server once if not given", low=1),
        bytes=Int("bytes of an answer", 32768, low=1),
        period_us=Number("time between rounds", REQUIRED),
        jitter_us=Number("random delay of an answer", 0),
        rounds=Int("rounds; until the end if not given", low=1),
        persistent=Bool("keep the connections", True)),
    "rpc": _load(
        "rpc",
        **{"from": HOSTS, "to": HOSTS}, **TIMES,
        request_bytes=Int("bytes of a request", REQUIRED, low=1),
        response_bytes=Int("bytes of a response", REQUIRED, low=1),
        per_pair=Int("connections of each pair", 1, low=1),
        outstanding=Int("requests in flight on a connection", 1, low=1),
        interval_us=Number("time between requests; 0: as answers come", 0),
        poisson=Bool("random intervals of that mean", False)),
    "poisson": _load(
        "poisson", **TIMES,
        hosts=HOSTS,
        sizes=Text("size distribution: a file, or the name of one that ships", REQUIRED),
        load=Number("share of rate_bps", REQUIRED, low=0.0001, high=2),
        rate_bps=Number("rate of a host's link", 10000000000),
        pattern=Text("who sends to whom", "all-to-all"),
        persistent=Bool("keep the connections", True)),
    "ping": _load(
        "ping",
        **{"from": HOSTS, "to": HOSTS}, **TIMES,
        interval_us=Number("time between pings", 1000),
        bytes=Int("bytes of a ping", 64, low=16)),
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
    if load["type"] == "incast":
        if len(out["to"]) != 1:
            raise ScenarioError(load.where("to"), "to: an incast has one client")
        out["to"] = out["to"][0]
    return out


def sinks(loads):
    """Hosts that receive bulk data, in order."""
    found = []
    for load in loads:
        for host in _receivers(load):
            if host not in found:
                found.append(host)
    return found


def _receivers(load):
    if load["type"] == "ping":
        return []
    if load["type"] == "poisson":
        return load["hosts"]
    return load["to"] if isinstance(load["to"], list) else [load["to"]]
