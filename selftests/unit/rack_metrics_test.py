#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Metrics, expressions and bounds on results written by hand."""
import json
import os
import tempfile
import unittest

import rack_path
from rack import bounds, expr, hist, plots, report, table
from rack.results import RunResult

EMPTY = {"count": 0, "mean_ns": 0, "max_ns": 0, "buckets": []}


def histogram(*buckets):
    count = sum(bucket[2] for bucket in buckets)
    total = sum((bucket[0] + bucket[1]) / 2 * bucket[2] for bucket in buckets)
    return {"count": count, "mean_ns": total / count, "max_ns": buckets[-1][1],
            "buckets": [list(bucket) for bucket in buckets]}


def nic(**more):
    return {"pause_ns": 0, "fcs_drops": 0, "rx_drops": 0, "delay": EMPTY, "delay_ack": EMPTY, **more}


def stats():
    """A tenth of a second from 0.1 s on; s0.srv was busy 90% of it."""
    port = {"rate_bps": 20000000000, "tx_wire_bytes": 225000000, "tx_packets": 1, "ecn_marks": 4,
            "drops": {"dt": 1, "color": 0, "limit": 2, "buffer": 0, "fcs": 5},
            "pauses_sent": 0, "paused_ns": 8000000, "queue_max_bytes": 90000,
            "delay": histogram((0, 1000, 50), (1000, 2000, 50))}
    other = {**port, "tx_wire_bytes": 0, "ecn_marks": 0, "paused_ns": 0, "queue_max_bytes": 1,
             "drops": {name: 0 for name in port["drops"]}}
    return {"time_ns": 5200000000, "since_ns": 5100000000, "hops": 10,
            "nics": {"c1": nic(delay_ack=histogram((2000, 2000, 10))), "c2": nic(pause_ns=40000000), "c3": nic(),
                     "srv": nic(delay=histogram((0, 10000, 90), (50000, 60000, 10)))},
            "switches": {"s0": {"ports": {"srv": port, "c1": other, "c2": other, "c3": other}}}}


def flow(source, gbps, ramp_ms):
    """A flow sampled each ms whose rate grows to gbps within ramp_ms."""
    series, delivered = [], 0.0
    for time_ms in range(0, 201):
        rate = gbps * 1e9 * min(1, time_ms / ramp_ms)
        delivered += rate / 8e3
        series.append([time_ms * 1000, rate, 30, 10, delivered])
    return {"from": source, "to": "srv", "goodput_bps": gbps * 1e9, "retransmits": 3, "rtos": 1,
            "series": series}


def vload():
    bulk = {"name": "bulk", "type": "long", "goodput_bps": 4e9, "retransmits": 6, "rtos": 2,
            "flows": [flow("c1", 1, 50), flow("c2", 3, 100)]}
    ping = {"name": "echo", "type": "ping", "rtt_us": {"count": 9, "mean": 25.0, "p99": 31.0}}
    short = {"name": "short", "type": "poisson", "goodput_bps": 0, "flows": [],
             "retransmits": 5, "rtos": None,
             "fct_us": {"count": 4, "mean": 2.5, "p50": 2.5, "p99": 4, "max": 4},
             "samples": {"fct": [[1000, 1], [1000, 2], [90000, 3], [90000, 4]]}}
    return {"loads": [bulk, ping, short]}


def series():
    lines = [f"{5000000000 + ms * 1000000} s0.srv {ms * 100} {ms * 2500000}" for ms in range(201)]
    return "\n".join(lines) + "\n"


