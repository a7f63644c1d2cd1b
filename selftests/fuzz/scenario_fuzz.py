#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Scenario files that somebody mistyped: each is expanded into its variants and planned, or is
refused with an error that names its line; never a traceback, never without end.

usage: scenario_fuzz.py [--runs N] [--seed N] [--input FILE]

The scenarios of the tree, changed at random. --input runs one file that was kept instead.
"""
import argparse
import glob
import os
import random
import re
import signal
import sys
import traceback

HERE = os.path.dirname(os.path.realpath(__file__))
SELFTESTS = os.path.dirname(HERE)
OUT = os.path.join(os.path.dirname(SELFTESTS), "build", "fuzz", "scenario")
sys.path.insert(0, os.path.join(SELFTESTS, "vrack"))
from rack import bounds, variants, yamlfile  # noqa: E402  # pylint: disable=wrong-import-position
from rack.errors import UsageError  # noqa: E402  # pylint: disable=wrong-import-position
from rack.plan import Plan  # noqa: E402  # pylint: disable=wrong-import-position

VALUES = ["0", "-1", "1e308", ".nan", ".inf", "99999999999999999999", "''", "null", "true", "[]", "{}",
          "[1, x]", "{a: 1}", "1-3", "h[1-3]", "h[3-1]", "h[1-999999999]", "*", "&a [*a]", "0x10", "2026-01-01",
          "- -", "${x}", "mean(x", "max(1/0)", "\u00fc\u2028", "!!python/object:os.system x", "a: b: c"]
WORD = re.compile(r"[\w.]+")
# Of processor: a busy machine takes as long as it takes.
HANG_S = 20


def change_line(rng, lines):
    where = rng.randrange(len(lines))
    words = list(WORD.finditer(lines[where]))
    if words:
        word = rng.choice(words)
        lines[where] = lines[where][:word.start()] + rng.choice(VALUES) + lines[where][word.end():]


def drop_line(rng, lines):
    del lines[rng.randrange(len(lines))]


def repeat_line(rng, lines):
    lines.insert(rng.randrange(len(lines)), rng.choice(lines))


def shift_line(rng, lines):
    where = rng.randrange(len(lines))
    lines[where] = rng.choice(["", " ", "  ", "    ", "- "]) + lines[where].lstrip()


def change_character(rng, lines):
    where = rng.randrange(len(lines))
    at = rng.randint(0, len(lines[where]))
    lines[where] = lines[where][:at] + chr(rng.choice([9, 0, 34, 39, 58, 91, 93, 123, 125, 0x7f, 0xe4])) + \
        lines[where][at + rng.randint(0, 1):]


CHANGES = [change_line, change_line, change_line, drop_line, repeat_line, shift_line, change_character]


def mistyped(rng, text):
    lines = text.split("\n")
    for _ in range(rng.randint(1, 3)):
        if lines:
            rng.choice(CHANGES)(rng, lines)
    return "\n".join(lines)


def too_long(*_):
    raise TimeoutError(f"no end after {HANG_S} s")


def try_out(text):
    """As the runner does before it builds or boots anything."""
    signal.setitimer(signal.ITIMER_VIRTUAL, HANG_S)
    try:
        found = variants.expand(yamlfile.parse(text, "fuzz.yaml"))
        bounds.check(found[0].settings, [variant.name for variant in found])
        for variant in found[:4]:
            Plan(variant)
        return True
    except UsageError as error:
        if not str(error):
            raise ValueError("refused without a word") from error
        return False
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def corpus():
    texts = []
    for path in sorted(glob.glob(os.path.join(SELFTESTS, "scenarios", "*.yaml"))):
        with open(path, encoding="utf-8") as scenario:
            texts.append(scenario.read())
    # Long ones take as long as ten short ones and have the same keys.
    return sorted(texts, key=len)[:len(texts) // 2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--input")
    args = parser.parse_args()
    signal.signal(signal.SIGVTALRM, too_long)
    if args.input:
        with open(args.input, encoding="utf-8") as text:
            print("taken" if try_out(text.read()) else "refused")
        return 0
    rng = random.Random(args.seed)
    texts = corpus()
    taken = 0
    for _ in range(args.runs):
        text = mistyped(rng, rng.choice(texts))
        try:
            taken += try_out(text)
        except Exception:  # whatever it is, it is what is looked for  # pylint: disable=broad-except
            os.makedirs(OUT, exist_ok=True)
            path = os.path.join(OUT, "input.yaml")
            with open(path, "w", encoding="utf-8") as kept:
                kept.write(text)
            traceback.print_exc()
            print(f"The input is kept in {path}")
            return 1
    print(f"{args.runs} scenarios, {taken} of them taken, the others refused")
    return 0 if 0 < taken < args.runs else 1


if __name__ == "__main__":
    sys.exit(main())
