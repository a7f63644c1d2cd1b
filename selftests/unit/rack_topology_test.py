#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Topologies, base RTTs in closed form, and the commands that vrack.ko gets."""
import unittest

import rack_path
from rack import graph as graphs
from rack import guest, topology, vrackcmd, yamlfile
from rack.errors import ScenarioError
from rack.places import Places


def build(text):
    tree = yamlfile.parse(text, "t")
    return topology.build(topology.SCHEMA.check(tree, "t", "topology"))


class BaseRtt(unittest.TestCase):
    def test_sum_of_serialization_and_propagation(self):
        graph = build("{type: rack, delay_ns: 1000, hosts: {a: {rate_gbps: 10}, b: {rate_gbps: 100}}}")
        # frame 1538 bytes, ACK 90 bytes on the wire, over 10 and over 100 Gbit/s
        expected = 4000 + 1230.4 + 123.04 + 72 + 7.2
        self.assertAlmostEqual(graphs.base_rtt_ns(graph, "a", "b"), expected, places=3)

    def test_given_base_rtt_is_met(self):
        for text, pair in (
                ("{type: rack, base_rtt_us: 20, hosts: {a: {rate_gbps: 10}, b: {rate_gbps: 20}}}",
                 ("a", "b")),
                ("{type: skinny, base_rtt_us: 40, cross: [1, 2]}", ("src", "dst")),
                ("{type: skinny, base_rtt_us: 40, cross: [1, 2]}", ("x2_2", "y2_2")),
                ("{type: fat-tree, base_rtt_us: 30, base_rtt_of: [h1, h192]}", ("h1", "h192"))):
            with self.subTest(topology=text):
                # whole ns on each link
                self.assertAlmostEqual(graphs.base_rtt_ns(build(text), *pair) / 1000,
                                       float(text.split("base_rtt_us: ")[1].split(",")[0]), delta=0.02)

    def test_reference_is_the_first_load(self):
        plan = rack_path.plans()[0]
        self.assertAlmostEqual(graphs.base_rtt_ns(plan.graph, "c1", "srv"), 20000, delta=4)

    def test_base_rtt_below_serialization(self):
        with self.assertRaises(ScenarioError):
            build("{type: rack, base_rtt_us: 1, hosts: {a: {rate_gbps: 1}, b: {rate_gbps: 1}}}")

    def test_too_large_a_network(self):
        with self.assertRaisesRegex(ScenarioError, "more than 4096 links"):
            build("{type: leaf-spine, leaves: 65, hosts_per_leaf: 64}")
        with self.assertRaisesRegex(ScenarioError, "spines: 1025 is above 1024"):
            build("{type: leaf-spine, spines: 1025}")

    def test_hosts_and_types_that_are_none(self):
        with self.assertRaisesRegex(ScenarioError, "counts down"):
            build("{type: rack, hosts: {'h[3-1]': {rate_gbps: 10}}}")
        with self.assertRaisesRegex(ScenarioError, "is none of"):
            build("{type: [rack], hosts: {a: {rate_gbps: 10}}}")

    def test_smallest_frame(self):
        self.assertEqual(graphs.wire_bytes(1), 84)
        self.assertEqual(graphs.wire_bytes(1500), 1538)


class Shapes(unittest.TestCase):
    def test_fat_tree(self):
        graph = build("{type: fat-tree}")
        self.assertEqual(len(graph.hosts), 192)
        self.assertEqual(len(graph.switches), 16 + 12 * 8)
        self.assertEqual(len(graph.path("h1", "h192")), 6)

    def test_leaf_spine(self):
        graph = build("{type: leaf-spine}")
        self.assertEqual((len(graph.hosts), len(graph.switches)), (96, 16))
        self.assertEqual(len(graph.path("h1", "h96")), 4)

    def test_dumbbell_with_parallel_trunk(self):
        graph = build("{type: dumbbell, left: {a: {rate_gbps: 1}}, right: {b: {rate_gbps: 1}},"
                      " trunk: {rate_gbps: 1, count: 2}}")
        self.assertIn("s0.s1_2", list(graph.port_names()))
        self.assertEqual(graph.ports_towards("b"), ["s1.b"])

    def test_custom(self):
        graph = build("{type: custom, switches: [x, y], hosts: {a: {switch: x, rate_gbps: 1},"
                      " b: {switch: y, rate_gbps: 1}}, links: [{a: x, b: y, rate_gbps: 1}]}")
        self.assertEqual(len(graph.path("a", "b")), 3)

    def test_bad_names(self):
        for hosts in ("{1a: {rate_gbps: 1}, b: {rate_gbps: 1}}", "{s0: {rate_gbps: 1}, b: {rate_gbps: 1}}",
                      "{a: {rate_gbps: 1}}", "{'c[3-1]': {rate_gbps: 1}, b: {rate_gbps: 1}}"):
            with self.assertRaises(ScenarioError):
                build(f"{{type: rack, hosts: {hosts}}}")


