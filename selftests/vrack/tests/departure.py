#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Departures by the sender's NIC: the rack's NICs, nicstamp, sch_onramp.

Runs in a guest: departure.py VRACK.KO. Bursts of frames to another host go through the
NIC of the sender, behind its qdisc: data waits there, and nowhere else. What On-Ramp
takes for a queue of the network is that wait, where it does not know better.

     h0: qdisc --> NIC <-- bursts to h2
                    |
                    s0 --- h1, h2                     no queue in any port
"""

import json
import os
import subprocess
import sys
import threading
import time

from rackctl import FRAME, Namespace, Pace, Rack, insmod, main, move, paced, rmmod, same

MODULE = sys.argv[1]
BUILD = os.environ["TURNPIKE_BUILD"]
TURNPIKE = os.path.join(BUILD, "turnpike")
TC = {**os.environ, "TC_LIB_DIR": os.path.join(BUILD, "tc")}
GBIT = 10**9
# A tenth of the line's: sparse receipts are made (orack_sparse.h). A debug kernel is a hundred
# times slower.
STREAM = Pace(125_000_000, 2 if os.environ.get("TURNPIKE_DEBUG") == "1" else 8)
# Two or three frames in a millisecond, for 260 ms: all have a receipt.
APART = Pace(4_000_000, 1)
CLOCK = "phc=1 phc_fast_ppb=50000"
THRESHOLD_NS = 50_000
# 246 us of the line in each: what waits for that long has a receipt. It is half of what the
# line carries while data of a tenth go, too.
BURST_FRAMES = 200
BURST_EVERY_NS = 500_000
BURST_NS = BURST_FRAMES * FRAME * 8 // 10
# both cables, 2 x 5 us, and a frame at the switch
PATH_NS = 11230
# two readings of the clock
SETTLED = 0.25


class Hosts(Rack):
    """h0, whose NIC stamps, sends to h1; how the delay is told is up to the feedback."""

    modules = ["nicstamp", "vrack", "vrack_phc"]

    def __init__(self, nic=CLOCK, feedback="orack"):
        names = ("h0", "h1", "h2")
        super().__init__(MODULE, "switch add s0",
                         *(f"nic add {name} ip=10.0.0.{number} {nic if name == 'h0' else ''}"
                           for number, name in enumerate(names, 1)),
                         *(f"link add {name} s0 rate_bps={10 * GBIT} delay_ns=5000"
                           for name in names))
        insmod("sch_onramp/sch_onramp.ko")
        for number, name in enumerate(names, 1):
            self.host(name, f"10.0.0.{number}/8")
        for name in names[:2]:
            if feedback == "tcpts":
                self.inside(name, TURNPIKE, "usec-ts", "on", "10.0.0.0/8")
            self.inside(name, "tc", "qdisc", "add", "dev", "eth0", "root", "onramp",
                        "threshold", f"{THRESHOLD_NS}ns", "feedback", feedback)
        time.sleep(SETTLED)
        self.transfer()    # the path is known from here on

    def __exit__(self, *args):
        for name in self.namespaces[:2]:
            self.inside(name, "tc", "qdisc", "del", "dev", "eth0", "root")
        rmmod("sch_onramp")
        super().__exit__(*args)

    def inside(self, host, *command):
        done = subprocess.run(["ip", "netns", "exec", host, *command], env=TC, check=True,
                              capture_output=True)
        return done.stdout

    def burst(self, pace):
        """Bursts for as long as data go, out of step with what they hold up."""
        count = (pace.megabytes << 20) * GBIT // (pace.bytes_per_s * BURST_EVERY_NS)
        self.ctl(*(f"source add h0 h2 rate_bps={100 * GBIT} count={BURST_FRAMES} "
                   f"start_ns={i * BURST_EVERY_NS + i * 37_000 % 100_000}" for i in range(count)))

    def transfer(self, pace=None, bursts=False, during=None):
        """Move data by a connection of its own; during() runs in the middle of it."""
        pace = pace or (STREAM if bursts else APART)
        if bursts:
            self.burst(pace)
        move(paced("h0", pace.bytes_per_s), pace.megabytes, during)

    def peer(self):
        return json.loads(self.inside("h0", TURNPIKE, "onramp", "peers", "-j"))[0]

    def refused_unstamped(self):
        return json.loads(self.inside("h0", TURNPIKE, "onramp", "stats", "-j"))["refused_unstamped"]

    def qdisc(self):
        return json.loads(self.inside("h0", "tc", "-s", "-j", "qdisc", "show", "dev", "eth0"))[0]

    def packets(self):
        """That the sender's qdisc has sent so far."""
        return self.qdisc()["packets"]

    def counts(self):
        """Of the sender's qdisc, so far."""
        shown = self.qdisc()
        names = ("samples", "samples_wire", "ignored_unstamped", "pauses")
        return {name: shown[name] for name in names}, shown["delay_p99_ns"]


