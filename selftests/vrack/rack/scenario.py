# SPDX-License-Identifier: GPL-2.0
"""The scenario format: every key, its type, range and default."""
import os

from . import topology, workload, yamlfile
from .errors import ScenarioError
from .schema import REQUIRED, Int, ListOf, MapOf, Names, Number, Record, Text
from .yamlfile import Seq

VALUE = Text("text or number")

NIC = Record({
    "queues": Int("transmit queues", low=1, high=64),
    "ring": Int("transmit ring, in packets", low=1),
    "rx_frames": Int("frames coalesced before an interrupt", low=1),
    "rx_ns": Int("time a frame may wait for that"),
    "jitter_ns": Int("mean of the exponential delay of wake-ups and software stamps"),
    "pace_bps": Int("rate at which frames of a burst of the stack leave; 0: the line's", high=10**12),
    "phc": Int("1: a clock of its own and hardware stamps, for nicstamp", high=1),
    "phc_stock": Int("1: its driver hands no stamps to nicstamp", high=1),
    "phc_offset_ns": Int("the clock at the rack's time 0", high=10**15),
    "phc_fast_ppb": Int("how much it runs fast", high=1000000),
    "phc_slow_ppb": Int("how much it runs slow", high=1000000),
    "phc_step_ns": Int("its resolution", low=1, high=1000000),
    "phc_bits": Int("width of its counter", low=32, high=64),
    "phc_tx_slots": Int("transmit stamps under way at a time; 0: any number", high=65536),
    "phc_gap_ns": Int("least time between two stamps for nicstamp that leave", high=10**9),
    "phc_walk_ppb": Int("deviation of its rate, which wanders", high=10000),
    "phc_walk_ms": Int("time in which it forgets its rate", low=10, high=10000000),
}, "settings of every NIC", {})

PORT = Record({
    "queue_limit_bytes": Int("drop-tail limit of the queue; 0: the shared buffer rules"),
    "ecn_k_bytes": Int("mark ECN when the queue holds this much; 0: off"),
    "ecn_kmin_bytes": Int("RED-like marking begins"),
    "ecn_kmax_bytes": Int("RED-like marking reaches ecn_pmax_milli, and all above are marked"),
    "ecn_pmax_milli": Int("marking probability at ecn_kmax_bytes, in thousandths", high=1000),
    "ecn_ingress": Int("1: marks are decided as frames arrive, not as they leave", high=1),
    "ecn_pi_ref_bytes": Int("a PI controller marks, and holds the queue there; 0: off"),
    "ecn_pi_k1_micro": Int("its K1, in millionths", high=1000000),
    "ecn_pi_k2_milli": Int("its K2, in thousandths a second", high=1000000),
    "police_bps": Int("a policer drops what is faster, and delays nothing; 0: off"),
    "police_bytes": Int("what its bucket holds", high=2000000),
    "color_k_bytes": Int("red packets are refused when the queue holds this much; 0: off"),
    "fcs_ppb": Int("frames damaged on the wire, per 10^9", high=1000000000),
    "rate_bps": Int("rate of the port", low=10000000),
    "delay_ns": Int("delay of the link from this port"),
    "late_ppb": Int("frames that take a longer way, per 10^9", high=1000000000),
    "late_ns": Int("by how much it is longer", high=1000000000),
    "jitter_ns": Int("frames arrive up to so much later, each another time", high=1000000000),
    "clear_dscp": Int("1: a middlebox there clears the DSCP", high=1),
}, default={})

SWITCH = Record({
    "buffer_bytes": Int("shared buffer", 12000000, low=1),
    "alpha_milli": Int("dynamic threshold, in thousandths of the free buffer", 1000, low=1),
    "pfc_prios": Int("priorities with PFC, a bit each", high=255),
    "pfc_xoff_bytes": Int("held bytes at which the sender is paused"),
    "pfc_xon_bytes": Int("held bytes at which it may go on"),
    **{key: field for key, field in PORT.fields.items() if key not in ("rate_bps", "delay_ns")},
}, "settings of every switch and switch port", {})

DSCP = Record({
    "prio": Int("queue of the packets", low=0, high=7),
    "color": Text("what the color threshold makes of them", choices=["green", "red"]),
})

HOST_FIELDS = {
    "cc": Text("congestion control (net.ipv4.tcp_congestion_control)", pattern=r"[\w-]+"),
    "qdisc": Text("root qdisc, as tc spells it: 'fq', 'fq flow_limit 1000'"),
    "tc": ListOf(Text(), "more tc commands, with DEV for the device", single=True),
    "sysctls": MapOf(VALUE, "sysctls of the host's namespace", {}, parts=0),
    "ethtool": Text("arguments of ethtool -K, such as 'gro off'"),
    "tlt": Text("TLT is on, with these arguments of 'turnpike tlt set', such as '--map local'"),
    "link": Text("arguments of 'ip link set', such as 'gso_max_size 16384'"),
    "run": ListOf(Text(), "shell commands in the namespace before the load", single=True),
}
HOST = Record(HOST_FIELDS, "settings of every host", {})
HOSTS = MapOf(Record(HOST_FIELDS), "settings of some hosts, by pattern, over those of all", {}, key=Names())

