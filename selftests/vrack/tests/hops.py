#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Signals of single hops: the rack's queues, vrack_hops.ko or vrack_int.ko, tcp_timely.

    h0 --10G-- s0 --1G--> s1 --.5G--> h1

h0 sends pairs of frames. The first of a pair meets no queue. The second meets two, each of them the
first one's: at s0 for the time that it takes at 1 Gbit/s less that at 10, and at s1 for what it takes
at .5 less that at 1. Nothing else queues, so every signal is known to the nanosecond.

TCP-INT's option (vrack_int.ko) has speeds from 10 Gbit/s on, and queues in steps of 8 KB.

    h0 --100G-- s0 --25G--> s1 --10G--> h1

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

    pace_bytes_per_s = PACE_BYTES_PER_S

    def __init__(self, signal, hops=True, family=4, carrier="vrack_hops", gbit=(10, 1, .5)):
        first, second, third = (int(speed * GBIT) for speed in gbit)
        super().__init__(MODULE, "switch add s0", "switch add s1",
                         "nic add h0 ip=10.0.0.1 ip6=fd00::1", "nic add h1 ip=10.0.0.2 ip6=fd00::2",
                         "nic add x ip=10.0.0.3",
                         f"link add h0 s0 rate_bps={first} delay_ns={DELAY_NS}",
                         f"link add s0 s1 rate_bps={second} rate_ba_bps={second} delay_ns={DELAY_NS}",
                         f"link add s1 h1 rate_bps={third} rate_ba_bps={10 * GBIT} delay_ns={DELAY_NS}",
                         f"link add x s1 rate_bps={first} delay_ns={DELAY_NS}")
        self.family = family
        self.carrier = carrier
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
        insmod(f"selftests/vrack/{self.carrier}.ko")
        self.hops = True

    def leave_hops(self):
        if self.hops:
            rmmod(self.carrier)
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
        sender.setsockopt(socket.SOL_SOCKET, 47, self.pace_bytes_per_s)  # SO_MAX_PACING_RATE
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


def comes_and_goes(carrier):
    with Hosts("max", carrier=carrier) as rack:
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


def module__comes_and_goes_under_traffic():
    comes_and_goes("vrack_hops")


def signal__changed_under_traffic():
    with Hosts("rtt") as rack:
        rack.transfer(lambda: rack.signal("max"))
        counted = rack.counters()
        assert counted["source_hops"] > ENOUGH and counted["source_tcp_ns"] > ENOUGH, counted
        same("dropped_no_hops", counted["dropped_no_hops"], 0)


# -- TCP-INT's option

INT_GBIT = (100, 25, 10)
INT_KIND, INT_BYTES, INT_TTL = 0x72, 12, 64
STEP_NS = wire_ns(10, 8192)
COARSE_NS = 700                 # long latencies are echoed in 256 ns, and frames of the queue take 67


def with_option(signal, family=4):
    return Hosts(signal, family=family, carrier="vrack_int", gbit=INT_GBIT)


def options_of(frame):
    """IP's length, TCP's flags and options by kind, of an Ethernet frame."""
    ip = frame[14:]
    if ip[0] >> 4 == 4:
        length, tcp = int.from_bytes(ip[2:4], "big"), ip[(ip[0] & 15) * 4:]
    else:
        length, tcp = int.from_bytes(ip[4:6], "big") + 40, ip[40:]
    found, rest = {}, tcp[20:(tcp[12] >> 4) * 4]
    while rest and rest[0]:
        size = 1 if rest[0] == 1 else rest[1]
        found[rest[0]] = rest[:size]
        rest = rest[size:]
    return length, tcp[13], found


def captured(rack, host, ethertype=0x0800):
    """The options of what comes to a host during a transfer."""
    return [options_of(frame) for frame in raw(rack, host, ethertype)]


def raw(rack, host, ethertype):
    """TCP's frames that come to a host during a transfer."""
    with Namespace(host):
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ethertype))
    tap.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
    tap.bind(("eth0", ethertype))
    rack.transfer()
    tap.setblocking(False)
    frames = []
    while True:
        try:
            frame, address = tap.recvfrom(1 << 16)
        except BlockingIOError:
            tap.close()
            return frames
        if address[2] != socket.PACKET_OUTGOING and frame[23 if ethertype == 0x0800 else 20] == socket.IPPROTO_TCP:
            frames.append(frame)


def has_options(family):
    with with_option("max", family) as rack:
        packets = captured(rack, "h1", 0x0800 if family == 4 else 0x86dd)
    syns = [found for _, flags, found in packets if flags & 2]
    same("MSS", int.from_bytes(syns[0][2][2:], "big"), (1460 if family == 4 else 1440) - INT_BYTES)
    rest = [packet for packet in packets if not packet[1] & 2]
    assert len(rest) > ENOUGH
    for length, _, found in rest:
        option = found[INT_KIND]
        assert len(option) == INT_BYTES and length <= 1500, (length, option)
        assert INT_TTL - option[4] in (1, 2), option    # the fuller hop


def option__is_in_each_packet_that_is_no_syn():
    has_options(4)


def option__of_ipv6():
    has_options(6)


