#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""linuxptp as Debian has it, on the rack's NICs: ptp4l, phc2sys, phc_ctl, hwstamp_ctl.

Runs in a guest: ptp4l.py VRACK.KO; TURNPIKE_SEED is the seed of the hosts' noise. The
daemons run by the configuration files and units of Documentation/linuxptp. What they make
of the NICs' clocks is held against the rack's own times: all clocks at one moment, from
the rack's statistics.

All hosts of the rack are namespaces of one kernel with one CLOCK_REALTIME, which moves
the rack's own time: nothing here may steer it. phc2sys from a NIC to the system has no
meaning in the rack; from the system to a NIC, and from NIC to NIC, it has.
"""

import ctypes
import fcntl
import json
import math
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

from rackctl import Load, Namespace, Rack, insmod, main, make_device_nodes, rmmod, same, settle

MODULE = sys.argv[1]
CONFIGURATION = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..",
                             "Documentation", "linuxptp")
HOST, BOUNDARY = "turnpike-ptp4l@.service", "turnpike-ptp4l-boundary.service"
DEBUG = os.environ.get("TURNPIKE_DEBUG") == "1"
GBIT = 10**9
BOUND_NS = 200          # what PTP is trusted with
SETTLING_S = 10
FAST = "phc=1 phc_fast_ppb=25000"
SLOW = "phc=1 phc_slow_ppb=25000"   # 50 us/s apart

SIOCSHWTSTAMP, SIOCGHWTSTAMP = 0x89B0, 0x89B1
PTP_SYS_OFFSET_PRECISE = 0xC0403D08
SO_TIMESTAMPING = 37
TX_HARDWARE, RX_HARDWARE, RAW_HARDWARE, OPT_ID, OPT_TSONLY = 1, 4, 64, 128, 2048


def need_linuxptp():
    if not all(map(shutil.which, ("ptp4l", "phc2sys", "phc_ctl", "hwstamp_ctl", "ethtool"))):
        print("1..0 # SKIP linuxptp or ethtool is not installed (make deps)")
        sys.exit(4)


class Daemon:
    """A daemon in a host; its output is read when it has ended."""

    def __init__(self, host, *command):
        self.command = [str(word) for word in command]
        self.log = os.path.join(os.environ.get("TMPDIR", "/tmp"),
                                f"{host}-{os.path.basename(self.command[0])}.log")
        with Namespace(host), open(self.log, "wb") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log)

    def alive(self):
        return self.process.poll() is None

    def end(self):
        """What it said. It must not have ended by itself."""
        alive = self.alive()
        if alive:
            self.process.send_signal(signal.SIGINT)
            self.process.wait()
        with open(self.log, encoding="utf-8", errors="replace") as log:
            said = log.read()
        assert alive, f"{self.command} ended:\n{said}"
        return said


class Hosts(Rack):
    """NICs of hosts around switch s0, each in a namespace of its own."""

    modules = ["nicstamp", "vrack", "vrack_phc"]

    def __init__(self, *nics, rate_bps=10 * GBIT):
        lines = ["seed " + os.environ.get("TURNPIKE_SEED", "1"), "switch add s0"]
        for number, knobs in enumerate(nics):
            lines += [f"nic add h{number} ip=10.0.0.{number + 1} {knobs}",
                      f"link add h{number} s0 rate_bps={rate_bps} delay_ns=5000"]
        self.rate_bps = rate_bps
        self.daemons = []
        super().__init__(MODULE, *lines)
        for number in range(len(nics)):
            self.host(f"h{number}", f"10.0.0.{number + 1}/8")
            with Namespace(f"h{number}"):
                subprocess.run(["ip", "route", "add", "224.0.0.0/4", "dev", "eth0"], check=True)

    def __exit__(self, *args):
        for daemon in self.daemons:
            if daemon.alive():
                daemon.process.kill()
                daemon.process.wait()
        super().__exit__(*args)

    def start(self, host, *command):
        daemon = Daemon(host, *command)
        self.daemons.append(daemon)
        return daemon

    def ptp4l(self, host, unit, *more):
        """As the unit starts it, with the file where the tree has it."""
        words = [word.replace("/etc/linuxptp", CONFIGURATION).replace("%I", "eth0")
                 for word in unit_words(unit) if word != "$PORTS"]
        return self.start(host, "ptp4l", *words, "-q", "-m", "--uds_address", uds_of(host),
                          "--summary_interval", 0, *more)

    def clocks(self):
        return self.stats()["clocks"]

    def clock_path(self, nic):
        return f"/dev/ptp{self.clocks()[nic]['ptp']}"


def unit_words(unit):
    """Arguments of the program that a systemd unit starts."""
    with open(os.path.join(CONFIGURATION, unit), encoding="utf-8") as lines:
        command, = [line for line in lines if line.startswith("ExecStart=")]
    return command.split()[1:]


def phc2sys_words():
    """How the unit of a host has phc2sys steer, without the clocks."""
    words = unit_words("turnpike-phc2sys@.service")
    same("clocks of the unit", words[:3], ["-s", "%I", "-w"])
    return words[3:]


def uds_of(host):
    return f"/run/ptp4l-{host}"


def run(host, *command, ok=True):
    with Namespace(host):
        done = subprocess.run([str(word) for word in command], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              encoding="utf-8")
    assert not ok or done.returncode == 0, done.stdout
    return done.stdout


def p99(values):
    values = sorted(values)
    return values[math.ceil(len(values) * 0.99) - 1]


def within(what, errors_ns, bound_ns=BOUND_NS):
    print(f"# {what}: {len(errors_ns)} samples, p99 {p99(errors_ns)} ns, "
          f"max {max(errors_ns)} ns, bound {bound_ns} ns")
    assert p99(errors_ns) <= bound_ns, what


def offsets(rack, one, other, seconds=5, every_s=0.005):
    """How far two clocks are apart, by the rack."""
    found = []
    for _ in range(int(seconds / every_s)):
        clocks = rack.clocks()
        found.append(abs(clocks[one]["ns"] - clocks[other]["ns"]))
        settle(every_s)
    return found


# -- packets with stamps ---------------------------------------------------------------

def stamp_of(ancillary):
    """The NIC's stamp in what came with a packet, in ns; None if there is none."""
    for _, kind, data in ancillary:
        if kind == SO_TIMESTAMPING and len(data) >= 48:
            seconds, ns = struct.unpack("qq", data[32:48])
            return seconds * 10**9 + ns
    return None


