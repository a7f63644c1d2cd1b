# SPDX-License-Identifier: GPL-2.0
"""What the pictures that tell a story share: frame, colors, words, and the bars of a 99th percentile."""
import os

FILES = ("story.svg", "story.png")
# What everybody has, by the name that people know.
LABELS = {"cubic": "CUBIC", "bbr": "BBR", "dctcp": "DCTCP", "timely": "TIMELY", "onramp": "On-Ramp", "tlt": "TLT"}
COLORS = {"cubic": "#c9403a", "bbr": "#e08a2c", "dctcp": "#7d8899"}
OURS = "#0c7a75"
INK, PALE = "#1b2333", "#565a6b"
# From this share of the best rival's throughput on it is the same.
SAME = 0.99


def throughput(ours_gbps, rival_gbps):
    """How a title begins: it is the same, or so much of the rival's."""
    share = ours_gbps / rival_gbps
    if share < SAME:
        return f"{share * 100:.0f} % of the throughput"
    return f"The same {ours_gbps:.{1 if ours_gbps < 100 else 0}f} Gbit/s"


def times_text(times):
    """46, or 4.6: no more digits than say something."""
    return f"{times:.{0 if times >= 10 else 1}f}"


def rack_text(kernel, asks):
    """Where it was measured; asks: what is asked of the switch, or nothing."""
    series = ".".join(kernel.split(".")[:2])
    return f"Real kernel modules, Linux {series}, virtual rack; {asks or 'nothing asked of the switch'}."


def time_text(microseconds):
    """As people say it: 55 us, 2.4 ms."""
    if microseconds >= 1e5:
        return f"{microseconds / 1e3:.0f} ms"
    if microseconds >= 1e3:
        return f"{microseconds / 1e3:.1f} ms"
    return f"{microseconds:.{0 if microseconds >= 10 else 1}f} µs"


def color(name):
    """That of a rival by its name, or ours."""
    return COLORS.get(name, OURS)


def draw(directory, story, draw_left, percentile_of):
    """Writes the picture of a story: its title, something on the left, bars of percentile_of; the names of the files."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot
    with matplotlib.rc_context({"svg.hashsalt": "turnpike", "font.family": "DejaVu Sans", "text.color": INK}):
        figure = pyplot.figure(figsize=(11.6, 5.7), facecolor="white")
        figure.text(0.065, 0.925, story["title"], fontsize=19, fontweight="bold")
        figure.text(0.065, 0.868, story["subtitle"], fontsize=10.5, color=PALE)
        draw_left(figure.add_axes([0.065, 0.105, 0.56, 0.68]), story["lines"])
        _draw_bars(figure.add_axes([0.665, 0.105, 0.31, 0.68]), story["bars"], percentile_of)
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


def heading(axes, text):
    """Above axes, with the frame open to it."""
    axes.set_title(text, loc="left", fontsize=11.5, pad=9)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def time_axis(axis):
    """Marks of a logarithmic axis of microseconds."""
    axis.set_major_formatter(lambda value, _: time_text(value).replace(".0 ms", " ms").replace(".0 µs", " µs"))


def _draw_bars(axes, bars, percentile_of):
    """bars: (name, label, what else is told of it, p99 in us)."""
    least = min(p99 for *_, p99 in bars)
    left = 10 ** int(len(str(int(least))) - 1) / 2
    most = max(p99 for *_, p99 in bars)
    for row, (name, label, more, p99) in enumerate(reversed(bars)):
        axes.barh(row, p99 - left, left=left, height=0.52, color=color(name))
        axes.text(left, row + 0.31, f"{label}   {more}", fontsize=9.5, va="bottom")
        inside = p99 > most / 4
        axes.annotate(time_text(p99), (p99, row), xytext=(-6 if inside else 6, 0), textcoords="offset points",
                      ha="right" if inside else "left", va="center", fontsize=14, fontweight="bold",
                      color="white" if inside else color(name))
    # Two bars are hardly thicker than three.
    rows = max(len(bars), 2.6)
    axes.set(xscale="log", xlim=(left, most * 1.02), ylim=(len(bars) - 0.35 - rows, len(bars) - 0.35))
    axes.axis("off")
    heading(axes, f"99th percentile of {percentile_of} (log scale)")
