#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The runner as a program, with a shell script in place of the kernel."""
import json
import os
import re
import subprocess
import tempfile
import time
import unittest
from unittest import mock

import rack_path
from rack import progress
from rack_metrics_test import series, stats, vload

# The kernel's last words and what it leaves behind, by kind of guest.
GUESTS = {
    "good": 'cp "$HERE"/canned/* "$RUN"; echo ok > "$RUN/status"; : > "$RUN/dmesg.txt"',
    "hung": 'echo $$ > "$RUN/pid.part"; mv "$RUN/pid.part" "$RUN/pid"; sleep 600',
    "panic": "echo 'Kernel panic - not syncing: Attempted to kill init!'",
    "warning": 'cp "$HERE"/canned/* "$RUN"; echo ok > "$RUN/status"; '
               "echo 'WARNING: CPU: 0 PID: 1 at net/core/dev.c:1' > \"$RUN/dmesg.txt\"",
    "refused": 'echo "failed: the rack refused: nic add" > "$RUN/status"',
    "silent": "true",
    "unreadable": 'echo "{" > "$RUN/stats.json"; echo ok > "$RUN/status"',
}
KERNEL = """#!/bin/sh
HERE=$(dirname "$0") RUN=$(sed -n "s/^place run //p" init.sh)
"""


class Runner(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        os.makedirs(self.path("canned"))
        self.put("canned/stats.json", json.dumps(stats()))
        self.put("canned/vload.result.json", json.dumps(vload()))
        self.put("canned/series.txt", series())
        self.put("vrack.ko", "")
        self.put("vload", "#!/bin/sh\n", 0o755)

    def path(self, name):
        return os.path.join(self.directory, name)

    def put(self, name, text, mode=0o644):
        with open(self.path(name), "w", encoding="utf-8") as stream:
            stream.write(text)
        os.chmod(self.path(name), mode)

    def command(self, guest, more, *args):
        self.put("linux", KERNEL + GUESTS[guest] + "\n", 0o755)
        self.put("s.yaml", rack_path.RACK + more)
        return [rack_path.RUN, self.path("s.yaml"), "--kernel", self.path("linux"), "--modules",
                self.directory, "--vload", self.path("vload"), "--out", self.path("out"),
                "--no-plots", *args]

    def run_scenario(self, guest, more="", *args):
        return subprocess.run(self.command(guest, more, *args), capture_output=True, text=True,
                              check=False)

    def result(self):
        with open(self.path("out/result.json"), encoding="utf-8") as stream:
            return json.load(stream)


class Demo(Runner):
    def test_ends_with_a_sentence_the_table_and_nothing_of_bounds_that_hold(self):
        done = self.run_scenario("good", "bounds: [{metric: util, min: 0.9}]\n", "--demo")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"With base, 99 of 100 packets had a round trip below \d+ us, "
                                      r"and 90.0 % of the link was used\.\n(?s:.*)\nvariant +seeds ")
        self.assertNotIn("ok", done.stdout)

    def test_bound_that_does_not_hold_is_told(self):
        done = self.run_scenario("good", "bounds: [{metric: util, min: 0.95}]\n", "--demo")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"\Anot ok - s base: util >= 0.95")

    def test_guests_that_all_failed(self):
        done = self.run_scenario("panic", "", "--demo")
        self.assertEqual(done.returncode, 1)
        self.assertIn("No run ended well.", done.stdout)
        self.assertRegex(done.stderr, "base.1 FAILED: .*panic")

    def test_page__comes_with_the_demo_and_where_it_is_asked_for(self):
        page = self.path("out/report.html")
        self.run_scenario("good")
        self.assertFalse(os.path.exists(page))
        done = self.run_scenario("good", "", "--page")
        self.assertTrue(done.stdout.endswith(f"# {page}\n"), done.stdout)
        with open(page, encoding="utf-8") as stream:
            self.assertIn("what was measured", stream.read())
        # A page of before is no obstacle.
        done = self.run_scenario("good", "", "--demo")
        self.assertRegex(done.stdout.splitlines()[-1], r"^The page is .*out/report\.html$")


class WordsOfProgress(unittest.TestCase):
    def progress(self, total, elapsed_s):
        words = progress.Progress(total, True)
        words.elapsed_s = lambda: elapsed_s
        return words

    def test_rest_goes_on_like_what_is_done(self):
        words = self.progress(4, 100)
        words.ended(mock.Mock(failure=None, wall_s=1.0), "timely.1")
        words.line("timely.2", "vload:  50% (0.35 s)")
        words.line("timely.3", "vload:  50% (0.35 s)")
        self.assertEqual(words.left(), ", about 1 min 40 s left")

    def test_nothing_done_is_no_estimate(self):
        words = self.progress(4, 100)
        words.line("timely.2", "guest: load begins")
        self.assertEqual(words.left(), "")

    def test_run_that_ended_counts_once(self):
        words = self.progress(2, 10)
        words.line("timely.1", "vload: 100% (0.7 s)")
        words.ended(mock.Mock(failure=None, wall_s=1.0), "timely.1")
        self.assertEqual(words.left(), ", about 10 s left")


