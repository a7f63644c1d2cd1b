#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""selftests/results: what it keeps of a run, the pages that it makes of that, and what this tree's pages ask for."""
import glob
import importlib.machinery
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import rack_path
import yaml
from rack import scenario, table, variants

HERE = os.path.dirname(os.path.realpath(__file__))
RESULTS = os.path.join(os.path.dirname(HERE), "results")
PAGES = os.path.join(os.path.dirname(os.path.dirname(HERE)), "Documentation", "results")
PAGE = """
title: A page
text: What stands under it.
tables:
  - title: A table
    data: some
    first: who
    columns: {share: "{util:.1%}", worst: "{most util:.2f}"}
    rows: {paper: [the paper, 90 %, ""], timely: "``timely``"}
  - title: Across
    data: some
    across: {one: "{cc}"}
    form: "{util:.2f}"
    rows: {cc=timely: a row}
  - title: A row a form
    data: some
    across: {one: timely, other: bbr}
    rows: {"{util:.2f}": utilization, "{to 1.5 Gb/s:.0f}": rise}
  - {title: Later, data: later, columns: {}, rows: {}}
"""

FIGURES = """
- {figure: one-1, item: TIMELY15 figure 1, claim: a link is full, scenario: some, bounds: {link: ["*"]}, published: "97 %",
   ours: {timely: "{util:.0%}"}}
- {figure: one-2, item: TIMELY15 figure 2, claim: a tail is short, scenario: some, bounds: {tail: ["*"]}, reason: It is not.}
- {figure: one-3, item: TIMELY15 figure 3, claim: all else, scenario: later, counts: 3}
"""


def result(passes=True, commit="abc1234", failures=(), arguments=(), skipped=None):
    return {"scenario": {"file": "some.yaml", "title": "Some", "source": "TIMELY15"}, "started": "2026-01-02T03:04:05",
            "versions": {"turnpike": commit, "kernel": "6.12.1"}, "failures": list(failures),
            "arguments": list(arguments),
            "bounds": [{"variant": "timely", "name": "link", "min": 0.9, "max": None, "why": None, "measured": 0.95,
                        "pass": True, "skipped": None},
                       {"variant": "bbr", "name": "tail", "min": None, "max": 50, "why": "a reason", "measured": 60.0,
                        "pass": passes, "skipped": skipped}],
            "variants": [{"name": "timely", "seeds": [{"seed": 1, "metrics": {"util": 0.9, "never": None, "to 1.5 Gb/s": None}},
                                                      {"seed": 2, "metrics": {"util": 1.0, "never": None, "to 1.5 Gb/s": None}}]},
                         {"name": "bbr", "seeds": [{"seed": 1, "metrics": {"util": 0.8, "to 1.5 Gb/s": 5}},
                                                   {"seed": 2, "metrics": {"util": 0.8, "to 1.5 Gb/s": 7}}]}]}


