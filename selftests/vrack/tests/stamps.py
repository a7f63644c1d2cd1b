#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""NIC stamps end to end: the rack's NICs, nicstamp, tcp_timely, turnpike stamps.

Runs in a guest: stamps.py VRACK.KO. Every sample is held against the rack's own
times (vr_truth.c); whatever happens to a clock, none may be off by more than its
resolution and what its rate does in a round trip.
"""

import ctypes
import fcntl
import functools
import json
import math
import os
import socket
import struct
import subprocess
import sys
import time

from rackctl import FRAME, Namespace, Rack, insmod, main, move, near, rmmod, same

MODULE = sys.argv[1]
TURNPIKE = os.path.join(os.environ["TURNPIKE_BUILD"], "turnpike")
GBIT = 10**9
SIOCSHWTSTAMP = 0x89b0
# a debug kernel is a hundred times slower; a megabyte is 64 bursts
MEGABYTES = 1 if os.environ.get("TURNPIKE_DEBUG") == "1" else 4
ENOUGH = 20
CLOCKS = "phc=1 phc_fast_ppb=50000"


class Hosts(Rack):
    """h0 sends with timely to h1; h0's NIC is noisy and stamps."""

    modules = ["nicstamp", "vrack", "vrack_phc"]

    def __init__(self, nic=CLOCKS, source="auto"):
        super().__init__(MODULE, "switch add s0",
                         f"nic add h0 ip=10.0.0.1 jitter_ns=20000 {nic}", "nic add h1 ip=10.0.0.2",
                         f"link add h0 s0 rate_bps={10 * GBIT} delay_ns=5000",
                         f"link add h1 s0 rate_bps={10 * GBIT} delay_ns=5000")
        self.timely = False
        self.use_timely()
        for name, address in (("h0", "10.0.0.1/8"), ("h1", "10.0.0.2/8")):
            self.host(name, address)
        self.source(source)

    def __exit__(self, *args):
        # namespaces hold no module; their sockets are closed by now
        if self.timely:
            rmmod("tcp_timely")
        super().__exit__(*args)

    def use_timely(self):
        insmod("tcp_timely/tcp_timely.ko")
        self.timely = True

    def source(self, word):
        with Namespace("h0"), open("/proc/sys/net/ipv4/tcp_timely/source", "w",
                                   encoding="ascii") as knob:
            knob.write(word)

    def counters(self):
        with Namespace("h0"), open("/proc/net/tcp_timely", encoding="ascii") as lines:
            return {name: int(value) for name, value in map(str.split, lines)}

    def transfer(self, megabytes=MEGABYTES, during=None):
        """Move so much by a connection of its own; during() runs in the middle of it."""
        with Namespace("h0"):
            sender = socket.socket()
            sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"timely")
        move(sender, megabytes, during)

    def stamps(self):
        return self.stats()["stamps"]

    def sockets_have_stamps(self, on):
        """The only slot of h0's NIC is kept for sockets: as long as on, nicstamp has none."""
        config = ctypes.create_string_buffer(struct.pack("iii", 0, int(on), 0))
        request = struct.pack("16sP16x", b"eth0", ctypes.addressof(config))
        with Namespace("h0"), socket.socket() as any_socket:
            fcntl.ioctl(any_socket, SIOCSHWTSTAMP, request)


class Paired(Rack):
    """Two hosts of clocks, a switch between; the rack keeps pairs of packets."""

    modules = ["nicstamp", "vrack", "vrack_phc"]
    parameters = {"vrack_phc": ["pairs=10000"]}

    def __init__(self):
        super().__init__(MODULE, "switch add s0",
                         "nic add h0 ip=10.0.0.1 phc=1", "nic add h1 ip=10.0.0.2 phc=1",
                         f"link add h0 s0 rate_bps={10 * GBIT} delay_ns=5000",
                         f"link add h1 s0 rate_bps={10 * GBIT} delay_ns=3000")
        for name, address in (("h0", "10.0.0.1/8"), ("h1", "10.0.0.2/8")):
            self.host(name, address)


def tell(*words):
    done = subprocess.run([TURNPIKE, "stamps", *words, "-j"], check=True, capture_output=True)
    return json.loads(done.stdout)


