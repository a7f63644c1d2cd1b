# SPDX-License-Identifier: GPL-2.0
"""The command line of the runner."""
import argparse
import datetime
import fnmatch
import os
import signal
import sys
import time

from . import bounds, demo, execute, guest, metrics, plots, report, scenario, story, table, variants, webpage
from .errors import ScenarioError, UsageError
from .plan import Plan
from .tools import NAMED_KERNELS, REPO, Tools, kernels
from .yamlfile import scalar

HELP = """Run a scenario in the virtual rack and check its bounds.

Every variant of the scenario runs once per seed, each in a guest of its own
(User Mode Linux, simulated time). DIR gets result.json, plots (PNG, SVG) and
runs/VARIANT.SEED/ with all that a guest was given and said.
Documentation/scenario.rst describes the format."""


class Context:
    """What belongs to this call and not to the scenario."""

    def __init__(self, args, settings):
        self.path = args.scenario
        self.arguments = sys.argv[1:]
        self.settings = settings
        self.out = os.path.realpath(args.out or _default_out(args.scenario))
        self.kernel = args.kernel
        self.jobs = args.jobs
        self.quiet = args.quiet
        self.demo = args.demo
        self.story = args.demo or args.story
        self.page = args.demo or args.page
        self.no_plots = args.no_plots
        self.started = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
        self._began = time.monotonic()

    def wall_s(self):
        return time.monotonic() - self._began


def main():
    args = _parser().parse_args()
    if args.list_metrics:
        print("\n".join(metrics.listing()))
        return 0
    # guests have sessions of their own, so they must be told
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        return _main(args)
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def _parser():
    parser = argparse.ArgumentParser(prog="run", description=HELP,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenario", nargs="?", help="scenario file")
    parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE",
                        help="override a value of the scenario; variants override it in turn")
    parser.add_argument("--seeds", metavar="N", help="seeds 1..N, or a list such as 3,7-9 (7-7 is seed 7 alone)")
    parser.add_argument("--jobs", type=_positive, default=min(2, os.cpu_count() or 1), metavar="N",
                        help="guests at a time (default: 2, or 1 on one processor)")
    parser.add_argument("--kernel", default=kernels.MAIN, metavar="K",
                        help=f"{', '.join(NAMED_KERNELS)}, or a path (default: %(default)s)")
    parser.add_argument("--modules", metavar="DIR", help="take kernel modules from here")
    parser.add_argument("--module", action="append", default=[], metavar="FILE",
                        help="a kernel module of yours, for the scenario's modules: (may be given again)")
    parser.add_argument("--vload", metavar="FILE", help="take vload from here")
    parser.add_argument("--out", metavar="DIR", help="results (default: build/results/SCENARIO)")
    parser.add_argument("--variant", action="append", metavar="NAME",
                        help="only variants of this name or pattern (may be given again)")
    parser.add_argument("--no-plots", action="store_true", help="draw nothing")
    parser.add_argument("--check", action="store_true",
                        help="only check the file, and list its variants")
    parser.add_argument("--list-metrics", action="store_true", help="name the metrics and exit")
    parser.add_argument("--demo", action="store_true",
                        help="say the outcome in a sentence; of bounds only what does not hold")
    parser.add_argument("--story", action="store_true",
                        help="draw story.svg, too, as --demo does: of one variant of ours and one without")
    parser.add_argument("--page", action="store_true",
                        help="write report.html, too, as --demo does: the page of `turnpike report'")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress, no table")
    return parser


def _positive(text):
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError("a number from 1 on expected")
    return int(text)


def _main(args):
    if not args.scenario:
        raise UsageError("which scenario? (--help)")
    tree = scenario.read(args.scenario)
    found = variants.expand(tree, [_override(text) for text in args.set])
    bounds.check(found[0].settings, [variant.name for variant in found])
    plans = [Plan(variant, args.scenario) for variant in _chosen(found, args.variant)]
    if args.check:
        print("\n".join(plan.name for plan in plans))
        return 0
    settings = found[0].settings
    context = Context(args, settings)
    tools = Tools(args.kernel, args.modules, args.vload, args.module)
    tools.check()
    tools.keep(os.path.join(context.out, "programs"),
               {name for plan in plans for name in guest.needed_modules(plan)})
    results = execute.run_all(plans, _seeds(args.seeds, settings), tools, context)
    return _conclude(context, plans, results)


