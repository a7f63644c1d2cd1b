#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The picture of an incast tells what the runs left, and nothing else."""
import importlib.util
import os
import tempfile
import types
import unittest

import rack_path  # noqa: F401  # pylint: disable=unused-import
from rack import answers

INCAST = {"type": "incast", "name": "fg", "fanout": 40, "bytes": 2000}
WEBSEARCH = {"type": "poisson", "name": "bg", "sizes": "WebSearch", "load": 0.6}


def run(times_us, host=None, loads=(WEBSEARCH, INCAST), metric="rct_us(p99, load=fg)", key="rct", color_k=None, failure=None):
    """A run whose requests took so long."""
    settings = {"host": {"cc": "cubic", "qdisc": "fq", "tlt": None, **(host or {})}, "workload": list(loads),
                "metrics": {"avg": "rct_us(avg, load=fg)", "mine": metric}, "switch": {"color_k_bytes": color_k}}
    samples = [[32000, us] for us in times_us] if key == "fct" else list(times_us)
    return types.SimpleNamespace(plan=types.SimpleNamespace(settings=settings), failure=failure,
                                 loads=lambda name: [{"name": name, "samples": {key: samples}}])


def told(*variants):
    """(document, results) of (name, metrics, run or runs)."""
    document = {"versions": {"kernel": "6.12.5-x"},
                "variants": [{"name": name, "metrics": {"RTOs": 0, "goodput Gb/s": 280.0, **metrics}}
                             for name, metrics, *_ in variants]}
    return document, {name: dict(enumerate(runs, 1)) for name, _, *runs in variants}


FQ = ("60,fq", {"mine": 204000.0}, run([3000, 1000, 204000]))
ONRAMP = ("60,onramp", {"mine": 415.0, "goodput Gb/s": 279.0}, run([300, 200, 415], {"qdisc": "onramp threshold 50us"}))


def tlt(rtos, metrics_of_linux):
    """Linux with timeouts, and TLT with so many."""
    kind = {"loads": [INCAST], "metric": "fct_us(p99)", "key": "fct", "color_k": None}
    return told(("linux", {"mine": 218000.0, **metrics_of_linux}, run([546, 218000], {"qdisc": "pfifo_fast"}, **kind)),
                ("tlt", {"mine": 711.0, "RTOs": rtos},
                 run([577, 711], {"qdisc": "pfifo_fast", "tlt": "--map local"}, **{**kind, "color_k": 270000})))


class Story(unittest.TestCase):
    def test_title__is_computed(self):
        self.assertEqual(answers.story_of(*told(ONRAMP, FQ))["title"], "The same 279 Gbit/s, and a tail 492 times shorter")

    def test_title__less_throughput_and_a_longer_tail_are_told(self):
        worse = ("60,onramp", {"mine": 408000.0, "goodput Gb/s": 140.0}, ONRAMP[2])
        self.assertEqual(answers.story_of(*told(worse, FQ))["title"],
                         "50 % of the throughput, and a tail 2.0 times longer")

    def test_title__of_timeouts(self):
        self.assertEqual(answers.story_of(*tlt(0, {"RTOs": 112.7}))["title"], "No timeouts, and a tail 307 times shorter")
        self.assertEqual(answers.story_of(*tlt(4, {"RTOs": 112.7}))["title"],
                         "4 timeouts for 113, and a tail 307 times shorter")

    def test_subtitle__is_what_ran(self):
        self.assertEqual(answers.story_of(*told(ONRAMP, FQ))["subtitle"],
                         "40 answers of 2 KB at once, beside WebSearch at 60 % load. Real kernel modules, Linux 6.12, "
                         "virtual rack; nothing asked of the switch.")

    def test_subtitle__what_asks_the_switch_says_so(self):
        self.assertIn("the switch drops unimportant packets from 270 KB on", answers.story_of(*tlt(0, {}))["subtitle"])

    def test_bars__are_the_scenarios_own_metric(self):
        self.assertEqual(answers.story_of(*told(ONRAMP, FQ))["bars"],
                         [("cubic", "CUBIC on fq", "280 Gbit/s, median 3.0 ms", 204000.0),
                          ("ours", "CUBIC on On-Ramp", "279 Gbit/s, median 300 µs", 415.0)])
        self.assertEqual([bar[2] for bar in answers.story_of(*tlt(0, {"RTOs": 112.7}))["bars"]],
                         ["113 timeouts a run, median 109 ms", "no timeout, median 644 µs"])

    def test_lines__are_the_times_of_all_seeds_that_went_well(self):
        seeds = (*ONRAMP, run([7], {"qdisc": "onramp"}), run([9], {"qdisc": "onramp"}, failure="panic"))
        self.assertEqual(answers.story_of(*told(seeds, FQ))["lines"][1], ("ours", "CUBIC on On-Ramp", [7, 200, 300, 415]))

    def test_lines__of_answers_leave_their_sizes_out(self):
        self.assertEqual(answers.story_of(*tlt(0, {}))["lines"][1], ("ours", "CUBIC with TLT", [577, 711]))

    def test_story__without_somebody_to_compare_with_is_none(self):
        self.assertIsNone(answers.story_of(*told(ONRAMP)))
        self.assertIsNone(answers.story_of(*told(FQ)))

    def test_story__without_an_incast_is_none(self):
        quiet = ("60,onramp", ONRAMP[1], run([1], {"qdisc": "onramp"}, loads=[WEBSEARCH]))
        self.assertIsNone(answers.story_of(*told(quiet, FQ)))

    def test_story__without_a_tail_in_the_scenario_is_none(self):
        blind = ("60,onramp", ONRAMP[1], run([1], {"qdisc": "onramp"}, metric="rct_us(avg)"))
        self.assertIsNone(answers.story_of(*told(blind, FQ)))

    def test_story__of_runs_that_failed_is_none(self):
        self.assertIsNone(answers.story_of(*told(ONRAMP, ("60,fq", FQ[1], run([1], failure="panic")))))


@unittest.skipUnless(importlib.util.find_spec("matplotlib"), "python3-matplotlib is not installed")
class Picture(unittest.TestCase):
    def test_picture__of_runs(self):
        with tempfile.TemporaryDirectory() as directory:
            self.assertEqual(answers.draw(directory, *told(ONRAMP, FQ)), ["story.svg", "story.png"])
            with open(os.path.join(directory, "story.svg"), encoding="utf-8") as file:
                self.assertNotIn(" \n", file.read())

    def test_picture__of_nothing_is_none(self):
        with tempfile.TemporaryDirectory() as directory:
            self.assertEqual(answers.draw(directory, *told(ONRAMP)), [])
            self.assertEqual(os.listdir(directory), [])


if __name__ == "__main__":
    unittest.main()
