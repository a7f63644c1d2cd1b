# SPDX-License-Identifier: GPL-2.0
"""Bounds: what is measured, over which seeds, and whether it holds."""
import fnmatch
import statistics

from . import expr
from .errors import ScenarioError


class Verdict:
    """One bound for one variant."""

    def __init__(self, bound, variant):
        self.variant = variant
        self.expression = bound["metric"]
        self.name = bound["name"] or bound["metric"]
        self.min, self.max, self.over = bound["min"], bound["max"], bound["over"]
        self.why = bound["why"]
        self.per_seed = {}
        self.measured = None
        self.failure = None
        self.skipped = None

    @property
    def passed(self):
        return self.failure is None and self.skipped is None

    @property
    def word(self):
        return "not ok" if self.failure else "ok"

    def describe(self):
        limits = [f"{sign} {limit:g}" for sign, limit in ((">=", self.min), ("<=", self.max))
                  if limit is not None]
        shown = "nothing" if self.measured is None else f"{self.measured:.5g}"
        return f"{self.variant}: {self.name} {' and '.join(limits)}: {shown} ({self.over} seed)"

    def judge(self):
        values = list(self.per_seed.values())
        if self.failure or self.skipped:
            return
        if not values or None in values:
            self.failure = "nothing was measured"
            return
        self.measured = self._measured(values)
        if not self._holds(self.measured):
            self.failure = "does not hold"

    def _measured(self, values):
        if self.over != "every":
            return getattr(statistics, self.over)(values)
        bad = [value for value in values if not self._holds(value)]
        if bad:
            return bad[0]
        return min(values) if self.min is not None else max(values)

    def _holds(self, value):
        return (self.min is None or value >= self.min) and (self.max is None or value <= self.max)


def check(settings, names):
    """Refuse bounds and metrics that cannot be evaluated, before any run."""
    for bound in settings["bounds"]:
        node = _parse(bound["metric"], bound.where("metric"), settings)
        for name in expr.variants(node):
            if name not in names:
                raise ScenarioError(bound.where("metric"), f"of(): no variant is called '{name}'")
        for pattern in bound["variant"]:
            if not fnmatch.filter(names, pattern):
                raise ScenarioError(bound.where("variant"), f"no variant is called '{pattern}'")
    for name, text in settings["metrics"].items():
        _parse(text, settings["metrics"].where(name), settings)


def _parse(text, origin, settings):
    try:
        node = expr.parse(text)
    except expr.ExprError as error:
        raise ScenarioError(origin, str(error)) from None
    if expr.needs_samples(node) and not _samples_flows(settings):
        raise ScenarioError(origin, f"'{text}' is made of samples of flows; see sample_interval_us")
    return node


def _samples_flows(settings):
    return settings["sample_interval_us"] or any(load.get("sample_interval_us") for load in settings["workload"])


def judge(bounds, results):
    """Verdicts of bounds; results: variant name -> {seed: RunResult}."""
    return [_judge(bound, name, results) for bound in bounds for name in results
            if any(fnmatch.fnmatchcase(name, pattern) for pattern in bound["variant"])]


def _judge(bound, name, results):
    verdict = Verdict(bound, name)
    node = expr.parse(bound["metric"])
    for seed, run in results[name].items():
        if run.failure:
            verdict.failure = f"seed {seed} failed: {run.failure}"
            break
        others = {variant: runs[seed] for variant, runs in results.items()
                  if seed in runs and not runs[seed].failure}
        try:
            verdict.per_seed[seed] = expr.evaluate(node, run, others)
        except expr.NotRun as reason:
            verdict.skipped = str(reason)
        except expr.ExprError as error:
            verdict.failure = str(error)
            break
    verdict.judge()
    return verdict
