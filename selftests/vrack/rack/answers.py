# SPDX-License-Identifier: GPL-2.0
"""The picture of an incast: how many answers take how long, without ours and with it.

story_of() finds the figures in what the runs left; draw() draws them and adds none."""
import re

from . import picture
from .hist import quantile

# What the scenario says of its tail: of each answer, or of a request with all its answers.
P99 = re.compile(r"(fct|rct)_us\(p99(?:, load=(\w+))?\)")
WHAT = {"fct": "an answer", "rct": "an incast"}
SHARE = 0.01


# -- what there is to tell

def story_of(document, results):
    """{title, subtitle, heading, lines, bars}; None without a variant of ours, one of Linux's alone, and an incast."""
    found = {name: _first(runs) for name, runs in results.items()}
    pair = [next((name for name, run in found.items() if run and bool(_piece(run)) == ours), None)
            for ours in (False, True)]
    incast = next((load for load in _loads(found[pair[1]]) if load["type"] == "incast"), None) if all(pair) else None
    metric = _metric(found[pair[1]].plan.settings) if incast else None
    if not metric:
        return None
    name, key = metric
    figures = {one["name"]: one["metrics"] for one in document["variants"]}
    rival, ours = (figures[one] for one in pair)
    labels = [_label(found[one]) for one in pair]
    lines = {color: (color, label, _samples(results[one], key, incast["name"]))
             for color, label, one in zip(("cubic", "ours"), labels, pair)}
    return {"title": _title(ours, rival, name),
            "subtitle": _subtitle(found[pair[1]], incast, document["versions"]["kernel"]),
            "what": WHAT[key],
            "lines": list(lines.values()),
            "bars": [(color, label, _more(figures[one], rival, lines[color][2]), figures[one][name])
                     for color, label, one in zip(("cubic", "ours"), labels, pair)]}


def _first(runs):
    return next((run for run in runs.values() if not run.failure), None)


def _host(run):
    return run.plan.settings["host"]


def _piece(run):
    """What of ours a variant has; empty: nothing."""
    if _host(run)["tlt"] is not None:
        return " with TLT"
    return " on On-Ramp" if (_host(run)["qdisc"] or "").startswith("onramp") else ""


def _label(run):
    name = picture.LABELS.get(_host(run)["cc"], _host(run)["cc"])
    return name + (_piece(run) or (" on fq" if _host(run)["qdisc"] == "fq" else ""))


def _loads(run):
    return run.plan.settings["workload"]


def _metric(settings):
    """(name, what it is of) of the scenario's own 99th percentile; None if it has none."""
    for name, expression in settings["metrics"].items():
        match = P99.fullmatch(str(expression))
        if match:
            return name, match.group(1)
    return None


def _title(ours, rival, name):
    begin = picture.throughput(ours["goodput Gb/s"], rival["goodput Gb/s"])
    if rival["RTOs"]:
        begin = "No timeouts" if not ours["RTOs"] else f"{ours['RTOs']:.0f} timeouts for {rival['RTOs']:.0f}"
    times = rival[name] / ours[name]
    if times < 1:
        return f"{begin}, and a tail {picture.times_text(1 / times)} times longer"
    return f"{begin}, and a tail {picture.times_text(times)} times shorter"


def _more(metrics, rival, samples):
    """Beside a bar: what the title speaks of, and the median, which may be no better."""
    text = f"{metrics['goodput Gb/s']:.0f} Gbit/s"
    if rival["RTOs"]:
        text = f"{metrics['RTOs']:.0f} timeouts a run" if metrics["RTOs"] else "no timeout"
    return f"{text}, median {picture.time_text(quantile(samples, 0.5))}"


def _subtitle(run, incast, kernel):
    text = f"{incast['fanout']} answers of {incast['bytes'] / 1000:.0f} KB at once"
    beside = [load for load in _loads(run) if load["type"] == "poisson"]
    if beside:
        text += f", beside {beside[0]['sizes']} at {beside[0]['load'] * 100:.0f} % load"
    limit = run.plan.settings["switch"]["color_k_bytes"]
    asks = f"the switch drops unimportant packets from {limit / 1000:.0f} KB on" if limit else None
    return f"{text}. {picture.rack_text(kernel, asks)}"


def _samples(runs, key, load):
    """Microseconds of all seeds that went well, in order."""
    found = [sample for run in runs.values() if not run.failure for one in run.loads(load)
             for sample in (one.get("samples") or {}).get(key, ())]
    # Of an answer its size stands before its time.
    return sorted(sample[1] if key == "fct" else sample for sample in found)


# -- the picture

def draw(directory, document, results):
    """Writes it; the names of its files, or none if there is nothing to tell."""
    story = story_of(document, results)
    if not story:
        return []
    return picture.draw(directory, story, lambda axes, lines: _draw_tails(axes, lines, story["what"]), story["what"])


def _draw_tails(axes, lines, what):
    picture.heading(axes, f"Share that took longer: the tail of {what} (both scales logarithmic)")
    axes.set(xscale="log", yscale="log", xlabel=f"time of {what}")
    for name, label, samples in lines:
        count = len(samples)
        shares = [(count - number) / count for number in range(count)]
        axes.plot(samples, shares, color=picture.color(name), linewidth=2, drawstyle="steps-post")
        _label_line(axes, name, label, samples, rightmost=samples[-1] == max(one[2][-1] for one in lines))
    axes.axhline(SHARE, color=picture.PALE, linewidth=0.7, linestyle=":")
    axes.set_ylim(min(1 / len(samples) for *_, samples in lines), 1.05)
    axes.set_xlim(min(samples[0] for *_, samples in lines) * 0.8, max(samples[-1] for *_, samples in lines) * 1.6)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value * 100:g} %")
    picture.time_axis(axes.xaxis)
    axes.grid(alpha=0.25)
    axes.tick_params(labelcolor=picture.PALE, labelsize=9.5)


def _label_line(axes, name, label, samples, rightmost):
    """Where one in a hundred is: right of the line, or left of the one behind which nothing is."""
    at_us = samples[min(int(len(samples) * (1 - SHARE)), len(samples) - 1)]
    axes.annotate(label, (at_us, SHARE), xytext=(-8 if rightmost else 8, 5), textcoords="offset points",
                  ha="right" if rightmost else "left", va="bottom", color=picture.color(name), fontweight="bold",
                  fontsize=12)
