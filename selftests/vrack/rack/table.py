# SPDX-License-Identifier: GPL-2.0
"""The standard metrics of every run, and the table people read."""
from . import expr

# column title -> expression, format; a column without any value is left out
COLUMNS = [
    ("util", "util", "{:.4f}"),
    ("goodput Gb/s", "goodput_gbps", "{:.3f}"),
    ("RTT avg us", "rtt_us(avg)", "{:.1f}"),
    ("p50", "rtt_us(p50)", "{:.1f}"),
    ("p99", "rtt_us(p99)", "{:.1f}"),
    ("max", "rtt_us(max)", "{:.1f}"),
    ("Jain", "jain", "{:.4f}"),
    ("queue max KB", "queue_max_bytes / 1000", "{:.0f}"),
    ("drops", "drops", "{:.0f}"),
    ("FCS", "nic_drops + drops(cause=fcs)", "{:.0f}"),
    ("marks", "ecn_marks", "{:.0f}"),
    ("pauses", "pauses", "{:.0f}"),
    ("retrans", "retransmits", "{:.0f}"),
    ("RTOs", "rtos", "{:.0f}"),
    ("errors", "errors", "{:.0f}"),
    ("FCT p50 us", "fct_us(p50)", "{:.0f}"),
    ("FCT p99", "fct_us(p99)", "{:.0f}"),
    ("FCT max", "fct_us(max)", "{:.0f}"),
    ("RCT p50 us", "rct_us(p50)", "{:.0f}"),
    ("RCT p99", "rct_us(p99)", "{:.0f}"),
    ("RCT max", "rct_us(max)", "{:.0f}"),
]
# shown only where some run has a value that is not 0
WHEN_SEEN = {"FCS", "marks", "pauses", "drops", "retrans", "RTOs", "errors"}


def columns(settings):
    own = [(name, text, "{:.4g}") for name, text in settings["metrics"].items()]
    return COLUMNS + own


def measure(run, settings):
    """Column title -> value of one run, None where it has none."""
    values = {}
    for title, text, _ in columns(settings):
        try:
            values[title] = expr.evaluate(expr.parse(text), run)
        except (expr.ExprError, AttributeError):
            values[title] = None
    return values


def means(measured):
    """Column title -> mean over the seeds that have a value."""
    titles = next(iter(measured), {})
    return {title: _mean([values[title] for values in measured if values[title] is not None])
            for title in titles}


def _mean(values):
    return sum(values) / len(values) if values else None


def render(rows, settings):
    """rows: [(variant name, seeds told, means)] -> text."""
    shown = [column for column in columns(settings) if _worth(column[0], rows)]
    grid = [["variant", "seeds"] + [title for title, _, _ in shown]]
    for name, seeds, values in rows:
        grid.append([name, seeds] + [_cell(values.get(title), form) for title, _, form in shown])
    widths = [max(len(line[index]) for line in grid) for index in range(len(grid[0]))]
    return "\n".join("  ".join(cell.ljust(width) if index == 0 else cell.rjust(width)
                               for index, (cell, width) in enumerate(zip(line, widths)))
                     for line in grid)


def _worth(title, rows):
    values = [values.get(title) for _, _, values in rows]
    if title in WHEN_SEEN:
        return any(values)
    return any(value is not None for value in values)


def _cell(value, form):
    return "-" if value is None else form.format(value)
