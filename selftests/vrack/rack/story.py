# SPDX-License-Identifier: GPL-2.0
"""One picture that tells what ours is worth: waits in the switch over time, and the tail of round trips.

story_of() finds the figures in what the runs left; draw() draws them and adds none."""
from . import answers, picture
from .demo import RIVALS
from .hist import quantile
from .picture import LABELS, color

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
            "bars": [(one, labels[one], f"{good[one]['metrics']['goodput Gb/s']:.1f} Gbit/s", good[one]["metrics"]["p99"])
                     for one in shown]}


def _first(results, name):
    """The first seed of a variant that went well; None if none did."""
    return next((run for run in results.get(name, {}).values() if not run.failure), None)


def _asks_the_switch(plan):
    return any(path.startswith(("switch.", "switches.")) for path in plan.overrides)


def _label(plan):
    return LABELS.get(plan.name, plan.name) + (" (switch marks)" if "switch.ecn_k_bytes" in plan.overrides else "")


def _title(ours, rival, label):
    begin = picture.throughput(ours["goodput Gb/s"], rival["goodput Gb/s"])
    times = rival["p99"] / ours["p99"]
    if times < 1:
        return f"{begin}, and a tail {picture.times_text(1 / times)} times longer than {label}'s"
    return f"{begin}, and a tail {picture.times_text(times)} times shorter than {label}'s"


def _subtitle(run, kernel):
    plan = run.plan
    sources = {flow["src"] for flow in run.flows() if "src" in flow} or set(plan.hosts) - set(plan.sinks)
    rate_bps = sum(port["rate_bps"] for port in run.ports(plan.series_ports[:1]))
    return (f"{len(run.flows())} flows from {len(sources)} hosts into one port of {rate_bps / 1e9:.0f} Gbit/s. " +
            picture.rack_text(kernel, "the switch marks" if _asks_the_switch(plan) else None))


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


# -- the picture

def draw(directory, document, results):
    """Writes it; the names of its files, or none if there is nothing to tell."""
    story = story_of(document, results)
    if story:
        return picture.draw(directory, story, _draw_lines, "the round trip")
    return answers.draw(directory, document, results)


def _draw_lines(axes, lines):
    picture.heading(axes, "Wait in the switch's queue (log scale; shaded: p10 to p90)")
    axes.set_yscale("log")
    last_ms = max(points[-1][0] for _, _, points in lines)
    for name, _label_text, points in lines:
        times = [point[0] for point in points]
        low, mean, high = ([max(point[column], LEAST_US) for point in points] for column in (1, 2, 3))
        axes.fill_between(times, low, high, color=color(name), alpha=0.15, linewidth=0)
        axes.plot(times, mean, color=color(name), linewidth=1.5)
    for (name, label, _), (at_us, side) in zip(lines, _places([settled(points) for _, _, points in lines])):
        axes.annotate(label, (last_ms, at_us), xytext=(-4, 5 * side), textcoords="offset points", ha="right",
                      va="bottom" if side > 0 else "top", color=color(name), fontweight="bold", fontsize=12)
    axes.set(xlim=(0, last_ms), xlabel="time, ms")
    top = max(point[3] for _, _, points in lines for point in points)
    axes.set_ylim(LEAST_US, top * 3)
    picture.time_axis(axes.yaxis)
    axes.grid(alpha=0.25)
    axes.tick_params(labelcolor=picture.PALE, labelsize=9.5)


def settled(points):
    """(low, mean, high) of the last half, which a label must not lie on."""
    half = points[len(points) // 2:]
    return min(p[1] for p in half), sum(p[2] for p in half) / len(half), max(p[3] for p in half)


def _places(levels):
    """Where each label stands: above its line, or below if another line is close above. [(us, +1 or -1)]."""
    for own in levels:
        near_above = any(own[1] < other[1] < own[1] * NEAR for other in levels)
        yield (max(own[0], 2 * LEAST_US), -1) if near_above else (own[2], 1)
