# SPDX-License-Identifier: GPL-2.0
"""What a mechanism of On-Ramp is worth: figures of the loads with it and without it, and their page."""
import os
import subprocess
import sys

import yaml

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
# pylint: disable=wrong-import-position
import kept  # noqa: E402
import rst  # noqa: E402

DATA = os.path.join(kept.DATA, "ablation")
WHOLE = "whole"
# What an operator notices.
NOTICED = 0.05
MORE_IS_BETTER = {"util", "goodput Gb/s", "Jain"}

PAGE = """.. SPDX-License-Identifier: GPL-2.0
.. Made by selftests/results of data/ablation.

=======================================
What each mechanism of On-Ramp is worth
=======================================

Each row has On-Ramp without one mechanism. The figures are those that are at least 5 % worse, or
better, without it, and worse or better with each seed. Each has its load and feedback, the figure
of On-Ramp whole, and the one without the mechanism.

"""


def load_list():
    with open(os.path.join(HERE, "list.yaml"), encoding="utf-8") as listing:
        return yaml.safe_load(listing)


def taken(name, data=DATA):
    """What the tree keeps of the loads without this mechanism; None if nothing."""
    return kept.load(os.path.join(data, name + ".json"))


def code_lines(files):
    """Lines with code in them: without comments and empty ones."""
    stripped = ""
    for name in files:
        stripped += subprocess.run(["gcc", "-fpreprocessed", "-dD", "-E", "-P", os.path.join(kept.TOP, name)],
                                   check=True, text=True, stdout=subprocess.PIPE).stdout
    return sum(1 for line in stripped.splitlines() if line.strip())


def figures(data):
    """{(variant, metric): [of each seed]}, without what no seed has or has as 0, and without the largest of a run:
    that is one packet."""
    return {(variant, metric): values for variant, metrics in data["variants"].items()
            for metric, values in metrics.items() if all(values) and "max" not in metric.split()}


def mean(values):
    return sum(values) / len(values)


def part_lost(metric, whole, without):
    """By which part the figure is worse without the mechanism; negative: better. 0: the seeds do not agree."""
    sign = 1 if metric in MORE_IS_BETTER else -1
    gains = [sign * (a - b) for a, b in zip(whole, without)]
    if min(gains) < 0 < max(gains):
        return 0
    return mean(gains) / mean(whole)


def differences(whole, without):
    """[(part lost, text)], the largest first, of what an operator would notice."""
    found, seen = [], set()
    others = figures(without)
    for (variant, metric), values in figures(whole).items():
        other = others.get((variant, metric), [])
        # a figure of two names is told once
        same = (variant, *values, *other)
        if len(other) != len(values) or same in seen:
            continue
        seen.add(same)
        lost = part_lost(metric, values, other)
        if abs(lost) >= NOTICED:
            found.append((lost, f"{variant}: {metric} {mean(values):.3g} -> {mean(other):.3g}"))
    return sorted(found, key=lambda item: -abs(item[0]))


def texts(found, sign):
    return [text for lost, text in found if lost * sign > 0]


def page(data=DATA):
    whole = taken(WHOLE, data)
    rows = [["mechanism", "lines", "worse without it", "better without it"]]
    for mechanism in load_list():
        without = taken(mechanism["name"], data)
        found = without and differences(whole, without)
        cells = [["not run"] if found is None else texts(found, sign) or ["nothing"] for sign in (1, -1)]
        rows.append([mechanism["what"], (without and without["lines"]) or "few", *map(rst.lines_in_cell, cells)])
    return PAGE + "\n".join([kept.origin(whole, "selftests/ablation/run"), "", *rst.list_table(rows)])
