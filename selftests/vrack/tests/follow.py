#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Receive stamps of a stock driver's NIC: turnpike stamps follow.

Runs in a guest: follow.py VRACK.KO. h0's NIC has a clock and stamps what arrives for
sockets (phc_stock=1), and its driver calls nothing of nicstamp. Its host is late by 20 us on
average. h0 sends with timely to h1.

  stamp before ndo_start_xmit(), by the host --> switch --> h1 --> stamp of the ACK, by the NIC
"""

import array
import contextlib
import errno
import fcntl
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time

from feedctl import (ADDRESSES, DELAY_NS, GBIT, SETTLED, TURNPIKE, VETH_RTT_NS, Background, Cable, Follower,
                     Wire, counters, echo, feed, ip, knob, names, refused, rename, run, tell, transfer)
from rackctl import Namespace, insmod, main, make_device_nodes, near, same, settle

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../lib"))
import genl

SIZE = 1000
# a debug kernel is a hundred times slower
TIMES = 20 if os.environ.get("TURNPIKE_DEBUG") == "1" else 50
# there and back: two cables, each frame sent twice; IP, TCP with timestamps, Ethernet
PATH_NS = 4 * DELAY_NS + 4 * ((SIZE + 20 + 32 + 38) * 8 * 10**9 // (10 * GBIT))
NOISE_NS = 20000
STOCK = f"jitter_ns={NOISE_NS} phc=1 phc_stock=1"
SIOCSHWTSTAMP, SIOCGHWTSTAMP = 0x89b0, 0x89b1
TX_OFF, TX_ON = 0, 1
FILTER_NONE, FILTER_ALL, FILTER_PTP_V2_EVENT = 0, 1, 12
NOTHING, EVERYTHING = (TX_OFF, FILTER_NONE), (TX_OFF, FILTER_ALL)
EVENT = "/sys/kernel/tracing/events/stamps/nicstamp_sample/enable"
TRACE = "/sys/kernel/tracing/trace"
(CMD_FOLLOW, CMD_READING), (A_DEV, A_NETNS_FD, A_STEP_NS, A_NUMBER, A_BEFORE, A_NIC, A_AFTER) = (6, 7), (
    5, 6, 8, 9, 10, 11, 12)


# -- what is looked at

def stamping(request=SIOCGHWTSTAMP, tx=0, rx=0, host="h0"):
    """What the NIC stamps: transmit type and receive filter."""
    config = array.array("i", (0, tx, rx))
    with Namespace(host), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        fcntl.ioctl(sock, request, struct.pack("16sP16x", b"eth0", config.buffer_info()[0]))
    return tuple(config[1:])


def set_stamping(tx, rx):
    stamping(SIOCSHWTSTAMP, tx, rx)
    same("set", stamping(), (tx, rx))


class Sample:
    """One that was given to timely."""

    def __init__(self, line):
        field = dict(re.findall(r"(\w+)=(\S+)", line))
        self.rtt_ns, self.error_ns = int(field["rtt_ns"]), int(field["error_ns"])
        self.host, self.by_nic = field["host"] == "1", field["ack_by_nic"] == "1"

    def __repr__(self):
        return f"{self.rtt_ns} +- {self.error_ns} {'nic' if self.by_nic else 'host'}"


def sampled(times=TIMES):
    """Samples of so many messages; the FIN of the connection before was a short frame."""
    settle(0.01)
    for path, word in ((TRACE, ""), (EVENT, "1")):
        with open(path, "w", encoding="ascii") as f:
            f.write(word)
    flow = echo(times, SIZE)
    with open(EVENT, "w", encoding="ascii") as f:
        f.write("0")
    with open(TRACE, encoding="ascii") as lines:
        found = [Sample(line) for line in lines if "nicstamp_sample:" in line]
    print(f"# {len(found)} samples, {sum(s.by_nic for s in found)} by the NIC; flow {flow}")
    return found, flow


def true_samples(times=TIMES):
    """None lies: by the NIC they are the path's within their error, by the host no less than that."""
    found, flow = sampled(times)
    for sample in found:
        assert sample.host, sample
        if sample.by_nic:
            assert abs(sample.rtt_ns - PATH_NS) <= sample.error_ns, f"{sample}, the path has {PATH_NS}"
        else:
            assert sample.rtt_ns >= PATH_NS - sample.error_ns, f"{sample}, the path has {PATH_NS}"
    return found, flow


