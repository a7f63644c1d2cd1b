# SPDX-License-Identifier: GPL-2.0
"""Is a host worse off than before? Decides by two windows of counters, RTTs and what doctor found.

Nothing here touches a host. A window is two samples; a sample is what sample_of() makes of what the host's own programs
say: {"segments", "retransmits", "timeouts", "drops", "rtts_us", "verdict", "set_up", "findings"}.
"""
from __future__ import absolute_import, division, print_function

__metaclass__ = type

import math
import re

PASS = "pass"
FAIL = "fail"
CANNOT_TELL = "cannot tell"

# What is allowed; a rollout's turnpike_gate_limits overrides each.
LIMITS = {
    # of a window: fewer segments, or fewer connections seen, tell nothing
    "segments_min": 1000,
    "rtts_min": 10,
    # what the second window may have more of than the first, beside what chance brings
    "retransmits_per_1000": 1.0,
    "timeouts_per_1000": 0.1,
    "drops_per_1000": 1.0,
    # by how much the p99 of RTTs may grow: both must be exceeded
    "p99_ratio": 1.25,
    "p99_us": 100,
}
COUNTERS = ("segments", "retransmits", "timeouts", "drops")
# Warnings about other hosts, which a rollout may not have come to yet.
TOLERATED = ("feedback", "peers", "tlt-peers")
RTT = re.compile(r"(?:^|\s)rtt:([0-9.]+)/")


# -- from what programs say to a sample

def drops_of(status):
    """Packets that queues with onramp dropped, in all namespaces that `turnpike status -j' names."""
    return sum(device["drops"] for space in status["namespaces"] for device in space["devices"])


def rtts_of(text):
    """Smoothed RTTs of connections, from what `ss -tinH' prints."""
    return [float(found) * 1000 for found in RTT.findall(text)]


def sample_of(status, findings, counters, sockets):
    """counters: "kernel" of nstat's JSON; sockets: what ss printed."""
    first = status["namespaces"][0]
    return {"segments": counters["TcpOutSegs"], "retransmits": counters["TcpRetransSegs"],
            "timeouts": counters["TcpExtTCPTimeouts"], "drops": drops_of(status), "rtts_us": rtts_of(sockets),
            "verdict": first["verdict"], "set_up": first["setup"] is not None, "findings": findings}


# -- from samples to a verdict

def percentile(values, share):
    """The least value that is not below this share of them (nearest rank)."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def window_of(begin, end):
    """What went on between two samples; a counter that went back began anew, as that of a qdisc put there since."""
    window = {name: end[name] - begin[name] if end[name] >= begin[name] else end[name] for name in COUNTERS}
    window["rtts_us"] = begin["rtts_us"] + end["rtts_us"]
    return window


def allowed(name, before, after, limits):
    """How many the second window may have: the first one's share, the limit, and three deviations of such a count."""
    expected = after["segments"] * (before[name] / before["segments"] + limits[name + "_per_1000"] / 1000)
    return expected + 3 * math.sqrt(expected)


def lacks(before, after, limits):
    """Why the windows tell nothing, in sentences."""
    reasons = []
    for when, window in (("before", before), ("after", after)):
        if window["segments"] < limits["segments_min"]:
            reasons.append("%d segments sent %s, and a verdict needs %d" % (window["segments"], when, limits["segments_min"]))
        elif len(window["rtts_us"]) < limits["rtts_min"]:
            reasons.append("%d round-trip times seen %s, and a verdict needs %d" %
                           (len(window["rtts_us"]), when, limits["rtts_min"]))
    return reasons


def worse_counters(before, after, limits):
    """Sentences about counters that grew faster than is allowed."""
    reasons = []
    for name in COUNTERS[1:]:
        most = allowed(name, before, after, limits)
        if after[name] > most:
            reasons.append("%d %s of %d segments; %d of %d before, so at most %d" %
                           (after[name], name, after["segments"], before[name], before["segments"], most))
    return reasons


def worse_tail(before, after, limits):
    """A sentence if the tail of RTTs is longer than is allowed."""
    was, now = (percentile(window["rtts_us"], 0.99) for window in (before, after))
    if now <= was * limits["p99_ratio"] or now <= was + limits["p99_us"]:
        return []
    return ["p99 of round-trip times is %d us, and was %d us" % (now, was)]


def new_faults(before, after, tolerated):
    """Sentences about what doctor calls broken, and about warnings that were not there before."""
    known = set(finding["check"] for finding in before if finding["severity"] == "warning") | set(tolerated)
    return ["doctor, %s: %s" % (finding["check"], finding["what"]) for finding in after
            if finding["severity"] == "broken" or
            (finding["severity"] == "warning" and finding["check"] not in known)]


def undone(verdict):
    """A sentence if `turnpike status' says that somebody undid what was set up."""
    return ["status: " + verdict] if verdict.startswith("not as it was set up") else []


def limits_with(overrides):
    """All limits; refuses what it does not know."""
    unknown = sorted(set(overrides or {}) - set(LIMITS))
    if unknown:
        raise ValueError("no limit '%s'; there are: %s" % (unknown[0], ", ".join(sorted(LIMITS))))
    limits = dict(LIMITS, **{name: float(value) for name, value in (overrides or {}).items()})
    for name, value in limits.items():
        if not 0 <= value < float("inf"):
            raise ValueError("limit %s is %s: a number from 0 on" % (name, value))
    # A share of nothing is nothing that could be compared.
    return dict(limits, segments_min=max(1, limits["segments_min"]), rtts_min=max(1, limits["rtts_min"]))


def judge(samples, overrides=None, tolerated=TOLERATED):
    """{"verdict": PASS, FAIL or CANNOT_TELL, "reasons": [sentence]} of four samples: the beginning and the end of the
    window before the change, and of that after it. What is known to be worse counts, whatever else is not known."""
    limits = limits_with(overrides)
    before, after = window_of(samples[0], samples[1]), window_of(samples[2], samples[3])
    faults = new_faults(samples[1]["findings"], samples[3]["findings"], tolerated) + undone(samples[3]["verdict"])
    unknown = lacks(before, after, limits)
    if not unknown:
        faults += worse_counters(before, after, limits) + worse_tail(before, after, limits)
    if faults:
        return {"verdict": FAIL, "reasons": faults}
    return {"verdict": CANNOT_TELL if unknown else PASS, "reasons": unknown}
