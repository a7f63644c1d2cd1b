#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What selftests/battery makes of results: its rules, its table, its page, and what it need not run again."""
import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.realpath(__file__))
BATTERY = os.path.join(os.path.dirname(HERE), "battery")
# A scenario that the battery has: it looks for its result alone.
SCENARIO = "rpc"


def variant(name, least=0.9, rtos=0, failure=None, util=0.98, tail_us=50.0):
    metrics = {"util": util, "tail us": tail_us, "RTOs": rtos, "least share": least}
    return {"name": name, "seeds": [{"seed": 1, "failure": failure, "metrics": metrics}]}


def document_of(variants, commit="abc1234", arguments=(), failures=()):
    return {"scenario": {"file": SCENARIO + ".yaml", "title": "Requests", "source": "battery"}, "started": "2026-01-02T03:04:05",
            "versions": {"turnpike": commit, "kernel": "6.12.1"}, "arguments": list(arguments), "failures": list(failures),
            "bounds": [], "variants": list(variants)}


class Battery(unittest.TestCase):
    def run_on(self, *variants, row=SCENARIO, options=(), said="profile: timely\n"):
        with tempfile.TemporaryDirectory() as out:
            os.mkdir(os.path.join(out, SCENARIO))
            with open(os.path.join(out, SCENARIO, "result.json"), "w", encoding="utf-8") as stream:
                json.dump(document_of(variants), stream)
            recommended = os.path.join(out, "recommended")
            with open(recommended, "w", encoding="utf-8") as stream:
                stream.write(said)
            options = [*options, "--recommended", recommended]
            return subprocess.run([sys.executable, BATTERY, "--table", "--row", row, "--out", out, *options], check=False,
                                  text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_ours__within_the_rules_is_0(self):
        ended = self.run_on(variant("cubic,10g"), variant("timely,10g"))
        self.assertEqual(ended.returncode, 0)
        self.assertNotIn("!", ended.stdout)

    def test_ours__with_a_starved_flow_is_1(self):
        ended = self.run_on(variant("timely,10g", least=0.24), variant("all,10g", least=0.25))
        self.assertEqual(ended.returncode, 1)
        self.assertEqual(ended.stdout.count("!"), 1)

    def test_ours__with_a_timeout_is_1(self):
        self.assertEqual(self.run_on(variant("all,10g", rtos=1)).returncode, 1)

    def test_ours__least_share_is_of_the_worst_seed(self):
        starved = variant("timely")
        starved["seeds"].append({"seed": 2, "failure": None, "metrics": {"least share": 0.1}})
        self.assertEqual(self.run_on(starved).returncode, 1)

    def test_ours__without_long_flows_has_no_share_to_keep(self):
        self.assertEqual(self.run_on(variant("timely", least=None)).returncode, 0)

    def test_ours__is_not_judged_for_what_its_congestion_control_does_alone(self):
        self.assertEqual(self.run_on(variant("bbr", rtos=3), variant("bbr+tlt", rtos=2), variant("timely")).returncode, 0)
        self.assertEqual(self.run_on(variant("bbr"), variant("bbr+tlt", rtos=2), variant("timely")).returncode, 1)
        self.assertEqual(self.run_on(variant("bbr", rtos=3), variant("bbr+tlt", least=0.1)).returncode, 1)
        self.assertEqual(self.run_on(variant("bbr", least=0.2), variant("bbr+tlt", least=0.1)).returncode, 0)

    def test_linux__is_measured_and_not_judged(self):
        self.assertEqual(self.run_on(variant("bbr", least=0.01, rtos=9), variant("timely")).returncode, 0)

    def test_run__that_failed_is_2(self):
        ended = self.run_on(variant("timely", failure="no guest"))
        self.assertEqual(ended.returncode, 2)
        self.assertIn("failed", ended.stdout)

    def test_recommended__is_within_5_percent_of_the_most_throughput(self):
        self.assertEqual(self.run_on(variant("cubic", util=0.98), variant("timely", util=0.932)).returncode, 0)
        ended = self.run_on(variant("cubic", util=0.98), variant("timely", util=0.930))
        self.assertEqual(ended.returncode, 1)
        self.assertIn("short: rpc: timely has 93.0 % of the link, cubic 98.0: nobody says why", ended.stdout)

    def test_recommended__that_falls_short_for_a_reason_is_0(self):
        ended = self.run_on(variant("cubic", util=0.98), variant("timely", util=0.5),
                            said="profile: timely\nshort: {rpc: a reason}\n")
        self.assertEqual(ended.returncode, 0)
        self.assertIn("timely has 50.0 % of the link, cubic 98.0: a reason", ended.stdout)

    def test_recommended__may_be_another_for_a_network(self):
        said = "profile: timely\nnetworks: {rpc: {profile: all}}\n"
        self.assertEqual(self.run_on(variant("cubic", util=0.98), variant("timely", util=0.5), variant("all"), said=said).returncode, 0)

    def test_recommended__is_within_5_percent_of_the_shortest_tail(self):
        self.assertEqual(self.run_on(variant("dctcp", tail_us=100), variant("timely", tail_us=104)).returncode, 0)
        self.assertEqual(self.run_on(variant("dctcp", tail_us=100), variant("timely", tail_us=106)).returncode, 1)

    def test_recommended__is_alone_held_to_that(self):
        self.assertEqual(self.run_on(variant("dctcp", tail_us=100), variant("timely"), variant("all", util=0.5)).returncode, 0)

    def test_tail__of_who_leaves_the_link_empty_is_no_measure(self):
        self.assertEqual(self.run_on(variant("cubic", tail_us=900), variant("vegas", util=0.5, tail_us=20),
                                     variant("timely", tail_us=500)).returncode, 0)

    def test_json__has_cells_and_the_recommended(self):
        with tempfile.NamedTemporaryFile() as file:
            self.run_on(variant("timely", util=0.9), options=["--json", file.name])
            row = json.load(file)["rpc"]
            self.assertEqual(row["recommended"], "timely")
            self.assertEqual(row["timely"]["util"], 0.9)

    def test_table__has_the_best_of_linux_by_name(self):
        ended = self.run_on(variant("cubic,10g", util=1.0, tail_us=4000.0), variant("dctcp,10g", util=0.99, tail_us=90.0),
                            variant("timely,10g"))
        self.assertIn("100.0 cubic", ended.stdout)
        self.assertIn("90 dctcp", ended.stdout)
        self.assertIn("98.0 50 0.90", ended.stdout)

    def test_table__of_nothing_says_what_to_do(self):
        ended = self.run_on(row="long")
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("run without --table first", ended.stderr)

    def test_row__that_is_none_is_refused(self):
        self.assertIn("no scenario has 'nonesuch'", self.run_on(row="nonesuch").stderr)


def program():
    """selftests/battery, whose name does not end in .py."""
    loader = importlib.machinery.SourceFileLoader("battery", BATTERY)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("battery", loader))
    loader.exec_module(module)
    return module