def by_nic_all(times=TIMES):
    found, flow = true_samples(times)
    assert len(found) >= 0.9 * times and all(s.by_nic for s in found), found
    return found, flow


def by_host_all(times=TIMES):
    found, flow = true_samples(times)
    assert len(found) >= 0.9 * times and not any(s.by_nic for s in found), found
    return found, flow


def receives_by_nic():
    device, = tell("devices")
    return device.get("rx_clock") == "nic"


def eventually(what, truth, seconds=2):
    for _ in range(seconds * 20):
        if truth():
            return
        settle(0.05)
    raise AssertionError(what)


# -- what comes of it

def rtt__is_the_paths_within_its_error():
    for clock in ("", "phc_step_ns=1 phc_fast_ppb=100000", "phc_step_ns=64 phc_slow_ppb=100000 phc_bits=32",
                  "phc_offset_ns=1000000000000000 phc_walk_ppb=100"):
        with Wire(f"{STOCK} {clock}"), Follower():
            found, flow = by_nic_all()
            same("stamps", (flow["tx"], flow["rx"]), ("host", "nic"))
            errors = sorted(s.error_ns for s in found)
            print(f"# error: {errors[0]} to {errors[-1]} ns")
            # two readings at one moment, in steps of 100 ns as is said of the clock, and 500 ppm
            assert errors[-1] <= 1000, errors


def rtt__without_the_noise_of_the_host_that_receives():
    with Wire(STOCK):
        feed("use")
        by_host, _ = by_host_all()
        with Follower():
            by_nic, _ = by_nic_all()
    mean = lambda found: sum(s.rtt_ns for s in found) / len(found)
    print(f"# mean by the host {mean(by_host):.0f} ns, by the NIC {mean(by_nic):.0f} ns, the path's {PATH_NS}")
    assert mean(by_host) > PATH_NS + NOISE_NS / 2, by_host


def source__says_whose_stamps():
    with Wire(STOCK), Follower():
        device, = tell("devices")
        same("device", [device[name] for name in ("feed", "clock", "rx_clock")], ["generic", "host", "nic"])
        assert device["error_ns"] < 1000, device
        for word, grows in (("auto", True), ("sw", True), ("hw", False)):
            knob("tcp_timely/source", word)
            before = counters()["source_driver"]
            transfer()
            same(word, counters()["source_driver"] > before, grows)
        assert tell("stats")["rx_nic"] > 0


# -- begun and ended

def follow__restores_what_was():
    with Wire(STOCK):
        for before in (NOTHING, EVERYTHING):
            set_stamping(*before)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                with Follower() as follower:
                    same("stamped", stamping(), EVERYTHING)
                    follower.stop(number)
                same("stamped", stamping(), before)
                same("devices", tell("devices"), [])


def follow__leaves_a_device_in_use_that_was():
    with Wire(STOCK):
        feed("use")
        with Follower():
            by_nic_all()
        same("devices", names(tell("devices")), [("eth0", "generic")])
        by_host_all()
        with Follower():
            by_nic_all()
        same("stamped", stamping(), NOTHING)


def follow__refused_with_a_reason():
    words = ("follow", "eth0", "--netns", "h0")
    with Wire(STOCK):
        for before, why in (((TX_ON, FILTER_NONE), "what it sends"), ((TX_ON, FILTER_ALL), "what it sends"),
                            ((TX_OFF, FILTER_PTP_V2_EVENT), "some received packets only")):
            set_stamping(*before)
            refused(why, *words)
            same("stamped", stamping(), before)
        set_stamping(*NOTHING)
        refused("No such device", "follow", "eth7", "--netns", "h0")
        refused("h7: No such file", "follow", "eth0", "--netns", "h7")
        with Follower():
            refused("followed already", *words)
            by_nic_all()
        same("stamped", stamping(), NOTHING)
    with Wire("phc=1"):
        refused("gives stamps by itself", *words)
        same("stamped", stamping(), NOTHING)
    with Wire():
        refused("no clock of its own", *words)