def told():
    """nicstamp's counters."""
    done = subprocess.run([TURNPIKE, "stamps", "stats", "-j"], check=True, capture_output=True)
    return json.loads(done.stdout)


def asked_of_nicstamp():
    """Packets for which the driver got an answer that is counted."""
    counters = told()
    return sum(counters[name] for name in ("wanted", "full", "no_slot", "retransmitted"))


def moved(rack, **how):
    """Counters of one transfer, and the delay at the 99th percentile of all so far."""
    before, _ = rack.counts()
    rack.transfer(**how)
    after, p99_ns = rack.counts()
    counted = {name: after[name] - before[name] for name in after}
    print("#", counted, f"p99 {p99_ns} ns", flush=True)
    assert counted["samples"] > 40, counted
    return counted, p99_ns


def wire(counted):
    same("samples by the wire", counted["samples_wire"], counted["samples"])
    same("feedback without a stamp", counted["ignored_unstamped"], 0)


def excludes_the_nics_queue(feedback):
    with Hosts(feedback=feedback) as rack:
        counted, p99_ns = moved(rack, bursts=True)
        wire(counted)
        # nobody is held for a queue that is the host's own
        same("pauses by the wire", counted["pauses"], 0)
        assert p99_ns <= 3000, p99_ns
    with Hosts(nic="", feedback=feedback) as rack:
        counted, p99_ns = moved(rack, bursts=True)
        same("samples by the wire", counted["samples_wire"], 0)
        assert counted["pauses"] > 0, counted
        assert p99_ns > BURST_NS // 2, p99_ns


def delay__by_receipts_excludes_the_nics_queue():
    excludes_the_nics_queue("orack")


def delay__by_timestamps_excludes_the_nics_queue():
    if tuple(map(int, os.uname().release.split(".")[:2])) < (6, 7):
        print("# SKIP timestamps in microseconds need Linux 6.7")
        return
    excludes_the_nics_queue("tcpts")


def delay__one_way_is_exact_and_its_error_told():
    with Hosts() as rack:
        rack.inside("h0", TURNPIKE, "onramp", "clock", "set", "10.0.0.2", "0", "1us")
        seen = []
        rack.transfer(bursts=True, during=lambda: seen.append(rack.peer()))
        seen.append(rack.peer())
    for peer in seen:
        print("#", peer)
        same("grade", peer["grade"], "b")
        # told, and what the NIC's clock may be off by
        same("bound", peer["error_ns"], 1000 + 4000)
        # the last frame of a transfer is shorter, and later ones have been merged by the stack
        assert PATH_NS - 1300 <= peer["owd_ns"] <= PATH_NS + 3000, peer["owd_ns"]


def source__without_nicstamp_is_the_qdisc():
    class Bare(Hosts):
        modules = ["vrack"]

    with Bare(nic="") as rack:
        counted, _ = moved(rack)
        same("samples by the wire", counted["samples_wire"], 0)
        same("feedback without a stamp", counted["ignored_unstamped"], 0)


def source__clock_taken_away_and_given_back():
    with Hosts() as rack:
        refused = rack.refused_unstamped()
        counted, _ = moved(rack, pace=STREAM, during=lambda: rack.ctl("nic set h0 phc=0"))
        assert 0 < counted["samples_wire"] < counted["samples"], counted
        # nobody goes without feedback for long
        assert 1 <= counted["ignored_unstamped"] <= 8, counted
        same("receipts refused", rack.refused_unstamped() - refused, counted["ignored_unstamped"])
        counted, p99_ns = moved(rack)
        same("samples by the wire", counted["samples_wire"], 0)
        same("feedback without a stamp", counted["ignored_unstamped"], 0)
        assert p99_ns < THRESHOLD_NS, p99_ns
        rack.ctl(f"nic set h0 {CLOCK}")
        time.sleep(0.5)     # two readings
        counted, p99_ns = moved(rack, bursts=True)
        wire(counted)
        same("pauses", counted["pauses"], 0)


def source__goes_back_to_the_nic_within_a_connection():
    with Hosts() as rack:
        def blink():
            rack.ctl("nic set h0 phc=0")
            time.sleep(0.02)
            rack.ctl(f"nic set h0 {CLOCK}")

        # the reader must not wait: stamps end with half of 260 ms gone, for a tenth of a second
        blinker = threading.Thread(target=blink)
        counted, _ = moved(rack, during=blinker.start)
        blinker.join()
        by_qdisc = counted["samples"] - counted["samples_wire"]
        assert 0.3 * counted["samples"] < by_qdisc < 0.48 * counted["samples"], counted
        same("pauses", counted["pauses"], 0)