def stamping_socket(host, flags, address=""):
    with Namespace(host):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind((address, 7000))
    sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, flags | RAW_HARDWARE)
    sock.settimeout(1)
    return sock


def delays(rack, one, other, count=1000, every_s=0.005):
    """One-way delays from one host to the other, of their NICs' stamps."""
    sender = stamping_socket(one, TX_HARDWARE | OPT_ID | OPT_TSONLY)
    receiver = stamping_socket(other, RX_HARDWARE)
    address = f"10.0.0.{int(other[1:]) + 1}"
    found = []
    for _ in range(count):
        sender.sendto(b"x" * 44, (address, 7000))
        received = stamp_of(receiver.recvmsg(100, 200)[1])
        sent = stamp_of(sender.recvmsg(100, 200, socket.MSG_ERRQUEUE)[1])
        assert sent is not None and received is not None, (sent, received)
        found.append(received - sent)
        settle(every_s)
    sender.close()
    receiver.close()
    return found


def true_delay_ns(rack):
    """Last bit to last bit of 44 bytes by UDP: two cables, and the switch sends it anew."""
    return 2 * 5000 + (44 + 28 + 14 + 24) * 8 * 10**9 / rack.rate_bps


# -- what the NIC can ------------------------------------------------------------------

def ethtool__tells_what_the_nic_can():
    with Hosts(FAST, "") as rack:
        told = run("h0", "ethtool", "-T", "eth0")
        index = rack.clocks()["h0"]["ptp"]
        for words in ("hardware-transmit", "hardware-receive", "hardware-raw-clock",
                      "software-transmit", f"PTP Hardware Clock: {index}"):
            assert words in told, told
        told = run("h1", "ethtool", "-T", "eth0")
        assert "hardware-transmit" not in told and "PTP Hardware Clock: none" in told, told