def follow__refused_on_the_command_line():
    for step in ("0", "1000001", "-1", "many"):
        done = subprocess.run([TURNPIKE, "stamps", "follow", "eth0", "--step-ns", step],
                              stderr=subprocess.PIPE, check=False)
        same(f"--step-ns {step}", done.returncode, 64)


def follow__yields_to_who_sets_something_else():
    with Wire(STOCK):
        for after in ((TX_ON, FILTER_PTP_V2_EVENT), (TX_ON, FILTER_ALL), NOTHING):
            with Follower() as follower:
                set_stamping(*after)
                settle(1.2)
                follower.ends(2, "somebody else has set what it stamps")
            same("stamped", stamping(), after)
            same("devices", tell("devices"), [])
            set_stamping(*NOTHING)


# -- what goes wrong

def program__killed():
    with Wire(STOCK):
        with Follower() as follower:
            by_nic_all()
            follower.process.kill()
            follower.ends(-signal.SIGKILL)
        same("by the NIC", receives_by_nic(), False)
        by_host_all()
        with Follower():
            by_nic_all()
        # nobody is left who knows what had been before
        same("stamped", stamping(), EVERYTHING)


def program__stopped_for_a_while():
    with Wire(STOCK), Follower() as follower:
        follower.process.send_signal(signal.SIGSTOP)
        settle(1.5)
        by_host_all()
        follower.process.send_signal(signal.SIGCONT)
        settle(SETTLED)
        by_nic_all()


def clock_of(rack):
    return f"/dev/ptp{rack.stats()['clocks']['h0']['ptp']}"


def step(rack, ns):
    with open(clock_of(rack), "wb", buffering=0) as clock:
        number = ~clock.fileno() << 3 | 3
        time.clock_settime_ns(number, time.clock_gettime_ns(number) + ns)


def clock__stepped():
    for ns in (10**6, -10**6, 3 * 10**9, -3 * 10**9, 10**15):
        with Wire(f"{STOCK} phc_offset_ns={10**15}") as rack, Follower():
            before = tell("stats")
            step(rack, ns)
            # one reading after another finds it, or a stamp does
            for _ in range(10):
                true_samples(20)
            settle(0.11)
            after = tell("stats")
            found = sum(after[name] - before[name] for name in ("steps", "rx_nic_refused"))
            assert found > 0, f"step of {ns} ns: {after}"
            settle(SETTLED)
            by_nic_all()


def clock__stepped_by_less_than_an_rtt():
    """What nothing encloses is found at the next reading, a tenth of a second later at most."""
    for ns in (8000, -8000):
        with Wire(STOCK) as rack, Follower():
            before = tell("stats")["steps"]
            step(rack, ns)
            settle(0.11)
            true_samples()
            same("steps", tell("stats")["steps"] - before > 0, True)
            settle(SETTLED)
            by_nic_all()


def clock__changes_its_rate():
    with Wire(STOCK) as rack, Follower():
        rack.ctl("nic set h0 phc_fast_ppb=90000")
        settle(0.11)
        for _ in range(5):
            true_samples(20)
        settle(SETTLED)
        by_nic_all()


def clock__taken_away():
    with Wire(STOCK) as rack, Follower() as follower:
        with Background():
            rack.ctl("nic set h0 phc=0")
            settle(0.005)
        _, said = follower.process.communicate(timeout=60)
        print("#", said.strip())
        same("status", follower.process.returncode, 2)
        same("devices", tell("devices"), [])


def device__moved_under_traffic():
    with Wire(STOCK), Follower() as follower:
        ip("netns", "add", "h2")
        with Background():
            ip("-n", "h0", "link", "set", "eth0", "netns", "h2")
            settle(0.005)
        follower.ends(2, "No such device")
        same("by the NIC", receives_by_nic(), False)
        ip("-n", "h2", "link", "set", "eth0", "netns", "h0")
        ip("-n", "h0", "addr", "add", ADDRESSES[0][1], "dev", "eth0")
        ip("-n", "h0", "link", "set", "eth0", "up")
        ip("netns", "del", "h2")
        by_host_all()