def sum_of(packet):
    """What a receiver adds up of a TCP segment and its pseudo header of IPv4 (RFC 9293, section 3.1): 0."""
    header = (packet[0] & 15) * 4
    tcp = packet[header:int.from_bytes(packet[2:4], "big")]
    words = packet[12:20] + bytes([0, socket.IPPROTO_TCP]) + len(tcp).to_bytes(2, "big") + tcp + bytes(len(tcp) % 2)
    total = sum(int.from_bytes(words[at:at + 2], "big") for at in range(0, len(words), 2))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def option__is_in_the_checksum():
    with with_option("max") as rack:
        for host in ("h0", "h1"):
            subprocess.run(["ip", "netns", "exec", host, "ethtool", "-K", "eth0", "tx", "off"], check=True,
                           capture_output=True)
        frames = [bytearray(frame[14:]) for frame in raw(rack, "h1", 0x0800)]
    for packet in frames:
        at = packet.find(bytes([INT_KIND, INT_BYTES]), 40)
        if not packet[33] & 2:
            # as the host sent it, before the switches
            packet[at + 2:at + 8] = bytes([0, 0, INT_TTL, 0, 0, 0])
        same("what is wrong in the sum", sum_of(packet), 0)
    assert len(frames) > ENOUGH


def option__leaves_room_for_sacks():
    with with_option("max") as rack:
        rack.pace_bytes_per_s = 100 * PACE_BYTES_PER_S  # several frames under way, and so several holes
        rack.ctl("port set s0.s1 fcs_ppb=100000000")
        acks = [found for _, flags, found in captured(rack, "h0") if not flags & 2]
    sacks = [(len(found[5]) - 2) // 8 for found in acks if 5 in found]
    print(f"# SACK blocks of ACKs: {sorted(set(sacks))}")
    assert max(sacks) > 1 and all((INT_KIND in found) == (5 not in found or len(found[5]) <= 10) for found in acks)


def option__echoes_what_data_met():
    with with_option("max") as rack:
        acks = [found for _, flags, found in captured(rack, "h0") if not flags & 2]
    # second frames of a pair wait for the first at both ports
    waited = wire_ns(10) - wire_ns(100)
    echoed = [int.from_bytes(found[INT_KIND][10:], "big") for found in acks]
    print(f"# echoed: {statistics.multimode(echoed)} ns, waited {waited:.0f}")
    assert sum(abs(ns - waited) <= 2 for ns in echoed) >= ENOUGH


def behind_a_queue(signal):
    """Samples behind a queue at s1 that grows with the flow's own frames, over the empty path."""
    with with_option(signal) as rack:
        rack.ctl(f"source add x h1 ip_bytes=46 rate_bps={100 * GBIT} count=1000",
                 f"source add x h1 ip_bytes=46 rate_bps={10 * GBIT}")
        values = samples_ns(rack.transfer(), "hops")
        counted = rack.counters()
    same("hops_unknown", counted["hops_unknown"], 0)
    empty = 6 * DELAY_NS + wire_ns(25) + wire_ns(10) + wire_ns(10, ACK + INT_BYTES) + \
        wire_ns(25, ACK + INT_BYTES) + wire_ns(100, ACK + INT_BYTES)
    return [value - empty for value in values]


def off_steps(extra):
    """How many are not whole steps of 8 KB, and how many steps there are."""
    steps = [round(ns / STEP_NS) for ns in extra]
    return sum(abs(ns - step * STEP_NS) > COARSE_NS for ns, step in zip(extra, steps)), len(set(steps))


def max__by_the_option_is_in_steps_of_8_kb():
    extra = behind_a_queue("max")
    off, steps = off_steps(extra)
    print(f"# {off} of {len(extra)} samples are off {steps} steps; {min(extra):.0f} to {max(extra):.0f} ns")
    # An ACK of several packets echoes the last, and the RTT may be another's: one in twenty. Of times
    # that are in no steps four in five are off.
    assert min(extra) > 5 * STEP_NS and steps > ENOUGH and off <= len(extra) // 8


def sum__by_the_option_is_the_rtt():
    extra = behind_a_queue("sum")
    off, steps = off_steps(extra)
    print(f"# {off} of {len(extra)} samples are off {steps} steps")
    assert off > len(extra) // 2


def option__without_room_is_left_out():
    with with_option("max") as rack:
        # TCP makes its segments by the route, and the route has no room for more
        subprocess.run(["ip", "-n", "h0", "route", "change", "10.0.0.0/8", "dev", "eth0", "mtu", "1400"], check=True)
        packets = captured(rack, "h1")
        counted = rack.counters()
    full = [found for length, _, found in packets if length > 1390]
    assert len(full) > ENOUGH and not any(INT_KIND in found for found in full)
    assert counted["samples"] > ENOUGH, counted


def option__switches_tell_one_module_alone():
    with with_option("max"):
        refused = subprocess.run(["insmod", os.path.join(os.path.dirname(MODULE), "vrack_telemetry.ko")],
                                 capture_output=True, text=True, check=False)
        assert refused.returncode and "busy" in refused.stderr.lower(), refused


def option__module_comes_and_goes_under_traffic():
    comes_and_goes("vrack_int")


socket.setdefaulttimeout(20)    # of a transfer that stands still
if not os.path.isdir(TRACING + "events"):
    sys.exit(4)
main(globals())