def _override(text):
    path, equals, value = text.partition("=")
    origin = f"--set {text}"
    if not equals:
        raise ScenarioError(origin, "PATH=VALUE expected")
    return path, scalar(value), origin


def _chosen(found, patterns):
    if not patterns:
        return found
    chosen = [variant for variant in found
              if any(fnmatch.fnmatchcase(variant.name, pattern) for pattern in patterns)]
    if not chosen:
        names = ", ".join(variant.name for variant in found)
        raise UsageError(f"--variant {' '.join(patterns)}: no such variant (there are: {names})")
    return chosen


def _seeds(text, settings):
    """The seeds that "N" (the first N), or a list of seeds and ranges such as "3,7-9", name."""
    if not text:
        return list(dict.fromkeys(settings["seeds"]))
    parts = [f"1-{text}"] if text.isdigit() else text.split(",")
    seeds = []
    for part in parts:
        first, dash, last = part.partition("-")
        last = last if dash else first
        if not (first.isdigit() and last.isdigit() and 0 < int(first) <= int(last)):
            raise UsageError(f"--seeds {text}: a number, or a list of numbers and ranges, expected")
        seeds += range(int(first), int(last) + 1)
    return list(dict.fromkeys(seeds))


def _default_out(path):
    name = os.path.splitext(os.path.basename(path))[0]
    return os.path.join(REPO, "build", "results", name)


def _conclude(context, plans, results):
    verdicts = bounds.judge(context.settings["bounds"], results)
    document = report.build(context, plans, results, verdicts)
    path = report.write(context.out, document)
    files = [] if context.no_plots else plots.draw(context.out, context.settings["title"], results)
    if context.story and not context.no_plots:
        files += story.draw(context.out, document, results)
    made = webpage.write(context.out) if context.page else None
    if context.demo:
        _show(context, document, files, made, _ktap(context, results, verdicts))
        return 0 if document["pass"] else 1
    if not context.quiet:
        print(_table(document, context))
    for number, line in enumerate(_ktap(context, results, verdicts), 1):
        print(line.replace("ok", f"ok {number}", 1))
    print(f"# {path}")
    if made:
        print(f"# {made}")
    return 0 if document["pass"] else 1


def _show(context, document, files, made, verdicts):
    """What failed comes first, so that the end is what a reader came for."""
    for line in verdicts:
        if line.startswith("not ok"):
            print(line)
    print(f"\n{demo.sentence(document)}\n{_table(document, context)}")
    picture = demo.picture(context.out, files)
    if picture:
        print(f"The picture is {picture}")
    if made:
        print(f"The page is {demo.short(made)}")


def _table(document, context):
    rows = []
    for variant in document["variants"]:
        good = sum(seed["failure"] is None for seed in variant["seeds"])
        rows.append((variant["name"], f"{good}/{len(variant['seeds'])}", variant["metrics"]))
    return f"\n{context.settings['title']}\n\n{table.render(rows, context.settings)}\n"


def _ktap(context, results, verdicts):
    """A line per failed guest and per bound; at least one in all."""
    name = os.path.splitext(os.path.basename(context.path))[0]
    lines = [f"not ok - {name} {run.plan.name} seed {run.seed}: {run.failure} (log: {run.log})"
             for runs in results.values() for run in runs.values() if run.failure]
    for verdict in verdicts:
        tail = f" [{verdict.failure}]" if verdict.failure else ""
        tail += f" # SKIP {verdict.skipped}" if verdict.skipped else ""
        lines.append(f"{verdict.word} - {name} {verdict.describe()}{tail}")
    return lines or [f"ok - {name} ran, no bounds given"]