def hwstamp_ctl__sets_and_shows():
    with Hosts(FAST) as rack:
        told = run("h0", "hwstamp_ctl", "-i", "eth0", "-t", 1, "-r", 12)
        # what was asked for, and more
        same("new settings", re.findall(r"(tx_type|rx_filter) (\d+)", told.split("new")[1]),
             [("tx_type", "1"), ("rx_filter", "1")])
        same("settings", re.findall(r"(tx_type|rx_filter) (\d+)",
                                    run("h0", "hwstamp_ctl", "-i", "eth0")),
             [("tx_type", "1"), ("rx_filter", "1")])
        run("h0", "hwstamp_ctl", "-i", "eth0", "-t", 0, "-r", 0)
        same("tx_stamps", rack.clocks()["h0"]["tx_stamps"], 0)


def hwtstamp(host, request, tx_type, rx_filter):
    """The ioctl; its answer."""
    config = bytearray(struct.pack("iii", 0, tx_type, rx_filter))
    buffer = (ctypes.c_char * 12).from_buffer(config)
    ifreq = struct.pack("16sQ16x", b"eth0", ctypes.addressof(buffer))
    with Namespace(host), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        fcntl.ioctl(sock, request, ifreq)
    return struct.unpack("iii", config)[1:]


def hwtstamp__what_it_cannot_is_refused_and_changes_nothing():
    with Hosts(FAST, ""):
        hwtstamp("h0", SIOCSHWTSTAMP, 1, 1)
        for host, tx_type in (("h0", 2), ("h0", 3), ("h1", 1)):
            try:
                hwtstamp(host, SIOCSHWTSTAMP, tx_type, 0)
            except OSError as error:
                print(f"# {host} tx_type {tx_type}: {error}")
            else:
                raise AssertionError(f"{host}: tx_type {tx_type} was taken")
        same("settings", hwtstamp("h0", SIOCGHWTSTAMP, 0, 0), (1, 1))


def stamps__only_where_they_are_on():
    with Hosts(FAST, SLOW):
        hwtstamp("h0", SIOCSHWTSTAMP, 0, 0)
        sender = stamping_socket("h0", TX_HARDWARE | OPT_ID | OPT_TSONLY)
        receiver = stamping_socket("h1", RX_HARDWARE)
        sender.settimeout(0.01)
        sender.sendto(b"x", ("10.0.0.2", 7000))
        same("receive stamp", stamp_of(receiver.recvmsg(100, 200)[1]), None)
        try:
            raise AssertionError(f"a stamp: {sender.recvmsg(100, 200, socket.MSG_ERRQUEUE)}")
        except (BlockingIOError, TimeoutError):
            pass


def stamps__are_the_clocks_and_exact():
    with Hosts("phc=1", "phc=1") as rack:
        for host in ("h0", "h1"):
            hwtstamp(host, SIOCSHWTSTAMP, 1, 1)
        # clocks of the same time, in steps of 8 ns
        within("error of delay", [abs(d - true_delay_ns(rack)) for d in
                                  delays(rack, "h0", "h1", 100)], 8)
        same("tx_stamps", rack.clocks()["h0"]["tx_stamps"], 100)