class Results(unittest.TestCase):
    def setUp(self):
        self.tree = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.tree)
        self.pages = os.path.join(self.tree, "Documentation", "results")
        os.makedirs(self.pages)
        for name in ("lib/cells.py", "lib/claims.py", "lib/kept.py", "lib/profiles.py", "lib/rst.py", "ablation/worth.py"):
            os.makedirs(os.path.join(self.tree, "selftests", os.path.dirname(name)), exist_ok=True)
            shutil.copy(os.path.join(os.path.dirname(RESULTS), name), os.path.join(self.tree, "selftests", name))
        self.program = shutil.copy(RESULTS, os.path.join(self.tree, "selftests", "results"))
        os.mkdir(os.path.join(self.tree, "selftests", "scenarios"))
        with open(os.path.join(self.tree, "selftests", "scenarios", "figures"), "w", encoding="utf-8") as stream:
            stream.write(FIGURES)
        self.write("page.yaml", PAGE)

    def write(self, name, text):
        with open(os.path.join(self.pages, name), "w", encoding="utf-8") as stream:
            stream.write(text)

    def read(self, name):
        with open(os.path.join(self.pages, name), encoding="utf-8") as stream:
            return stream.read()

    def run_it(self, *arguments):
        return subprocess.run([sys.executable, self.program, *arguments], check=False, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)

    def take(self, **of):
        path = os.path.join(self.tree, "result.json")
        with open(path, "w", encoding="utf-8") as stream:
            json.dump(result(**of), stream)
        return self.run_it("take", path)

    def test_take__keeps_metrics_by_seed(self):
        self.assertEqual(self.take().returncode, 0)
        kept = json.loads(self.read("data/some.json"))
        self.assertEqual(kept["variants"], {"timely": {"util": [0.9, 1.0]}, "bbr": {"util": [0.8, 0.8], "to 1.5 Gb/s": [5, 7]}})
        self.assertEqual((kept["commit"], kept["day"], kept["seeds"]), ("abc1234", "2026-01-02", [1, 2]))

    def test_take__refuses_a_tree_without_a_commit(self):
        self.assertIn("no commit has", self.take(commit="abc1234-dirty").stderr)

    def test_take__refuses_what_is_no_result(self):
        self.assertEqual(self.run_it("take", "/nowhere.json").stderr, "results: /nowhere.json: no result of a run\n")

    def test_help__is_no_error(self):
        self.assertEqual(self.run_it("take", "--help").returncode, 0)

    def test_take__refuses_a_run_that_failed(self):
        self.assertIn("a run failed: no guest", self.take(failures=["no guest"]).stderr)

    def test_page__has_means_and_the_most(self):
        self.take()
        self.run_it("write")
        page = self.read("page.rst")
        self.assertIn("   * - ``timely``\n     - 95.0%\n     - 1.00\n", page)
        self.assertIn("   * - the paper\n     - 90 %\n     -\n", page)
        self.assertIn("   * - a row\n     - 0.95\n", page)
        self.assertIn("--seeds 1-2``,\ncommit abc1234, 2026-01-02, Linux 6.12.1.", page)

    def test_take__keeps_what_the_run_was_told_to_change(self):
        self.take(arguments=["some.yaml", "--set", "duration_s=0.1", "--seeds", "2", "--variant=a*"])
        self.run_it("write")
        self.assertIn("--seeds 1-2 --set duration_s=0.1 '--variant=a*'``,", self.read("page.rst"))

    def test_take__a_bound_that_was_skipped_is_no_claim(self):
        self.take(passes=False, skipped="variant 'cubic' was not run")
        self.assertEqual([bound["name"] for bound in json.loads(self.read("data/some.json"))["bounds"]], ["link"])

    def test_page__without_form_a_key_of_a_row_is_its_form(self):
        self.take()
        self.run_it("write")
        self.assertIn("   * - utilization\n     - 0.95\n     - 0.80\n", self.read("page.rst"))

    def test_page__a_metric_that_only_another_variant_has_is_empty(self):
        self.take()
        self.run_it("write")
        self.assertIn("   * - rise\n     -\n     - 6\n", self.read("page.rst"))

    def test_page__a_variant_that_was_left_out_is_empty(self):
        self.write("page.yaml", PAGE.replace("other: bbr", "other: cubic"))
        self.take(arguments=["--variant", "timely", "--variant", "bbr"])
        self.assertEqual(self.run_it("write").returncode, 0)
        self.assertIn("   * - utilization\n     - 0.95\n     -\n", self.read("page.rst"))

    def test_page__with_a_variant_that_is_none_is_refused(self):
        self.write("page.yaml", PAGE.replace("other: bbr", "other: cubic"))
        self.take()
        self.assertIn("some has no variant 'cubic'", self.run_it("write").stderr)

    def test_page__says_what_is_not_measured(self):
        self.take()
        self.run_it("write")
        self.assertIn("Not measured yet\n================\n\n* ``later``", self.read("page.rst"))

    def test_index__has_those_that_fail_first(self):
        self.take(passes=False)
        self.run_it("write")
        index = self.read("index.rst")
        self.assertIn("**fails**: ``bbr`` 60 (a reason)", index)
        self.assertIn("at least 0.9\n     - 0.95\n     - 1 of 1\n", index)
        self.assertLess(index.index("tail"), index.index("holds"))

    def test_figures__have_their_verdicts_those_that_fail_first(self):
        self.take(passes=False)
        self.run_it("write")
        page = self.read("figures.rst")
        self.assertIn("Of 5 figures: 1 does not hold, 1 holds, 3 not run.", page)
        self.assertLess(page.index("one-2"), page.index("one-3"))
        self.assertLess(page.index("one-3"), page.index("one-1"))
        self.assertIn("     - a link is full\n     - 97 %\n     - | timely: 95%\n     - 2\n     - | **holds**\n", page)
        self.assertIn("     - | **does not hold**\n       | bbr: tail at most 50, measured 60.0\n       | It is not.\n", page)
        self.assertIn("`figures <figures.rst>`__", self.read("index.rst"))

    def test_check__finds_a_page_that_differs(self):
        self.take()
        self.run_it("write")
        self.assertEqual(self.run_it("check").returncode, 0)
        self.write("page.rst", "by hand\n")
        ended = self.run_it("check")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("-by hand", ended.stdout)

    def test_page__with_a_metric_that_is_none_is_refused(self):
        self.take()
        self.write("page.yaml", PAGE.replace("{util:.1%}", "{nonesuch}"))
        self.assertIn("no metric 'nonesuch'", self.run_it("write").stderr)


