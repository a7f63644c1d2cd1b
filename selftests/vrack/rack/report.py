# SPDX-License-Identifier: GPL-2.0
"""result.json: everything of a scenario's run that a program may want."""
import hashlib
import json
import os
import platform

from . import table, tools


def build(context, plans, results, verdicts):
    """The document; fields are described in Documentation/scenario.rst."""
    return {
        "scenario": {"file": os.path.basename(context.path),
                     "title": context.settings["title"], "source": context.settings["source"],
                     "tags": context.settings["tags"]},
        "arguments": context.arguments,
        "started": context.started,
        "wall_s": round(context.wall_s(), 3),
        "versions": _versions(context, results),
        "variants": [_variant(context, plan, results[plan.name]) for plan in plans],
        "bounds": [_bound(verdict) for verdict in verdicts],
        "failures": [{"variant": run.plan.name, "seed": run.seed, "reason": run.failure,
                      "log": _relative(context, run.log)} for run in _failed(results)],
        "pass": not _failed(results) and not any(verdict.failure for verdict in verdicts),
    }


def write(directory, document):
    path = os.path.join(directory, "result.json")
    with open(path, "w", encoding="utf-8") as stream:
        json.dump(document, stream, indent=1)
        stream.write("\n")
    return path


def _failed(results):
    return [run for runs in results.values() for run in runs.values() if run.failure]


def _relative(context, path):
    return os.path.relpath(path, context.out) if path else None


def _versions(context, results):
    first = next((run.directory for runs in results.values() for run in runs.values()), None)
    modules = {}
    for line in _lines(first, "srcversions.txt"):
        path, _, version = line.partition(" ")
        modules[os.path.basename(path)] = version
    return {"turnpike": tools.git_version(), "kernel": "".join(_lines(first, "release.txt")),
            "kernel_choice": context.kernel, "modules": modules,
            "programs": _digests(os.path.join(context.out, "programs")),
            "python": platform.python_version()}


def _digests(directory):
    digests = {}
    for name in sorted(os.listdir(directory)) if os.path.isdir(directory) else ():
        with open(os.path.join(directory, name), "rb") as stream:
            digests[name] = hashlib.sha256(stream.read()).hexdigest()
    return digests


def _lines(directory, name):
    try:
        with open(os.path.join(directory, name), encoding="utf-8") as stream:
            return stream.read().splitlines()
    except (OSError, TypeError):
        return []


def _variant(context, plan, runs):
    seeds = [_seed(context, run) for run in runs.values()]
    good = [seed["metrics"] for seed in seeds if seed["failure"] is None]
    return {"name": plan.name, "overrides": plan.overrides, "settings": plan.settings,
            "base_rtt_us": {sink: plan.base_rtt_ns(sink) / 1e3 for sink in plan.sinks},
            "metrics": table.means(good), "seeds": seeds}


def _seed(context, run):
    return {"seed": run.seed, "directory": _relative(context, run.directory),
            "wall_s": round(run.wall_s, 3), "failure": run.failure,
            "window_s": None if run.failure else run.window_s,
            "hops": None if run.failure else run.stats.get("hops"),
            "metrics": {} if run.failure else table.measure(run, context.settings)}


def _bound(verdict):
    return {"variant": verdict.variant, "name": verdict.name, "metric": verdict.expression,
            "min": verdict.min, "max": verdict.max, "over": verdict.over, "why": verdict.why,
            "measured": verdict.measured, "per_seed": verdict.per_seed,
            "pass": verdict.passed, "skipped": verdict.skipped, "failure": verdict.failure}