def phc_ctl__sets_steps_and_steers():
    with Hosts("phc=1 phc_step_ns=1") as rack:
        path = rack.clock_path("h0")
        phc_ctl = lambda *words: run("h0", "phc_ctl", "-Q", path, "--", *words)
        phc_ctl("set", 1000, "freq", 100000)
        before = rack.stats()
        settle(10)
        after = rack.stats()
        run_ns = after["time_ns"] - before["time_ns"]
        gained = after["clocks"]["h0"]["ns"] - before["clocks"]["h0"]["ns"] - run_ns
        assert abs(gained - run_ns * 100e-6) < 20, gained
        assert 1000 < before["clocks"]["h0"]["ns"] / 1e9 < 1001, before["clocks"]
        phc_ctl("adj", -0.5)
        ahead = rack.clocks()["h0"]["ns"] - rack.stats()["time_ns"]
        assert abs(ahead - 999.5e9) < 0.1e9, ahead
        told = run("h0", "phc_ctl", "-q", path, "--", "caps")
        assert "4000000 maximum frequency adjustment" in told, told
        refused = run("h0", "phc_ctl", "-q", path, "--", "freq", 5000000)
        print("#", refused.strip())
        assert "failed" in refused, refused


def cross_timestamps(path):
    """The NIC's time and the system's, of one moment by the kernel, in ns."""
    answer = bytearray(64)
    with open(path, "rb", buffering=0) as clock:
        fcntl.ioctl(clock, PTP_SYS_OFFSET_PRECISE, answer)
    device_s, device_ns, system_s, system_ns = struct.unpack("qI4xqI4x", answer[:32])
    return device_s * 10**9 + device_ns, system_s * 10**9 + system_ns


def cross_timestamps__are_of_one_moment():
    with Hosts("phc=1 phc_step_ns=1") as rack:
        path = rack.clock_path("h0")
        apart = set()
        for _ in range(20):
            before_ns = time.time_ns()
            device_ns, system_ns = cross_timestamps(path)
            assert before_ns <= system_ns <= time.time_ns(), system_ns
            apart.add(system_ns - device_ns)
            settle(0.1)
        # both go at the same rate
        same("differences", len(apart), 1)


# -- phc2sys ---------------------------------------------------------------------------

def phc2sys__from_nic_to_nic():
    with Hosts(FAST, SLOW) as rack:
        daemon = rack.start("h0", "phc2sys", "-s", rack.clock_path("h0"), "-c",
                            rack.clock_path("h1"), "-O", 0, "-q", "-m", *phc2sys_words())
        settle(SETTLING_S)
        within("offset", offsets(rack, "h0", "h1"))
        daemon.end()


def phc2sys__from_the_system_to_a_nic():
    with Hosts(FAST) as rack:
        daemon = rack.start("h0", "phc2sys", "-s", "CLOCK_REALTIME", "-c",
                            rack.clock_path("h0"), "-O", 0, "-q", "-m", *phc2sys_words())
        settle(SETTLING_S)
        errors = []
        for _ in range(1000):
            clocks = rack.clocks()
            system_ns = time.time_ns()
            errors.append(abs(clocks["h0"]["ns"] - system_ns))
            settle(0.005)
        within("offset", errors)
        daemon.end()


# -- ptp4l -----------------------------------------------------------------------------

def lost_stamps(said):
    return len(re.findall("timed out while polling for tx timestamp", said))


def synchronized(transport, knobs=""):
    """A grandmaster and two hosts by Documentation's files, 50 us/s apart."""
    with Hosts(f"{FAST} {knobs}", f"{SLOW} {knobs}", "phc=1 phc_offset_ns=3000000000") as rack:
        daemons = [rack.ptp4l("h0", BOUNDARY, transport, "-i", "eth0"),
                   rack.ptp4l("h1", HOST, transport),
                   rack.ptp4l("h2", HOST, transport)]
        settle(SETTLING_S)
        within("offset of h1", offsets(rack, "h0", "h1"))
        within("offset of h2", offsets(rack, "h0", "h2", seconds=1))
        true_ns = true_delay_ns(rack)
        for one, other in (("h0", "h1"), ("h1", "h0")):
            within(f"error of delay {one} to {other}",
                   [abs(d - true_ns) for d in delays(rack, one, other)])
        said = [daemon.end() for daemon in daemons]
        same("lost stamps", sum(map(lost_stamps, said)), 0)
        same("stamps without a slot", sum(c["tx_missed"] for c in rack.clocks().values()), 0)
        print("\n".join("# " + line for line in said[1].splitlines()[-4:]))