ACTION = Record({
    "time_s": Number("when", REQUIRED),
    "write": Text("file to write text to"),
    "text": Text("the text"),
    "vrack": Text("a command of the rack, such as 'port set s0.srv fcs_ppb=0'"),
    "run": Text("shell command"),
    "host": Text("host in whose namespace the command runs"),
})

SERIES = Record({
    "interval_us": Number("time between samples of queues", REQUIRED, low=0.001),
    "ports": ListOf(Text(), "switch ports; the bottleneck if not given", single=True),
}, "queue length and throughput of ports over time")

BOUND = Record({
    "metric": Text("an expression over metrics", REQUIRED),
    "name": Text("name on the result line; the expression if not given"),
    "variant": ListOf(Text(), "variants it holds for, by pattern", ["*"], single=True),
    "min": Number("least value", low=None),
    "max": Number("greatest value", low=None),
    "over": Text("what of the seeds must hold", "every", choices=["every", "mean", "median"]),
    "why": Text("where the number is from"),
})

AXIS = Record({
    "name": Text("name of the axis in variant names", REQUIRED, pattern=r"[\w.-]+"),
    "path": ListOf(Text(), "path or paths that get the value", single=True),
    "values": ListOf(VALUE, "the values", at_least=1),
    "choices": MapOf(MapOf(VALUE, parts=0), "or named sets of path: value"),
})

SCHEMA = Record({
    "title": Text("one line", REQUIRED),
    "source": Text("paper and item"),
    "tags": ListOf(Text(), "words by which tests choose scenarios: ci, short", [], single=True),
    "topology": topology.SCHEMA,
    "mtu_bytes": Int("MTU of every host", 1500, low=576, high=9216),
    "nic": NIC,
    "nics": MapOf(NIC, "settings of some hosts' NICs, over those of all", {}, key=Names()),
    "switch": SWITCH,
    "switches": MapOf(SWITCH, "settings of some switches, over those of all", {}, key=Names()),
    "ports": MapOf(PORT, "settings of some switch ports, by name or pattern such as s0.c*", {},
                   parts=2),
    "dscp": MapOf(DSCP, "what the switches make of a DSCP", {}),
    "host": HOST,
    "hosts": HOSTS,
    "modules": MapOf(MapOf(VALUE, parts=0), "kernel modules to load, and their parameters", {}),
    "workload": ListOf(workload.SCHEMA, "the loads", REQUIRED, at_least=1),
    "duration_s": Number("simulated time of the load", REQUIRED, low=0.000001),
    "drain_s": Number("time after it in which finite flows may still complete"),
    "warmup_s": Number("of which not measured, at the beginning", 0),
    "sample_interval_us": Number("time between samples of each flow's TCP_INFO; 0: none", 0),
    "series": SERIES,
    "actions": ListOf(ACTION, "what happens at given times", []),
    "bottleneck": ListOf(Text(), "ports whose utilization counts; those towards the receiving "
                         "hosts if not given", single=True),
    "seeds": ListOf(Int(low=1), "the seeds", Seq("", [1]), single=True, at_least=1),
    "variants": MapOf(MapOf(VALUE, parts=0), "named sets of path: value, or a file that has them", {}),
    "sweep": ListOf(AXIS, "axes of values; all combinations become variants", []),
    "metrics": MapOf(Text(), "more metrics to report, as expressions", {}, parts=0),
    "bounds": ListOf(BOUND, "what must hold", []),
    "wall_timeout_s": Number("a guest that runs longer has failed", 900, low=1),
    "guest_mem": Text("memory of a guest", "2G", pattern=r"\d+[MG]"),
    "boot": ListOf(Text(), "more words on the guest's kernel command line", [], single=True),
})


def read(path):
    """The scenario as written, not yet checked; its variants may be a file beside it, which several share."""
    tree = yamlfile.load(path)
    beside = tree.get("variants")
    if isinstance(beside, str):
        tree["variants"] = yamlfile.load(os.path.join(os.path.dirname(path), beside))
    return tree


def check(tree):
    """The scenario with every default filled in."""
    out = SCHEMA.check(tree, tree.origin, "")
    if out["warmup_s"] >= out["duration_s"]:
        raise ScenarioError(out.where("warmup_s"), "warmup_s leaves nothing of duration_s")
    for bound in out["bounds"]:
        if bound["min"] is None and bound["max"] is None:
            raise ScenarioError(bound.origin, "a bound needs min or max")
    return out