class Verdicts(Runner):
    def test_bounds_that_hold(self):
        done = self.run_scenario("good", "bounds: [{metric: util, min: 0.9}]\n", "--seeds", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^ok 1 - s base: util >= 0.9")
        result = self.result()
        self.assertTrue(result["pass"])
        self.assertEqual([seed["seed"] for seed in result["variants"][0]["seeds"]], [1, 2])
        self.assertEqual(result["bounds"][0]["per_seed"], {"1": 0.9, "2": 0.9})

    def test_bound_that_does_not(self):
        done = self.run_scenario("good", "bounds: [{metric: util, min: 0.95}]\n")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"(?m)^not ok 1 - s base: util >= 0.95: 0.9 ")

    def test_ill_guests_are_failures_with_a_log(self):
        for guest, reason in (("panic", "Kernel panic"), ("warning", "WARNING: CPU"),
                              ("refused", "the rack refused"), ("silent", "before its time"),
                              ("unreadable", "no result")):
            with self.subTest(guest=guest):
                done = self.run_scenario(guest, "bounds: [{metric: util, min: 0}]\n")
                self.assertEqual(done.returncode, 1)
                failure = self.result()["failures"][0]
                self.assertIn(reason, failure["reason"])
                self.assertTrue(os.path.exists(self.path("out/" + failure["log"])))
                self.assertEqual(len(re.findall("(?m)^not ok", done.stdout)), 2)

    def test_hung_guest_is_ended(self):
        done = self.run_scenario("hung", "wall_timeout_s: 1\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("hung", self.result()["failures"][0]["reason"])

    def test_end_of_the_runner_ends_its_guests(self):
        runner = subprocess.Popen(self.command("hung", "", "--seeds", "3", "--jobs", "2"),
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        guest_pid = self.path("out/runs/base.2/pid")
        while not os.path.exists(guest_pid) and runner.poll() is None:
            time.sleep(0.05)
        runner.terminate()
        self.assertNotEqual(runner.wait(), 0)
        with open(guest_pid, encoding="ascii") as stream:
            self.assertFalse(os.path.exists(f"/proc/{stream.read().strip()}/cwd"))

    def test_old_results_are_not_taken_for_new(self):
        self.run_scenario("good")
        self.assertEqual(self.run_scenario("silent").returncode, 1)

    def test_variants_and_seeds_by_choice(self):
        self.run_scenario("good", "variants: {a: {}, b: {}, bb: {}}\n", "--variant", "b*",
                          "--seeds", "4,7-9")
        result = self.result()
        self.assertEqual([variant["name"] for variant in result["variants"]], ["b", "bb"])
        self.assertEqual([seed["seed"] for seed in result["variants"][0]["seeds"]], [4, 7, 8, 9])

    def test_set_reaches_the_result(self):
        self.run_scenario("good", "", "--set", "nic.ring=77")
        self.assertEqual(self.result()["variants"][0]["settings"]["nic"]["ring"], 77)


class Usage(Runner):
    def refused(self, done, *words):
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_bad_file_tells_the_line(self):
        self.refused(self.run_scenario("good", "nic: {rings: 1}\n"), "s.yaml:12: ", "rings")

    def test_bad_arguments(self):
        self.refused(self.run_scenario("good", "", "--variant", "zz"), "zz")
        for seeds in ("many", "0", "4-3", "4,,5", "1-"):
            self.refused(self.run_scenario("good", "", "--seeds", seeds), f"--seeds {seeds}:")
        self.refused(self.run_scenario("good", "", "--set", "nic.ring"), "PATH=VALUE")
        self.refused(self.run_scenario("good", "", "--kernel", "/nonexistent"), "/nonexistent")
        self.refused(self.run_scenario("good", "", "--jobs", "0"), "jobs")
        self.refused(self.run_scenario("good", "host: {cc: timely}\n"), "tcp_timely")

    def test_list_metrics(self):
        done = subprocess.run([rack_path.RUN, "--list-metrics"], capture_output=True, text=True,
                              check=True)
        self.assertIn("rtt_us(stat='avg', sink=None)", done.stdout)


if __name__ == "__main__":
    unittest.main()
