# SPDX-License-Identifier: GPL-2.0
"""Lets the tests of the scenario runner find it, and holds what they share."""
import os
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
SCENARIOS = os.path.join(os.path.dirname(HERE), "scenarios")
RUN = os.path.join(os.path.dirname(HERE), "vrack", "run")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "vrack"))

from rack import variants, yamlfile  # noqa: E402
from rack.plan import Plan  # noqa: E402

RACK = """title: a test
topology:
  type: rack
  hosts:
    c[1-3]: {rate_gbps: 10}
    srv: {rate_gbps: 20}
  base_rtt_us: 20
workload:
  - {type: long, name: bulk, from: "c*", to: srv}
duration_s: 0.2
warmup_s: 0.1
"""


def expand(more="", sets=()):
    """The variants of the scenario above with more lines."""
    return variants.expand(yamlfile.parse(RACK + more, "test.yaml"), sets)


def plans(more="", sets=()):
    return [Plan(variant) for variant in expand(more, sets)]
