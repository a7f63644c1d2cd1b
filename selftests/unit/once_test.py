#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""selftests/vrack/once: a scenario that ran to its end at this commit does not run again."""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import tempfile
import unittest
from unittest import mock

import rack_path
from results_test import result

ONCE = os.path.join(os.path.dirname(rack_path.RUN), "once")
RUNNER = """#!/bin/sh
echo ran
exit 3
"""


def program():
    loader = importlib.machinery.SourceFileLoader("once", ONCE)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("once", loader))
    loader.exec_module(module)
    return module


once = program()


class Once(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.out = directory.name
        runner = os.path.join(self.out, "runner")
        with open(runner, "w", encoding="utf-8") as stream:
            stream.write(RUNNER)
        os.chmod(runner, 0o755)
        for patch in (mock.patch.object(once, "RUN", runner), mock.patch.object(once.tools, "git_version", lambda: "abc1234")):
            patch.start()
            self.addCleanup(patch.stop)

    def run_it(self, document, *words):
        if document:
            with open(os.path.join(self.out, "result.json"), "w", encoding="utf-8") as stream:
                json.dump({**document, "arguments": ["some.yaml", "--seeds", "5"]}, stream)
        told = io.StringIO()
        with contextlib.redirect_stdout(told):
            status = once.main(["some.yaml", *(words or ("--seeds", "5")), "--out", self.out])
        return status, told.getvalue()

    def test_done__is_told_and_not_run(self):
        status, told = self.run_it({**result(), "pass": True})
        self.assertEqual(status, 0)
        self.assertIn("ok 1 - some timely: link at least 0.9: 0.95\nok 2 - some bbr: tail at most 50: 60.0\n", told)

    def test_done__with_a_bound_that_does_not_hold_fails(self):
        status, told = self.run_it({**result(passes=False), "pass": False})
        self.assertEqual(status, 1)
        self.assertIn("not ok 2 - some bbr: tail", told)

    def test_skipped_bound__stays_skipped(self):
        self.assertIn("# SKIP left out\n", self.run_it({**result(skipped="left out"), "pass": True})[1])

    def test_other_commit_seeds_or_nothing__runs(self):
        self.assertEqual(self.run_it(None), (3, ""))
        self.assertEqual(self.run_it({**result(commit="def"), "pass": True})[0], 3)
        self.assertEqual(self.run_it({**result(), "pass": True}, "--seeds", "4")[0], 3)
        self.assertEqual(self.run_it({**result(failures=[{"reason": "hung"}]), "pass": False})[0], 3)


if __name__ == "__main__":
    unittest.main()
