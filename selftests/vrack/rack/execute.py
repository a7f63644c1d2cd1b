# SPDX-License-Identifier: GPL-2.0
"""All runs of a scenario, a few guests at a time, with word of progress."""
import concurrent.futures
import os

from . import guest, uml
from . import progress as words
from .results import RunResult


def run_all(plans, seeds, tools, context):
    """variant name -> {seed: RunResult}."""
    results = {plan.name: {} for plan in plans}
    jobs = [(plan, seed) for seed in seeds for plan in plans]
    progress = words.of(len(jobs), context.quiet, context.demo)
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
    progress.finish()
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
