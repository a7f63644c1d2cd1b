# SPDX-License-Identifier: GPL-2.0
"""What one run left behind, read from its directory."""
import bisect
import collections
import json
import os

from .hist import Hist
from .pairs import Pairs


ClockError = collections.namedtuple("ClockError", "time_ns, host, peer, hops, error_ns, told_ns")


class RunResult:
    """One variant with one seed: failure is a sentence, or None."""

    def __init__(self, plan, seed, directory, failure=None, log=None, wall_s=0.0):
        self.plan = plan
        self.seed = seed
        self.directory = directory
        self.failure = failure
        self.log = log
        self.wall_s = wall_s
        self.stats = self.vload = None
        self.tlt = []
        self.onramp = []
        self._series = None
        self._pairs = None
        self._clock_errors = None
        if not failure:
            self._read()

    def _read(self):
        try:
            self.stats = _json(self.directory, "stats.json")
            self.vload = _json(self.directory, "vload.result.json")
            self.tlt = list(_json_all(self.directory, "tlt.txt"))
            self.onramp = list(_json_all(self.directory, "onramp.txt"))
        except (OSError, ValueError) as error:
            self.failure = f"no result: {error}"
            self.log = os.path.join(self.directory, "console.txt")
            return
        wrong = [action for action in self.vload.get("actions", ())
                 if action.get("error") or action.get("exit_code")]
        if wrong:
            self.failure = f"an action went wrong: {wrong[0]}"
            self.log = os.path.join(self.directory, "dmesg.txt")

    @property
    def window_s(self):
        """Measured time: from the reset of the counters to their reading."""
        return (self.stats["time_ns"] - self.stats["since_ns"]) / 1e9

    @property
    def start_ns(self):
        """The guest's clock when the load began: the reset was at warmup_s."""
        return self.stats["since_ns"] - self.plan.settings["warmup_s"] * 1e9

    def port(self, name):
        switch, _, port = name.partition(".")
        ports = self.stats["switches"].get(switch, {}).get("ports", {})
        found = ports.get(name, ports.get(port))
        if found is None:
            raise ValueError(f"no port '{name}'")
        return found

    def ports(self, names=()):
        """The ports named, or all."""
        if names:
            return [self.port(name) for name in names]
        return [port for switch in self.stats["switches"].values()
                for port in switch["ports"].values()]

    def delay(self, sink):
        """Queueing delay of the data frames that reached sink."""
        return Hist.read(self.stats["nics"][sink].get("delay"))

    def ack_delay_ns(self, sinks):
        """Mean queueing delay of ACKs, which arrive at all but the sinks."""
        others = [name for name in self.stats["nics"] if name not in sinks] or sinks
        merged = Hist.merge([Hist.read(self.stats["nics"][name].get("delay_ack"))
                             for name in others])
        return merged.mean() or 0.0

    def loads(self, name=None):
        """Results of the load named, or of all that move data."""
        loads = [load for load in self.vload["loads"]
                 if (name is None and load["type"] != "ping") or load["name"] == name]
        if name is not None and not loads:
            known = ", ".join(load["name"] for load in self.vload["loads"])
            raise ValueError(f"no load '{name}' (there are: {known})")
        return loads

    def flows(self, name=None):
        return [flow for load in self.loads(name) for flow in load.get("flows") or ()]

    def series(self, port):
        """[(time_s since the load began, queue_bytes, tx_wire_bytes)]."""
        if self._series is None:
            self._series = self._read_series()
        if port not in self._series:
            known = ", ".join(self._series) or "none"
            raise ValueError(f"no series of port '{port}' (there are: {known}); see 'series'")
        return self._series[port]

    def pairs(self):
        """Packets acked last and the next to leave."""
        if self._pairs is None:
            self._pairs = Pairs.read(self)
        return self._pairs

    def clock_errors(self):
        """What selftests/vrack/clock-errors saw in the measured window."""
        path = os.path.join(self.directory, "clock-errors.csv")
        if self._clock_errors is None:
            self._clock_errors = []
            if os.path.exists(path):
                with open(path, encoding="ascii") as stream:
                    self._clock_errors = [row for row in map(_clock_error, stream)
                                          if row and self.stats["since_ns"] <= row.time_ns <= self.stats["time_ns"]]
        return self._clock_errors

    def _read_series(self):
        series = {}
        path = os.path.join(self.directory, "series.txt")
        if not os.path.exists(path):
            return series
        with open(path, encoding="ascii") as stream:
            for line in stream:
                words = line.split()
                if len(words) == 4 and words[0].isdigit():
                    time_ns, port, queue, sent = words
                    series.setdefault(port, []).append(
                        ((int(time_ns) - self.start_ns) / 1e9, int(queue), int(sent)))
        return series


class FlowSeries:
    """TCP_INFO of one flow over time, as vload samples it."""

    def __init__(self, flow):
        self.flow = flow
        rows = flow.get("series") or []
        self.time_s = [row[0] / 1e6 for row in rows]
        self.pacing_bps = [row[1] for row in rows]
        self.rtt_us = [row[2] for row in rows]
        self.cwnd = [row[3] for row in rows]
        self.delivered_bytes = [row[4] for row in rows]

    def at(self, column, time_s):
        """The value of the last sample not after time_s."""
        index = bisect.bisect_right(self.time_s, time_s + 1e-6) - 1
        return getattr(self, column)[index] if index >= 0 else None

    def between(self, column, first_s, last_s):
        low = bisect.bisect_left(self.time_s, first_s)
        high = bisect.bisect_right(self.time_s, last_s)
        return getattr(self, column)[low:high]

    def goodput_bps(self, first_s, last_s):
        """Bytes acknowledged between the last samples not after two times."""
        # microseconds of slack: sample times are sums of intervals
        low = max(0, bisect.bisect_right(self.time_s, first_s + 1e-6) - 1)
        high = bisect.bisect_right(self.time_s, last_s + 1e-6) - 1
        if high <= low:
            return None
        sent = self.delivered_bytes[high] - self.delivered_bytes[low]
        return sent * 8 / (self.time_s[high] - self.time_s[low])


def _clock_error(line):
    """None: the guest ended within the line."""
    words = line.rstrip("\n").split(",")
    if len(words) != 6 or not line.endswith("\n"):
        return None
    time_ns, host, peer, hops, error_ns, told_ns = words
    return ClockError(int(time_ns), host, peer, int(hops), int(error_ns) if error_ns else None,
                      int(told_ns) if told_ns else None)


def _json(directory, name):
    with open(os.path.join(directory, name), encoding="utf-8") as stream:
        return json.load(stream)


def _json_all(directory, name):
    """What was printed one after the other; nothing where there is no file."""
    try:
        with open(os.path.join(directory, name), encoding="utf-8") as stream:
            text = stream.read()
    except FileNotFoundError:
        return
    while text.strip():
        value, end = json.JSONDecoder().raw_decode(text.lstrip())
        yield value
        text = text.lstrip()[end:]
