# SPDX-License-Identifier: GPL-2.0
"""Plots of a scenario, each as PNG and SVG; of the first good seed where a
plot is over time, of all seeds where it is a distribution."""
import os

from .hist import Hist, quantile
from .metrics import rtt_hist_ns, util
from .results import FlowSeries

MAX_FLOWS = 40          # lines of single flows in a plot over time
MAX_POINTS = 5000       # of a cloud of points
# what the one-way delay of the next packet is drawn against: title, signal, clock_us
SIGNALS = (("OWD, clocks 0.2 us", "owd", 0.2), ("RTT", "rtt", 0),
           ("OWD, clocks 200 us", "owd", 200))
SIZE_CLASSES = (1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6, 3e6, 1e7, 1e8, 1e10)


def draw(directory, title, results):
    """All plots that the results have data for; returns the file names."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot
    matplotlib.rcParams["svg.hashsalt"] = "turnpike"
    good = {name: [run for run in runs.values() if not run.failure]
            for name, runs in results.items()}
    good = {name: runs for name, runs in good.items() if runs}
    names = []
    for name, plot in (("rtt-cdf", _rtt_cdf), ("queue-delay-cdf", _queue_cdf),
                       ("throughput", _throughput), ("rate", _rates), ("queue", _queue),
                       ("fct-by-size", _fct), ("frontier", _frontier),
                       ("next-owd", _next_owd)):
        figure = pyplot.figure(figsize=(8, 5))
        if plot(figure, good):
            figure.suptitle(f"{title}", fontsize=10)
            names += _save(figure, directory, name)
        pyplot.close(figure)
    return names


def _save(figure, directory, name):
    files = [f"{name}.png", f"{name}.svg"]
    for file in files:
        figure.savefig(os.path.join(directory, file), dpi=110,
                       metadata={"Date": None} if file.endswith("svg") else None)
    return files


def _cdf(figure, hists, label):
    axes = figure.subplots()
    drawn = False
    for name, hist in hists.items():
        if hist.count:
            points = hist.cdf()
            axes.plot([value / 1e3 for value, _ in points], [share for _, share in points],
                      label=name, linewidth=1)
            drawn = True
    axes.set_xlabel(label)
    axes.set_ylabel("share of frames")
    axes.set_xscale("log" if _wide(hists) else "linear")
    axes.grid(alpha=0.3)
    _legend(axes)
    return drawn


def _wide(hists):
    tops = [hist.quantile(0.999) for hist in hists.values() if hist.count]
    return bool(tops) and max(tops) > 10 * max(1, min(tops))


def _legend(axes):
    if axes.get_legend_handles_labels()[1]:
        axes.legend(fontsize=7)


def _rtt_cdf(figure, good):
    hists = {name: Hist.merge([rtt_hist_ns(run, run.plan.sinks) for run in runs])
             for name, runs in good.items()}
    return _cdf(figure, hists, "RTT, us")


def _queue_cdf(figure, good):
    hists = {name: Hist.merge([Hist.read(port["delay"]) for run in runs
                               for port in run.ports(run.plan.bottleneck)])
             for name, runs in good.items()}
    return _cdf(figure, hists, "queueing delay at the bottleneck, us")


def _panels(figure, count, ylabel):
    """One panel per variant, at most twelve, with common axes."""
    count = min(count, 12)
    columns = 1 if count < 3 else 2 if count < 7 else 3
    rows = -(-count // columns)
    figure.set_size_inches(4 + 3 * columns, 2 + 1.8 * rows)
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).flatten()
    for panel in panels:
        panel.grid(alpha=0.3)
    figure.supxlabel("time, s", fontsize=9)
    figure.supylabel(ylabel, fontsize=9)
    return panels


def _throughput(figure, good):
    if not any(run.plan.series_ports for runs in good.values() for run in runs):
        return False
    for axes, (name, runs) in zip(_panels(figure, len(good), "Gbit/s on the wire"), good.items()):
        axes.set_title(name, fontsize=8)
        for port in runs[0].plan.series_ports:
            rows = _thin(runs[0].series(port), 500)
            pairs = [(before, after) for before, after in zip(rows, rows[1:])
                     if after[2] >= before[2]]
            axes.plot([after[0] for _, after in pairs],
                      [(after[2] - before[2]) * 8e-9 / (after[0] - before[0])
                       for before, after in pairs], linewidth=0.8, label=port)
        _legend(axes)
    return True


def _queue(figure, good):
    if not any(run.plan.series_ports for runs in good.values() for run in runs):
        return False
    for axes, (name, runs) in zip(_panels(figure, len(good), "queue, KB"), good.items()):
        axes.set_title(name, fontsize=8)
        for port in runs[0].plan.series_ports:
            rows = _thin(runs[0].series(port), 4000)
            axes.plot([row[0] for row in rows], [row[1] / 1e3 for row in rows],
                      linewidth=0.5, label=port)
        _legend(axes)
    return True


def _thin(rows, most):
    step = max(1, len(rows) // most)
    return rows[::step]


def _rates(figure, good):
    flows = {name: [FlowSeries(flow) for flow in runs[0].flows() if flow.get("series")]
             for name, runs in good.items()}
    if not any(flows.values()):
        return False
    for axes, name in zip(_panels(figure, len(good), "pacing rate of each flow, Gbit/s"), good):
        axes.set_title(name, fontsize=8)
        for flow in flows[name][:MAX_FLOWS]:
            rows = _thin(list(zip(flow.time_s, flow.pacing_bps)), 1000)
            axes.plot([row[0] for row in rows], [row[1] / 1e9 for row in rows], linewidth=0.5)
    return True


def _fct(figure, good):
    axes = figure.subplots()
    drawn = False
    for name, runs in good.items():
        samples = [sample for run in runs for load in run.loads()
                   for sample in (load.get("samples") or {}).get("fct", ())]
        points = list(_by_size(samples))
        if points:
            line, = axes.plot([size for size, _, _ in points], [p50 for _, p50, _ in points],
                              label=f"{name} p50", linewidth=1, linestyle="--")
            axes.plot([size for size, _, _ in points], [p99 for _, _, p99 in points],
                      label=f"{name} p99", linewidth=1, color=line.get_color(), marker=".")
            drawn = True
    axes.set(xscale="log", yscale="log", xlabel="flow size, bytes", ylabel="completion time, us")
    axes.grid(alpha=0.3)
    _legend(axes)
    return drawn


def _by_size(samples):
    """(mean size, p50, p99) of each class of sizes that has flows."""
    low = 0
    for high in SIZE_CLASSES:
        inside = [sample for sample in samples if low < sample[0] <= high]
        if inside:
            times = [sample[1] for sample in inside]
            yield (sum(sample[0] for sample in inside) / len(inside),
                   quantile(times, 0.5), quantile(times, 0.99))
        low = high


def _frontier(figure, good):
    """Utilization against p99 RTT, where there are variants to compare."""
    if len(good) < 2:
        return False
    axes = figure.subplots()
    for name, runs in good.items():
        if not any(run.delay(sink).count for run in runs for sink in run.plan.sinks):
            continue
        merged = Hist.merge([rtt_hist_ns(run, run.plan.sinks) for run in runs])
        used = [util(run) for run in runs]
        point = merged.quantile(0.99) / 1e3, sum(used) / len(used)
        axes.plot(*point, marker="o", markersize=4, linestyle="")
        axes.annotate(name, point, fontsize=6, xytext=(3, 3), textcoords="offset points")
    axes.set(xlabel="99th percentile of RTT, us", ylabel="utilization of the bottleneck",
             xscale="log")
    axes.grid(alpha=0.3, which="both")
    return True


def _next_owd(figure, good):
    """Figure 6 of On-Ramp, of the first variant that kept pairs of packets."""
    pairs = next((runs[0].pairs() for runs in good.values()
                  if os.path.exists(os.path.join(runs[0].directory, "pairs.txt"))), None)
    if not pairs:
        return False
    figure.set_size_inches(11, 7)
    panels = figure.subplots(2, len(SIGNALS))
    for column, (title, signal, clock_us) in enumerate(SIGNALS):
        _cloud(panels[0][column], pairs, signal, clock_us)
        _percentiles(panels[1][column], pairs, signal, clock_us)
        panels[0][column].set_title(title, fontsize=9)
    figure.supxlabel("signal of the packet acked last, us", fontsize=9)
    figure.supylabel("OWD of the next packet, us", fontsize=9)
    return True


def _cloud(axes, pairs, signal, clock_us):
    points = _thin(list(zip(pairs.signal_ns(signal, clock_us), pairs.next_ns)), MAX_POINTS)
    axes.plot([value / 1e3 for value, _ in points], [owd / 1e3 for _, owd in points],
              linestyle="", marker=".", markersize=1)
    axes.set_xscale("symlog", linthresh=10)
    axes.set_yscale("log")
    axes.grid(alpha=0.3)


def _percentiles(axes, pairs, signal, clock_us):
    tenths = pairs.tenths(signal, clock_us)
    for share in (0.1, 0.5, 0.9):
        axes.plot([value / 1e3 for value, _ in tenths],
                  [quantile(owds, share) / 1e3 for _, owds in tenths],
                  label=f"p{share * 100:.0f}", linewidth=1, marker=".")
    axes.grid(alpha=0.3)
    _legend(axes)