def device__renamed():
    """It is followed on, though another may have its name; in the end it is the one that is set back."""
    with Wire(STOCK), Follower() as follower:
        rename("eth0", "eth5")
        ip("-n", "h0", "link", "add", "eth0", "type", "dummy")
        # it looks once a second whose stamps are set
        settle(1.2)
        by_nic_all()
        follower.stop()
        ip("-n", "h0", "link", "del", "eth0")
        same("devices", tell("devices"), [])
        rename("eth5", "eth0")
        same("stamped", stamping(), NOTHING)


def device__dropped_by_somebody_under_traffic():
    with Wire(STOCK), Follower() as follower:
        with Background():
            feed("drop")
            settle(0.005)
        follower.ends(2, "not followed")
        same("stamped", stamping(), NOTHING)
        same("devices", tell("devices"), [])


def driver__that_gives_stamps_later_takes_over():
    with Wire(STOCK) as rack, Follower() as follower:
        with Background():
            rack.ctl("nic set h0 phc=0")
            rack.ctl("nic set h0 phc=1 phc_stock=0")
            settle(0.005)
        _, said = follower.process.communicate(timeout=60)
        print("#", said.strip())
        same("status", follower.process.returncode, 2)
        same("devices", names(tell("devices")), [("eth0", "driver")])


# -- by netlink

class Teller:
    """A socket of nicstamp's family that follows h0's device."""

    def __init__(self):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, genl.NETLINK_GENERIC)
        self.family = genl.family_id(self.sock, "turnpike_stamps")
        self.number = 0

    def call(self, command, *attributes):
        return genl.netlink_call(self.sock, self.family, command, attributes)

    def follow(self, step_ns=100, device=b"eth0\0"):
        with open("/run/netns/h0", "rb") as netns:
            answer = self.call(CMD_FOLLOW, (A_DEV, device), (A_NETNS_FD, struct.pack("=L", netns.fileno())),
                               (A_STEP_NS, struct.pack("=L", step_ns)))
        self.number = struct.unpack_from("=L", answer, 4)[0]

    def tell(self, before_ns, nic_ns, after_ns, number=None):
        self.call(CMD_READING, (A_NUMBER, struct.pack("=L", self.number if number is None else number)),
                  *((kind, struct.pack("=Q", value & (1 << 64) - 1))
                    for kind, value in ((A_BEFORE, before_ns), (A_NIC, nic_ns), (A_AFTER, after_ns))))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()


def not_taken(what, number, call, *arguments):
    try:
        call(*arguments)
    except OSError as error:
        print(f"# {what}: {errno.errorcode[error.errno]}")
        same(what, error.errno, number)
        return
    raise AssertionError(f"{what} was taken")


def readings():
    return tell("stats")["readings"]


def reading__nonsense_is_refused():
    with Cable(), Teller() as teller, Teller() as stranger:
        not_taken("of a device that is not used", errno.ENOENT, teller.follow)
        feed("use")
        for step_ns in (0, 1000001, 2**32 - 1):
            not_taken(f"steps of {step_ns} ns", errno.ERANGE, teller.follow, step_ns)
        not_taken("no such device", errno.ENODEV, teller.follow, 100, b"eth7\0")
        not_taken("a device's name without end", errno.EINVAL, teller.follow, 100, b"eth0" * 8)
        not_taken("no step", errno.EINVAL, teller.call, CMD_FOLLOW, (A_DEV, b"eth0\0"))
        not_taken("nothing", errno.EINVAL, teller.call, CMD_READING)
        teller.follow()
        # a host that is younger than that has nothing that is old
        settle(3)
        not_taken("followed twice", errno.EBUSY, teller.follow)
        not_taken("followed by two", errno.EBUSY, stranger.follow)
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        before = readings()
        for what, *times in (("backwards", now, 1, now - 1), ("far backwards", -1, 1, 0),
                             ("too long", now - 1000001, 1, now), ("of all times", 0, 1, now),
                             ("of the future", now + 10**9, 1, now + 10**9), ("of the end", -1, 1, -1),
                             ("old", now - 2 * 10**9, 1, now - 2 * 10**9), ("of the beginning", 0, 1, 0),
                             ("no time", now, 0, now), ("a time of no clock", now, 1 << 63, now)):
            not_taken(what, errno.EINVAL, teller.tell, *times)
        for number in (0, teller.number + 1, 2**32 - 1):
            not_taken(f"number {number}", errno.ENOENT, teller.tell, now, 1, now, number)
        not_taken("another's", errno.ENOENT, stranger.tell, now, 1, now, teller.number)
        same("readings", readings(), before)
        teller.tell(now, 1, now)
        same("readings", readings(), before + 1)
        not_taken("before the last", errno.EINVAL, teller.tell, now - 1, 1, now)
        not_taken("dropped", errno.ENOENT, lambda: (feed("drop"), teller.tell(now, 1, now)))


