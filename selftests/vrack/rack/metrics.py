# SPDX-License-Identifier: GPL-2.0
"""The metrics that bounds, tables and sweeps are made of.

A metric is a function of one run. In an expression it is written as a call;
plain words in its arguments are text: rtt_us(p99), util(s0.srv),
rate_gbps(bulk, at=0.25). A metric that has nothing to tell gives None.
"""
import inspect
import statistics

from . import graph as graphs
from .hist import Hist, share_of, statistic
from .results import FlowSeries

METRICS = {}
SAMPLED = set()     # names of those that sample_interval_us must be set for


def metric(function):
    METRICS[function.__name__] = function
    return function


def of_samples(function):
    """Marks a metric that is made of the flows' samples."""
    SAMPLED.add(function.__name__)
    return function


def listing():
    """Lines for --list-metrics: signature and what it means."""
    for name, function in sorted(METRICS.items()):
        signature = str(inspect.signature(function)).replace("run, ", "").replace("run", "")
        yield f"{name}{signature}".replace("()", "")
        yield "    " + " ".join(inspect.getdoc(function).split())


# -- links and queues

@metric
def util(run, *ports):
    """Share of the ports' capacity used in the measured window, Ethernet
    overhead counted; the bottleneck's if no port is named."""
    chosen = run.ports(ports or run.plan.bottleneck)
    sent_bits = sum(port["tx_wire_bytes"] for port in chosen) * 8
    return sent_bits / (sum(port["rate_bps"] for port in chosen) * run.window_s)


@metric
def wire_gbps(run, *ports):
    """Gbit/s on the wire of the ports, Ethernet overhead counted."""
    chosen = run.ports(ports or run.plan.bottleneck)
    return sum(port["tx_wire_bytes"] for port in chosen) * 8 / run.window_s / 1e9


@metric
def drops(run, *ports, cause=None):
    """Packets dropped at the ports (all if none is named), by cause (dt, color,
    limit, buffer, police, fcs) or whatever the cause."""
    return sum(count for port in run.ports(ports) for name, count in port["drops"].items()
               if cause in (None, name))


@metric
def nic_drops(run):
    """Frames that NICs dropped: damaged on the wire, or no room to receive."""
    return sum(nic["fcs_drops"] + nic["rx_drops"] for nic in run.stats["nics"].values())


@metric
def ecn_marks(run, *ports):
    """Packets marked at the ports (all if none is named)."""
    return sum(port["ecn_marks"] for port in run.ports(ports))


@metric
def pauses(run, *ports):
    """PFC pauses sent by the ports (all if none is named)."""
    return sum(port["pauses_sent"] for port in run.ports(ports))


@metric
def paused(run, *ports):
    """Share of the measured window in which PFC stopped the ports, on the mean of the
    ports (all links both ways, NICs' too, if none is named)."""
    stopped_ns = [port["paused_ns"] for port in run.ports(ports)]
    if not ports:
        stopped_ns += [nic["pause_ns"] for nic in run.stats["nics"].values()]
    return sum(stopped_ns) / len(stopped_ns) / (run.window_s * 1e9)


@metric
def tlt(run, counter, kind=None, unit="packets"):
    """A counter of `turnpike tlt stats', of all hosts that have TLT, since they have:
    by its name, or 'sent' (with unit='bytes', if those are meant) or 'received' with
    a kind of packet."""
    if not run.tlt:
        return None
    return sum(_tlt_counter(host, counter, kind, unit) for host in run.tlt)


@metric
def orack(run, counter):
    """A counter of `turnpike onramp stats', of all hosts with the qdisc, since they have it."""
    if not run.onramp:
        return None
    if counter not in run.onramp[0]:
        raise ValueError(f"no counter '{counter}' of OR-ACKs")
    return sum(host[counter] for host in run.onramp)


@metric
def clocks_apart_ns(run):
    """By how much the PTP clocks of any two NICs differ at the end."""
    times = [clock["ns"] for clock in run.stats.get("clocks", {}).values()]
    return max(times) - min(times) if times else None


@metric
def clock_error_ns(run, stat="p99", hops=None):
    """By how much offsets of peers' clocks, as kernels were told, were off in the measured window: p50, p99, max;
    of all pairs of hosts, or of those with so many links between them (selftests/vrack/clock-errors)."""
    errors = [abs(row.error_ns) for row in run.clock_errors()
              if row.error_ns is not None and hops in (None, row.hops, str(row.hops))]
    return statistic(errors, stat) if errors else None


@metric
def clock_told_ns(run, stat="p50"):
    """Errors that kernels were told of these."""
    errors = [row.told_ns for row in run.clock_errors() if row.error_ns is not None]
    return statistic(errors, stat) if errors else None


