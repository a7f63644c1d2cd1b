#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Lines that mutants and ablations change, what selftests/ablation/run makes of results, and which need no second run."""
import os
import subprocess
import sys
import tempfile
import unittest

import yaml

HERE = os.path.dirname(os.path.realpath(__file__))
SELFTESTS = os.path.dirname(HERE)
for room in ("lib", "ablation"):
    sys.path.insert(0, os.path.join(SELFTESTS, room))
# pylint: disable=wrong-import-position
import kept  # noqa: E402
import worth  # noqa: E402
from changed_tree import TOP, Wrong, replaced  # noqa: E402


class Replaced(unittest.TestCase):
    def test_line__keeps_its_indent(self):
        self.assertEqual(replaced("a\n\t  b;\nc", "b;", "x;"), "a\n\t  x;\nc")

    def test_few_lines__become_one(self):
        self.assertEqual(replaced("a\n b\n  c\ne", "b\nc", "x"), "a\n x\ne")

    def test_line__part_of_another_is_not_it(self):
        with self.assertRaises(Wrong):
            replaced("ab;", "b;", "x;")

    def test_line__that_stands_twice_is_refused(self):
        with self.assertRaises(Wrong):
            replaced("b;\nb;", "b;", "x;")

    def test_lines_of_the_lists__stand_once_in_their_files(self):
        for name in ("mutants", "ablation"):
            with open(os.path.join(SELFTESTS, name, "list.yaml"), encoding="utf-8") as stream:
                changes = yaml.safe_load(stream)
            for change in changes:
                with self.subTest(list=name, change=change["name"]), \
                     open(os.path.join(TOP, change["file"]), encoding="utf-8") as source:
                    replaced(source.read(), change["line"], change["becomes"])


def result_of(values, variant="long,tcpts"):
    seeds = [{"seed": 1 + number, "metrics": {"tail us": value}} for number, value in enumerate(values)]
    return {"scenario": {"file": "onramp-ablation.yaml", "title": "Loads", "source": "ONRAMP21"}, "bounds": [], "failures": [],
            "versions": {"turnpike": "abc1234", "kernel": "6.12.1"}, "started": "2026-01-02T03:04:05", "arguments": [],
            "variants": [{"name": variant, "seeds": seeds}]}


class Ablation(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.out = place.name

    def run_on(self, whole, without, *words):
        """What the program says of a metric with each seed; it is higher where it is worse."""
        for name, values in (("whole", whole), ("final", without)):
            kept.save(os.path.join(self.out, name, "result.json"), result_of(values))
        return self.run_it("--match", "final", *words)

    def run_it(self, *words):
        return subprocess.run([sys.executable, os.path.join(SELFTESTS, "ablation/run"), *words, "--out", self.out],
                              check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def table_of(self, whole, without):
        return self.run_on(whole, without, "--table").stdout

    def test_figure__worse_with_each_seed_is_shown(self):
        said = self.table_of([100, 100], [110, 104])
        self.assertIn("worse without it: 1\n        long,tcpts: tail us 100 -> 107", said)
        self.assertIn("better without it: 0", said)

    def test_figure__better_is_told_from_worse(self):
        self.assertIn("better without it: 1", self.table_of([100, 100], [90, 91]))

    def test_figure__little_worse_is_not_shown(self):
        self.assertIn("worse without it: 0", self.table_of([100, 100], [104, 104]))

    def test_figure__of_seeds_that_do_not_agree_is_not_shown(self):
        self.assertIn("worse without it: 0", self.table_of([100, 100], [150, 99]))

    def test_figure__of_fewer_seeds_is_not_compared(self):
        self.assertIn("worse without it: 0", self.table_of([100, 100], [150]))

    def compared(self, **metrics):
        """What the table has of metrics of one run, (whole, without) each."""
        sides = [{"variants": {"long,tcpts": {name.replace("_", " "): [pair[side]] for name, pair in metrics.items()}}}
                 for side in (0, 1)]
        return [text for _, text in worth.differences(*sides)]

    def test_figure__of_one_packet_is_not_shown(self):
        self.assertEqual(self.compared(max=(1, 9), RCT_max=(1, 9), queue_max_KB=(1, 9)), [])

    def test_figure__of_which_more_is_better_is_lost_when_it_falls(self):
        for name in ("util", "goodput Gb/s", "Jain"):
            sides = [{"variants": {"long,tcpts": {name: [value]}}} for value in (9.4, 7.2)]
            self.assertGreater(worth.differences(*sides)[0][0], worth.NOTICED, name)

    def test_figure__of_two_names_is_shown_once(self):
        self.assertEqual(self.compared(p99=(100, 120), tail_us=(100, 120)), ["long,tcpts: p99 100 -> 120"])

    def test_table__without_runs_is_an_error(self):
        ended = self.run_it("--table")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("nothing has run", ended.stderr)

    def test_page__has_what_the_tree_keeps(self):
        for name, values in (("whole", [100, 100]), ("final", [110, 104])):
            kept.save(os.path.join(self.out, name + ".json"), {**kept.slim(result_of(values)), "lines": 7})
        page = worth.page(self.out)
        self.assertIn("``selftests/ablation/run --seeds 1-2``,\ncommit abc1234, 2026-01-02, Linux 6.12.1.", page)
        self.assertIn("   * - mode final, against equation 4\n     - 7\n     - | long,tcpts: tail us 100 -> 107\n     - | nothing\n",
                      page)
        self.assertIn("     - | not run\n", page)


class Done(unittest.TestCase):
    def done(self, words, asked, commit="abc1234"):
        return kept.is_done({**result_of([1]), "arguments": words}, asked, commit)

    def test_same_commit_and_options__is_done(self):
        self.assertTrue(self.done(["a.yaml", "--seeds", "2", "--jobs", "1"], ["run", "a.yaml", "--seeds=2"]))

    def test_other_options__are_not(self):
        self.assertFalse(self.done(["--seeds", "2"], ["--seeds", "3"]))
        self.assertFalse(self.done(["--seeds", "2"], ["--seeds", "2", "--variant", "a*"]))

    def test_other_tree__is_not(self):
        self.assertFalse(self.done([], [], commit="def5678"))


if __name__ == "__main__":
    unittest.main()
