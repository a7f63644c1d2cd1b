#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The gate of a rollout: is a host worse off than before?"""
import copy
import importlib.util
import os
import sys
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
SOURCE = os.path.join(TOP, "tools/deploy/ansible/plugins/module_utils/gate.py")
sys.dont_write_bytecode = True
SPEC = importlib.util.spec_from_file_location("gate", SOURCE)
gate = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(gate)

FINE = [{"check": "module", "severity": "fine", "what": "there"}]
SS = """0 0 10.0.0.1:5000 10.0.0.2:4000
\t cubic wscale:7,7 rto:204 rtt:0.25/0.02 minrtt:0.02 rcv_rtt:9.5
0 0 10.0.0.1:5000 10.0.0.3:4000
\t timely wscale:7,7 rtt:1.5/0.1 ato:40
"""


def sample(segments, retransmits=0, timeouts=0, drops=0, rtts=(50.0,) * 100, findings=None, verdict="working"):
    return {"segments": segments, "retransmits": retransmits, "timeouts": timeouts, "drops": drops,
            "rtts_us": list(rtts), "findings": findings or FINE, "verdict": verdict, "set_up": True}


def host(**after):
    """Samples of a host that sends 100000 segments in either window, with so much in that after the change."""
    return [sample(0), sample(100000), sample(100000), sample(200000, **after)]


def verdict(samples, *more):
    return gate.judge(samples, *more)["verdict"]


class Sample(unittest.TestCase):
    STATUS = {"namespaces": [{"verdict": "working", "setup": None, "devices": [{"drops": 3}]},
                             {"verdict": "idle", "setup": {}, "devices": [{"drops": 4}, {"drops": 1}]}]}
    COUNTERS = {"TcpOutSegs": 10, "TcpRetransSegs": 2, "TcpExtTCPTimeouts": 1}

    def test_sample__is_what_programs_say(self):
        self.assertEqual(gate.sample_of(self.STATUS, FINE, self.COUNTERS, SS),
                         {"segments": 10, "retransmits": 2, "timeouts": 1, "drops": 8, "rtts_us": [250.0, 1500.0],
                          "verdict": "working", "set_up": False, "findings": FINE})

    def test_sample__set_up(self):
        status = copy.deepcopy(self.STATUS)
        status["namespaces"][0]["setup"] = {"differs": []}
        self.assertTrue(gate.sample_of(status, FINE, self.COUNTERS, "")["set_up"])

    def test_rtts__are_not_those_of_the_receiver(self):
        self.assertEqual(gate.rtts_of("x rcv_rtt:9.5 minrtt:1/2"), [])


class Window(unittest.TestCase):
    def test_window__is_what_was_added(self):
        window = gate.window_of(sample(5, 4, 3, 2, [1.0]), sample(50, 40, 30, 20, [2.0]))
        self.assertEqual(window, {"segments": 45, "retransmits": 36, "timeouts": 27, "drops": 18, "rtts_us": [1.0, 2.0]})

    def test_window__counters_that_began_anew(self):
        self.assertEqual(gate.window_of(sample(100, drops=70), sample(120, drops=4))["drops"], 4)

    def test_percentile__is_the_nearest_rank(self):
        self.assertEqual(gate.percentile([3, 1, 2], 0.99), 3)
        self.assertEqual(gate.percentile(list(range(1, 101)), 0.99), 99)
        self.assertEqual(gate.percentile([7], 0.5), 7)