def ptp4l__delay_within_200_ns_by_udp():
    synchronized("-4")


def ptp4l__delay_within_200_ns_by_ethernet():
    synchronized("-2")


def ptp4l__delay_within_200_ns_of_noisy_hosts():
    # whoever is woken is late, by 20 us on average; the NICs are not
    synchronized("-4", "jitter_ns=20000")


def ptp4l__delay_within_200_ns_of_wandering_clocks():
    # 45 ppb a second
    synchronized("-4", "phc_walk_ppb=100 phc_walk_ms=10000")


def leader_and_follower(rack):
    return (rack.ptp4l("h0", BOUNDARY, "-i", "eth0"),
            rack.ptp4l("h1", HOST))


def ptp4l__follows_a_clock_that_is_stepped_and_changes_its_rate():
    with Hosts(FAST, SLOW) as rack:
        daemons = leader_and_follower(rack)
        settle(SETTLING_S)
        rack.ctl("nic set h1 phc_offset_ns=1000000")
        settle(SETTLING_S)
        within("offset after a step of 1 ms", offsets(rack, "h0", "h1", seconds=1))
        rack.ctl("nic set h1 phc_slow_ppb=80000")
        settle(SETTLING_S)
        within("offset at another rate", offsets(rack, "h0", "h1", seconds=1))
        for daemon in daemons:
            same("lost stamps", lost_stamps(daemon.end()), 0)


def ptp4l__its_clock_is_taken_away_and_given_back():
    with Hosts(FAST, SLOW) as rack:
        leader, follower = leader_and_follower(rack)
        settle(3)
        rack.ctl("nic set h1 phc=0")
        settle(3)
        same("clocks", list(rack.clocks()), ["h0"])
        follower.process.kill()
        follower.process.wait()
        rack.ctl(f"nic set h1 {SLOW}")
        follower = rack.ptp4l("h1", HOST)
        settle(SETTLING_S)
        within("offset", offsets(rack, "h0", "h1", seconds=1))
        leader.end()
        follower.end()


# -- a boundary clock --------------------------------------------------------------------

class Chain(Hosts):
    """h0 --- s0 --- b0, host b0, b1 --- h1"""

    networks = {"h0": "10.0.0.1", "b0": "10.0.0.2", "b1": "10.1.0.1", "h1": "10.1.0.2"}

    def __init__(self):
        knobs = {"h0": FAST, "b0": SLOW, "b1": "phc=1 phc_offset_ns=5000000",
                 "h1": "phc=1 phc_fast_ppb=90000"}
        self.rate_bps = 10 * GBIT
        self.daemons = []
        Rack.__init__(self, MODULE, "switch add s0",
                      *(f"nic add {nic} ip={ip} {knobs[nic]}"
                        for nic, ip in self.networks.items()),
                      "link add h0 s0", "link add b0 s0", "link add b1 h1")
        for nic in ("h0", "b0", "h1"):
            self.host(nic, self.networks[nic] + "/24")
        for command in ("link set b1 netns b0 name eth1", "-n b0 link set eth1 up",
                        "-n b0 addr add 10.1.0.1/24 dev eth1"):
            subprocess.run(["ip", *command.split()], check=True)