class Made(unittest.TestCase):
    """A run directory as a guest would have left it."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        for name, text in (("stats.json", json.dumps(stats())), ("series.txt", series()),
                           ("vload.result.json", json.dumps(vload()))):
            with open(os.path.join(self.directory, name), "w", encoding="utf-8") as stream:
                stream.write(text)
        self.plan = rack_path.plans("series: {interval_us: 1000}\n")[0]
        self.run_result = RunResult(self.plan, 1, self.directory)

    def value(self, text, others=None):
        return expr.evaluate(expr.parse(text), self.run_result, others)


class Metrics(Made):
    def test_utilization(self):
        self.assertAlmostEqual(self.value("util"), 0.9)
        self.assertAlmostEqual(self.value("util(s0.srv)"), 0.9)
        self.assertAlmostEqual(self.value("wire_gbps"), 18)

    def test_counters(self):
        self.assertEqual(self.value("drops"), 8)
        self.assertEqual(self.value("drops(s0.srv, cause=limit)"), 2)
        self.assertEqual(self.value("ecn_marks"), 4)
        self.assertEqual(self.value("queue_max_bytes"), 90000)
        self.assertEqual(self.value("retransmits(bulk) + rtos"), 8)

    def test_paused__is_the_mean_of_ports_and_nics(self):
        # 8 of 100 ms; with c2, 48 ms of four ports and four NICs
        self.assertAlmostEqual(self.value("paused(s0.srv)"), 0.08)
        self.assertAlmostEqual(self.value("paused(s0.srv, s0.c1)"), 0.04)
        self.assertAlmostEqual(self.value("paused"), 0.06)

    def test_counters_of_loads_that_list_no_flows(self):
        self.assertEqual(self.value("retransmits(short)"), 5)
        self.assertEqual(self.value("retransmits"), 11)

    def test_orack_counters_of_all_hosts(self):
        self.assertIsNone(self.value("orack(samples)"))
        with open(os.path.join(self.directory, "onramp.txt"), "w", encoding="utf-8") as stream:
            stream.write('{"samples": 3, "announced": 1}\n{"samples": 4, "announced": 0}\n')
        self.run_result = RunResult(self.plan, 1, self.directory)
        self.assertEqual(self.value("orack(samples)"), 7)
        self.assertEqual(self.value("orack(announced)"), 1)
        with self.assertRaises(expr.ExprError):
            self.value("orack(sample)")

    def test_tlt_counters_of_all_hosts(self):
        self.assertIsNone(self.value("tlt(rtos)"))
        host = {"rtos": 2, "sent": {"data": {"packets": 3, "bytes": 4500}}, "received": {"echo": 5}}
        with open(os.path.join(self.directory, "tlt.txt"), "w", encoding="utf-8") as stream:
            for _ in range(2):
                stream.write(json.dumps(host, indent=2) + "\n")
        self.run_result = RunResult(self.plan, 1, self.directory)
        self.assertEqual(self.value("tlt(rtos)"), 4)
        self.assertEqual(self.value("tlt(sent, kind=data)"), 6)
        self.assertEqual(self.value("tlt(sent, kind=data, unit=bytes)"), 9000)
        self.assertEqual(self.value("tlt(received, kind=echo)"), 10)
        for unknown in ("tlt(rto)", "tlt(sent)", "tlt(sent, kind=dat)"):
            with self.assertRaises(expr.ExprError):
                self.value(unknown)

    def test_rtt_is_base_and_queues_and_acks(self):
        base = self.value("base_rtt_us(srv)")
        self.assertAlmostEqual(base, 20, delta=0.01)
        # mean queueing of data is 10 us, of ACKs 2 us
        self.assertAlmostEqual(self.value("rtt_us(avg)"), base + 2 + 10, places=3)
        self.assertAlmostEqual(self.value("rtt_us(p95)"), base + 2 + 55, places=3)
        self.assertAlmostEqual(self.value("rtt_us(max)"), base + 2 + 60, places=3)

    def test_queue(self):
        self.assertAlmostEqual(self.value("queue_delay_us(p75)"), 1.5)
        self.assertAlmostEqual(self.value("queue_bytes(after=0.1, until=0.2)"), 15000)
        self.assertAlmostEqual(self.value("util_between(after=0.05, until=0.1)"), 1.0)

    def test_queue_clears(self):
        self.assertAlmostEqual(self.value("queue_clear_ms(500, 0, window_ms=10)"), 10)
        self.assertAlmostEqual(self.value("queue_clear_ms(5050, 0.05)"), 1)
        self.assertAlmostEqual(self.value("queue_clear_ms(5000, 0.05)"), 150)

    def test_flows(self):
        self.assertAlmostEqual(self.value("jain"), 16 / (2 * 10))
        self.assertAlmostEqual(self.value("flow_gbps(min)"), 1)
        self.assertAlmostEqual(self.value("flow_gbps(avg, host=c2)"), 3)
        self.assertAlmostEqual(self.value("goodput_gbps(bulk)"), 4)

    def test_over_time(self):
        self.assertAlmostEqual(self.value("rate_gbps(bulk, at=0.025, stat=min)"), 0.5)
        self.assertAlmostEqual(self.value("goodput_between(0.15, 0.2, stat=sum)"), 4, places=6)
        self.assertAlmostEqual(self.value("jain_between(0.15, 0.2)"), 0.8, places=6)
        self.assertAlmostEqual(self.value("reach_ms(0.9, after=0, share=0, signal=pacing)"), 30)
        self.assertAlmostEqual(self.value("reach_ms(2.5, after=0, share=0, window_ms=1)"), 84,
                               delta=1)
        self.assertAlmostEqual(self.value("reach_ms(5, after=0)"), 200)
        self.assertLess(self.value("reach_goodput_ms(3.9, after=0)"), 105)

    def put_pairs(self, *lines):
        with open(os.path.join(self.directory, "pairs.txt"), "w", encoding="utf-8") as stream:
            stream.writelines(line + "\n" for line in lines)
        self.run_result = RunResult(self.plan, 1, self.directory)

    def test_rate_over_time__is_of_each_flow(self):
        # 1 and 3 Gbit/s that no longer grow, and the time in which they do
        self.assertAlmostEqual(self.value("rate_over_time(cv, after=0.11)"), 0)
        self.assertAlmostEqual(self.value("rate_over_time(avg, after=0.11)"), 2)
        self.assertAlmostEqual(self.value("rate_over_time(avg, after=0.11, stat=min)"), 1)
        self.assertAlmostEqual(self.value("rate_over_time(avg, after=0.11, host=c2)"), 3)
        # 0, 0.06 ... 3: evenly, so a deviation of 3 / sqrt(12) and a little more for the two ends
        self.assertAlmostEqual(self.value("rate_over_time(sd, after=0, until=0.1, host=c2)"), 3 / 12 ** 0.5, delta=0.01)
        self.assertAlmostEqual(self.value("rate_over_time(cv, after=0, until=0.1, host=c2)"), 2 / 12 ** 0.5, delta=0.01)
        self.assertIsNone(self.value("rate_over_time(cv, after=0, until=0)"))
        with self.assertRaises(expr.ExprError):
            self.value("rate_over_time(var)")

    def test_deviation_of_plain_samples(self):
        self.assertAlmostEqual(self.value("queue_bytes(stat=sd, after=0, until=0.002)"), 100 * (2 / 3) ** 0.5)

    def test_pairs_of_packets(self):
        # next OWD, OWD, RTT, the receiver's part; the last came after the counters were read
        self.put_pairs(*(f"{5100000000 + i} c1 srv {i * 10} {i * i} {i * i + 500 - i} {400 - i}"
                         for i in range(1, 21)), "5200000001 c1 srv 1 999999 1 1")
        self.assertEqual(self.value("next_owds"), 20)
        self.assertAlmostEqual(self.value("next_owd_corr(spearman)"), 1)
        self.assertAlmostEqual(self.value("next_owd_corr"), 0.9713, delta=1e-4)
        self.assertAlmostEqual(self.value("next_owd_corr(pearson, signal=wire_rtt)"),
                               self.value("next_owd_corr(pearson)"))
        self.assertLess(self.value("next_owd_corr(pearson, signal=rtt)"),
                        self.value("next_owd_corr(pearson)"))
        # the tenth of the greatest signals has 190 and 200 ns
        self.assertAlmostEqual(self.value("next_owd_us(p50)"), 0.195)
        self.assertAlmostEqual(self.value("next_owd_us(p0, tenth=1)"), 0.01)
        self.assertIsNone(self.value("next_owd_us(p50, tenth=11)"))

    def test_pairs_by_wrong_clocks(self):
        self.put_pairs(*(f"5100000000 c{1 + i % 3} srv {i} {i} {i} 0" for i in range(30)))
        self.assertAlmostEqual(self.value("next_owd_corr(pearson)"), 1)
        wrong = self.value("next_owd_corr(pearson, clock_us=1)")
        self.assertLess(abs(wrong), 0.3)
        self.assertEqual(wrong, self.value("next_owd_corr(pearson, clock_us=1)"))
        self.assertAlmostEqual(self.value("next_owd_corr(pearson, signal=rtt, clock_us=1)"), 1)

    def test_pairs_that_tell_nothing(self):
        with self.assertRaises(expr.ExprError):
            self.value("next_owds")
        for lines in (["# buffer full: 3 pairs not taken"], ["5100000000 c1 srv 1 1 1 0"] * 2):
            self.put_pairs(*lines)
            with self.subTest(lines=lines):
                try:
                    self.assertIsNone(self.value("next_owd_corr"))
                except expr.ExprError as told:
                    self.assertIn("buffer full", str(told))
        for unknown in ("next_owd_corr(kendall)", "next_owd_corr(pearson, signal=ntp)"):
            with self.assertRaises(expr.ExprError):
                self.value(unknown)

    def test_completion_times(self):
        self.assertAlmostEqual(self.value("fct_us(max)"), 4)
        self.assertAlmostEqual(self.value("fct_us(p50, most_bytes=5000)"), 1.5)
        self.assertEqual(self.value("completed"), 4)

    def test_times_of_requests(self):
        rounds = {"name": "rounds", "type": "incast", "goodput_bps": 0, "flows": [],
                  "fct_us": {"count": 4, "mean": 6.5, "max": 9},
                  "rct_us": {"count": 2, "mean": 8, "max": 9},
                  "samples": {"fct": [[2000, 4], [2000, 7], [2000, 6], [2000, 9]], "rct": [7, 9]}}
        for samples in (rounds["samples"], None):
            rounds["samples"] = samples
            result = {"loads": vload()["loads"] + [rounds]}
            with open(os.path.join(self.directory, "vload.result.json"), "w",
                      encoding="utf-8") as stream:
                json.dump(result, stream)
            self.run_result = RunResult(self.plan, 1, self.directory)
            self.assertAlmostEqual(self.value("rct_us(max)"), 9)
            self.assertAlmostEqual(self.value("rct_us(avg, load=rounds)"), 8)

    def test_ping(self):
        self.assertEqual(self.value("ping_us(echo, p99)"), 31.0)
        self.assertEqual(self.value("ping_us(echo)"), 25.0)

    def test_nothing_to_tell(self):
        self.assertIsNone(self.value("rct_us"))
        self.assertIsNone(self.value("rct_us + 1"))
        self.assertIsNone(self.value("util / 0"))


class Expressions(Made):
    def test_arithmetic(self):
        self.assertAlmostEqual(self.value("max(util, 2) * -1 + 3"), 1)

    def test_other_variant(self):
        self.assertAlmostEqual(self.value('of("x=1", util) - util', {"x=1": self.run_result}), 0)
        with self.assertRaises(expr.NotRun):
            self.value("of(y, util)")

    def test_refused(self):
        for text in ("util.real", "util[0]", "open(x)", "lambda: 1", "utill", "util(p=1)", "1 +",
                     "rtt_us(a, b, c, d)", "'text'", "util if 1 else 2"):
            with self.subTest(text=text), self.assertRaises(expr.ExprError):
                expr.parse(text)

    def test_unknown_names_are_told(self):
        for text in ("util(s0.x)", "jain(nobody)", "rtt_us(p)", "queue_bytes(s0.c1)"):
            with self.subTest(text=text), self.assertRaises(expr.ExprError):
                self.value(text)


class Bounds(Made):
    def judge(self, lines, failure=None):
        settings = rack_path.expand("bounds:\n" + lines)[0].settings
        runs = {1: self.run_result, 2: RunResult(self.plan, 2, self.directory, failure)}
        return bounds.judge(settings["bounds"], {"base": runs})[0]

    def test_holds(self):
        verdict = self.judge("- {metric: util, min: 0.9, max: 0.9001}\n")
        self.assertTrue(verdict.passed)
        self.assertAlmostEqual(verdict.measured, 0.9)

    def test_does_not_hold(self):
        verdict = self.judge("- {metric: util, min: 0.91}\n")
        self.assertEqual((verdict.passed, verdict.word), (False, "not ok"))

    def test_failed_guest_is_no_result(self):
        verdict = self.judge("- {metric: util, min: 0.1, over: mean}\n", "hung")
        self.assertIn("hung", verdict.failure)

    def test_nothing_measured_fails(self):
        self.assertFalse(self.judge("- {metric: rct_us, min: 0}\n").passed)

    def test_left_out_variant_skips(self):
        settings = rack_path.expand("bounds:\n- {metric: 'of(x, util)', min: 0}\n")[0].settings
        verdict = bounds.judge(settings["bounds"], {"base": {1: self.run_result}})[0]
        self.assertEqual((verdict.word, verdict.passed), ("ok", False))


class Histograms(unittest.TestCase):
    def test_quantiles(self):
        read = hist.Hist.read(histogram((0, 100, 50), (200, 300, 50)))
        self.assertAlmostEqual(read.quantile(0.25), 50)
        self.assertAlmostEqual(read.quantile(0.75), 250)
        self.assertEqual(read.quantile(1), 300)

    def test_merge(self):
        one = hist.Hist.read(histogram((0, 100, 1)))
        both = hist.Hist.merge([one, one, hist.Hist()])
        self.assertEqual((both.count, both.mean()), (2, 50))

    def test_names_of_statistics(self):
        self.assertEqual(hist.share_of("p999"), 0.999)
        with self.assertRaises(ValueError):
            hist.share_of("median")


class Output(Made):
    def test_table(self):
        settings = self.plan.settings
        values = table.measure(self.run_result, settings)
        text = table.render([("base", "1/1", table.means([values]))], settings)
        self.assertIn("0.9000", text)
        self.assertIn("RTT avg us", text)
        self.assertNotIn("RCT", text)

    def test_plots(self):
        names = plots.draw(self.directory, "a test", {"a": {1: self.run_result},
                                                      "b": {1: self.run_result}})
        for name in ("rtt-cdf", "throughput", "rate", "queue", "fct-by-size", "frontier"):
            self.assertIn(name + ".png", names)
            self.assertTrue(os.path.getsize(os.path.join(self.directory, name + ".svg")))

    def test_json_has_numbers_only_for_good_runs(self):
        class Context:
            path, arguments, started, kernel = "x.yaml", [], "", "6.12"
            settings, out = self.plan.settings, self.directory

            @staticmethod
            def wall_s():
                return 1.0
        results = {"base": {1: self.run_result,
                            2: RunResult(self.plan, 2, self.directory, "hung", "log")}}
        document = report.build(Context, [self.plan], results, [])
        json.dumps(document)
        self.assertFalse(document["pass"])
        self.assertEqual(document["failures"][0]["reason"], "hung")
        self.assertEqual(document["variants"][0]["seeds"][1]["metrics"], {})


if __name__ == "__main__":
    unittest.main()