def program():
    """selftests/results, whose name does not end in .py."""
    loader = importlib.machinery.SourceFileLoader("results", RESULTS)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("results", loader))
    loader.exec_module(module)
    return module


class Pages(unittest.TestCase):
    """A page without data tells nothing of its mistakes: these need none."""

    @classmethod
    def setUpClass(cls):
        cls.results = program()
        cls.tables = []
        for path in sorted(glob.glob(os.path.join(PAGES, "*.yaml"))):
            with open(path, encoding="utf-8") as stream:
                cls.tables += [(os.path.basename(path), asked) for asked in yaml.safe_load(stream)["tables"]]
        cls.scenarios = {os.path.basename(path).removesuffix(".yaml"): variants.expand(scenario.read(path))
                         for path in glob.glob(os.path.join(rack_path.SCENARIOS, "*.yaml"))}

    def test_tables__name_variants_and_metrics_of_their_scenario(self):
        for page, asked in self.tables:
            with self.subTest(page=page, table=asked["title"]):
                found = self.scenarios[asked["data"]]
                titles = {title for title, _, _ in table.columns(found[0].settings)}
                titles |= {f"{word} {title}" for title in titles for word in ("most", "least")}
                for _, cells in self.results.asked_of(asked):
                    for variant, form in (cell for cell in cells if not isinstance(cell, str)):
                        self.assertIn(variant, [known.name for known in found])
                        self.assertEqual(set(self.results.cells.names_in(form)) - titles, set())

    def test_rows__have_a_cell_for_each_column(self):
        for page, asked in self.tables:
            with self.subTest(page=page, table=asked["title"]):
                for label, cells in self.results.asked_of(asked):
                    self.assertEqual(len(cells), len(asked.get("across") or asked["columns"]), label)

    def test_texts__have_three_sentences_at_most(self):
        for page, asked in self.tables:
            with self.subTest(page=page, table=asked["title"]):
                self.assertLessEqual(len(re.findall(r"[.!?](?=\s|$)", asked.get("text", ""))), 3)

    def test_scenarios__each_has_a_table(self):
        self.assertEqual(set(self.scenarios) - {asked["data"] for _, asked in self.tables}, set())


if __name__ == "__main__":
    unittest.main()
