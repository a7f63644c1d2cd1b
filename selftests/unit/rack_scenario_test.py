#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Scenario files: values, defaults, overrides, variants, and faults with their line."""
import glob
import os
import tempfile
import unittest

import rack_path
from rack import bounds, hostnames, scenario, variants, yamlfile
from rack.errors import ScenarioError
from rack.plan import Plan


class Faults(unittest.TestCase):
    def refused(self, more, line, *words, sets=()):
        """line counts from the first of more; 0: the fault has none."""
        with self.assertRaises(ScenarioError) as caught:
            found = rack_path.expand(more, sets)
            bounds.check(found[0].settings, [variant.name for variant in found])
            for variant in found:
                Plan(variant)
        if line:
            self.assertTrue(str(caught.exception).startswith(f"test.yaml:{line + len(rack_path.RACK.splitlines())}: "),
                            caught.exception)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_unknown_key(self):
        self.refused("durations: 1\n", 1, "'durations'", "duration_s")

    def test_key_twice(self):
        self.refused("warmup_s: 0.1\n", 1, "second time")

    def test_yaml_syntax(self):
        self.refused("nic: {ring: 1\n", 2)

    def test_not_text(self):
        self.refused("notes: \0\n", 0, "not YAML")

    def test_what_holds_itself(self):
        self.refused("bottleneck: &a [*a]\n", 1, "holds itself")

    def test_no_date(self):
        self.refused("notes: 2026-02-30\n", 1, "2026-02-30")

    def test_too_many_names(self):
        self.refused("hosts:\n  h[1-999999999]: {}\n", 2, "more than 10000")
        self.refused("hosts:\n  h[3-1]: {}\n", 2, "counts down")

    def test_too_large(self):
        self.refused("nic: {ring: 1e300}\n", 1, "above")

    def test_not_a_number(self):
        self.refused("nic: {ring: much}\n", 1, "nic.ring", "'much'")

    def test_out_of_range(self):
        self.refused("switch:\n  ecn_pmax_milli: 1001\n", 2, "above 1000")

    def test_missing_key(self):
        self.refused("bounds:\n  - {min: 1}\n", 2, "bounds.0.metric", "missing")

    def test_bound_without_limit(self):
        self.refused("bounds:\n  - {metric: util}\n", 2, "min or max")

    def test_unknown_metric(self):
        self.refused("bounds:\n- {metric: utilization, min: 1}\n", 2, "--list-metrics")

    def test_bound_of_unknown_variant(self):
        self.refused("bounds:\n- {metric: util, min: 1, variant: x}\n", 2, "'x'")

    def test_of_unknown_variant(self):
        self.refused("bounds:\n- {metric: 'of(x, util)', min: 1}\n", 2, "'x'")

    def test_code_is_no_expression(self):
        self.refused("bounds:\n- {metric: '__import__(os)', min: 1}\n", 2, "__import__")

    def test_unknown_load(self):
        self.refused("", 0, "'flood'", "incast", sets=[("workload.bulk.type", "flood", "--set")])

    def test_unknown_host(self):
        self.refused("hosts: {c9: {cc: cubic}}\n", 1, "'c9'")

    def test_unknown_port(self):
        self.refused("ports: {s0.c9: {ecn_k_bytes: 1}}\n", 1, "'s0.c9'")

    def test_warmup_too_long(self):
        self.refused("", 0, "warmup_s", sets=[("warmup_s", 1, "--set warmup_s=1")])

    def test_override_of_nothing(self):
        self.refused("", 0, "--set", "'nik'", sets=[("nik.ring", 1, "--set nik.ring=1")])

    def test_override_names_its_origin(self):
        self.refused("", 0, "--set nic.ring=0", "below 1",
                     sets=[("nic.ring", 0, "--set nic.ring=0")])

    def test_variant_value_names_its_line(self):
        self.refused("variants:\n  a: {nic.ring: 0}\n", 2, "nic.ring", "below 1")

    def test_missing_file(self):
        with self.assertRaises(ScenarioError):
            scenario.read("/nonexistent.yaml")

    def test_metrics_of_samples_want_samples(self):
        for text in ("tcp_rtt_us", "1 + max(util, jain_between(0, 1))", "of(base, rate_gbps)"):
            self.refused(f"metrics:\n  x: {text}\n", 2, "sample_interval_us")
            self.refused(f"bounds:\n- {{metric: '{text}', min: 0}}\n", 2, "sample_interval_us")
            found = rack_path.expand(f"metrics: {{x: '{text}'}}\nsample_interval_us: 1000\n")
            bounds.check(found[0].settings, ["base"])

    def test_not_a_mapping(self):
        with self.assertRaises(ScenarioError):
            yamlfile.parse("- 1\n", "x")