def honest(rack, step_ns=8, least=ENOUGH, ppm=50):
    """Enough samples, and none off by more than a step, 50 ppm of an RTT and rounding."""
    error, rtt = rack.stamps()["error"], rack.stamps()["rtt"]
    bound = step_ns + rtt["max_ns"] * ppm * 1e-6 + 2
    assert error["count"] >= least, f"{error['count']} samples"
    assert error["max_ns"] <= bound, f"a sample is off by {error['max_ns']} ns, not {bound:.0f}"


def sample__by_the_nic_and_exact():
    with Hosts() as rack:
        rack.transfer()
        honest(rack)
        counted = rack.counters()
        assert counted["source_nic"] > ENOUGH, counted
        # before the first stamp, and nothing after
        assert counted["source_tcp_ns"] + counted["source_tcp_us"] <= 12, counted


def source__tcp_asks_for_no_stamps():
    with Hosts(source="tcp") as rack:
        rack.transfer()
        same("samples", rack.stamps()["error"]["count"], 0)
        same("wanted", tell("stats")["wanted"], 0)
        same("source_nic", rack.counters()["source_nic"], 0)


def source__hw_without_a_clock_gives_nothing():
    with Hosts(nic="", source="hw") as rack:
        rack.transfer(megabytes=1)
        counted = rack.counters()
        same("samples", counted["samples"], 0)
        assert counted["dropped_no_stamp"] > 10, counted


def source__auto_without_a_clock_is_tcp():
    with Hosts(nic="") as rack:
        rack.transfer()
        counted = rack.counters()
        same("source_nic", counted["source_nic"], 0)
        assert counted["samples"] > ENOUGH, counted


def source__bad_word_changes_nothing():
    with Hosts() as rack:
        for word in ("nic", "3", "autohw"):
            try:
                rack.source(word)
            except OSError:
                pass
            else:
                raise AssertionError(f"'{word}' was taken")
        with Namespace("h0"), open("/proc/sys/net/ipv4/tcp_timely/source", encoding="ascii") as f:
            same("source", f.read(), "auto\n")


def clock__stepped_under_traffic():
    with Hosts() as rack:
        rack.transfer(during=lambda: rack.ctl("nic set h0 phc_offset_ns=1000000"))
        rack.transfer(during=lambda: rack.ctl("nic set h0 phc_offset_ns=0"))
        honest(rack)


def clock__changes_its_rate_under_traffic():
    with Hosts("phc=1 phc_offset_ns=1000000000") as rack:
        rate, offset_ns = 0, 10**9

        def run_at(ppb):
            """The rack's counter is rate times time and an offset: without that it would step."""
            nonlocal rate, offset_ns
            offset_ns -= rack.stats()["time_ns"] * (ppb - rate) // 10**9
            rate = ppb
            rack.ctl(f"nic set h0 phc_offset_ns={offset_ns} phc_fast_ppb={max(rate, 0)} "
                     f"phc_slow_ppb={max(-rate, 0)}")

        for ppb in (100_000, -100_000, 50_000):
            rack.transfer(during=functools.partial(run_at, ppb))
        honest(rack, ppm=200)


def stamps__stop_and_go_on_under_traffic():
    with Hosts(f"{CLOCKS} phc_tx_slots=1") as rack:
        rack.transfer(during=lambda: rack.sockets_have_stamps(True))
        before = rack.counters()
        rack.transfer()
        without = rack.counters()
        same("by the NIC, without stamps", without["source_nic"], before["source_nic"])
        assert without["source_tcp_ns"] > before["source_tcp_ns"] + ENOUGH, without
        rack.transfer(during=lambda: rack.sockets_have_stamps(False))
        rack.transfer()
        assert rack.counters()["source_nic"] > without["source_nic"] + ENOUGH, rack.counters()
        honest(rack)


def stamps__keep_their_distance():
    """A NIC that is slow to stamp: between two of its stamps a millisecond passes at least."""
    with Hosts(f"{CLOCKS} phc_gap_ns=1000000") as rack:
        before, began = tell("stats"), time.monotonic()
        rack.transfer()
        stamps, elapsed_ms = tell("stats"), (time.monotonic() - began) * 1e3
        tx, no_slot = (stamps[name] - before[name] for name in ("tx", "no_slot"))
        print(f"# {tx} stamps in {elapsed_ms:.0f} ms, {no_slot} were too soon")
        assert 0 < tx <= elapsed_ms + 2, stamps
        assert no_slot > ENOUGH, stamps


