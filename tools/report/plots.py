# SPDX-License-Identifier: GPL-2.0
"""Plots as SVG that stands in a page: small letters, and lines that differ without colour."""
import re

import measures

# Of lines: what stands for itself in black and white.
STYLES = ({"linestyle": "-", "color": "#0b5394"}, {"linestyle": "--", "color": "#b45f06"},
          {"linestyle": ":", "color": "#38761d"}, {"linestyle": "-.", "color": "#741b47"})
BEFORE = {"linestyle": "--", "color": "#777777"}
NAME_MOST = 40


def ascii_name(name):
    """What fonts have, and not much of it."""
    shown = "".join(char if " " <= char <= "~" else f"\\u{ord(char):x}" for char in name[:NAME_MOST])
    return shown + ("..." if len(name) > NAME_MOST else "")


def pyplot():
    """matplotlib, set up; imported late, since it takes a second."""
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot
    settings = {"font.size": 8, "font.family": "sans-serif", "axes.grid": True, "grid.alpha": 0.3, "grid.linewidth": 0.5,
                "axes.spines.top": False, "axes.spines.right": False, "svg.fonttype": "none", "text.parse_math": False,
                "lines.linewidth": 1.2, "axes.titlesize": 9, "axes.labelsize": 8}
    matplotlib.rcParams.update({name: value for name, value in settings.items() if name in matplotlib.rcParams})
    return matplotlib.pyplot


def svg_of(figure, name, what):
    """The picture without what a page does not need: no address stands in it, no style that the page would get."""
    import io

    import matplotlib
    stream = io.StringIO()
    matplotlib.rcParams["svg.hashsalt"] = name
    figure.savefig(stream, format="svg", bbox_inches="tight", pad_inches=0.05,
                   metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    pyplot().close(figure)
    text = stream.getvalue()
    text = text[text.index("<svg "):]
    text = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r' xmlns(:\w+)?="[^"]*"| version="1.1"', "", text)
    # Names of parts are those of the page: each plot has its own.
    text = re.sub(r'( id="|"#|url\(#)', rf"\g<1>{name}-", text)
    return text.replace("<svg ", f'<svg role="img" aria-label="{what}" ', 1)


def time_axis(axis):
    """Of ns, with words: 1 us, 10 us, 1 ms. Labels have room, and differ, whatever the range."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter
    low, high = axis.get_view_interval()
    if high < 2 * low:
        axis.set_major_locator(MaxNLocator(3))
        axis.set_major_formatter(FuncFormatter(lambda value, _: duration(value, 5)))
        axis.set_minor_formatter(NullFormatter())
        return
    if high < 50 * low:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: duration(value)))
    axis.set_minor_formatter(NullFormatter())


def duration(ns, digits=3):
    """Three digits, or more, and a unit."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size * 0.9995:
            return f"{float(f'{ns / size:.{digits}g}'):g} {unit}"
    return f"{ns:.0f} ns"


