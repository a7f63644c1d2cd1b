# SPDX-License-Identifier: GPL-2.0
"""What selftests/battery's scenarios say: the rules that it asserts, its table, and its page."""
import glob
import os

import kept
import rst
import yaml

SCENARIOS = os.path.join(kept.TOP, "selftests", "scenarios", "battery")
RECOMMENDED = os.path.join(SCENARIOS, "recommended")
DATA = os.path.join(kept.DATA, "battery")
LINUX = ("cubic", "dctcp", "bbr", "cdg", "nv", "vegas")
LEAST_SHARE = 0.25
# Within that of the best is as good as the best.
CLOSE = 0.05


class Cell:
    """One profile in one row; None where the scenario has no such figure."""

    def __init__(self, metrics, failed):
        """@metrics: {name: [of each seed]}"""
        known = {name: [value for value in values if value is not None] for name, values in metrics.items()}
        self.failed = failed
        self.util = mean(known.get("util"))
        self.tail_us = mean(known.get("tail us"))
        self.least = min(known.get("least share") or [], default=None)
        self.rtos = mean(known.get("RTOs"))

    def starves(self):
        return self.least is not None and self.least < LEAST_SHARE

    def breaks_a_rule(self, base):
        """@base: Linux's part of this profile alone, None if it has none; what that does is not ours."""
        timeouts = bool(self.rtos) and not (base and base.rtos)
        return timeouts or (self.starves() and not (base and base.starves()))

    def text(self, base):
        if self.failed:
            return "failed"
        least = "" if self.least is None else f" {self.least:.2f}"
        return f"{100 * self.util:.1f} {number(self.tail_us)}{least}{'!' * self.breaks_a_rule(base)}"


def base_of(name, cells):
    """The cell of bbr for "bbr+tlt"; None for what begins with one of ours."""
    base = name.partition("+")[0]
    return cells.get(base) if base in LINUX else None


def mean(values):
    return sum(values) / len(values) if values else None


def number(value):
    return "-" if value is None else f"{value:.0f}"


def name_of(data):
    return os.path.basename(data["scenario"])


def rows_of(data, failed=()):
    """{row: {profile: Cell}} of what the tree keeps of one scenario's result; failed: names of variants."""
    rows = {}
    for variant, metrics in data["variants"].items():
        profile, _, network = variant.partition(",")
        rows.setdefault(f"{name_of(data)} {network}".strip(), {})[profile] = Cell(metrics, variant in failed)
    return rows


class Best:
    """What Linux has in one row: the most throughput, and the shortest tail of what has about as much."""

    def __init__(self, cells):
        linux = {name: cells[name] for name in LINUX if name in cells and not cells[name].failed}
        self.util, self.util_by = max(((cell.util, name) for name, cell in linux.items() if cell.util is not None),
                                      default=(None, "-"))
        self.tail_us, self.tail_by = min(((cell.tail_us, name) for name, cell in linux.items()
                                          if cell.tail_us is not None and self.is_met_by(cell)), default=(None, "-"))

    def is_met_by(self, cell):
        return self.util is None or cell.util >= (1 - CLOSE) * self.util

    def is_as_short(self, cell):
        return self.tail_us is None or cell.tail_us is None or cell.tail_us <= (1 + CLOSE) * self.tail_us

    def words(self):
        share = "-" if self.util is None else f"{100 * self.util:.1f}"
        return [f"{share} {self.util_by}", f"{number(self.tail_us)} {self.tail_by}"]


class Choice:
    """Which profile is recommended for which network, and where it is known to fall short."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as stream:
            said = yaml.safe_load(stream)
        self.profile = said["profile"]
        self.networks = said.get("networks") or {}
        self.short = said.get("short") or {}

    def of(self, row):
        return self.networks.get(row, {}).get("profile", self.profile)

    def shortfalls(self, rows):
        """[(row, what, why or None)] where the recommended profile is not within CLOSE of the best."""
        found = []
        for row, cells in rows.items():
            cell = cells.get(self.of(row))
            if cell is None or cell.failed:
                continue
            best = Best(cells)
            if not best.is_met_by(cell):
                found.append((row, f"{100 * cell.util:.1f} % of the link, {best.util_by} {100 * best.util:.1f}"))
            if not best.is_as_short(cell):
                found.append((row, f"p99 {number(cell.tail_us)} us, {best.tail_by} {number(best.tail_us)}"))
        return [(row, what, self.short.get(row)) for row, what in found]


def line_of(row, cells, profiles, choice):
    return [row, *Best(cells).words()] + [
        cells[name].text(base_of(name, cells)) + "*" * (name == choice.of(row)) if name in cells else "" for name in profiles]


def breaks_the_first_rule(rows):
    return any(cell.breaks_a_rule(base_of(name, cells)) for cells in rows.values() for name, cell in cells.items()
               if name not in LINUX)


def table(rows, choice):
    """Lines of cells, the headings first."""
    profiles = list(dict.fromkeys(name for cells in rows.values() for name in cells if name not in LINUX))
    return [["row", "most util%", "least p99"] + profiles] + [line_of(row, cells, profiles, choice) for row, cells in rows.items()]


PAGE = """.. SPDX-License-Identifier: GPL-2.0
.. Made by selftests/results of data/battery.

==================================
Which profile for which network
==================================

A row is a network, with the most throughput that a congestion control of Linux has there, and the
shortest tail of those with 95 % of that. Each profile of Turnpike has three figures: its share of
the link in percent, the 99th percentile in us, and the least share of a flow as part of the fair
one. The percentile is of RTTs, or of requests where there are any. "*" is the recommended profile.
"!" is a flow below a quarter of its fair share, or a timeout, that the congestion control does not
have alone.

"""


def measured(data=DATA):
    """What the tree keeps, by scenario."""
    return [kept.load(path) for path in sorted(glob.glob(os.path.join(data, "*.json")))]


def page(data=DATA):
    choice = Choice(RECOMMENDED)
    lines = []
    rows = {}
    for one in measured(data):
        found = rows_of(one)
        rows |= found
        lines += [*rst.heading(name_of(one), "="), kept.origin(one, f"selftests/battery --row {name_of(one)}"), "",
                  *rst.list_table(table(found, choice))]
    short = [f"* {row}: ``{choice.of(row)}`` has {what}: {why or 'nobody says why'}." for row, what, why in choice.shortfalls(rows)]
    lines += [*rst.heading("Where the recommended profile falls short", "="), *(short or ["Nowhere."])]
    return PAGE + "\n".join(lines) + "\n"