battery = program()


class Kept(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        self.data = os.path.join(self.place.name, "data")
        self.runs = []

    def write(self, **of):
        variants = of.pop("variants", [variant("cubic,10g"), variant("timely,10g", util=0.5)])
        os.makedirs(os.path.join(self.place.name, SCENARIO), exist_ok=True)
        with open(os.path.join(self.place.name, SCENARIO, "result.json"), "w", encoding="utf-8") as stream:
            json.dump(document_of(variants, **of), stream)

    def main(self, *words):
        with mock.patch.object(sys, "argv", ["battery", "--row", SCENARIO, "--out", self.place.name, *words]), \
             mock.patch.object(battery.profiles, "DATA", self.data), \
             mock.patch.object(battery.tools, "git_version", lambda: "abc1234"), \
             mock.patch.object(battery.subprocess, "run", self.run_instead), \
             mock.patch("sys.stdout"):
            self.runs = []
            return battery.main()

    def run_instead(self, command, **_):
        self.runs.append(command)
        return subprocess.CompletedProcess(command, 0)

    def page(self):
        self.main("--take")
        return battery.profiles.page(self.data)

    def test_take__and_page_have_rows_and_where_it_falls_short(self):
        self.write(arguments=["--seeds", "1"])
        page = self.page()
        self.assertIn("   * - rpc 10g\n     - 98.0 cubic\n     - 50 cubic\n     - 50.0 50 0.90*\n", page)
        self.assertIn("``selftests/battery --row rpc --seeds 1-1``,\ncommit abc1234, 2026-01-02, Linux 6.12.1.", page)
        self.assertIn("* rpc 10g: ``timely`` has 50.0 % of the link, cubic 98.0: nobody says why", page)

    def test_page__that_falls_short_nowhere_says_so(self):
        self.write(variants=[variant("cubic,10g"), variant("timely,10g")])
        self.assertIn("Nowhere.", self.page())

    def test_take__refuses_a_tree_without_a_commit(self):
        self.write(commit="abc1234-dirty")
        with self.assertRaisesRegex(SystemExit, "no commit has"):
            self.main("--take")

    def test_run__at_this_commit_with_the_same_seeds_is_not_made_again(self):
        self.write(arguments=["rpc.yaml", "--seeds", "1"])
        self.main()
        self.assertEqual(self.runs, [])

    def test_run__with_other_seeds_or_again_is_made(self):
        self.write(arguments=["rpc.yaml", "--seeds", "1"])
        for words in (["--seeds", "2"], ["--again"]):
            with self.subTest(words=words):
                self.main(*words)
                self.assertEqual(len(self.runs), 1)


if __name__ == "__main__":
    unittest.main()
