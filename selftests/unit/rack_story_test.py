#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The picture of the demo tells what the runs left, and nothing else."""
import importlib.util
import os
import tempfile
import types
import unittest

import rack_path  # noqa: F401  # pylint: disable=unused-import
from rack import demo, picture, story


def run(name, queue_bytes, overrides=(), flows=4, failure=None):
    """A run of 10 ms with one port of 8 Gbit/s, so that a byte waits for a nanosecond."""
    plan = types.SimpleNamespace(name=name, overrides=dict.fromkeys(overrides, 1), series_ports=["s0.srv"],
                                 hosts=["c1", "c2", "srv"], sinks=["srv"],
                                 settings={"host": {"cc": name, "qdisc": None, "tlt": None}, "workload": []})
    rows = [(number / 1e4, queue_bytes, 0) for number in range(-10, 101)]
    return types.SimpleNamespace(plan=plan, failure=failure, flows=lambda: [{}] * flows,
                                 port=lambda _: {"rate_bps": 8e9}, ports=lambda _: [{"rate_bps": 8e9}],
                                 series=lambda _: rows)


def told(*variants, kernel="6.12.5-x"):
    """(document, results) of (name, goodput, p99, queue) or more of run()."""
    document = {"versions": {"kernel": kernel},
                "variants": [{"name": name, "metrics": {"goodput Gb/s": gbps, "p99": p99}}
                             for name, gbps, p99, *_ in variants]}
    return document, {name: {1: run(name, *more)} for name, _, _, *more in variants}


OURS = ("timely", 7.52, 50.0, 10000)
CUBIC = ("cubic", 7.55, 2300.0, 2000000)
DCTCP = ("dctcp", 7.55, 66.0, 30000, ["switch.ecn_k_bytes"])


class Story(unittest.TestCase):
    def test_title__is_computed(self):
        self.assertEqual(story.story_of(*told(OURS, CUBIC))["title"],
                         "The same 7.5 Gbit/s, and a tail 46 times shorter than CUBIC's")

    def test_title__less_throughput_is_told(self):
        self.assertEqual(story.story_of(*told(("timely", 3.0, 500.0, 1), CUBIC))["title"],
                         "40 % of the throughput, and a tail 4.6 times shorter than CUBIC's")

    def test_title__a_longer_tail_is_told(self):
        self.assertIn("a tail 2.0 times longer than CUBIC's", story.story_of(*told(("timely", 7.5, 4600.0, 1), CUBIC))["title"])

    def test_subtitle__is_what_ran(self):
        self.assertEqual(story.story_of(*told(OURS, CUBIC))["subtitle"],
                         "4 flows from 2 hosts into one port of 8 Gbit/s. Real kernel modules, Linux 6.12, virtual rack; "
                         "nothing asked of the switch.")

    def test_subtitle__what_asks_the_switch_does_not_claim_otherwise(self):
        ours = ("tlt", 7.5, 50.0, 1, ["switch.ecn_k_bytes"])
        self.assertNotIn("nothing asked", story.story_of(*told(ours, CUBIC))["subtitle"])

    def test_bars__are_the_metrics(self):
        self.assertEqual(story.story_of(*told(OURS, DCTCP, CUBIC))["bars"],
                         [("cubic", "CUBIC", "7.5 Gbit/s", 2300.0), ("dctcp", "DCTCP (switch marks)", "7.5 Gbit/s", 66.0),
                          ("timely", "TIMELY", "7.5 Gbit/s", 50.0)])

    def test_lines__are_waits_from_the_beginning_of_the_load(self):
        name, label, points = story.story_of(*told(OURS, CUBIC))["lines"][0]
        self.assertEqual((name, label), ("cubic", "CUBIC"))
        self.assertEqual([point[0] for point in points], [1.0, 3.0, 5.0, 7.0, 9.0])
        for point in points:
            for wait_us in point[1:]:
                self.assertAlmostEqual(wait_us, 2000.0)

    def test_others_of_ours__are_not_shown(self):
        shown = story.story_of(*told(OURS, ("timely_patched", 7.5, 47.0, 1), CUBIC))
        self.assertEqual([bar[0] for bar in shown["bars"]], ["cubic", "timely"])

    def test_story__without_somebody_to_compare_with_is_none(self):
        self.assertIsNone(story.story_of(*told(OURS)))
        self.assertIsNone(story.story_of(*told(CUBIC)))

    def test_story__without_a_run_that_went_well_is_none(self):
        document, results = told(OURS, CUBIC)
        results["timely"][1].failure = "panic"
        self.assertIsNone(story.story_of(document, results))

    def test_story__takes_the_first_run_that_went_well(self):
        document, results = told(OURS, CUBIC)
        results["cubic"] = {1: run("cubic", 1, failure="panic"), 2: run("cubic", 3000)}
        self.assertAlmostEqual(story.story_of(document, results)["lines"][0][2][0][2], 3.0)

    def test_story__without_queues_is_none(self):
        document, results = told(OURS, CUBIC)
        results["timely"][1].plan.series_ports = []
        self.assertIsNone(story.story_of(document, results))

    def test_time__is_said_as_people_say_it(self):
        self.assertEqual([picture.time_text(value) for value in (0.5, 5.25, 55, 999, 1000, 2448, 203971)],
                         ["0.5 µs", "5.2 µs", "55 µs", "999 µs", "1.0 ms", "2.4 ms", "204 ms"])


@unittest.skipUnless(importlib.util.find_spec("matplotlib"), "python3-matplotlib is not installed")
class Picture(unittest.TestCase):
    def drawn(self, *variants):
        with tempfile.TemporaryDirectory() as directory:
            files = story.draw(directory, *told(*variants))
            return files, [self.bytes_of(os.path.join(directory, name)) for name in files]

    @staticmethod
    def bytes_of(path):
        with open(path, "rb") as file:
            return file.read()

    def test_picture__is_the_one_to_look_at(self):
        files, texts = self.drawn(OURS, CUBIC, DCTCP)
        self.assertEqual(files, ["story.svg", "story.png"])
        self.assertTrue(all(texts))
        self.assertEqual(os.path.basename(demo.picture("somewhere", files + ["rtt-cdf.png"])), "story.svg")

    def test_picture__is_the_same_of_the_same_runs(self):
        self.assertEqual(self.drawn(OURS, CUBIC)[1][0], self.drawn(OURS, CUBIC)[1][0])

    def test_picture__of_an_empty_queue(self):
        self.assertTrue(self.drawn(("timely", 7.5, 0.4, 0), CUBIC)[0])

    def test_picture__of_nothing_is_none(self):
        self.assertEqual(self.drawn(OURS)[0], [])


if __name__ == "__main__":
    unittest.main()