def wandering(walk):
    """Connections over a second, of a clock whose rate walks; what its stamps were worth."""
    with Hosts(f"{CLOCKS} phc_step_ns=1 {walk}") as rack:
        rack.transfer(megabytes=1)
        time.sleep(0.5)
        # by now the rate is known as well as it gets
        rack.ctl("stats reset")
        for _ in range(10):
            rack.transfer(megabytes=1)
            time.sleep(0.1)
        stamps, steps = rack.stamps(), tell("stats")["steps"]
    waits = stamps["wait_error"]
    print(f"# {walk}: {waits['count']} samples, RTT off by {stamps['error']['max_ns']} ns at most, "
          f"times of leaving by {waits['max_ns']}; beyond what was claimed {stamps['beyond']} "
          f"and {stamps['wait_beyond']}, steps {steps}")
    assert min(stamps["error"]["count"], waits["count"]) > ENOUGH, stamps
    same("RTTs beyond what was claimed", stamps["beyond"], 0)
    return stamps["wait_beyond"], steps


def clock__wanders_under_traffic():
    # 10 and 45 ppb a second; nicstamp has a crystal do less than 100
    for walk in ("phc_walk_ppb=100 phc_walk_ms=200000", "phc_walk_ppb=100 phc_walk_ms=10000"):
        same("times beyond what was claimed, steps", wandering(walk), (0, 0))


def clock__wanders_as_no_crystal_does():
    # 1 ppm in 0.1 s: RTTs stay true, and what does not is seen here
    beyond, steps = wandering("phc_walk_ppb=1000 phc_walk_ms=100")
    assert beyond and steps


def clock__its_rate_has_the_deviation_asked_for():
    """Rates are means over a while of what is forgotten in tau, as Ornstein and Uhlenbeck have it."""
    sigma_ppb, tau_s, every_s = 200, 0.1, 0.05
    count = 1000 if os.environ.get("TURNPIKE_DEBUG") == "1" else 8000
    walk = f"phc_walk_ppb={sigma_ppb} phc_walk_ms={tau_s * 1e3:.0f}"
    with Hosts(f"phc=1 phc_step_ns=1 {walk}") as rack:
        seen = []
        for _ in range(count):
            stats = rack.stats()
            seen.append((stats["time_ns"], stats["clocks"]["h0"]["ns"]))
            time.sleep(every_s)
    rates = [((clock - clock0) / (now - now0) - 1) * 1e9
             for (now0, clock0), (now, clock) in zip(seen, seen[1:])]
    share = every_s / tau_s
    expected = sigma_ppb**2 * 2 / share**2 * (share - 1 + math.exp(-share))
    # so many rates of which none knows of the others: five deviations of their variance
    independent = count * every_s / (2 * tau_s)
    near("variance, ppb^2", sum(rate**2 for rate in rates) / len(rates), expected,
         5 * (2 / independent) ** 0.5)


def clock__wraps_under_traffic():
    with Hosts(nic="phc=1 phc_bits=32 phc_step_ns=1") as rack:
        wrap = 2**32 - rack.stats()["time_ns"] - 3_000_000    # in 3 ms
        rack.ctl(f"nic set h0 phc_offset_ns={wrap}")
        begin = rack.stats()["time_ns"]
        while rack.stats()["time_ns"] < begin + 6_000_000:
            rack.transfer(megabytes=1)
        honest(rack, step_ns=1)


def clock__taken_away_and_given_back_under_traffic():
    with Hosts() as rack:
        rack.transfer(during=lambda: rack.ctl("nic set h0 phc=0"))
        rack.transfer()
        assert rack.counters()["source_tcp_ns"] > 20, rack.counters()
        by_nic = rack.counters()["source_nic"]
        rack.transfer(during=lambda: rack.ctl(f"nic set h0 {CLOCKS}"))
        rack.transfer()
        assert rack.counters()["source_nic"] > by_nic + ENOUGH, rack.counters()
        honest(rack)


