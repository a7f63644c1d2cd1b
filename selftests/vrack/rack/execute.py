# SPDX-License-Identifier: GPL-2.0
"""All runs of a scenario, a few guests at a time, with word of progress."""
import concurrent.futures
import os
import sys
import threading
import time

from . import guest, uml
from .results import RunResult


class Progress:
    """Lines on stderr: what has ended, and now and then what is under way."""

    def __init__(self, total, quiet):
        self.total, self.quiet = total, quiet
        self.done = 0
        self.started = time.monotonic()
        self.said = {}
        self.lock = threading.Lock()

    def line(self, name, text):
        """A line of a guest's console; told at most every five seconds."""
        with self.lock:
            now = time.monotonic()
            if now - self.said.get(name, self.started) >= 5:
                self.said[name] = now
                self._say(f"{name}: {text}")

    def ended(self, run, name):
        with self.lock:
            self.done += 1
            verdict = f"FAILED: {run.failure} (log: {run.log})" if run.failure else "done"
            self._say(f"{name}: {verdict}, {run.wall_s:.1f} s")

    def _say(self, text):
        if not self.quiet:
            print(f"# [{self.done}/{self.total}, {time.monotonic() - self.started:.0f} s] {text}",
                  file=sys.stderr, flush=True)


def run_all(plans, seeds, tools, context):
    """variant name -> {seed: RunResult}."""
    results = {plan.name: {} for plan in plans}
    jobs = [(plan, seed) for seed in seeds for plan in plans]
    progress = Progress(len(jobs), context.quiet)
    with concurrent.futures.ThreadPoolExecutor(context.jobs) as pool:
        futures = {pool.submit(_run, plan, seed, tools, context, progress): (plan, seed)
                   for plan, seed in jobs}
        try:
            for future in concurrent.futures.as_completed(futures):
                plan, seed = futures[future]
                results[plan.name][seed] = future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            uml.stop_all()
            raise
    return {name: {seed: runs[seed] for seed in seeds} for name, runs in results.items()}


def _run(plan, seed, tools, context, progress):
    name = f"{plan.name}.{seed}"
    directory = os.path.join(context.out, "runs", name)
    guest.write(directory, plan, seed, tools)
    outcome = uml.run(directory, tools, plan.settings, seed,
                      lambda line: progress.line(name, line))
    result = RunResult(plan, seed, directory, outcome.failure, outcome.log, outcome.wall_s)
    progress.ended(result, name)
    return result
