# SPDX-License-Identifier: GPL-2.0
"""One picture that tells what ours is worth: waits in the switch over time, and the tail of round trips.

story_of() finds the figures in what the runs left; draw() draws them and adds none."""
import os

from .demo import RIVALS
from .hist import quantile

FILES = ("story.svg", "story.png")
# What everybody has, by the name that people know.
LABELS = {"cubic": "CUBIC", "bbr": "BBR", "dctcp": "DCTCP", "timely": "TIMELY", "onramp": "On-Ramp", "tlt": "TLT"}
COLORS = {"cubic": "#c9403a", "bbr": "#e08a2c", "dctcp": "#7d8899"}
OURS = "#0c7a75"
INK, PALE = "#1b2333", "#565a6b"
# From this share of the best rival's throughput on it is the same.
SAME = 0.99
# An empty queue has no place on a logarithmic axis.
LEAST_US = 0.5
BIN_MS = 2.0
# Lines this close share the space between them.
NEAR = 4


# -- what there is to tell

def story_of(document, results):
    """{title, subtitle, lines, bars}; None without a variant of ours and one of others, or without their queues."""
    good = {variant["name"]: variant for variant in document["variants"]
            if variant["metrics"].get("p99") is not None and _first(results, variant["name"])}
    # The scenario's first, as in the sentence of the demo.
    name = next((variant["name"] for variant in document["variants"] if variant["name"] not in RIVALS), None)
    rivals = [rival for rival in ("cubic", "bbr", "dctcp") if rival in good]
    if name not in good or not rivals or not _first(results, name).plan.series_ports:
        return None
    shown = rivals + [name]
    labels = {one: _label(_first(results, one).plan) for one in shown}
    return {"title": _title(good[name]["metrics"], good[rivals[0]]["metrics"], labels[rivals[0]]),
            "subtitle": _subtitle(_first(results, name), document["versions"]["kernel"]),
            "lines": [(one, labels[one], _waits(_first(results, one))) for one in shown],
            "bars": [(one, labels[one], good[one]["metrics"]["goodput Gb/s"], good[one]["metrics"]["p99"])
                     for one in shown]}


def _first(results, name):
    """The first seed of a variant that went well; None if none did."""
    return next((run for run in results.get(name, {}).values() if not run.failure), None)


def _asks_the_switch(plan):
    return any(path.startswith(("switch.", "switches.")) for path in plan.overrides)


def _label(plan):
    return LABELS.get(plan.name, plan.name) + (" (switch marks)" if "switch.ecn_k_bytes" in plan.overrides else "")


def _title(ours, rival, label):
    share = ours["goodput Gb/s"] / rival["goodput Gb/s"]
    begin = f"The same {ours['goodput Gb/s']:.1f} Gbit/s" if SAME <= share else \
        f"{share * 100:.0f} % of the throughput"
    times = rival["p99"] / ours["p99"]
    if times < 1:
        return f"{begin}, and a tail {1 / times:.1f} times longer than {label}'s"
    return f"{begin}, and a tail {times:.{0 if times >= 10 else 1}f} times shorter than {label}'s"


def _subtitle(run, kernel):
    plan = run.plan
    sources = {flow["src"] for flow in run.flows() if "src" in flow} or set(plan.hosts) - set(plan.sinks)
    rate_bps = sum(port["rate_bps"] for port in run.ports(plan.series_ports[:1]))
    series = ".".join(kernel.split(".")[:2])
    return (f"{len(run.flows())} flows from {len(sources)} hosts into one port of {rate_bps / 1e9:.0f} Gbit/s. "
            f"Real kernel modules, Linux {series}, virtual rack" +
            ("." if _asks_the_switch(plan) else "; nothing asked of the switch."))


def _waits(run):
    """[(time_ms, p10_us, mean_us, p90_us)]: how long a packet that arrives then waits, of each whole bin."""
    port = run.plan.series_ports[0]
    us_of_byte = 8e6 / run.port(port)["rate_bps"]
    bins = {}
    for time_s, queue_bytes, _sent in run.series(port):
        if time_s >= 0:
            bins.setdefault(int(time_s * 1e3 / BIN_MS), []).append(queue_bytes * us_of_byte)
    bins.pop(max(bins, default=None), None)
    return [((number + 0.5) * BIN_MS, quantile(waits, 0.1), sum(waits) / len(waits), quantile(waits, 0.9))
            for number, waits in sorted(bins.items())]


