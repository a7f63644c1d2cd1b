#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Documentation/scenario.rst names every key, metric, option and result field."""
import os
import re
import subprocess
import unittest

import rack_path
from rack import metrics, scenario, topology
from rack.schema import Choice, ListOf, MapOf, Record

PAGE = os.path.join(rack_path.HERE, "..", "..", "Documentation", "scenario.rst")


def keys(field):
    """Every key below a field of the format."""
    if isinstance(field, Record):
        for name, child in field.fields.items():
            yield name
            yield from keys(child)
    elif isinstance(field, Choice):
        for name, record in field.records.items():
            yield name
            yield from keys(record)
    elif isinstance(field, (ListOf, MapOf)):
        yield from keys(field.child(""))


class Page(unittest.TestCase):
    def setUp(self):
        with open(PAGE, encoding="utf-8") as stream:
            self.words = set(re.findall(r"[\w-]+", stream.read()))

    def test_keys(self):
        self.assertEqual({key for key in keys(scenario.SCHEMA)} - self.words, set())

    def test_topologies(self):
        self.assertEqual(set(topology.SCHEMA.records) - self.words, set())

    def test_metrics(self):
        self.assertEqual(set(metrics.METRICS) - self.words, set())

    def test_options(self):
        usage = subprocess.run([rack_path.RUN, "--help"], capture_output=True, text=True,
                               check=True).stdout
        self.assertEqual(set(re.findall(r"--[a-z-]+", usage)) - {"--help", "--quiet"} - self.words,
                         set())

    def test_result_fields(self):
        path = os.path.join(rack_path.HERE, "..", "vrack", "rack", "report.py")
        with open(path, encoding="utf-8") as stream:
            fields = set(re.findall(r'"([a-z_]+)":', stream.read()))
        self.assertEqual(fields - self.words, set())


if __name__ == "__main__":
    unittest.main()
