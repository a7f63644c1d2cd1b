#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Signals of single hops: the rack's queues, vrack_hops.ko, tcp_timely.

    h0 --10G-- s0 --1G--> s1 --.5G--> h1

h0 sends pairs of frames. The first of a pair meets no queue. The second meets two, each of them the
first one's: at s0 for the time that it takes at 1 Gbit/s less that at 10, and at s1 for what it takes
at .5 less that at 1. Nothing else queues, so every signal is known to the nanosecond.

Runs in a guest: hops.py VRACK.KO.
"""

import math
import os
import re
import socket
import statistics
import subprocess
import sys

from rackctl import FRAME, Namespace, Rack, connect, exchange, insmod, main, rmmod, same, settle

MODULE = sys.argv[1]
GBIT = 10**9
TRACING = "/sys/kernel/tracing/"
PACE_BYTES_PER_S = 12500000     # pairs of frames, for all that a calm flow may send at once
KILOBYTES = 250
ENOUGH = 5                      # samples of each kind
EXACT_NS = 100                  # squares are of units of 64 ns
DELAY_NS = 1000                 # of each cable
ACK = 90                        # wire bytes, with timestamps; 20 more for IPv6


def wire_ns(gbit, wire_bytes=FRAME):
    return wire_bytes * 8 / gbit


FIRST_NS = wire_ns(1) - wire_ns(10)
SECOND_NS = wire_ns(.5) - wire_ns(1)


def empty_ns(family=4):
    """The RTT of a pair's first frame, less its time on h0's cable."""
    ack = ACK if family == 4 else ACK + 20
    return 6 * DELAY_NS + wire_ns(1) + wire_ns(.5) + 2 * wire_ns(10, ack) + wire_ns(1, ack)


class Hosts(Rack):
    """x, at s1, is where frames come from that ACKs meet on their way back."""

    def __init__(self, signal, hops=True, family=4):
        super().__init__(MODULE, "switch add s0", "switch add s1",
                         "nic add h0 ip=10.0.0.1 ip6=fd00::1", "nic add h1 ip=10.0.0.2 ip6=fd00::2",
                         "nic add x ip=10.0.0.3",
                         f"link add h0 s0 rate_bps={10 * GBIT} delay_ns={DELAY_NS}",
                         f"link add s0 s1 rate_bps={GBIT} rate_ba_bps={GBIT} delay_ns={DELAY_NS}",
                         f"link add s1 h1 rate_bps={GBIT // 2} rate_ba_bps={10 * GBIT} delay_ns={DELAY_NS}",
                         f"link add x s1 rate_bps={10 * GBIT} delay_ns={DELAY_NS}")
        self.family = family
        self.hops = False
        insmod("tcp_timely/tcp_timely.ko")
        if hops:
            self.use_hops()
        for name, number in (("h0", 1), ("h1", 2), ("x", 3)):
            self.host(name, f"10.0.0.{number}/8")
            if family == 6:
                with Namespace(name), open("/proc/sys/net/ipv6/conf/eth0/disable_ipv6", "w",
                                           encoding="ascii") as knob:
                    knob.write("0")
                subprocess.run(["ip", "-n", name, "addr", "add", f"fd00::{number}/64", "dev", "eth0", "nodad"],
                               check=True)
        self.signal(signal)

    def __exit__(self, *args):
        self.leave_hops()
        rmmod("tcp_timely")
        super().__exit__(*args)

    def use_hops(self):
        insmod("selftests/vrack/vrack_hops.ko")
        self.hops = True

    def leave_hops(self):
        if self.hops:
            rmmod("vrack_hops")
        self.hops = False

    def signal(self, word):
        with Namespace("h0"), open("/proc/sys/net/ipv4/tcp_timely/signal", "w", encoding="ascii") as knob:
            knob.write(word)

    def counters(self):
        with Namespace("h0"), open("/proc/net/tcp_timely", encoding="ascii") as lines:
            return {name: int(value) for name, value in map(str.split, lines)}

    def cut_by_the_stack(self):
        subprocess.run(["ip", "netns", "exec", "h0", "ethtool", "-K", "eth0", "tso", "off"],
                       check=True, capture_output=True)

    def connect(self):
        family, host = (socket.AF_INET, "10.0.0.2") if self.family == 4 else (socket.AF_INET6, "fd00::2")
        with Namespace("h0"):
            sender = socket.socket(family)
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"timely")
        sender.setsockopt(socket.SOL_SOCKET, 47, PACE_BYTES_PER_S)  # SO_MAX_PACING_RATE
        return sender, connect(sender, host)

    def transfer(self, during=None):
        """Moves KILOBYTES; during() runs in the middle. Returns the trace of its decisions."""
        events = TRACING + "events/timely/timely_decision/enable"
        write(TRACING + "trace", "")
        write(events, "1")
        exchange(*self.connect(), KILOBYTES << 10, during)
        write(events, "0")
        with open(TRACING + "trace", encoding="ascii") as lines:
            return [line for line in lines if "timely_decision:" in line]


def write(path, text):
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


def samples_ns(trace, source):
    return [int(re.search(r"rtt_ns=(\d+)", line)[1]) for line in trace if f"source={source} " in line]


def signal_is(word, queue_ns, prepare=lambda rack: None, family=4):
    """The signal of a pair's second frame is the empty path and queue_ns, that of a first one the path."""
    with Hosts(word, family=family) as rack:
        prepare(rack)
        values = samples_ns(rack.transfer(), "tcp_ns" if word == "rtt" else "hops")
        counted = rack.counters()
    same("dropped_no_hops", counted["dropped_no_hops"], 0)
    same("hops_unknown", counted["hops_unknown"], 0)
    for what, expected_ns in (("first", empty_ns(family)), ("second", empty_ns(family) + queue_ns)):
        there = sum(abs(value - expected_ns) <= EXACT_NS for value in values)
        print(f"# {what} frames: {there} of {len(values)} samples are {expected_ns:.0f} ns")
        assert there >= ENOUGH, statistics.multimode(values)