def time_text(microseconds):
    """As people say it: 55 us, 2.4 ms."""
    if microseconds >= 1e3:
        return f"{microseconds / 1e3:.1f} ms"
    return f"{microseconds:.{0 if microseconds >= 10 else 1}f} µs"


# -- the picture

def draw(directory, document, results):
    """Writes it; the names of its files, or none if there is nothing to tell."""
    story = story_of(document, results)
    if not story:
        return []
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot
    with matplotlib.rc_context({"svg.hashsalt": "turnpike", "font.family": "DejaVu Sans", "text.color": INK}):
        figure = pyplot.figure(figsize=(11.6, 5.7), facecolor="white")
        figure.text(0.065, 0.925, story["title"], fontsize=19, fontweight="bold")
        figure.text(0.065, 0.868, story["subtitle"], fontsize=10.5, color=PALE)
        _draw_lines(figure.add_axes([0.065, 0.105, 0.56, 0.68]), story["lines"])
        _draw_bars(figure.add_axes([0.665, 0.105, 0.31, 0.68]), story["bars"])
        for name in FILES:
            path = os.path.join(directory, name)
            figure.savefig(path, dpi=110, metadata={"Date": None} if name.endswith("svg") else None)
        pyplot.close(figure)
    _strip(os.path.join(directory, FILES[0]))
    return list(FILES)


def _strip(path):
    """Without the blanks that matplotlib leaves at line ends: the file is part of a tree that has none."""
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip() for line in file]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def _color(name):
    return COLORS.get(name, OURS)


def _heading(axes, text):
    axes.set_title(text, loc="left", fontsize=11.5, pad=9)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _draw_lines(axes, lines):
    _heading(axes, "Wait in the switch's queue (log scale; shaded: p10 to p90)")
    axes.set_yscale("log")
    last_ms = max(points[-1][0] for _, _, points in lines)
    for name, _label_text, points in lines:
        times = [point[0] for point in points]
        low, mean, high = ([max(point[column], LEAST_US) for point in points] for column in (1, 2, 3))
        axes.fill_between(times, low, high, color=_color(name), alpha=0.15, linewidth=0)
        axes.plot(times, mean, color=_color(name), linewidth=1.5)
    for (name, label, _), (at_us, side) in zip(lines, _places([settled(points) for _, _, points in lines])):
        axes.annotate(label, (last_ms, at_us), xytext=(-4, 5 * side), textcoords="offset points", ha="right",
                      va="bottom" if side > 0 else "top", color=_color(name), fontweight="bold", fontsize=12)
    axes.set(xlim=(0, last_ms), xlabel="time, ms")
    top = max(point[3] for _, _, points in lines for point in points)
    axes.set_ylim(LEAST_US, top * 3)
    axes.yaxis.set_major_formatter(lambda value, _: time_text(value).replace(".0 ms", " ms").replace(".0 µs", " µs"))
    axes.grid(alpha=0.25)
    axes.tick_params(labelcolor=PALE, labelsize=9.5)


def settled(points):
    """(low, mean, high) of the last half, which a label must not lie on."""
    half = points[len(points) // 2:]
    return min(p[1] for p in half), sum(p[2] for p in half) / len(half), max(p[3] for p in half)


def _places(levels):
    """Where each label stands: above its line, or below if another line is close above. [(us, +1 or -1)]."""
    for own in levels:
        near_above = any(own[1] < other[1] < own[1] * NEAR for other in levels)
        yield (max(own[0], 2 * LEAST_US), -1) if near_above else (own[2], 1)


def _draw_bars(axes, bars):
    least = min(p99 for *_, p99 in bars)
    left = 10 ** int(len(str(int(least))) - 1) / 2
    most = max(p99 for *_, p99 in bars)
    for row, (name, label, gbps, p99) in enumerate(reversed(bars)):
        axes.barh(row, p99 - left, left=left, height=0.52, color=_color(name))
        axes.text(left, row + 0.31, f"{label}   {gbps:.1f} Gbit/s", fontsize=9.5, va="bottom")
        inside = p99 > most / 4
        axes.annotate(time_text(p99), (p99, row), xytext=(-6 if inside else 6, 0), textcoords="offset points",
                      ha="right" if inside else "left", va="center", fontsize=14, fontweight="bold",
                      color="white" if inside else _color(name))
    axes.set(xscale="log", xlim=(left, most * 1.02), ylim=(-0.4, len(bars) - 0.35))
    axes.axis("off")
    _heading(axes, "99th percentile of the round trip (log scale)")
