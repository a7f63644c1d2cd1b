#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The rack against what is known in closed form.

Runs in a guest: closed_form.py VRACK.KO. Frame sources make the traffic, so
every time below is exact and no host stack is in it.
"""

import os
import sys
from math import sqrt

from rackctl import FRAME, Rack, main, near, same, settle

MODULE = sys.argv[1]
# The debug kernel moves some 6000 frames a second: there, fewer frames, looser bounds.
DEBUG = os.environ.get("TURNPIKE_DEBUG") == "1"
MANY = 5000 if DEBUG else 20000
# The largest buffer below is full in half of it.
OVERLOADED_S = 0.004 if DEBUG else 0.01
GBIT = 10**9


def star(*hosts, switch=""):
    """A switch s0 and NICs h0, h1, ... as (rate_bps, delay_ns)."""
    lines = ["seed 1", f"switch add s0 {switch}"]
    for i, (rate, delay) in enumerate(hosts):
        lines += [f"nic add h{i} ip=10.0.0.{i + 1}",
                  f"link add h{i} s0 rate_bps={rate} delay_ns={delay}"]
    return Rack(MODULE, *lines)


def serialize_ps(rate_bps, frames=1, wire_bytes=FRAME):
    return frames * wire_bytes * 8 * 10**12 // rate_bps


def _back_to_back(rate_bps, frames):
    with star((rate_bps, 1000), (rate_bps, 1000)) as rack:
        rack.ctl(f"source add h0 h1 count={frames}")
        settle(serialize_ps(rate_bps, frames + 10) / 1e12 + 1e-5)
        nic = rack.nic("h1")
    same("frames", nic["synthetic_packets"], frames)
    drift = nic["rx_last_ps"] - nic["rx_first_ps"] - serialize_ps(rate_bps, frames - 1)
    print(f"# {frames} frames at {rate_bps} bit/s: off by {drift} ps in all")
    assert abs(drift) <= 1000


def serialize__1500_bytes_at_100g_take_123_04_ns_without_drift():
    same("one frame, ps", serialize_ps(100 * GBIT), 123040)
    _back_to_back(100 * GBIT, MANY)


def serialize__400g_without_drift():
    _back_to_back(400 * GBIT, MANY)


def serialize__rate_that_divides_nothing_without_drift():
    _back_to_back(7_300_000_001, MANY)


def serialize__10m_without_drift():
    _back_to_back(10_000_000, 200)


def propagate__two_cables_and_a_switch_to_the_ps():
    with star((10 * GBIT, 2345), (25 * GBIT, 678)) as rack:
        rack.ctl("source add h0 h1 count=1 ip_bytes=1500")
        settle(1e-3)
        passed = rack.nic("h1")["rx_first_ps"] - rack.nic("h0")["tx_first_ps"]
    same("first bit sent to last bit received, ps", passed,
         serialize_ps(10 * GBIT) + serialize_ps(25 * GBIT) + (2345 + 678) * 1000)


def propagate__short_frame_is_padded_to_64_bytes():
    with star((10 * GBIT, 1000), (10 * GBIT, 1000)) as rack:
        rack.ctl("source add h0 h1 count=1 ip_bytes=28")
        settle(1e-3)
        same("wire bytes", rack.nic("h1")["rx_wire_bytes"], 84)


def _md1(load):
    """Poisson arrivals through a NIC too fast to shape them, into 10 Gbit/s."""
    frames = 30_000 if DEBUG else 1_500_000
    with star((400 * GBIT, 1000), (10 * GBIT, 1000), switch="buffer_bytes=1000000000") as rack:
        rate = int(load * 10 * GBIT)
        rack.ctl(f"source add h0 h1 poisson=1 rate_bps={rate} count={frames}")
        settle(frames * FRAME * 8 / rate * 1.02)
        delay = rack.nic("h1")["delay"]
    same("frames", delay["count"], frames)
    service_ns = serialize_ps(10 * GBIT) / 1000
    near(f"mean wait in ns at load {load}", delay["mean_ns"],
         service_ns * load / (2 * (1 - load)), 0.25 if DEBUG else 0.03)


def queue_delay__md1_at_load_50():
    _md1(0.5)


def queue_delay__md1_at_load_80():
    _md1(0.8)


def queue_delay__md1_at_load_90():
    _md1(0.9)


def _overload(rack, frm, to, seconds=OVERLOADED_S):
    """Line rate from each of frm into to, until queues stand at their bound."""
    for source in frm:
        rack.ctl(f"source add {source} {to} rate_bps={10 * GBIT}")
    settle(seconds)


def dynamic_threshold__one_busy_port_gets_half_the_buffer_at_alpha_1():
    with star(*[(10 * GBIT, 1000)] * 3, switch="buffer_bytes=2000000") as rack:
        _overload(rack, ["h0", "h1"], "h2")
        port = rack.port("s0.h2")
    near("queue bytes", port["queue_max_bytes"], 2000000 / 2, 2 * FRAME / 1e6)
    assert port["drops"]["dt"] > 0 and port["drops"]["buffer"] == 0


def dynamic_threshold__two_busy_ports_get_a_third_each():
    with star(*[(10 * GBIT, 1000)] * 6, switch="buffer_bytes=3000000") as rack:
        _overload(rack, ["h0", "h1"], "h4", 0)
        _overload(rack, ["h2", "h3"], "h5")
        queues = [rack.port(f"s0.h{i}")["queue_bytes"] for i in (4, 5)]
    for queue in queues:
        near("queue bytes", queue, 1e6, 3 * FRAME / 1e6)


def dynamic_threshold__alpha_4_gives_four_fifths():
    with star(*[(10 * GBIT, 1000)] * 3, switch="buffer_bytes=1000000 alpha_milli=4000") as rack:
        _overload(rack, ["h0", "h1"], "h2")
        near("queue bytes", rack.port("s0.h2")["queue_max_bytes"], 800000, 5 * FRAME / 8e5)


def buffer__never_over_its_size_without_threshold():
    with star(*[(10 * GBIT, 1000)] * 3, switch="buffer_bytes=500000 alpha_milli=0") as rack:
        _overload(rack, ["h0", "h1"], "h2")
        stats = rack.stats()["switches"]["s0"]
    assert stats["buffer_max_bytes"] <= 500000 < stats["buffer_max_bytes"] + FRAME
    assert stats["ports"]["h2"]["drops"]["buffer"] > 0


def _burst_marks(k_bytes, frames, ect, ingress=0):
    """Marks on a burst from 400G into 10G, counted by the rule, frame by frame."""
    queued = FRAME - 20
    arrive, leave = serialize_ps(400 * GBIT), serialize_ps(10 * GBIT)
    marks = 0
    for i in range(frames):
        arrived = min(frames, i * leave // arrive + 1)
        # as it arrives: those before it that have not begun to leave
        waiting = i - min(i, 1 + max(i - 1, 0) * arrive // leave) if ingress else arrived - i - 1
        marks += waiting * queued > k_bytes
    with star((400 * GBIT, 1000), (10 * GBIT, 1000)) as rack:
        rack.ctl(f"port set s0.h1 ecn_k_bytes={k_bytes} ecn_ingress={ingress}",
                 f"source add h0 h1 count={frames} tos={ect}")
        settle(1e-2)
        same("marked at the port", rack.port("s0.h1")["ecn_marks"], marks if ect else 0)
        same("marked at the sink", rack.nic("h1")["synthetic_ce"], marks if ect else 0)
    return marks


def ecn_step__marks_exactly_the_frames_over_k():
    assert 0 < _burst_marks(80000, 200, ect=2) < 200


def ecn_step__at_ingress_counts_what_waits_before():
    assert 0 < _burst_marks(80000, 200, ect=2, ingress=1) < 200


def ecn_step__at_ingress_is_decided_on_arrival():
    with star((10 * GBIT, 1000), (10_000_000, 1000)) as rack:
        rack.ctl("port set s0.h1 ecn_k_bytes=5000 ecn_ingress=1", "source add h0 h1 count=20 tos=2")
        settle(5e-4)
        # nothing is marked any more, as the second leaves
        rack.ctl("port set s0.h1 ecn_k_bytes=0")
        settle(5e-2)
        # the first does not wait, and of 1518 bytes each at most three wait before the next four
        same("marks", rack.port("s0.h1")["ecn_marks"], 15)


def ecn_pi__marks_while_the_queue_is_over_its_reference():
    reference = 100000
    with star((400 * GBIT, 1000), (10 * GBIT, 1000)) as rack:
        rack.ctl(f"port set s0.h1 ecn_pi_ref_bytes={reference} ecn_pi_k1_micro=0 ecn_pi_k2_milli=1000000",
                 "source add h0 h1 count=1000 tos=2")
        settle(1e-2)
        port = rack.port("s0.h1")
    # p rises by 1000 a second and by the queue over its reference: at 15 times that, 10 in a ms
    assert port["ecn_marks"] > 500, port["ecn_marks"]


def ecn_step__not_ecn_capable_is_not_marked():
    _burst_marks(80000, 200, ect=0)


def ecn_step__below_k_no_mark():
    same("marks", _burst_marks(400000, 200, ect=2), 0)


def ecn_ramp__probability_rises_to_pmax():
    limit, kmin, kmax, pmax = 300000, 100000, 500000, 0.4
    with star(*[(10 * GBIT, 1000)] * 3) as rack:
        rack.ctl(f"port set s0.h2 queue_limit_bytes={limit} ecn_kmin_bytes={kmin} "
                 f"ecn_kmax_bytes={kmax} ecn_pmax_milli={pmax * 1000:.0f}")
        for i in (0, 1):
            rack.ctl(f"source add h{i} h2 rate_bps={10 * GBIT} tos=2")
        settle(0.005)
        rack.ctl("stats reset")
        settle(0.02 if DEBUG else 0.1)
        port = rack.port("s0.h2")
    near("share of marks at a standing queue", port["ecn_marks"] / port["tx_packets"],
         pmax * (limit - FRAME - kmin) / (kmax - kmin), 0.06 if DEBUG else 0.03)


def color__red_is_refused_at_k_and_green_is_not():
    k = 100000
    with star((400 * GBIT, 1000), (10 * GBIT, 1000)) as rack:
        rack.ctl("dscp set 10 color=green", "dscp set 8 color=red",
                 f"port set s0.h1 color_k_bytes={k}",
                 f"source add h0 h1 count=300 tos={8 << 2}")
        settle(9e-6)  # 300 frames at 400 Gbit/s: 9.2 us
        rack.ctl(f"source add h0 h1 count=100 tos={10 << 2}")
        settle(1e-2)
        port = rack.port("s0.h1")
    same("green drops", port["green"]["drops"], 0)
    same("green frames", port["green"]["packets"], 100)
    assert port["drops"]["color"] == port["red"]["drops"] > 200
    admitted = k // (FRAME - 20)
    assert admitted <= port["red"]["packets"] <= admitted + 9  # what left meanwhile


def priority__strict():
    with star(*[(10 * GBIT, 1000)] * 3) as rack:
        rack.ctl("dscp set 46 prio=7", f"source add h0 h2 rate_bps={10 * GBIT}",
                 f"source add h1 h2 rate_bps={GBIT} tos={46 << 2}")
        settle(0.01)
        low_first = rack.stats()["nics"]["h2"]["delay"]
        port = rack.port("s0.h2")
    frame_ns = serialize_ps(10 * GBIT) / 1000
    waits = [b for b in low_first["buckets"] if b[0] > frame_ns]
    high = 0.01 * GBIT / (FRAME * 8)
    above = sum(b[2] for b in waits)
    print(f"# {above} of {low_first['count']} frames waited longer than a frame time; "
          f"{high:.0f} were of high priority")
    assert port["queue_max_bytes"] > 500000
    assert low_first["count"] - above >= high * 0.99


def _pfc(pfc):
    with star(*[(10 * GBIT, 1000)] * 3, switch="buffer_bytes=300000 alpha_milli=0 " + pfc) as rack:
        _overload(rack, ["h0", "h1"], "h2", 0.02)
        return rack.stats()


def pfc__no_frame_is_lost_and_senders_stand_still_half_the_time():
    stats = _pfc("pfc_prios=1 pfc_xoff_bytes=60000 pfc_xon_bytes=50000")
    ports = stats["switches"]["s0"]["ports"]
    same("drops", sum(ports["h2"]["drops"].values()), 0)
    assert min(ports[f"h{i}"]["pauses_sent"] for i in (0, 1)) > 10
    for i in (0, 1):
        near("share of time paused", stats["nics"][f"h{i}"]["pause_ns"] / 0.02e9, 0.5, 0.05)
    near("output", ports["h2"]["tx_wire_bytes"] * 8, 0.02 * 10 * GBIT, 0.01)


def pfc__without_it_frames_are_lost():
    assert _pfc("")["switches"]["s0"]["ports"]["h2"]["drops"]["buffer"] > 0


def pfc__spreads_to_the_upstream_switch():
    nic = lambda i: f"nic add h{i} ip=10.0.0.{i + 1}"
    pfc = "buffer_bytes=400000 alpha_milli=0 pfc_prios=1 pfc_xoff_bytes=60000 pfc_xon_bytes=50000"
    with Rack(MODULE, f"switch add s0 {pfc}", f"switch add s1 {pfc}", nic(0), nic(1), nic(2),
              "link add h0 s0", "link add h1 s0", "link add s0 s1 rate_bps=20000000000",
              "link add h2 s1") as rack:
        _overload(rack, ["h0", "h1"], "h2", 0.02)
        stats = rack.stats()
    drops = [sum(p["drops"].values()) for s in stats["switches"].values()
             for p in s["ports"].values()]
    same("drops", sum(drops), 0)
    assert stats["switches"]["s0"]["ports"]["s1"]["paused_ns"] > 0
    assert stats["nics"]["h0"]["pause_ns"] > 0


def ecmp__4000_flows_spread_over_4_spines():
    spines, flows = 4, 4000
    lines = ["switch add t0 seed=11", "switch add t1 seed=12",
             "nic add h0 ip=10.0.0.1", "nic add h1 ip=10.0.0.2",
             "link add h0 t0", "link add h1 t1"]
    for i in range(spines):
        lines += [f"switch add p{i} seed={i}", f"link add t0 p{i}", f"link add t1 p{i}"]
    with Rack(MODULE, *lines) as rack:
        rack.ctl(f"source add h0 h1 rate_bps={5 * GBIT} count={flows} flows={flows}")
        settle(0.1)
        shares = [rack.port(f"t0.p{i}")["tx_packets"] for i in range(spines)]
        received = rack.nic("h1")["synthetic_packets"]
    print(f"# flows by spine: {shares}")
    same("frames", received, flows)
    deviation = sqrt(flows * (1 / spines) * (1 - 1 / spines))
    assert all(abs(s - flows / spines) < 4 * deviation for s in shares)


def ecmp__one_flow_keeps_its_path():
    lines = ["switch add t0", "switch add t1", "nic add h0 ip=10.0.0.1", "nic add h1 ip=10.0.0.2",
             "link add h0 t0", "link add h1 t1", "link add t0 t1 a=x0 b=x0",
             "link add t0 t1 a=x1 b=x1"]
    with Rack(MODULE, *lines) as rack:
        rack.ctl(f"source add h0 h1 rate_bps={5 * GBIT} count=1000")
        settle(0.01)
        shares = sorted(rack.port(f"t0.x{i}")["tx_packets"] for i in (0, 1))
    same("frames by link", shares, [0, 1000])


def loss__1_percent_within_4_sigma():
    frames, loss = 20000 if DEBUG else 200000, 0.01
    with star((10 * GBIT, 1000), (10 * GBIT, 1000)) as rack:
        rack.ctl(f"port set s0.h1 fcs_ppb={loss * 1e9:.0f}",
                 f"source add h0 h1 rate_bps={10 * GBIT} count={frames}")
        settle(0.3)
        lost = rack.port("s0.h1")["drops"]["fcs"]
        same("lost and received", lost + rack.nic("h1")["synthetic_packets"], frames)
    print(f"# lost {lost} of {frames}")
    assert abs(lost - frames * loss) < 4 * sqrt(frames * loss * (1 - loss))


def jitter__is_uniform_and_spreads_what_arrives():
    frames, jitter_ns = 2000, 100000
    with star((10 * GBIT, 1000), (10 * GBIT, 1000)) as rack:
        rack.ctl(f"port set s0.h1 jitter_ns={jitter_ns}",
                 f"source add h0 h1 rate_bps={10 * GBIT} count={frames}")
        settle(0.01)
        nic = rack.nic("h1")
    same("received", nic["synthetic_packets"], frames)
    # the first comes at once or so, the last up to the jitter later
    late = nic["rx_last_ps"] - nic["rx_first_ps"] - serialize_ps(10 * GBIT, frames - 1)
    print(f"# the last came {late} ps late")
    assert jitter_ns * 500 < late <= jitter_ns * 1000


# Of ten times the rate, for as long as the frames last: what the bucket held and what came into it.
def policer__passes_a_burst_and_its_rate_and_delays_nothing():
    frames, bucket, frame_bytes = 10000, 100, 1518
    with star((10 * GBIT, 1000), (10 * GBIT, 1000)) as rack:
        rack.ctl(f"port set s0.h1 police_bps={GBIT} police_bytes={bucket * frame_bytes}",
                 f"source add h0 h1 rate_bps={10 * GBIT} count={frames}")
        settle(0.02)
        port, received = rack.port("s0.h1"), rack.nic("h1")["synthetic_packets"]
    came = serialize_ps(10 * GBIT, frames - 1) * GBIT / 8 / 1e12 / frame_bytes
    print(f"# {received} of {frames}, {bucket + came:.2f} in the bucket")
    same("dropped and received", port["drops"]["police"] + received, frames)
    same("waiting", port["queue_max_bytes"], 0)
    assert 0 <= bucket + came - received < 1


def policer__needs_a_bucket():
    with star((10 * GBIT, 1000), (10 * GBIT, 1000)) as rack:
        try:
            rack.ctl(f"port set s0.h1 police_bps={GBIT}")
        except OSError as error:
            print(f"# {error}")
        else:
            raise AssertionError("a policer without a bucket is taken")


if __name__ == "__main__":
    main(dict(globals()))