@metric
def clock_known(run):
    """Share of pairs of hosts, look by look, whose offset the kernel knew."""
    rows = run.clock_errors()
    return sum(row.error_ns is not None for row in rows) / len(rows) if rows else None


@metric
def clock_covered(run):
    """Share of those that were off by no more than was told."""
    rows = [row for row in run.clock_errors() if row.error_ns is not None]
    return sum(abs(row.error_ns) <= row.told_ns for row in rows) / len(rows) if rows else None


@metric
def queue_max_bytes(run, *ports):
    """Longest queue of the ports since the counters' reset."""
    return max(port["queue_max_bytes"] for port in run.ports(ports or run.plan.bottleneck))


@metric
def queue_delay_us(run, stat="avg", *ports):
    """Queueing delay in the ports: avg, max, p50, p99, p999, ..."""
    chosen = run.ports(ports or run.plan.bottleneck)
    return _us(Hist.merge([Hist.read(port["delay"]) for port in chosen]).statistic(stat))


@metric
def queue_bytes(run, port=None, stat="avg", after=None, until=None):
    """Queue length of a port between two times in s, from its series."""
    series = run.series(port or run.plan.bottleneck[0])
    first, last = _window(run, after, until)
    return statistic([row[1] for row in series if first <= row[0] <= last], stat)


@metric
def queue_clear_ms(run, limit_bytes, after, port=None, window_ms=1.0):
    """Time from 'after' until a port's queue is no longer than limit_bytes on the
    average of window_ms, the window's end; the rest of the series if never."""
    rows = [row for row in run.series(port or run.plan.bottleneck[0]) if row[0] >= after]
    total, first, span = 0, 0, window_ms / 1e3 - 1e-9
    for last, row in enumerate(rows):
        total += row[1]
        if row[0] - rows[first][0] < span:
            continue
        while row[0] - rows[first + 1][0] >= span:
            total -= rows[first][1]
            first += 1
        if total <= limit_bytes * (last - first + 1):
            return (row[0] - after) * 1e3
    return (rows[-1][0] - after) * 1e3 if rows else None


@metric
def util_between(run, port=None, after=None, until=None):
    """Utilization of a port between two times in s, from its series."""
    name = port or run.plan.bottleneck[0]
    first, last = _window(run, after, until)
    rows = [row for row in run.series(name) if first <= row[0] <= last]
    if len(rows) < 2:
        return None
    sent_bits = (rows[-1][2] - rows[0][2]) * 8
    return sent_bits / (rows[-1][0] - rows[0][0]) / run.port(name)["rate_bps"]


# -- delay

def rtt_hist_ns(run, sinks):
    """Base RTT + queueing of every data frame + mean queueing of the ACKs."""
    shifted = []
    ack_ns = run.ack_delay_ns(run.plan.sinks)
    for sink in sinks:
        hist = run.delay(sink)
        more = run.plan.base_rtt_ns(sink) + ack_ns
        shifted.append(Hist(hist.count, hist.total + hist.count * more, hist.top + more,
                            [(low + more, high + more, count)
                             for low, high, count in hist.buckets]))
    return Hist.merge(shifted)


@metric
def rtt_us(run, stat="avg", sink=None):
    """RTT of data frames: base RTT, plus each frame's queueing in all queues of
    its way (its own NIC's too), plus the mean queueing of ACKs. avg, max, p50,
    p99, ...; of one receiving host or of all."""
    return _us(rtt_hist_ns(run, [sink] if sink else run.plan.sinks).statistic(stat))


@metric
def stamp_rtt_us(run, stat="avg", source="hw"):
    """RTT of nicstamp's samples: avg, sd, max, p50, ...; source=tcp: what TCP made
    of the same ACKs."""
    return _us(Hist.read(_stamps(run)[{"hw": "rtt", "tcp": "tcp_rtt"}[source]]).statistic(stat))


@metric
def stamp_error_ns(run, stat="p99"):
    """How far nicstamp's samples are off the rack's own times: avg, max, p50, ..."""
    return Hist.read(_stamps(run)["error"]).statistic(stat)


@metric
def stamp_samples(run):
    """Samples of nicstamp that were held against the rack's own times."""
    return _stamps(run)["error"]["count"]


@metric
def base_rtt_us(run, sink=None):
    """Base RTT in closed form, of the paths to one receiving host or of the
    reference pair."""
    plan = run.plan
    if sink:
        return _us(plan.base_rtt_ns(sink))
    return _us(graphs.base_rtt_ns(plan.graph, *plan.graph.reference, plan.mtu_bytes))


