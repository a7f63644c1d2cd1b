#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""selftests/figures: what this tree's table of the papers' figures asks for, and what the program makes of results."""
import fnmatch
import glob
import importlib.machinery
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import rack_path
from rack import scenario, table, variants
from results_test import result

FIGURES = os.path.join(os.path.dirname(rack_path.SCENARIOS), "figures")
PAPERS = ("TIMELY15", "ECNDELAY16", "TLT21", "CS244", "ONRAMP21")


def program():
    """selftests/figures, whose name does not end in .py."""
    loader = importlib.machinery.SourceFileLoader("figures", FIGURES)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("figures", loader))
    loader.exec_module(module)
    return module


figures = program()
ROW = {"figure": "some-1", "item": "TIMELY15 figure 1", "claim": "less < more", "scenario": "some"}


class Table(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rows = figures.claims.table()
        cls.scenarios = {os.path.basename(path).removesuffix(".yaml"): variants.expand(scenario.read(path))
                         for path in glob.glob(os.path.join(rack_path.SCENARIOS, "*.yaml"))}

    def measured(self):
        return [(row, self.scenarios[row["scenario"]]) for row in self.rows if "scenario" in row]

    def test_rows__have_one_name_and_known_keys(self):
        self.assertEqual(len({row["figure"] for row in self.rows}), len(self.rows))
        for row in self.rows:
            self.assertEqual(set(row) - figures.KEYS, set(), row["figure"])
            self.assertIn(row["item"].split()[0], PAPERS)
            self.assertTrue(row["claim"])

    def test_rows__are_measured_or_say_what_they_need(self):
        for row in self.rows:
            self.assertNotEqual("scenario" in row, "needs" in row, row["figure"])

    def test_rows__count_the_fifty_figures(self):
        self.assertEqual(sum(row.get("counts", 1) for row in self.rows), 50)

    def test_scenarios_of_papers__are_in_a_row(self):
        of_papers = {name for name, found in self.scenarios.items()
                     if found[0].settings["source"].startswith(PAPERS)}
        asked = {row["scenario"] for row in self.rows if "scenario" in row}
        # what asks how a scenario of a paper bears other networks is no figure
        self.assertEqual(of_papers - asked, {"timely-table1-ecmp", "timely-frontier", "onramp-stamps", "onramp-ptp"})

    def test_forms__name_variants_and_metrics_of_their_scenario(self):
        for row, found in self.measured():
            titles = {title for title, _, _ in table.columns(found[0].settings)}
            for variant, form in row.get("ours", {}).items():
                self.assertIn(variant, [known.name for known in found], row["figure"])
                self.assertEqual(set(figures.claims.cells.names_in(form)) - titles, set(), row["figure"])

    def test_bounds__each_pattern_names_one_of_the_scenario(self):
        for row, found in self.measured():
            bounds = [(bound["name"] or bound["metric"], bound["variant"]) for bound in found[0].settings["bounds"]]
            self.assertTrue(bounds, row["figure"])
            for name, patterns in row.get("bounds", {}).items():
                named = [of for known, of in bounds if fnmatch.fnmatchcase(known, name)]
                self.assertTrue(named, f"{row['figure']}: {name}")
                for pattern in patterns:
                    self.assertTrue(any(fnmatch.fnmatchcase(variant.name, pattern) for variant in found), pattern)


class Verdicts(unittest.TestCase):
    def state(self, document, **more):
        return figures.verdict({**ROW, **more}, document)

    def test_claim__holds_where_all_its_bounds_do(self):
        self.assertEqual(self.state(result())["state"], "holds")

    def test_claim__fails_with_one_bound_and_says_which(self):
        found = self.state(result(passes=False))
        self.assertEqual(found["state"], "does not hold")
        self.assertEqual(found["why"], "bbr: tail at most 50, measured 60.0")

    def test_claim__is_of_the_bounds_that_are_named(self):
        self.assertEqual(self.state(result(passes=False), bounds={"link": ["*"]})["state"], "holds")
        self.assertEqual(self.state(result(passes=False), bounds={"*": ["timely"]})["state"], "holds")
        self.assertEqual(self.state(result(passes=False), bounds={"t*": ["b*"]})["state"], "does not hold")

    def test_claim__without_a_bound_that_was_measured_is_not_held(self):
        self.assertEqual(self.state(result(), bounds={"nothing": ["*"]})["state"], "not run")
        self.assertEqual(self.state(result(skipped="left out"), bounds={"tail": ["*"]})["state"], "not run")

    def test_run_that_failed__is_no_verdict(self):
        found = self.state(result(failures=[{"reason": "hung"}]))
        self.assertEqual((found["state"], found["why"]), ("run failed", "hung"))

    def test_figure__that_is_not_there_says_what_is_missing(self):
        row = {key: value for key, value in ROW.items() if key != "scenario"}
        self.assertEqual(figures.verdict({**row, "needs": "PFC"}, None)["state"], "not built")
        self.assertEqual(self.state(None)["state"], "not run")

    def test_ours__are_means_over_the_seeds(self):
        self.assertEqual(self.state(result(), ours={"timely": "{util:.2f}", "left out": "{util}", "bbr": "{of another tree}"})["ours"],
                         ["timely: 0.95"])


class Runs(unittest.TestCase):
    def options(self, *words):
        return figures.arguments(words)

    def done(self, document, *words, commit="abc1234"):
        return figures.kept.is_done(document, figures.command_of("timely-table1", self.options(*words), "out"), commit)

    def document(self, *arguments, **more):
        return result(arguments=["x.yaml", "--jobs", "1", *arguments], **more)

    def test_run__that_ended_is_not_run_again(self):
        self.assertTrue(self.done(self.document("--seeds", "5")))

    def test_run__of_other_seeds_another_tree_or_that_failed_is(self):
        self.assertFalse(self.done(None))
        self.assertFalse(self.done(self.document("--seeds", "4")))
        self.assertFalse(self.done(self.document("--seeds", "5"), commit="def"))
        self.assertFalse(self.done(self.document("--seeds", "5", commit="abc-dirty"), commit="abc-dirty"))
        self.assertFalse(self.done(self.document("--seeds", "5", failures=[{"reason": "hung"}])))
        self.assertFalse(self.done(self.document("--seeds", "5"), "--quick"))

    def test_quick__has_one_seed_and_a_third_of_the_time(self):
        command = figures.command_of("timely-table1", self.options("--quick"), "out")
        self.assertEqual(figures.kept.asked_for(command), ["--seeds", "1", "--set", "duration_s=0.2333"])

    def test_quick__leaves_the_time_of_what_names_times(self):
        for text in ("metrics: {x: 'jain_between(0.2, 0.3)'}", "workload: [{start_s: 0.2}]",
                     "metrics: {x: 'rate_gbps(at=0.2)'}", "metrics: {x: 'queue_clear_ms(1, 0.2)'}"):
            self.assertEqual(figures.quick_options("duration_s: 0.3\n" + text), [], text)
        self.assertEqual(figures.quick_options("duration_s: 0.3\ntitle: what comes after\n"), ["--set", "duration_s=0.1"])

    def test_estimate__is_by_the_weight_of_what_is_left(self):
        self.assertEqual(figures.estimate(60, 1, [1, 2, 1]), ", about 3 min left")
        self.assertEqual(figures.estimate(3600, 1, [1, 2]), ", about 2.0 h left")
        self.assertEqual(figures.estimate(0, 0, [1, 2]), "")


FAKE = """#!/usr/bin/python3
import json, os, sys
here = os.path.dirname(os.path.abspath(__file__))
if "--check" in sys.argv:
    print("one two")
    sys.exit()
with open(os.path.join(here, "calls"), "a") as calls:
    print(os.path.basename(sys.argv[1]), file=calls)
document = json.load(open(os.path.join(here, "canned.json")))
document["arguments"] = sys.argv[1:]
if not os.path.exists(os.path.join(here, "silent")):
    with open(os.path.join(sys.argv[sys.argv.index("--out") + 1], "result.json"), "w") as out:
        json.dump(document, out)
"""


class RunAll(unittest.TestCase):
    """The runner of scenarios is a program that leaves what it was told to."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.place = directory.name
        self.write("run", FAKE)
        os.chmod(os.path.join(self.place, "run"), 0o755)
        self.write("canned.json", json.dumps(result()))
        for patch in (mock.patch.object(figures, "RUN", os.path.join(self.place, "run")), mock.patch("sys.stderr"),
                      mock.patch.object(figures.tools, "git_version", lambda: "abc1234")):
            patch.start()
            self.addCleanup(patch.stop)

    def write(self, name, text):
        with open(os.path.join(self.place, name), "w", encoding="utf-8") as stream:
            stream.write(text)

    def calls(self):
        try:
            with open(os.path.join(self.place, "calls"), encoding="utf-8") as stream:
                return stream.read().split()
        except OSError:
            return []

    def run_all(self, *words, scenarios=("timely-table1", "timely-table1", "timely-fig17")):
        figures.run_all([{**ROW, "scenario": name} for name in scenarios], figures.arguments(words), self.place)

    def test_scenarios__each_once_whichever_figures_ask(self):
        self.run_all()
        self.assertEqual(self.calls(), ["timely-table1.yaml", "timely-fig17.yaml"])
        with open(os.path.join(self.place, "index.json"), encoding="utf-8") as stream:
            self.assertIn("holds", [entry["state"] for entry in json.load(stream)])

    def test_runs__go_on_where_they_stopped(self):
        self.run_all(scenarios=("timely-table1",))
        self.run_all()
        self.assertEqual(self.calls(), ["timely-table1.yaml", "timely-fig17.yaml"])
        self.run_all("--again", scenarios=("timely-table1",))
        self.assertEqual(len(self.calls()), 3)

    def test_result__of_before_is_not_taken_for_a_new_one(self):
        self.run_all(scenarios=("timely-table1",))
        self.write("silent", "")
        self.run_all("--again", scenarios=("timely-table1",))
        self.assertIsNone(figures.kept.load(figures.result_path("timely-table1", self.place)))


class Index(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.out = directory.name
        os.mkdir(os.path.join(self.out, "some"))

    def write(self, document, **more):
        with open(os.path.join(self.out, "some", "result.json"), "w", encoding="utf-8") as stream:
            json.dump(document, stream)
        return figures.write_index([{**ROW, **more}], self.out)

    def read(self, name):
        with open(os.path.join(self.out, name), encoding="utf-8") as stream:
            return stream.read()

    def test_index__is_of_the_results_that_are_there(self):
        open(os.path.join(self.out, "some", "cdf.png"), "w", encoding="utf-8").close()
        self.write(result(passes=False))
        found, = json.loads(self.read("index.json"))
        self.assertEqual((found["state"], found["seeds"], found["commit"]), ("does not hold", [1, 2], "abc1234"))
        self.assertEqual(found["plots"], ["some/cdf.png"])
        self.assertEqual(found["command"], "make reproduce FIG=some-1")

    def test_page__escapes_and_needs_nothing_from_elsewhere(self):
        self.write(result())
        text = self.read("index.html")
        self.assertIn("less &lt; more", text)
        self.assertIn("Of 1 figures on hosts' behaviour: 1 holds.", text.replace("&#x27;", "'"))
        self.assertIsNone(re.search(r"https?://|<script", text))

    def test_reason__stands_where_a_claim_does_not_hold(self):
        for passes, found in ((False, 1), (True, 0)):
            self.write(result(passes=passes), reason="queues < empty")
            self.assertEqual(self.read("index.html").count("queues &lt; empty"), found)
            self.assertEqual(json.loads(self.read("index.json"))[0]["reason"], "queues < empty")

    def test_result__that_is_cut_off_is_not_there(self):
        with open(os.path.join(self.out, "some", "result.json"), "w", encoding="utf-8") as stream:
            stream.write("{")
        self.assertEqual(figures.write_index([ROW], self.out)[0]["state"], "not run")

    def test_index__without_results_is_written(self):
        self.assertEqual(figures.write_index([ROW], os.path.join(self.out, "new"))[0]["state"], "not run")


class Usage(unittest.TestCase):
    def run_it(self, *words):
        return subprocess.run([sys.executable, FIGURES, *words], capture_output=True, text=True, check=False)

    def test_figure__that_is_none_is_refused(self):
        done = self.run_it("--list", "timely-99")
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no figure 'timely-99'", done.stderr)

    def test_list__names_those_of_a_pattern(self):
        done = self.run_it("--list", "ecn-*")
        self.assertEqual(len(done.stdout.splitlines()), sum(row["figure"].startswith("ecn-") for row in figures.claims.table()))

    def test_list__names_all_without_a_pattern(self):
        self.assertEqual(len(self.run_it("--list").stdout.splitlines()), len(figures.claims.table()))

    def test_status__is_one_if_a_claim_does_not_hold(self):
        entry = {"figure": "some-1", "why": "", "counts": 1}
        with mock.patch("builtins.print"):
            for state, status in (("holds", 0), ("not built", 0), ("not run", 0), ("does not hold", 1), ("run failed", 1)):
                self.assertEqual(figures.tell([{**entry, "state": "holds"}, {**entry, "state": state}]), status)

    def test_number__that_is_none_is_refused(self):
        self.assertEqual(self.run_it("--list", "--seeds", "0").returncode, 2)


if __name__ == "__main__":
    unittest.main()
