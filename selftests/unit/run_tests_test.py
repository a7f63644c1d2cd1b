#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""selftests/run-tests: what it counts of a program's output, and when time is over; --list builds nothing."""
import importlib.machinery
import importlib.util
import os
import subprocess
import tempfile
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.realpath(__file__))
RUN_TESTS = os.path.join(os.path.dirname(HERE), "run-tests")
LOADER = importlib.machinery.SourceFileLoader("run_tests", RUN_TESTS)
run_tests = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_tests", LOADER))
LOADER.exec_module(run_tests)


def judged(*lines, status=0):
    result = run_tests.judge(run_tests.Test("unit", "program", []), status, lines)
    return result.passed, len(result.failed), len(result.skipped)


class Judge(unittest.TestCase):
    def test_ktap__counts_cases(self):
        self.assertEqual(judged("TAP version 13", "ok 1 - a", "not ok 2 - b", "ok 3 - c # SKIP no such device", status=1),
                         (1, 1, 1))

    def test_ktap__nested_cases_are_not_counted(self):
        self.assertEqual(judged("    not ok 1 - inner", "ok 1 - outer"), (1, 0, 0))

    def test_googletest__counts_cases_once(self):
        self.assertEqual(judged("[       OK ] A.b (0 ms)", "[  FAILED  ] A.c (1 ms)", "[  FAILED  ] A.c", status=1), (1, 1, 0))

    def test_unittest__counts_cases(self):
        self.assertEqual(judged("FAIL: test_a", "Ran 3 tests in 0.1s", "FAILED (failures=1, skipped=1)", status=1), (1, 1, 1))

    def test_program__without_cases_is_its_status(self):
        self.assertEqual(judged("said something"), (1, 0, 0))
        self.assertEqual(judged("said something", status=4), (0, 0, 1))
        self.assertEqual(judged("said something", status=1), (0, 1, 0))

    def test_program__that_dies_after_good_cases_fails(self):
        self.assertEqual(judged("ok 1 - a", status=139), (1, 1, 0))


class TimeIsOver(unittest.TestCase):
    def run_it(self, begin_s, *command):
        """Counts of a program in a run that has so many seconds in which to begin it."""
        limit = run_tests.schedule.Limit(begin_s / 60)
        limit.GRACE_S = 2
        with mock.patch.object(run_tests, "LIMIT", limit), tempfile.TemporaryDirectory() as logs, \
                mock.patch.object(run_tests, "LOGS", logs):
            return run_tests.run_test(run_tests.Test("unit", "program", command))

    def test_program__that_may_not_begin_is_skipped(self):
        result = self.run_it(0, "false")
        self.assertEqual([result.passed, result.failed, len(result.skipped)], [0, [], 1])

    def test_program__that_does_not_end_counts_what_it_found(self):
        result = self.run_it(1, "sh", "-c", "echo ok 1 - a; echo not ok 2 - b; sleep 600")
        self.assertEqual([result.passed, result.failed, len(result.skipped)], [1, ["b"], 1])
        self.assertIn("no time left", result.skipped[0])

    def test_program__that_ends_in_time_is_whole(self):
        result = self.run_it(1, "sh", "-c", "echo ok 1 - a")
        self.assertEqual([result.passed, result.failed, result.skipped], [1, [], []])


class List(unittest.TestCase):
    def run_it(self, *arguments):
        return subprocess.run([RUN_TESTS, "--list", *arguments], check=False, text=True, stdout=subprocess.PIPE)

    def test_list__names_programs_and_prepares_nothing(self):
        ended = self.run_it()
        self.assertEqual(ended.returncode, 0)
        names = ended.stdout.splitlines()
        self.assertIn("unit/run_tests_test.py", names)
        self.assertIn(f"{run_tests.MAIN}/sch_onramp-hold", names)
        self.assertEqual([name for name in names if " " in name], [])

    def test_list__of_all_that_is_reproduced(self):
        self.assertIn("reproduce/battery", self.run_it("reproduce").stdout.splitlines())

    def test_list__of_a_fleet_is_on_request(self):
        self.assertEqual([name for name in self.run_it().stdout.splitlines() if name.startswith("fleet/")], [])
        self.assertEqual(self.run_it("fleet").stdout.splitlines(), ["fleet/rollout"])

    def test_list__knows_no_other_tier(self):
        ended = subprocess.run([RUN_TESTS, "--list", "nonesuch"], check=False, stderr=subprocess.DEVNULL)
        self.assertNotEqual(ended.returncode, 0)


if __name__ == "__main__":
    unittest.main()