def clock__another_kind_is_refused_while_it_is_on():
    with Hosts() as rack:
        try:
            rack.ctl("nic set h0 phc_bits=48")
        except OSError:
            return
        raise AssertionError("taken")


def pairs__on_a_path_without_queues():
    """Equal rates make no queue: cables, and the switch that sends 1538 bytes, or an ACK's 90, anew."""
    with Paired() as rack:
        with Namespace("h0"):
            sender = socket.socket()
        move(sender, MEGABYTES)
        pairs = rack.pairs()
        rack.ctl("stats reset")
        same("pairs after a reset", rack.pairs(), [])
    full, back = 8000 + FRAME * 8 // 10, 8000 + 90 * 8 // 10
    for following, owd, rtt, host in pairs:
        assert max(following, owd) <= full, (following, owd)
        assert abs(rtt - host - owd - back) <= 2, (rtt, host, owd)
    whole = sum(min(following, owd) == full for following, owd, *_ in pairs)
    print(f"# {len(pairs)} pairs, {whole} of two full packets")
    assert whole > 0.9 * len(pairs) > 0.9 * ENOUGH


def pairs__too_many_are_refused():
    insmod("drivers/nicstamp/nicstamp.ko")
    insmod("selftests/vrack/vrack.ko")
    phc = os.path.join(os.path.dirname(MODULE), "vrack_phc.ko")
    refused = subprocess.run(["insmod", phc, "pairs=4194305"], stderr=subprocess.DEVNULL,
                             check=False).returncode
    for module in ("vrack", "nicstamp"):
        rmmod(module)
    assert refused, "taken"


def nicstamp__held_by_its_driver():
    with Hosts():
        assert subprocess.run(["rmmod", "nicstamp"], stderr=subprocess.DEVNULL,
                              check=False).returncode


def nicstamp__loads_and_unloads_on_either_side_of_timely():
    insmod("tcp_timely/tcp_timely.ko")
    for _ in range(5):
        insmod("drivers/nicstamp/nicstamp.ko")
        subprocess.run(["rmmod", "nicstamp"], check=True)
    insmod("drivers/nicstamp/nicstamp.ko")
    rmmod("tcp_timely")
    insmod("tcp_timely/tcp_timely.ko")
    subprocess.run(["rmmod", "nicstamp"], check=True)
    rmmod("tcp_timely")


def timely__goes_and_comes_back():
    with Hosts() as rack:
        rack.transfer()
        rmmod("tcp_timely")
        same("flows left", tell("flows"), [])
        rack.use_timely()
        rack.transfer()
        honest(rack)


def clock__is_read_while_a_flow_is_followed():
    with Hosts() as rack:
        rack.transfer()
        rmmod("tcp_timely")
        time.sleep(0.25)    # a reading may have been due
        before = tell("stats")["readings"]
        time.sleep(0.5)
        same("readings without a flow", tell("stats")["readings"], before)
        rack.use_timely()
        rack.transfer()
        assert tell("stats")["readings"] > before, before


def tool__shows_devices_flows_and_counters():
    shown = {}

    def look():
        time.sleep(0.25)    # two readings of the clock
        shown["flows"], shown["devices"] = tell("flows"), tell("devices")

    with Hosts() as rack:
        rack.transfer(during=look)
        stats = tell("stats")
        honest(rack)
    flow = shown["flows"][0]
    same("flow", (flow["local"], flow["remote"], flow["remote_port"]),
         ("10.0.0.1", "10.0.0.2", 5000))
    # the newest may be of an ACK that waited for the reader, who was looking
    assert 20000 < flow["rtt_min_ns"] < 60000 and flow["rtt_min_ns"] <= flow["rtt_ns"], flow
    assert flow["samples"] > 10, flow
    device = shown["devices"][0]
    same("clock", (device["clock_bits"], device["step_ns"]), (40, 8))
    assert device["error_ns"] < 100, device
    # 50 ppm fast: the system's clock is as much slower, by the bound of two readings
    assert abs(device["rate_ppb"] + 50000) < 500, device
    same("of all", stats["tx"], stats["wanted"])
    assert stats["samples"] > ENOUGH and stats["steps"] == 0, stats


main(globals())