def rate(bps):
    """Three digits and a unit."""
    for unit, size in (("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3)):
        if bps >= size * 0.9995:
            return f"{float(f'{bps / size:.3g}'):g} {unit}"
    return f"{bps:.0f} bit/s"


def tails(kinds, old_kinds):
    """[(name, what, SVG)] for each kind: how large the largest are."""
    plots = []
    for name, kind in kinds.items():
        figure, axes = pyplot().subplots(figsize=(4.6, 2.9))
        lines = [("now", kind.values, STYLES[0])]
        if name in old_kinds:
            lines.append(("before", old_kinds[name].values, BEFORE))
        for label, values, style in lines:
            draw_tail(axes, label, values, style)
        axes.set(xscale="log", yscale="log", xlabel=kind.what, ylabel="share that took as long, or longer")
        axes.set_ylim(top=1.3)
        axes.grid(which="minor", visible=False)
        time_axis(axes.xaxis)
        axes.yaxis.set_major_formatter(lambda share, _: f"{share * 100:g} %")
        axes.yaxis.set_minor_formatter(lambda *_: "")
        plots.append((f"tail-{name}", kind.what, svg_of(figure, f"tail-{name}", "shares of long delays")))
    return plots


def draw_tail(axes, label, values, style):
    points = [(max(value, 1), share) for value, share in measures.tail(values)]
    axes.plot([value for value, _ in points], [share for _, share in points], drawstyle="steps-pre",
              marker="o" if len(points) < 30 else None, markersize=2.5, **style)
    p99 = max(measures.percentile(values, 99), 1)
    axes.plot([p99], [0.01], marker="o", markersize=4, **style)
    axes.annotate(f"{label}: p99 {duration(p99)}", (p99, 0.01), xytext=(5, 5 if label == "now" else -10),
                  textcoords="offset points", color=style["color"], fontsize=8)


def over_time(recording, kinds):
    """One picture, a panel for each thing that there is; None if there is none."""
    start_ns = recording.start_ns
    panels = []
    if kinds:
        kind = next(iter(kinds.values()))
        panels.append((kind.what, lambda axes: draw_delays(axes, kind.over_time(start_ns))))
    for what, points, shown in (("data acknowledged", measures.rates(recording), rate),
                                ("packets held by On-Ramp", measures.held(recording), lambda share: f"{share * 100:.3g} %"),
                                ("segments sent again, a second", measures.resent(recording), lambda count: f"{count:g}")):
        if any(value for _, value in points):
            panels.append((what, lambda axes, points=points, shown=shown: draw_line(axes, points, start_ns, shown)))
    if not panels:
        return None
    figure, every = pyplot().subplots(len(panels), 1, sharex=True, squeeze=False, figsize=(9.4, 0.5 + 1.35 * len(panels)))
    for axes, (what, draw) in zip(every[:, 0], panels):
        axes.set_title(what, loc="left")
        draw(axes)
    every[-1, 0].set_xlabel("seconds since the recording began")
    figure.tight_layout(h_pad=0.6)
    return svg_of(figure, "time", "what went on over time")


def draw_delays(axes, steps):
    for label, index, style in (("p99", 2, STYLES[1]), ("p50", 1, STYLES[0])):
        values = [max(step[index], 1) for step in steps]
        axes.plot([step[0] for step in steps], values, marker="." if len(steps) < 40 else None, markersize=4, **style)
        axes.annotate(label, (steps[-1][0], values[-1]), xytext=(4, 1 if index == 2 else -6),
                      textcoords="offset points", color=style["color"])
    axes.set_yscale("log")
    axes.grid(which="minor", visible=False)
    time_axis(axes.yaxis)


def draw_line(axes, points, start_ns, shown):
    axes.plot([(t_ns - start_ns) / 1e9 for t_ns, _ in points], [value for _, value in points],
              marker="." if len(points) < 40 else None, markersize=4, **STYLES[0])
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(lambda value, _: shown(value))


def peers(kind):
    """p50 and p99 of each host, those with most samples."""
    hosts = kind.by_host()[:measures.PEERS_MOST][::-1]
    figure, axes = pyplot().subplots(figsize=(9.4, 0.7 + 0.24 * len(hosts)))
    for row, (_, values) in enumerate(hosts):
        low, high = (max(measures.percentile(values, share), 1) for share in (50, 99))
        axes.plot([low, high], [row, row], color="#999999", linewidth=1)
        axes.plot([low], [row], marker="o", markersize=4.5, color=STYLES[0]["color"], fillstyle="none", linestyle="none")
        axes.plot([high], [row], marker="o", markersize=4.5, color=STYLES[1]["color"], linestyle="none")
        axes.annotate(f"{duration(low)} to {duration(high)}", (high, row), xytext=(7, -2.5), textcoords="offset points", fontsize=7)
    axes.set_yticks(range(len(hosts)), [ascii_name(host) for host, _ in hosts])
    axes.set(xscale="log", xlabel=f"{kind.what}: p50 (ring), p99 (dot)", ylim=(-0.6, len(hosts) - 0.4))
    low, high = axes.get_xlim()
    axes.set_xlim(low, high * (high / low) ** 0.12)
    axes.grid(which="minor", visible=False)
    time_axis(axes.xaxis)
    return svg_of(figure, "peers", "delays of each host")


def bars(name, what, rows, shown, log):
    """A number for each variant of the rack, the bar beside its name: [(name, value)]."""
    figure, axes = pyplot().subplots(figsize=(9.4, 0.6 + 0.26 * len(rows)))
    rows = rows[::-1]
    axes.barh(range(len(rows)), [value for _, value in rows], color="#a9c4e0", edgecolor=STYLES[0]["color"], linewidth=0.6, height=0.62)
    for at, (_, value) in enumerate(rows):
        axes.annotate(shown(value), (value, at), xytext=(4, -2.5), textcoords="offset points")
    axes.set_yticks(range(len(rows)), [ascii_name(row) for row, _ in rows])
    axes.set_xscale("log" if log else "linear")
    axes.set_xlabel(what)
    axes.margins(x=0.15)
    axes.grid(False, axis="y")
    axes.grid(which="minor", visible=False)
    axes.xaxis.set_major_formatter(lambda value, _: shown(value))
    axes.xaxis.set_minor_formatter(lambda *_: "")
    return svg_of(figure, name, what)