def reading__absurd_ones_change_no_sample():
    """A veth's frames have no stamps, whatever is told of its clock."""
    with Cable(), Teller() as teller:
        feed("use")
        teller.follow()
        for nic_ns in (1, 2**63 - 1, 2**62, 5, 2**40):
            settle(0.02)
            now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            teller.tell(now, nic_ns, now)
        flow = echo(TIMES, SIZE)
        same("ACKs", flow["rx"], "host")
        near("RTT", flow["rtt_min_ns"], VETH_RTT_NS, 0.01)


def device__deleted_under_traffic():
    with Cable() as cable:
        for _ in range(3):
            feed("use")
            with Teller() as teller:
                teller.follow()
                with Background():
                    ip("-n", "h0", "link", "del", "eth0")
                    same("devices", tell("devices"), [])
                now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
                not_taken("deleted", errno.ENOENT, teller.tell, now, 1, now)
                cable.lay()
                feed("use")
                not_taken("of one that came after it", errno.ENOENT, teller.tell, now, 1, now)
                same("by the NIC", receives_by_nic(), False)
                feed("drop")


def socket__closed_ends_it():
    with Cable(), Teller() as other:
        feed("use")
        for _ in range(3):
            with Teller() as teller:
                teller.follow()
                same("by the NIC", receives_by_nic(), True)
                not_taken("followed by two", errno.EBUSY, other.follow)
            same("by the NIC", receives_by_nic(), False)


def changes__tell_what_is_stamped():
    def told(verb):
        done = subprocess.run([TURNPIKE, "stamps", verb, "eth0", "--netns", "h0", "-j"], check=True, capture_output=True)
        return json.loads(done.stdout)["devices"]

    with Cable():
        same("used", [device["dev"] for device in told("use")], ["eth0"])
        same("dropped", told("drop"), [])


def specification__reads_what_turnpike_prints():
    """Documentation/netlink/turnpike_stamps.yaml, by a client that knows nothing else."""
    with Wire(STOCK), Follower(), Background():
        eventually("no flow", lambda: tell("flows"), 30)
        run(os.path.join(os.path.dirname(genl.__file__), "specification.py"), "stamps", TURNPIKE,
            "stats", "+devices", "+flows")


def user__without_rights_is_refused():
    with Cable(), Teller() as teller:
        feed("use")
        os.seteuid(65534)
        try:
            with open("/run/netns/h0", "rb"):
                not_taken("follow", errno.EPERM, teller.follow)
            not_taken("reading", errno.EPERM, teller.tell, 1, 1, 1, 1)
        finally:
            os.seteuid(0)
        teller.follow()


def module__unloaded_while_followed_under_traffic():
    with Cable():
        with Background():
            for _ in range(3):
                feed("use")
                with Teller() as teller:
                    teller.follow()
                    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
                    teller.tell(now, 1, now)
                    settle(0.005)
                    run("rmmod", "nicstamp")
                    with contextlib.suppress(OSError):
                        teller.tell(now, 1, now)
                        raise AssertionError("nobody was there to take it")
                    settle(0.005)
                    insmod("drivers/nicstamp/nicstamp.ko")
                    same("devices", tell("devices"), [])
                    feed("use")
                    # it is not this socket's any more
                    same("by the NIC", receives_by_nic(), False)
                    feed("drop")


make_device_nodes()
main(globals())