def ptp4l__boundary_clock_of_two_nics():
    with Chain() as rack:
        # without -r: nobody may steer the system's clock
        words = unit_words("turnpike-phc2sys-boundary.service")
        same("words of the unit", words[:2], ["-a", "-r"])
        daemons = [rack.ptp4l("h0", BOUNDARY, "-i", "eth0", "--priority1", 100),
                   rack.ptp4l("b0", BOUNDARY, "-i", "eth0", "-i", "eth1"),
                   rack.ptp4l("h1", HOST),
                   rack.start("b0", "phc2sys", "-a", *words[2:], "-z", uds_of("b0"), "-q", "-m")]
        # one after the other: h1 cannot be right before b1 is, nor b1 before b0
        settle(3 * SETTLING_S)
        within("offset of b0", offsets(rack, "h0", "b0", seconds=1))
        within("offset of b1", offsets(rack, "b0", "b1", seconds=1))
        within("offset of h1", offsets(rack, "h0", "h1"))
        said = [daemon.end() for daemon in daemons]
        same("lost stamps", sum(map(lost_stamps, said)), 0)
        for words in ("port 1: UNCALIBRATED to SLAVE", "port 2: LISTENING to MASTER"):
            assert words in said[1], said[1]


# -- beside nicstamp ---------------------------------------------------------------------

def stamps_told():
    done = subprocess.run([os.path.join(os.environ["TURNPIKE_BUILD"], "turnpike"), "stamps",
                           "stats", "-j"], check=True, capture_output=True)
    return json.loads(done.stdout)