class Verdict(unittest.TestCase):
    def test_verdict__no_change_passes(self):
        self.assertEqual(gate.judge(host()), {"verdict": "pass", "reasons": []})

    def test_verdict__more_of_a_counter_fails(self):
        # 1 of 1000 is allowed, and three deviations: 100 + 30; of timeouts 10 + 9.
        for name, most in (("retransmits", 130), ("drops", 130), ("timeouts", 19)):
            self.assertEqual(verdict(host(**{name: most})), "pass", name)
            judged = gate.judge(host(**{name: most + 1}))
            self.assertEqual(judged["verdict"], "fail", name)
            self.assertIn(name, judged["reasons"][0])

    def test_verdict__what_was_before_is_allowed(self):
        samples = [sample(0), sample(100000, retransmits=900), sample(100000, retransmits=900),
                   sample(200000, retransmits=1900)]
        self.assertEqual(verdict(samples), "pass")

    def test_verdict__counts_are_those_of_the_traffic(self):
        # Half of the traffic with all of the retransmissions of before.
        samples = [sample(0), sample(100000, retransmits=5000), sample(100000, retransmits=5000),
                   sample(150000, retransmits=10000)]
        self.assertEqual(verdict(samples), "fail")

    def test_verdict__a_longer_tail_fails(self):
        self.assertEqual(verdict(host(rtts=[50.0] * 80 + [151.0] * 20)), "fail")
        self.assertEqual(verdict(host(rtts=[50.0] * 80 + [150.0] * 20)), "pass")

    def test_verdict__a_tail_that_is_longer_by_a_small_share_passes(self):
        samples = [sample(0, rtts=[1000.0] * 9), sample(100000, rtts=[1000.0] * 9),
                   sample(100000, rtts=[1250.0] * 9), sample(200000, rtts=[1250.0] * 9)]
        self.assertEqual(verdict(samples), "pass")
        samples[3]["rtts_us"] = [1251.0] * 9
        self.assertEqual(verdict(samples), "fail")

    def test_verdict__what_is_broken_fails(self):
        broken = [{"check": "module", "severity": "broken", "what": "gone"}]
        self.assertEqual(gate.judge(host(findings=broken)), {"verdict": "fail", "reasons": ["doctor, module: gone"]})
        samples = host(findings=broken)
        samples[1]["findings"] = broken
        self.assertEqual(verdict(samples), "fail")

    def test_verdict__a_new_warning_fails(self):
        warning = [{"check": "noise", "severity": "warning", "what": "noisy"}]
        samples = host(findings=warning)
        self.assertEqual(verdict(samples), "fail")
        self.assertEqual(verdict(samples, None, ["noise"]), "pass")
        samples[1]["findings"] = [{"check": "noise", "severity": "fine", "what": "calm"}]
        self.assertEqual(verdict(samples), "fail")
        samples[1]["findings"] = warning
        self.assertEqual(verdict(samples), "pass")

    def test_verdict__hosts_that_the_rollout_did_not_reach_yet_are_no_fault(self):
        self.assertEqual(verdict(host(findings=[{"check": "peers", "severity": "warning", "what": "silent"}])), "pass")

    def test_verdict__settings_that_somebody_undid_fail(self):
        self.assertEqual(verdict(host(verdict="not as it was set up: turnpike diff")), "fail")
        self.assertEqual(verdict(host(verdict="idle: no connection that it acts on")), "pass")

    def test_verdict__no_traffic_is_no_pass(self):
        for number in (1, 3):
            samples = host()
            samples[number]["segments"] = samples[number - 1]["segments"] + 999
            judged = gate.judge(samples)
            self.assertEqual(judged["verdict"], "cannot tell")
            self.assertIn("999 segments", judged["reasons"][0])
        samples = [sample(0), sample(1000), sample(1000), sample(2000)]
        self.assertEqual(verdict(samples), "pass")

    def test_verdict__no_connection_is_no_pass(self):
        for first in (0, 2):
            samples = host()
            samples[first]["rtts_us"], samples[first + 1]["rtts_us"] = [50.0] * 5, [50.0] * 4
            self.assertEqual(verdict(samples), "cannot tell")
            samples[first]["rtts_us"].append(50.0)
            self.assertEqual(verdict(samples), "pass")

    def test_verdict__what_is_broken_counts_without_traffic(self):
        samples = host(findings=[{"check": "module", "severity": "broken", "what": "gone"}])
        samples[3]["segments"] = samples[2]["segments"]
        self.assertEqual(verdict(samples), "fail")


class Limits(unittest.TestCase):
    def test_limits__of_the_operator(self):
        self.assertEqual(verdict(host(drops=5000), {"drops_per_1000": 50}), "pass")
        self.assertEqual(verdict(host(), {"segments_min": "200000"}), "cannot tell")

    def test_limits__unknown_ones_are_refused(self):
        with self.assertRaisesRegex(ValueError, "no limit 'drops'; there are: drops_per_1000"):
            gate.judge(host(), {"drops": 1})

    def test_limits__are_numbers_from_0_on(self):
        for value in ("-1", "nan", "inf", "many"):
            with self.assertRaises(ValueError):
                gate.judge(host(), {"p99_us": value})

    def test_limits__no_traffic_at_all_is_never_compared(self):
        self.assertEqual(verdict([sample(0)] * 4, {"segments_min": 0}), "cannot tell")
        samples = host()
        for one in samples:
            one["rtts_us"] = []
        self.assertEqual(verdict(samples, {"rtts_min": 0}), "cannot tell")


if __name__ == "__main__":
    unittest.main()