@metric
def ping_us(run, load, stat="avg"):
    """RTT that a ping load measured: avg, p50, p99, max."""
    return run.loads(load)[0]["rtt_us"].get(_summary(stat))


@metric
@of_samples
def tcp_rtt_us(run, stat="avg", load=None, after=None, until=None):
    """Smoothed RTT of TCP in the flows' samples between two times in s."""
    first, last = _window(run, after, until)
    return statistic([rtt for flow in _sampled(run, load)
                      for rtt in flow.between("rtt_us", first, last)], stat)


# -- what an ACK foretells

@metric
def next_owd_corr(run, kind="pearson", signal="owd", clock_us=0):
    """Correlation (pearson, spearman) of the next packet's one-way delay with that
    of the packet acked last (signal=owd), by clocks that are off by clock_us on
    deviation, or with its RTT (rtt; wire_rtt: without what the receiver took)."""
    return run.pairs().correlation(kind, signal, clock_us)


@metric
def next_owd_us(run, stat="p50", tenth=10, signal="owd", clock_us=0):
    """One-way delay of the next packet, p50, p90, ..., where the signal of the packet
    acked last is in that tenth of all, 1 to 10."""
    return _us(run.pairs().within(share_of(stat), tenth, signal, clock_us))


@metric
def next_owds(run):
    """Pairs of a packet acked last and the next that left and came."""
    return len(run.pairs())


# -- flows

@metric
def goodput_gbps(run, load=None):
    """Bytes that applications received in the measured window, in Gbit/s."""
    return sum(item["goodput_bps"] for item in run.loads(load)) / 1e9


@metric
def flow_gbps(run, stat="avg", load=None, host=None):
    """Goodput of single flows: avg, min, max, p50, ...; of those of a load, of
    those that host sends."""
    return _g(statistic([flow["goodput_bps"] for flow in run.flows(load)
                         if host in (None, flow["from"])], stat))


@metric
def jain(run, load=None):
    """Jain's fairness index of the flows' goodput in the measured window."""
    return _jain([flow["goodput_bps"] for flow in run.flows(load)])


@metric
@of_samples
def jain_between(run, after, until, load=None):
    """Jain's index of what flows delivered between two times in s."""
    return _jain([flow.goodput_bps(after, until) or 0 for flow in _sampled(run, load)])


def _of_loads(run, load, key):
    """Summed over loads, since not all list their flows (poisson)."""
    return sum(found.get(key) or 0 for found in run.loads(load))


@metric
def retransmits(run, load=None):
    """Segments sent again."""
    return _of_loads(run, load, "retransmits")


@metric
def rtos(run, load=None):
    """Retransmission timeouts."""
    return _of_loads(run, load, "rtos")


@metric
def fct_us(run, stat="p50", load=None, least_bytes=0, most_bytes=None):
    """Completion time of flows, of those of a size if sizes are given."""
    samples = [us for size, us in _samples(run, "fct", load)
               if size >= least_bytes and (most_bytes is None or size <= most_bytes)]
    if samples or least_bytes or most_bytes is not None:
        return statistic(samples, stat) if samples else None
    return _from_summary(run, "fct_us", stat, load)


@metric
def rct_us(run, stat="p50", load=None):
    """Completion time of requests (incast rounds, RPCs)."""
    samples = _samples(run, "rct", load)
    return statistic(samples, stat) if samples else _from_summary(run, "rct_us", stat, load)


@metric
def completed(run, load=None):
    """Flows or requests completed in the measured window."""
    return sum((load_result.get(key) or {}).get("count", 0)
               for load_result in run.loads(load) for key in ("fct_us", "rct_us"))


@metric
def errors(run, load=None):
    """Connections and messages that failed for another reason than the end."""
    return sum(item.get("errors", 0) for item in run.loads(load))


# -- rates over time

@metric
@of_samples
def rate_gbps(run, load=None, at=None, stat="avg", host=None):
    """Pacing rate of the flows at a time in s: avg, min, max over the flows."""
    time_s = _end(run) if at is None else at
    return _g(statistic(_present(flow.at("pacing_bps", time_s)
                                 for flow in _sampled(run, load, host)), stat))


@metric
@of_samples
def rate_over_time(run, kind="cv", load=None, after=None, until=None, stat="avg", host=None):
    """What the pacing rate of each flow is over its samples between two times: kind avg or
    sd in Gbit/s, cv: sd over avg; avg, min, max over the flows."""
    if kind not in RATE_KINDS:
        raise ValueError(f"'{kind}' is none of {', '.join(RATE_KINDS)}")
    first, last = _window(run, after, until)
    rates = [flow.between("pacing_bps", first, last) for flow in _sampled(run, load, host)]
    return statistic(_present(RATE_KINDS[kind](found) for found in rates if found), stat)