def rtt__has_both_queues():
    signal_is("rtt", FIRST_NS + SECOND_NS)


def sum__is_the_rtt():
    signal_is("sum", FIRST_NS + SECOND_NS)


def max__is_the_longer_queue():
    signal_is("max", max(FIRST_NS, SECOND_NS))


def sum_squ__is_the_root_of_the_squares():
    signal_is("sum_squ", math.hypot(FIRST_NS, SECOND_NS))


def max__of_bursts_that_the_stack_cuts():
    signal_is("max", max(FIRST_NS, SECOND_NS), Hosts.cut_by_the_stack)


def max__of_ipv6():
    signal_is("max", max(FIRST_NS, SECOND_NS), family=6)


def max__queue_of_the_way_back_is_one_of_them():
    # ACKs wait behind 400 small frames, and behind what comes as fast as it leaves
    with Hosts("max") as rack:
        rack.ctl(f"source add x h0 ip_bytes=46 rate_bps={10 * GBIT} count=400",
                 f"source add x h0 ip_bytes=46 rate_bps={GBIT}")
        rack.ctl("stats reset")
        values = samples_ns(rack.transfer(), "hops")
        waited_ns = rack.nic("h0")["delay_ack"]["max_ns"]
    extra_ns = max(values) - empty_ns()
    print(f"# an ACK waited {waited_ns} ns, the signal has {extra_ns:.0f}")
    assert waited_ns > 200000 and abs(extra_ns - waited_ns) < FIRST_NS / 2
    # and the queues that only second frames met are in no signal: it grows with every ACK, by its time
    values = values[10:]
    step_ns = max(abs(after - before) for before, after in zip(values, values[1:]))
    print(f"# from one sample to the next it changes by {step_ns} ns at most")
    assert step_ns < FIRST_NS / 2


def rtt__asks_for_no_hops():
    with Hosts("rtt") as rack:
        rack.transfer()
        counted = rack.counters()
        same("source_hops", counted["source_hops"], 0)
        same("hops_unknown", counted["hops_unknown"], 0)
        assert counted["samples"] > ENOUGH, counted


def unknown__is_the_rtt():
    with Hosts("max", hops=False) as rack:
        rack.transfer()
        counted = rack.counters()
        same("source_hops", counted["source_hops"], 0)
        same("dropped_no_hops", counted["dropped_no_hops"], 0)
        same("hops_unknown", counted["hops_unknown"], counted["samples"])
        assert counted["samples"] > ENOUGH, counted


def unknown__after_a_while_is_waited_for():
    with Hosts("max") as rack:
        rack.transfer(rack.leave_hops)
        counted = rack.counters()
        same("dropped_no_hops", counted["dropped_no_hops"], 8)
        assert counted["source_hops"] > ENOUGH and counted["hops_unknown"] > ENOUGH, counted


def known__again():
    with Hosts("max", hops=False) as rack:
        rack.transfer(rack.use_hops)
        counted = rack.counters()
        same("dropped_no_hops", counted["dropped_no_hops"], 0)
        assert counted["source_hops"] > ENOUGH and counted["hops_unknown"] > ENOUGH, counted


def module__comes_and_goes_under_traffic():
    with Hosts("max") as rack:
        sender, receiver = rack.connect()
        for _ in range(5):
            rack.leave_hops()
            sender.sendall(bytes(20000))
            settle(0.005)
            rack.use_hops()
            sender.sendall(bytes(20000))
            settle(0.005)
        sender.shutdown(socket.SHUT_WR)
        got = 0
        while chunk := receiver.recv(1 << 20):
            got += len(chunk)
        same("bytes received", got, 200000)
        sender.close()
        receiver.close()


def signal__changed_under_traffic():
    with Hosts("rtt") as rack:
        rack.transfer(lambda: rack.signal("max"))
        counted = rack.counters()
        assert counted["source_hops"] > ENOUGH and counted["source_tcp_ns"] > ENOUGH, counted
        same("dropped_no_hops", counted["dropped_no_hops"], 0)


if not os.path.isdir(TRACING + "events"):
    sys.exit(4)
main(globals())
