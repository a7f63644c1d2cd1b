# SPDX-License-Identifier: GPL-2.0
"""The papers' figures: the table of selftests/scenarios/figures, and whether what is kept of a run holds a figure's claim."""
import fnmatch
import os

import yaml

import cells
import kept

TABLE = os.path.join(kept.TOP, "selftests", "scenarios", "figures")


def table(path=TABLE):
    with open(path, encoding="utf-8") as stream:
        return yaml.safe_load(stream)


def taken(scenario, data=kept.DATA):
    """What the tree keeps of the scenario; None if nothing."""
    return kept.load(os.path.join(data, scenario + ".json"))


def bounds_of(row, data):
    """Those bounds of a scenario that are this figure's claim."""
    wanted = row.get("bounds", {"*": ["*"]})
    return [bound for bound in data["bounds"]
            if any(fnmatch.fnmatchcase(bound["name"], name) and any(fnmatch.fnmatchcase(bound["variant"], one) for one in variants)
                   for name, variants in wanted.items())]


def ours_of(row, data):
    """What was measured; a run of an older tree, or of some variants, has not all of it."""
    found = []
    for variant, form in row.get("ours", {}).items():
        try:
            found.append(f"{variant}: {cells.cell_of(data, variant, form)}")
        except KeyError:
            pass
    return found


def verdict(row, data):
    """{state, why, ours}: holds, does not hold, not run, or not built. data: what is kept of a run, or None."""
    if "needs" in row:
        return {"state": "not built", "why": row["needs"], "ours": []}
    if data is None:
        return {"state": "not run", "why": "", "ours": []}
    bounds = bounds_of(row, data)
    bad = [f"{bound['variant']}: {bound['name']} {cells.asked(bound)}, measured {bound['measured']}"
           for bound in bounds if not bound["pass"]]
    if not bounds:
        return {"state": "not run", "why": "no bound was measured", "ours": ours_of(row, data)}
    return {"state": "does not hold" if bad else "holds", "why": "; ".join(bad), "ours": ours_of(row, data)}


def summary(found):
    """Figures that count, by their state."""
    counts = {}
    for entry in found:
        counts[entry["state"]] = counts.get(entry["state"], 0) + entry["counts"]
    return ", ".join(f"{number} {state}" for state, number in counts.items() if number)
