#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Times of arrival by the NIC in OR-ACKs: the rack's NICs, nicstamp, sch_onramp.

Runs in a guest: arrival.py VRACK.KO. The receiver's host is late by 20 us on average,
and its flow never queues: what On-Ramp takes for a queue is what its times are wrong by.
"""

import itertools
import json
import os
import subprocess
import sys
import time

from feedctl import Follower
from rackctl import Pace, Rack, insmod, main, make_device_nodes, move, paced, rmmod, same

MODULE = sys.argv[1]
BUILD = os.environ["TURNPIKE_BUILD"]
TURNPIKE = os.path.join(BUILD, "turnpike")
TC = {**os.environ, "TC_LIB_DIR": os.path.join(BUILD, "tc")}
GBIT = 10**9
# A tenth of the line's: sparse receipts are made (orack_sparse.h). A debug kernel is a hundred
# times slower.
STREAM = Pace(125_000_000, 4 if os.environ.get("TURNPIKE_DEBUG") == "1" else 16)
# Three frames in 870 us: all have one.
APART = Pace(5_000_000, 1)
CLOCK = "phc=1 phc_fast_ppb=50000"
# From the last bit at the NIC of the sender: both cables, 2 x 5 us, and a frame at the switch.
PATH_NS = 11230
# the same of a transfer's last frame, which 688 bytes are left for
LAST_PATH_NS = 10622
THRESHOLD_NS = 50_000
# two readings of the clock
SETTLED = 0.25


class Hosts(Rack):
    """h0 sends to h1, whose NIC is noisy and stamps."""

    modules = ["nicstamp", "vrack", "vrack_phc"]

    def __init__(self, nic=CLOCK, jitter_ns=20000):
        super().__init__(MODULE, "switch add s0", "nic add h0 ip=10.0.0.1",
                         f"nic add h1 ip=10.0.0.2 jitter_ns={jitter_ns} {nic}",
                         f"link add h0 s0 rate_bps={10 * GBIT} delay_ns=5000",
                         f"link add h1 s0 rate_bps={10 * GBIT} delay_ns=5000")
        insmod("sch_onramp/sch_onramp.ko")
        for name, address in (("h0", "10.0.0.1/8"), ("h1", "10.0.0.2/8")):
            self.host(name, address)
            subprocess.run(["ip", "netns", "exec", name, "tc", "qdisc", "add", "dev", "eth0",
                            "root", "onramp", "threshold", f"{THRESHOLD_NS}ns", "feedback", "orack"],
                           env=TC, check=True)
        time.sleep(SETTLED)
        self.transfer()    # the hosts know each other from here on

    def __exit__(self, *args):
        for name in self.namespaces:
            subprocess.run(["ip", "netns", "exec", name, "tc", "qdisc", "del", "dev", "eth0",
                            "root"], env=TC, check=True)
        rmmod("sch_onramp")
        super().__exit__(*args)

    def transfer(self, pace=APART, during=None):
        """Move data by a connection of its own; during() runs in the middle of it."""
        # its last receipt comes before the end is acknowledged
        move(paced("h0", pace.bytes_per_s), pace.megabytes, during, linger=0.01)

    def told(self, host, *words):
        done = subprocess.run(["ip", "netns", "exec", host, TURNPIKE, "onramp", *words, "-j"],
                              check=True, capture_output=True)
        return json.loads(done.stdout)

    def peer(self, host="h0"):
        return self.told(host, "peers")[0]

    def sources(self):
        """What the sender sees, and what the receiver says, of whose times receipts have."""
        return self.peer()["stamps"], self.peer("h1")["own_stamps"]

    def counts(self):
        return {**self.told("h0", "stats"), **{name: value for name, value in
                self.told("h1", "stats").items() if name.startswith("receipts_")}}

    def delays(self):
        """Of the qdisc, so far: what was taken for a queue."""
        done = subprocess.run(["ip", "netns", "exec", "h0", "tc", "-s", "-j", "qdisc", "show",
                               "dev", "eth0"], env=TC, check=True, capture_output=True)
        return json.loads(done.stdout)[0]


def moved(rack, **how):
    """Counters of one transfer."""
    before = rack.counts()
    rack.transfer(**how)
    after = rack.counts()
    return {name: after[name] - before[name] for name in after}


def report(rack):
    delays = rack.delays()
    print(f"# delay p50 {delays['delay_p50_ns']} ns, p99 {delays['delay_p99_ns']} ns, "
          f"{delays['pauses']} pauses of {delays['samples']} samples; stamps",
          *rack.sources(), flush=True)
    return delays


def receipts__carry_the_nics_times():
    for pace, least in ((APART, 100), (STREAM, STREAM.megabytes)):
        with Hosts() as rack:
            counted = moved(rack, pace=pace)
            print("#", counted)
            same("sources", rack.sources(), ("nic", "nic"))
            same("receipts by the NIC", counted["receipts_nic"], counted["receipts_sent"])
            same("samples by the NIC", counted["samples_nic"], counted["samples"])
            same("data without a stamp", counted["receipts_unstamped"], 0)
            assert counted["samples"] > least, counted
            # a connection may be gone before its last receipt comes; two ended
            assert counted.pop("refused_flow") <= 2, counted
            same("refused", {n: v for n, v in counted.items()
                             if n.startswith("refused_") and v}, {})


def receipts__carry_the_times_of_a_stock_drivers_nic():
    with Hosts(nic=f"{CLOCK} phc_stock=1") as rack:
        same("sources", rack.sources(), ("host", "host"))
        with Follower("h1"):
            rack.transfer()
            counted = moved(rack)
            print("#", counted)
            same("sources", rack.sources(), ("nic", "nic"))
            same("receipts by the NIC", counted["receipts_nic"], counted["receipts_sent"])
            same("data without a stamp", counted["receipts_unstamped"], 0)
            assert counted["samples_nic"] > 100, counted
        rack.transfer()
        rack.transfer()
        same("sources", rack.sources(), ("host", "host"))


def delay__has_none_of_the_hosts_noise():
    for jitter_ns, pace in itertools.product((20000, 100000), (APART, STREAM)):
        with Hosts(jitter_ns=jitter_ns) as rack:
            rack.transfer(pace)
            by_nic = report(rack)
        with Hosts(nic="", jitter_ns=jitter_ns) as rack:
            rack.transfer(pace)
            by_host = report(rack)
            same("sources", rack.sources(), ("host", "host"))
        # nobody is held for a queue that is not there
        same("pauses by the NIC's times", by_nic["pauses"], 0)
        assert by_nic["delay_p99_ns"] <= 2000, by_nic
        assert by_host["delay_p99_ns"] > 10000, by_host
        assert by_host["pauses"] > 0 or jitter_ns < THRESHOLD_NS, by_host


def delay__one_way_is_exact():
    with Hosts() as rack:
        subprocess.run(["ip", "netns", "exec", "h0", TURNPIKE, "onramp", "clock", "set",
                        "10.0.0.2", "0", "1us"], check=True)
        seen = []
        rack.transfer(during=lambda: seen.append(rack.peer()))
        seen.append(rack.peer())
        for peer in seen:
            print("#", peer)
            same("grade", peer["grade"], "b")
            # told, and what the NIC's clock may be off by
            same("bound", peer["error_ns"], 1000 + 4000)
            assert LAST_PATH_NS - 100 <= peer["owd_ns"] <= PATH_NS + 3000, peer["owd_ns"]
        # the relation of the clocks holds when stamps end
        rack.ctl("nic set h1 phc=0")
        rack.transfer()
        peer = rack.peer()
        same("after", (peer["stamps"], peer["grade"], peer["error_ns"]), ("host", "b", 1000))


def source__without_nicstamp_is_the_host():
    class Bare(Hosts):
        modules = ["vrack"]

    with Bare(nic="") as rack:
        counted = moved(rack)
        same("sources", rack.sources(), ("host", "host"))
        same("receipts by the NIC", counted["receipts_nic"], 0)
        same("data without a stamp", counted["receipts_unstamped"], 0)
        assert counted["samples"] > 100, counted


def source__clock_taken_away_and_given_back():
    with Hosts() as rack:
        counted = moved(rack, pace=STREAM, during=lambda: rack.ctl("nic set h1 phc=0"))
        same("sources", rack.sources(), ("host", "host"))
        assert 1 <= counted["receipts_unstamped"] <= 64, counted
        assert counted["samples_nic"] < counted["samples"], counted
        rack.ctl(f"nic set h1 {CLOCK}")
        time.sleep(0.5)     # two readings, and longer than it is not changed back
        rack.transfer()
        same("sources", rack.sources(), ("nic", "nic"))
        assert moved(rack)["samples_nic"] > 100
        assert report(rack)["delay_p99_ns"] < THRESHOLD_NS


def stepped(by_ns):
    """The clock of the receiver's NIC jumps; then it jumps back."""
    with Hosts(nic=CLOCK + " phc_offset_ns=10000000") as rack:
        for offset_ns in (10_000_000 + by_ns, 10_000_000):
            counted = moved(rack, pace=STREAM, during=lambda at=offset_ns: rack.ctl(
                f"nic set h1 phc_offset_ns={at} phc_fast_ppb=50000"))
            print("#", {n: v for n, v in counted.items() if v})
            # nothing queues, and nobody is told so: what is left is the host's noise
            assert report(rack)["delay_p99_ns"] < THRESHOLD_NS
            time.sleep(0.5)
            rack.transfer()
            same("sources", rack.sources(), ("nic", "nic"))
            counted = moved(rack)
            same("samples by the NIC", counted["samples_nic"], counted["samples"])
            assert counted["samples"] > 100, counted


def clock__stepped_by_a_millisecond_under_traffic():
    stepped(1_000_000)


def clock__stepped_by_less_than_is_seen_at_once():
    stepped(500_000)


def clock__stepped_by_less_than_the_hosts_noise():
    stepped(15_000)


def nicstamp__loads_and_unloads_on_either_side():
    insmod("sch_onramp/sch_onramp.ko")
    for _ in range(5):
        insmod("drivers/nicstamp/nicstamp.ko")
        subprocess.run(["rmmod", "nicstamp"], check=True)
    insmod("drivers/nicstamp/nicstamp.ko")
    rmmod("sch_onramp")
    insmod("sch_onramp/sch_onramp.ko")
    subprocess.run(["rmmod", "nicstamp"], check=True)
    rmmod("sch_onramp")


def nicstamp__is_shared_with_timely():
    insmod("tcp_timely/tcp_timely.ko")
    with Hosts() as rack:
        counted = moved(rack)
        same("samples by the NIC", counted["samples_nic"], counted["samples"])
        rmmod("tcp_timely")
        assert moved(rack)["samples_nic"] > 100


make_device_nodes()
main(globals())
