#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What selftests/battery makes of results: its rules and its table."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.realpath(__file__))
BATTERY = os.path.join(os.path.dirname(HERE), "battery")
# A scenario that the battery has: it looks for its result alone.
SCENARIO = "rpc"


def variant(name, least=0.9, rtos=0, failure=None, util=0.98, tail_us=50.0):
    metrics = {"util": util, "tail us": tail_us, "RTOs": rtos}
    return {"name": name, "metrics": metrics,
            "seeds": [{"failure": failure, "metrics": {"least share": least}}]}


class Battery(unittest.TestCase):
    def run_on(self, *variants, row=SCENARIO, options=(), said="profile: timely\n"):
        with tempfile.TemporaryDirectory() as out:
            os.mkdir(os.path.join(out, SCENARIO))
            with open(os.path.join(out, SCENARIO, "result.json"), "w", encoding="utf-8") as stream:
                json.dump({"scenario": {"file": SCENARIO + ".yaml"}, "variants": variants}, stream)
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
        starved["seeds"].append({"failure": None, "metrics": {"least share": 0.1}})
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


if __name__ == "__main__":
    unittest.main()