class Commands(unittest.TestCase):
    def commands(self, more=""):
        return vrackcmd.commands(rack_path.plans(more)[0], 7)

    def test_plain_rack(self):
        lines = self.commands()
        self.assertEqual(lines[0], "seed 7")
        self.assertIn("nic add c1 ip=10.0.0.1 ip6=fd00::1", lines)
        self.assertIn("switch add s0 buffer_bytes=12000000 alpha_milli=1000 seed=7000", lines)
        self.assertEqual(lines[-1], "up")
        link = next(line for line in lines if line.startswith("link add srv s0"))
        self.assertIn("rate_bps=20000000000", link)

    def test_switch_then_port_settings(self):
        lines = self.commands("switch: {ecn_k_bytes: 80000}\nports: {s0.c*: {queue_limit_bytes: 9}}\n")
        self.assertIn("port set s0.* ecn_k_bytes=80000", lines)
        self.assertIn("port set s0.c2 queue_limit_bytes=9", lines)
        self.assertNotIn("port set s0.srv queue_limit_bytes=9", lines)

    def test_nic_of_some_hosts(self):
        lines = self.commands("nics: {'c[1-2]': {jitter_ns: 5}}\n")
        self.assertIn("nic add c2 ip=10.0.0.2 ip6=fd00::2 jitter_ns=5", lines)
        self.assertIn("nic add c3 ip=10.0.0.3 ip6=fd00::3", lines)

    def test_pfc_and_dscp(self):
        lines = self.commands("switch: {pfc_prios: 1, pfc_xoff_bytes: 9, pfc_xon_bytes: 8}\n"
                              "dscp: {10: {prio: 3, color: red}}\n")
        self.assertIn("switch set s0 pfc_prios=1 pfc_xoff_bytes=9 pfc_xon_bytes=8", lines)
        self.assertIn("dscp set 10 prio=3 color=red", lines)

    def test_addresses_of_many_hosts(self):
        plan = rack_path.plans(sets=[("topology.hosts.d[1-300].rate_gbps", 1, "--set")])[0]
        self.assertEqual(plan.address("d296"), "10.0.1.44")
        self.assertEqual(len({plan.address(host) for host in plan.graph.hosts}), 304)


class Guest(unittest.TestCase):
    def test_modules_follow_the_congestion_control(self):
        plan = rack_path.plans("host: {cc: timely_patched}\n")[0]
        self.assertEqual(list(guest.needed_modules(plan)), ["vrack", "tcp_timely"])
        self.assertEqual(list(guest.needed_modules(rack_path.plans()[0])), ["vrack"])

    def test_signals_of_hops_need_a_module(self):
        def modules(settings):
            return list(guest.needed_modules(rack_path.plans(settings)[0]))

        for signal, needed in (("max", True), ("sum_squ", True), ("sum", True), ("forward", False)):
            with_signal = "host: {cc: timely, sysctls: {net.ipv4.tcp_timely.signal: " + signal + "}}\n"
            self.assertEqual("vrack_hops" in modules(with_signal), needed, signal)
        by_option = modules("modules: {vrack_int: {unit_shift: 13}}\n"
                            "host: {cc: timely, sysctls: {net.ipv4.tcp_timely.signal: max}}\n")
        self.assertEqual(by_option, ["vrack", "tcp_timely", "vrack_int"])
        # it would not load
        self.assertNotIn("vrack_hops", modules("host: {sysctls: {net.ipv4.tcp_timely.signal: max}}\n"))

    def test_hpcc_needs_telemetry_before_it(self):
        needed = list(guest.needed_modules(rack_path.plans("modules: {tcp_hpcc: {base_us: 10}}\n")[0]))
        self.assertEqual(needed, ["vrack", "vrack_telemetry", "tcp_hpcc"])

    def test_counters_are_reset_and_read_in_time(self):
        config = guest.vload_config(rack_path.plans("series: {interval_us: 10}\n")[0], 3, Places())
        self.assertEqual(config["seed"], 3)
        self.assertEqual([action["time_s"] for action in config["actions"]], [0, 0.1, 0.2])
        self.assertIn("port=s0.srv", config["actions"][0]["text"])

    def test_host_settings_by_pattern(self):
        plan = rack_path.plans("host: {cc: bbr, sysctls: {a.b: 1}}\n"
                               "hosts: {'c[1-2]': {cc: cubic, sysctls: {c.d: 2}}}\n")[0]
        self.assertEqual(plan.hosts["c1"]["cc"], "cubic")
        self.assertEqual(plan.hosts["c1"]["sysctls"], {"a.b": "1", "c.d": "2"})
        self.assertEqual(plan.hosts["c3"]["cc"], "bbr")


if __name__ == "__main__":
    unittest.main()