class Values(unittest.TestCase):
    def test_defaults(self):
        settings = rack_path.expand()[0].settings
        self.assertEqual(settings["mtu_bytes"], 1500)
        self.assertEqual(settings["seeds"], [1])
        self.assertEqual(settings["switch"]["buffer_bytes"], 12000000)
        self.assertEqual(settings["nic"]["ring"], None)

    def test_number_in_scientific_notation(self):
        settings = rack_path.expand("switch: {ecn_k_bytes: 80e3}\n")[0].settings
        self.assertEqual(settings["switch"]["ecn_k_bytes"], 80000)

    def test_anchor_and_merge(self):
        settings = rack_path.expand("hosts:\n  c1: &a {cc: bbr, qdisc: fq}\n"
                                    "  c2: {<<: *a, cc: cubic}\n")[0].settings
        self.assertEqual(settings["hosts"]["c2"]["qdisc"], "fq")
        self.assertEqual(settings["hosts"]["c2"]["cc"], "cubic")

    def test_dots_of_a_sysctl_belong_to_its_name(self):
        found = rack_path.expand(sets=[("host.sysctls.net.ipv4.tcp_ecn", 1, "--set")])
        self.assertEqual(found[0].settings["host"]["sysctls"], {"net.ipv4.tcp_ecn": "1"})

    def test_dot_of_a_port_belongs_to_its_name(self):
        found = rack_path.expand(sets=[("ports.s0.srv.ecn_k_bytes", 5, "--set")])
        self.assertEqual(found[0].settings["ports"]["s0.srv"]["ecn_k_bytes"], 5)

    def test_load_by_name_and_by_position(self):
        for path in ("workload.bulk.per_pair", "workload.0.per_pair"):
            settings = rack_path.expand(sets=[(path, 7, "--set")])[0].settings
            self.assertEqual(settings["workload"][0]["per_pair"], 7)


class Variants(unittest.TestCase):
    def test_product_of_names_and_axes(self):
        found = rack_path.expand("variants: {a: {host.cc: cubic}, b: {host.cc: bbr}}\n"
                                 "sweep: [{name: n, path: workload.bulk.per_pair, values: [1, 2]}]\n")
        self.assertEqual([variant.name for variant in found], ["a,n=1", "a,n=2", "b,n=1", "b,n=2"])
        self.assertEqual(found[3].settings["host"]["cc"], "bbr")
        self.assertEqual(found[3].settings["workload"][0]["per_pair"], 2)

    def test_variants_do_not_share_values(self):
        found = rack_path.expand("variants: {a: {ports.s0.srv.ecn_k_bytes: 1}, b: {}}\n")
        self.assertEqual(found[1].settings["ports"], {})

    def test_override_before_variant(self):
        found = rack_path.expand("variants: {a: {nic.ring: 5}, b: {}}\n",
                                 [("nic.ring", 9, "--set")])
        self.assertEqual([variant.settings["nic"]["ring"] for variant in found], [5, 9])

    def test_none_is_base(self):
        self.assertEqual([variant.name for variant in rack_path.expand()], ["base"])

    def test_of_a_file_beside(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "a.yaml")
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(rack_path.RACK + "variants: b.variants\n")
            with open(os.path.join(directory, "b.variants"), "w", encoding="utf-8") as stream:
                stream.write("x: {host.cc: bbr}\ny: {nic.ring: 0}\n")
            with self.assertRaisesRegex(ScenarioError, "b.variants:2: nic.ring: 0 is below 1"):
                variants.expand(scenario.read(path))

    def test_of_no_file(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "a.yaml")
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(rack_path.RACK + "variants: b.variants\n")
            with self.assertRaisesRegex(ScenarioError, "b.variants: No such file"):
                scenario.read(path)

    def test_choices(self):
        found = rack_path.expand("sweep: [{name: r, choices: {x: {nic.ring: 3}, y: {}}}]\n")
        self.assertEqual([variant.settings["nic"]["ring"] for variant in found], [3, None])


class HostNames(unittest.TestCase):
    def test_ranges(self):
        self.assertEqual(hostnames.expand("c[9-11]"), ["c9", "c10", "c11"])
        self.assertEqual(hostnames.expand("x[1-2]_[1-2]"), ["x1_1", "x1_2", "x2_1", "x2_2"])

    def test_select_keeps_order_and_drops_doubles(self):
        self.assertEqual(hostnames.select(["c2", "c*"], ["c1", "c2", "srv"]), ["c2", "c1"])

    def test_names_as_select_does(self):
        for pattern in ("c[2-3]", "c*", "*[24]", "c2"):
            self.assertTrue(hostnames.names(pattern, "c2"), pattern)
            self.assertFalse(hostnames.names(pattern, "srv"), pattern)

    def test_select_unknown(self):
        with self.assertRaises(ValueError):
            hostnames.select("x", ["c1"])


class Shipped(unittest.TestCase):
    def test_every_scenario_is_good(self):
        files = glob.glob(os.path.join(rack_path.SCENARIOS, "**", "*.yaml"), recursive=True)
        self.assertTrue(files)
        for path in files:
            with self.subTest(scenario=os.path.basename(path)):
                found = variants.expand(scenario.read(path))
                bounds.check(found[0].settings, [variant.name for variant in found])
                for variant in found:
                    Plan(variant, path)

    def test_ci_tier_names_scenarios(self):
        with open(os.path.join(rack_path.SCENARIOS, "ci-tier"), encoding="utf-8") as stream:
            names = [line.split()[0] for line in stream if line.strip() and line[0] != "#"]
        for name in names:
            self.assertTrue(os.path.exists(os.path.join(rack_path.SCENARIOS, name)), name)


if __name__ == "__main__":
    unittest.main()
