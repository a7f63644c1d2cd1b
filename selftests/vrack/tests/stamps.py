#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""NIC stamps end to end: the rack's NICs, nicstamp, tcp_timely, turnpike stamps.

Runs in a guest: stamps.py VRACK.KO. Every sample is held against the rack's own
times (vr_truth.c); whatever happens to a clock, none may be off by more than its
resolution and what its rate does in a round trip.
"""

import json
import os
import socket
import subprocess
import sys
import threading
import time

from rackctl import Namespace, Rack, main, same

MODULE = sys.argv[1]
TOP = os.path.join(os.path.dirname(MODULE), "..", "..")
TURNPIKE = os.path.join(os.environ["TURNPIKE_BUILD"], "turnpike")
GBIT = 10**9
# a debug kernel is a hundred times slower; a megabyte is 64 bursts
MEGABYTES = 1 if os.environ.get("TURNPIKE_DEBUG") == "1" else 4
ENOUGH = 20
CLOCKS = "phc=1 phc_fast_ppb=50000"


def module(name):
    subprocess.run(["insmod", os.path.join(TOP, name)], check=True)


def unload(name):
    """Sockets let go of a module some time after they are closed."""
    for _ in range(100):
        if not os.path.isdir(f"/sys/module/{name}"):
            return
        if subprocess.run(["rmmod", name], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return
        time.sleep(0.1)
    raise AssertionError(f"{name} stays in use")


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
            unload("tcp_timely")
        super().__exit__(*args)

    def use_timely(self):
        module("tcp_timely/tcp_timely.ko")
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
        with Namespace("h1"):
            listener = socket.create_server(("10.0.0.2", 5000))
        with Namespace("h0"):
            sender = socket.socket()
            sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"timely")
        sender.connect(("10.0.0.2", 5000))
        receiver, _ = listener.accept()
        listener.close()
        feeder = threading.Thread(target=lambda: (sender.sendall(bytes(megabytes << 20)),
                                                  sender.shutdown(socket.SHUT_WR)))
        feeder.start()
        got = 0
        while chunk := receiver.recv(1 << 20):
            got += len(chunk)
            if during and got > megabytes << 19:
                during()
                during = None
        feeder.join()
        same("bytes received", got, megabytes << 20)
        sender.close()
        receiver.close()

    def stamps(self):
        return self.stats()["stamps"]


def tell(*words):
    done = subprocess.run([TURNPIKE, "stamps", *words, "-j"], check=True, capture_output=True)
    return json.loads(done.stdout)


def honest(rack, step_ns=8, least=ENOUGH):
    """Enough samples, and none off by more than a step, 50 ppm of an RTT and rounding."""
    error, rtt = rack.stamps()["error"], rack.stamps()["rtt"]
    bound = step_ns + rtt["max_ns"] * 50e-6 + 2
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


def nicstamp__held_by_its_driver():
    with Hosts():
        assert subprocess.run(["rmmod", "nicstamp"], stderr=subprocess.DEVNULL,
                              check=False).returncode


def nicstamp__loads_and_unloads_on_either_side_of_timely():
    module("tcp_timely/tcp_timely.ko")
    for _ in range(5):
        module("drivers/nicstamp.ko")
        subprocess.run(["rmmod", "nicstamp"], check=True)
    module("drivers/nicstamp.ko")
    unload("tcp_timely")
    module("tcp_timely/tcp_timely.ko")
    subprocess.run(["rmmod", "nicstamp"], check=True)
    unload("tcp_timely")


def timely__goes_and_comes_back():
    with Hosts() as rack:
        rack.transfer()
        unload("tcp_timely")
        same("flows left", tell("flows"), [])
        rack.use_timely()
        rack.transfer()
        honest(rack)


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