@metric
@of_samples
def goodput_between(run, after, until, load=None, stat="avg", host=None):
    """Gbit/s delivered by the flows between two times in s: avg, min, max, sum."""
    rates = list(_present(flow.goodput_bps(after, until) for flow in _sampled(run, load, host)))
    return _g(sum(rates) if stat == "sum" else statistic(rates, stat))


@metric
@of_samples
def reach_ms(run, gbps, after, load=None, share=0.5, window_ms=2.0, signal="delivered"):
    """Time from 'after' until a share of the flows (0.5: the median flow) has
    reached a rate; delivered bytes over window_ms, or signal=pacing. Never
    reached counts as the whole rest of the run."""
    times = sorted(_reach(flow, gbps * 1e9, after, window_ms / 1e3, signal) or _end(run)
                   for flow in _sampled(run, load))
    if not times:
        return None
    return (times[min(len(times) - 1, int(share * len(times)))] - after) * 1e3


@metric
@of_samples
def reach_goodput_ms(run, gbps, after, load=None, window_ms=2.0):
    """Time from 'after' until the flows together deliver so many Gbit/s over
    window_ms; the rest of the run if never."""
    flows, step = _sampled(run, load), window_ms / 1e3
    time_s = after + step
    while flows and time_s <= _end(run):
        if sum(flow.goodput_bps(time_s - step, time_s) or 0 for flow in flows) >= gbps * 1e9:
            return (time_s - after) * 1e3
        time_s += step / 4
    return (_end(run) - after) * 1e3 if flows else None


@metric
@of_samples
def peak_gbps(run, load=None, after=None, until=None, window_ms=1.0):
    """Most that any one flow delivered over window_ms between two times."""
    first, last = _window(run, after, until)
    step = window_ms / 1e3
    return _g(max((flow.goodput_bps(time_s, time_s + step) or 0
                   for flow in _sampled(run, load) for time_s in flow.time_s
                   if first <= time_s <= last - step), default=None))


@metric
def window_s(run):
    """Length of the measured window."""
    return run.window_s


# -- helpers

def _tlt_counter(host, counter, kind, unit):
    value = host.get(counter)
    value = value.get(kind) if isinstance(value, dict) else value
    value = value.get(unit) if isinstance(value, dict) else value
    if value is None:
        raise ValueError(f"no counter '{counter}' of TLT (kind: {kind}, unit: {unit})")
    return value


def _reach(flow, rate_bps, after, step, signal):
    for index, time_s in enumerate(flow.time_s):
        if time_s < after:
            continue
        if signal == "pacing":
            rate = flow.pacing_bps[index]
        else:
            rate = flow.goodput_bps(time_s - step, time_s) if time_s - step >= after else 0
        if rate is not None and rate >= rate_bps:
            return time_s
    return None


def _stamps(run):
    if "stamps" not in run.stats:
        raise ValueError("no NIC has a clock; see nic.phc")
    return run.stats["stamps"]


def _sampled(run, load, host=None):
    flows = [FlowSeries(flow) for flow in run.flows(load)
             if flow.get("series") and host in (None, flow["from"])]
    if not flows:
        raise ValueError("no samples of flows; see sample_interval_us")
    return flows


def _samples(run, key, load):
    return [sample for item in run.loads(load) for sample in (item.get("samples") or {}).get(key, ())]


def _from_summary(run, key, stat, load):
    summaries = [item[key] for item in run.loads(load) if (item.get(key) or {}).get("count")]
    return summaries[0].get(_summary(stat)) if len(summaries) == 1 else None


def _summary(stat):
    return "mean" if stat == "avg" else stat


def _end(run):
    return run.plan.settings["duration_s"]


def _window(run, after, until):
    return (run.plan.settings["warmup_s"] if after is None else after,
            _end(run) if until is None else until)


def _cv(rates):
    mean = statistics.fmean(rates)
    return statistics.pstdev(rates) / mean if mean else None


# what rate_over_time() makes of one flow's rates
RATE_KINDS = {"avg": lambda rates: _g(statistics.fmean(rates)),
              "sd": lambda rates: _g(statistics.pstdev(rates)), "cv": _cv}


def _jain(rates):
    squares = sum(rate * rate for rate in rates)
    return sum(rates) ** 2 / (len(rates) * squares) if squares else None


def _present(values):
    return (value for value in values if value is not None)


def _us(value_ns):
    return None if value_ns is None else value_ns / 1e3


def _g(value):
    return None if value is None else value / 1e9