def beside_nicstamp(slots):
    """ptp4l at both ends of TCP, whose sender's NIC has so many slots; what nicstamp counted."""
    # a debug kernel is a hundred times slower
    rate_bps, seconds = (GBIT // 20, 3) if DEBUG else (GBIT // 4, 4)
    with Hosts(f"{FAST} phc_tx_slots={slots}", SLOW, rate_bps=rate_bps) as rack:
        insmod("tcp_timely/tcp_timely.ko")
        try:
            daemons = leader_and_follower(rack)
            settle(SETTLING_S)
            before = rack.clocks()["h0"]["tx_stamps"]
            load = Load(b"timely")
            load.start()
            settle(seconds)
            during = rack.clocks()["h0"]["tx_stamps"] - before
            told = stamps_told()
            load.end()
            said = [daemon.end() for daemon in daemons]
            clock, error = rack.clocks()["h0"], rack.stats()["stamps"]["error"]
        finally:
            rmmod("tcp_timely")
        print(f"# {during} stamps for ptp4l in {seconds} s, {load.bytes / seconds * 8e-6:.0f} "
              f"Mbit/s, nicstamp {told}")
        assert load.bytes * 8 > 0.7 * rate_bps * seconds, load.bytes
        # 16 Sync messages a second, and a timer that may be late
        assert during >= 15 * seconds, during
        same("lost stamps", list(map(lost_stamps, said)), [0, 0])
        same("stamps without a slot", clock["tx_missed"], 0)
        return told, error


def ptp4l__loses_no_stamp_while_nicstamp_samples():
    told, error = beside_nicstamp(slots=2)
    assert told["no_slot"] > 20 and told["tx"] > 20 and told["samples"] > 20, told
    # steered or not: nicstamp goes by the counter below
    assert error["count"] > 20 and error["max_ns"] <= 50, error


def ptp4l__has_the_only_slot():
    told, _ = beside_nicstamp(slots=1)
    assert told["no_slot"] > 20 and told["tx"] == 0, told


# -- turnpike clock follow ---------------------------------------------------------------

TURNPIKE = os.path.join(os.environ.get("TURNPIKE_BUILD", ""), "turnpike")


class Following:
    """turnpike clock follow in h1, each second, of the clock that ptp4l steers there."""

    def __init__(self, rack):
        self.rack = rack
        insmod("sch_onramp/sch_onramp.ko")
        self.daemon = rack.start("h1", TURNPIKE, "clock", "follow", "--source", "ptp4l", "--nic-clock",
                                 "--uds", uds_of("h1"), "--every", 1, "-j")

    def __enter__(self):
        return self

    def __exit__(self, *args):
        if self.daemon.alive():
            self.daemon.end()
        rmmod("sch_onramp")

    def said(self):
        """The newest look."""
        with open(self.daemon.log, encoding="utf-8") as log:
            lines = [line for line in log.read().splitlines() if line.endswith("}")]
        return json.loads(lines[-1])

    def true_ns(self):
        clocks = self.rack.clocks()
        return abs(clocks["h0"]["ns"] - clocks["h1"]["ns"])


def known_to_the_kernel():
    return json.loads(run("h1", TURNPIKE, "clock", "show", "-j"))["own_error_ns"]


def looks_of(following, seconds):
    """(true error, told error or None) each 50 ms."""
    found = []
    for _ in range(seconds * 20):
        found.append((following.true_ns(), following.said()["error_ns"]))
        settle(0.05)
    told = [told_ns for _, told_ns in found if told_ns is not None]
    print(f"# true: at most {max(true_ns for true_ns, _ in found)} ns; told {len(told)} of {len(found)} times: "
          f"{min(told)} to {max(told)} ns")
    return found


def follow__tells_no_less_than_the_error_and_not_four_times_it():
    # a rate that wanders keeps a servo behind
    wandering = "phc_walk_ppb=3000 phc_walk_ms=1000"
    with Hosts(FAST, f"{SLOW} {wandering}") as rack:
        daemons = leader_and_follower(rack)
        settle(SETTLING_S)
        with Following(rack) as following:
            # until looks of before it was settled are forgotten
            settle(SETTLING_S)
            looks = looks_of(following, 20)
            same("known to the kernel", known_to_the_kernel(), following.said()["error_ns"])
            following.daemon.end()
            same("known to the kernel after its end", known_to_the_kernel(), None)
        assert all(told_ns >= true_ns for true_ns, told_ns in looks), looks
        assert max(told_ns for _, told_ns in looks) <= 4 * max(true_ns for true_ns, _ in looks), looks
        for daemon in daemons:
            daemon.end()


def follow__covers_a_queue_on_one_of_the_ways():
    with Hosts(FAST, SLOW, rate_bps=GBIT // 20) as rack:
        daemons = leader_and_follower(rack)
        settle(SETTLING_S)
        with Following(rack) as following:
            settle(3)
            load = Load(b"cubic")
            load.start()
            looks = looks_of(following, 5)
            load.end()
        assert max(true_ns for true_ns, _ in looks) > 1000, "no queue"
        # what has come since the last look is told by the next
        late = [(true_ns, told_ns) for true_ns, told_ns in looks[20:] if told_ns is not None and told_ns < true_ns]
        assert not late, late
        for daemon in daemons:
            daemon.end()


def ends_and_comes_back(following, again):
    """Nothing is known by now; the daemon that again starts brings it back."""
    same("known to the kernel", known_to_the_kernel(), None)
    same("told", following.said()["error_ns"], None)
    again()
    settle(SETTLING_S)
    same("back", known_to_the_kernel(), following.said()["error_ns"])
    assert known_to_the_kernel(), following.said()


def follow__of_a_master_that_is_gone_ends_within_four_looks():
    with Hosts(FAST, SLOW) as rack:
        leader, follower = leader_and_follower(rack)
        settle(SETTLING_S)
        with Following(rack) as following:
            settle(2)
            before = following.said()
            assert before["error_ns"] and known_to_the_kernel() == before["error_ns"], before
            leader.end()
            settle(2.2)
            # it counts on, and grows by a microsecond a second
            during = following.said()
            print(f"# {before} {during}")
            assert during["error_ns"] > before["error_ns"] + 1000 and during["seconds"] < 4, during
            settle(3)
            ends_and_comes_back(following, lambda: rack.ptp4l("h0", BOUNDARY, "-i", "eth0"))
        follower.end()


def follow__of_a_daemon_that_is_killed_ends_within_four_looks():
    with Hosts(FAST, SLOW) as rack:
        leader, follower = leader_and_follower(rack)
        settle(SETTLING_S)
        with Following(rack) as following:
            settle(2)
            assert known_to_the_kernel(), following.said()
            follower.process.kill()
            follower.process.wait()
            settle(4.1)
            ends_and_comes_back(following, lambda: rack.ptp4l("h1", HOST))
        leader.end()


need_linuxptp()
make_device_nodes()
main(globals())
