#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Lines that mutants and ablations change, and what selftests/ablation/run makes of results."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

import yaml

HERE = os.path.dirname(os.path.realpath(__file__))
SELFTESTS = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(SELFTESTS, "lib"))
from changed_tree import TOP, Wrong, replaced  # noqa: E402 pylint: disable=wrong-import-position


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


class Ablation(unittest.TestCase):
    def table_of(self, whole, without):
        """What the table says of a metric with each seed; it is higher where it is worse."""
        with tempfile.TemporaryDirectory() as out:
            for name, values in (("whole", whole), ("final", without)):
                os.mkdir(os.path.join(out, name))
                seeds = [{"metrics": {"tail us": value}} for value in values]
                with open(os.path.join(out, name, "result.json"), "w", encoding="utf-8") as stream:
                    json.dump({"variants": [{"name": "long", "seeds": seeds}]}, stream)
            done = subprocess.run([sys.executable, os.path.join(SELFTESTS, "ablation/run"), "--table", "--match", "final",
                                   "--out", out], check=True, text=True, stdout=subprocess.PIPE)
            return done.stdout

    def test_figure__worse_with_each_seed_is_shown(self):
        said = self.table_of([100, 100], [110, 104])
        self.assertIn("worse without it: 1\n        long: tail us 100 -> 107", said)
        self.assertIn("better without it: 0", said)

    def test_figure__better_is_told_from_worse(self):
        self.assertIn("better without it: 1", self.table_of([100, 100], [90, 91]))

    def test_figure__little_worse_is_not_shown(self):
        self.assertIn("worse without it: 0", self.table_of([100, 100], [104, 104]))

    def test_figure__of_seeds_that_do_not_agree_is_not_shown(self):
        self.assertIn("worse without it: 0", self.table_of([100, 100], [150, 99]))


    def test_table__without_runs_is_an_error(self):
        with tempfile.TemporaryDirectory() as out:
            done = subprocess.run([sys.executable, os.path.join(SELFTESTS, "ablation/run"), "--table", "--out", out],
                                  check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 1)
            self.assertIn("nothing has run", done.stderr)


if __name__ == "__main__":
    unittest.main()
