# SPDX-License-Identifier: GPL-2.0
"""A variant made concrete: graph, addresses, loads, settings of each host."""
from . import graph as graphs
from . import hostnames, topology, workload
from .errors import ScenarioError

MAX_SERIES_PORTS = 16       # of vrack.ko


class Plan:
    """All that a guest is told and that metrics must know of a variant."""

    def __init__(self, variant, scenario_path="."):
        settings = variant.settings
        self.name = variant.name
        self.overrides = variant.overrides
        self.settings = settings
        self.scenario_path = scenario_path
        self.mtu_bytes = settings["mtu_bytes"]
        self._base_rtt_ns = {}
        self.graph = topology.build(settings["topology"], self.mtu_bytes)
        self.loads = workload.resolve(settings["workload"], self.graph.hosts)
        self.graph = topology.build(settings["topology"], self.mtu_bytes, self._first_pair())
        self.hosts = {name: _host_settings(settings, name) for name in self.graph.hosts}
        self.sinks = workload.sinks(self.loads)
        self.bottleneck = self._ports("bottleneck") or self._sink_ports()
        self.series_ports = self._series_ports()
        self._check_names()

    def address(self, host, family=4):
        number = self.graph.hosts.index(host) + 1
        if family == 6:
            return f"fd00::{number:x}"
        return f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"

    def congestion_controls(self):
        """Every algorithm that some host or load uses."""
        named = [host["cc"] for host in self.hosts.values()]
        named += [load.get("cc") for load in self.loads]
        return sorted({cc for cc in named if cc})

    def base_rtt_ns(self, sink):
        """Mean base RTT of the sources that send to this sink."""
        if sink not in self._base_rtt_ns:
            self._base_rtt_ns[sink] = self._mean_base_rtt_ns(sink)
        return self._base_rtt_ns[sink]

    def _mean_base_rtt_ns(self, sink):
        found = [(source, load["family"]) for load in self.loads
                 for source, to in workload.pairs(load) if to == sink]
        if not found:
            return graphs.base_rtt_ns(self.graph, *self.graph.reference, self.mtu_bytes)
        return sum(graphs.base_rtt_ns(self.graph, source, sink, self.mtu_bytes, family)
                   for source, family in found) / len(found)

    def _first_pair(self):
        return next((pair for load in self.loads for pair in workload.pairs(load)), None)

    def _ports(self, key):
        known = list(self.graph.port_names())
        for port in self.settings[key] or ():
            if port not in known:
                raise ScenarioError(self.settings.where(key), f"{key}: no port '{port}'")
        return list(self.settings[key] or ())

    def _sink_ports(self):
        return [port for host in self.sinks for port in self.graph.ports_towards(host)]

    def _series_ports(self):
        series = self.settings["series"]
        if not series:
            return []
        known = list(self.graph.port_names())
        for port in series["ports"] or ():
            if port not in known:
                raise ScenarioError(series.where("ports"), f"series.ports: no port '{port}'")
        chosen = list(series["ports"] or self.bottleneck[:MAX_SERIES_PORTS])
        if len(chosen) > MAX_SERIES_PORTS:
            raise ScenarioError(series.where("ports"),
                                f"series.ports: {MAX_SERIES_PORTS} are the most")
        return chosen

    def _check_names(self):
        """Patterns that match nothing are mistakes."""
        for key, known in (("hosts", self.graph.hosts), ("nics", self.graph.hosts),
                           ("switches", self.graph.switches),
                           ("ports", list(self.graph.port_names()))):
            for pattern in self.settings[key]:
                try:
                    hostnames.select(pattern, known)
                except ValueError:
                    raise ScenarioError(self.settings[key].where(pattern),
                                        f"{key}: nothing is called '{pattern}'") from None
        for action in self.settings["actions"]:
            if action["host"] and action["host"] not in self.graph.hosts:
                raise ScenarioError(action.where("host"), f"no host '{action['host']}'")


def matching(mapping, name):
    """The values of those keys that are patterns of name, in file order."""
    return [value for pattern, value in mapping.items() if hostnames.names(pattern, name)]


def _host_settings(settings, name):
    """The common settings, then those of every pattern that names the host."""
    merged = {key: value for key, value in settings["host"].items()}
    merged["sysctls"] = dict(merged["sysctls"])
    for own in matching(settings["hosts"], name):
        sysctls = own["sysctls"]
        merged.update({key: value for key, value in own.items()
                       if value is not None and key != "sysctls"})
        merged["sysctls"].update(sysctls)
    return merged