def source__one_slot_for_stamps():
    """What has no stamp gives no sample, or the qdisc's time is used for all."""
    with Hosts(nic=CLOCK + " phc_tx_slots=1") as rack:
        # packets meet in the NIC, and do not fill it
        counted, _ = moved(rack, pace=Pace(4 * STREAM.bytes_per_s, 8))
        stamps = told()
        print("#", {name: stamps[name] for name in ("wanted", "tx", "tx_unknown", "no_slot")})
        assert counted["ignored_unstamped"] <= counted["samples"] // 4, counted
        same("pauses", counted["pauses"], 0)


def stepped(by_ns):
    """The clock of the sender's NIC jumps, and jumps back; data waits in the NIC all along."""
    with Hosts(nic=CLOCK + " phc_offset_ns=10000000") as rack:
        for offset_ns in (10_000_000 + by_ns, 10_000_000):
            counted, p99_ns = moved(rack, pace=STREAM, during=lambda at=offset_ns: rack.ctl(
                f"nic set h0 phc_offset_ns={at} phc_fast_ppb=50000"))
            # nothing queues, and nobody is told so
            same("pauses", counted["pauses"], 0)
            assert p99_ns < THRESHOLD_NS, p99_ns
            time.sleep(0.5)
            counted, _ = moved(rack, bursts=True)
            wire(counted)
            same("pauses", counted["pauses"], 0)


def clock__stepped_while_data_waits_in_the_nic():
    with Hosts(nic=CLOCK + " phc_offset_ns=10000000") as rack:
        for offset_ns in (9_900_000, 10_000_000):
            _, p99_ns = moved(rack, bursts=True, during=lambda at=offset_ns: rack.ctl(
                f"nic set h0 phc_offset_ns={at} phc_fast_ppb=50000"))
            # no more than passed between the qdisc and the receiver, whose times those are now
            assert p99_ns < BURST_NS * 1.2, p99_ns
            time.sleep(0.5)
            counted, _ = moved(rack, bursts=True)
            wire(counted)
            same("pauses", counted["pauses"], 0)


def clock__stepped_by_a_millisecond_under_traffic():
    stepped(1_000_000)


def clock__stepped_by_a_few_microseconds():
    stepped(15_000)


def nicstamp__is_shared_with_timely():
    insmod("tcp_timely/tcp_timely.ko")
    with Hosts() as rack:
        with Namespace("h0"), open("/proc/sys/net/ipv4/tcp_congestion_control", "w",
                                   encoding="ascii") as knob:
            knob.write("timely")
        counted, _ = moved(rack, bursts=True)
        wire(counted)
        stamps = told()
        same("stamps that came", stamps["tx"], stamps["wanted"])
        assert stamps["samples"] > 50, stamps
        with Namespace("h0"), open("/proc/sys/net/ipv4/tcp_congestion_control", "w",
                                   encoding="ascii") as knob:
            knob.write("cubic")
        rmmod("tcp_timely")
        wire(moved(rack, bursts=True)[0])


def nicstamp__counts_a_packet_without_a_slot_once():
    insmod("tcp_timely/tcp_timely.ko")
    with Hosts(nic=CLOCK + " phc_tx_slots=1") as rack:
        rack.inside("h0", "ip", "link", "set", "eth0", "gso_max_segs", "1")
        with Namespace("h0"), open("/proc/sys/net/ipv4/tcp_congestion_control", "w",
                                   encoding="ascii") as knob:
            knob.write("timely")
        asked, refused, sent = asked_of_nicstamp(), told()["no_slot"], rack.packets()
        # as fast as the line goes, several packets are in the NIC at a time
        rack.transfer(Pace(10 * STREAM.bytes_per_s, STREAM.megabytes))
        asked, refused = asked_of_nicstamp() - asked, told()["no_slot"] - refused
        sent = rack.packets() - sent
        print(f"# asked {asked} times for {sent} packets, {refused} had no slot", flush=True)
        assert refused > sent // 10 and sent // 2 < asked <= sent, told()
    rmmod("tcp_timely")


def nicstamp__goes_and_comes_back_under_traffic():
    class Apart(Hosts):
        """A NIC without a clock holds no nicstamp."""
        modules = ["vrack", "nicstamp"]

    def again():
        subprocess.run(["rmmod", "nicstamp"], check=True)
        insmod("drivers/nicstamp/nicstamp.ko")

    with Apart(nic="") as rack:
        counted, _ = moved(rack, during=again)
        same("samples by the wire", counted["samples_wire"], 0)


main(globals())
