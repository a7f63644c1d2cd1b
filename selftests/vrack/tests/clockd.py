#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""turnpike clockd on hosts of the rack, whose own time is the truth.

Runs in a guest: clockd.py VRACK.KO [CASE...]; TURNPIKE_SEED is the seed of the hosts' noise. Stamps are of the NICs,
whose clocks are apart and drift, or of the kernel, whose CLOCK_REALTIME all hosts of the rack share: the truth is 0 then.
"""

import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys

from rackctl import Load, Namespace, Rack, insmod, main, make_device_nodes, rmmod, same, settle

MODULE = sys.argv[1]
TURNPIKE = os.path.join(os.environ.get("TURNPIKE_BUILD", ""), "turnpike")
TMP = os.environ.get("TMPDIR", "/tmp")
GBIT = 10**9
WINDOW_S = 1
# Windows that have to pass before a path's empty round trip is known, and one more.
LEARNING = 9
# Of clocks that drift apart by 20 and 30 us/s, and seconds apart.
CLOCKS = ("phc=1 phc_step_ns=1 phc_fast_ppb=15000", "phc=1 phc_step_ns=1 phc_slow_ppb=15000",
          "phc=1 phc_step_ns=1 phc_offset_ns=3000000000 phc_fast_ppb=5000",
          "phc=1 phc_step_ns=1 phc_offset_ns=2000000 phc_slow_ppb=5000",
          "phc=1 phc_step_ns=1 phc_offset_ns=1000000 phc_fast_ppb=10000",
          "phc=1 phc_step_ns=1 phc_slow_ppb=10000")
KEY = bytes(range(16))


class Hosts(Rack):
    """Hosts around a switch, each with clockd."""

    modules = ["nicstamp", "vrack", "vrack_phc"]

    def __init__(self, *nics, hardware=True, rate_bps=10 * GBIT, delays_ns=None, options=()):
        self.hosts = [f"h{number}" for number in range(len(nics))]
        delays_ns = delays_ns or {}
        lines = ["seed " + os.environ.get("TURNPIKE_SEED", "1"), "switch add s0"]
        for number, (host, knobs) in enumerate(zip(self.hosts, nics)):
            lines += [f"nic add {host} ip=10.0.0.{number + 1} {knobs}",
                      f"link add {host} s0 rate_bps={rate_bps} delay_ns={delays_ns.get(host, 5000)}"]
        self.rate_bps = rate_bps
        self.hardware = hardware
        self.running = {}
        self.options = options      # of all
        self.file("hosts", "".join(f"10.0.0.{number + 1}\n" for number in range(len(nics))))
        self.file("key", KEY.hex() + "\n")
        super().__init__(MODULE, *lines)
        for number, host in enumerate(self.hosts):
            self.host(host, f"10.0.0.{number + 1}/8")
        insmod("sch_onramp/sch_onramp.ko")
        for host in self.hosts:
            self.start(host)

    def __exit__(self, *args):
        for host in list(self.running):
            self.running.pop(host).kill()
        rmmod("sch_onramp")
        super().__exit__(*args)

    @staticmethod
    def file(name, text):
        path = os.path.join(TMP, name)
        with open(path, "w", encoding="utf-8", opener=lambda p, f: os.open(p, f, 0o600)) as file:
            file.write(text)
        return path

    def start(self, host, *options, key="key"):
        device = ["--device", "eth0", "--nic-clock"] if self.hardware else []
        with Namespace(host), open(self.log(host), "wb") as log:
            self.running[host] = subprocess.Popen(
                [TURNPIKE, "clockd", "--hosts", os.path.join(TMP, "hosts"), "--key", os.path.join(TMP, key),
                 "--every", str(WINDOW_S), "--state", self.state(host), *device, *self.options, *(options or ("-j",))],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def end(self, host, how=signal.SIGTERM):
        """How it ended, and what it said."""
        process = self.running.pop(host)
        process.send_signal(how)
        process.wait()
        return process.returncode, self.said(host)

    @staticmethod
    def state(host):
        return os.path.join(TMP, host + "-clockd.json")

    @staticmethod
    def log(host):
        return os.path.join(TMP, host + "-clockd.log")

    def said(self, host):
        with open(self.log(host), encoding="utf-8", errors="replace") as log:
            return log.read()

    def windows(self, host):
        return [json.loads(line) for line in self.said(host).splitlines()]

    def peer(self, host, other):
        """What the newest window of the one says of the other."""
        windows = self.windows(host)
        assert windows, f"{host} has said nothing"
        found, = [peer for peer in windows[-1]["peers"] if peer["peer"] == address(other)]
        return found

    def shown(self, host, *options):
        """What `turnpike clock show' prints there."""
        with Namespace(host):
            return subprocess.run([TURNPIKE, "clock", "show", "--state", self.state(host), *options], check=True,
                                  capture_output=True, encoding="utf-8").stdout

    def known(self, host):
        """What the kernel knows: offset and error of each address."""
        return {peer["peer"]: (peer["offset_ns"], peer["error_ns"])
                for peer in json.loads(self.shown(host, "-j"))["peers"]}

    def link(self, host):
        """What the newest window says of the coordinator."""
        return self.windows(host)[-1]["coordinator"]

    def true_ns(self, host, other):
        if not self.hardware:
            return 0
        clocks = self.stats()["clocks"]
        return clocks[other]["ns"] - clocks[host]["ns"]


def address(host):
    return f"10.0.0.{int(host[1:]) + 1}"


def errors(rack, hosts, samples=20, every_s=0.13):
    """(error, told error) of what the kernels know of each pair, now and then."""
    found = []
    for _ in range(samples):
        for host in hosts:
            known = rack.known(host)
            for other in hosts:
                if other == host:
                    continue
                assert address(other) in known, f"{host} knows nothing of {other}: {rack.peer(host, other)}"
                offset_ns, told_ns = known[address(other)]
                found.append((abs(offset_ns - rack.true_ns(host, other)), told_ns))
        settle(every_s)
    sizes = sorted(error_ns for error_ns, _ in found)
    print(f"# {len(found)} errors: median {sizes[len(sizes) // 2]} ns, p99 {sizes[int(len(sizes) * .99)]} ns, "
          f"max {sizes[-1]} ns; told {min(told for _, told in found)} to {max(told for _, told in found)} ns; "
          f"within that: {sum(error <= told for error, told in found)}")
    return found


def load_of():
    """TCP from h0 to h1 without a pause, whose receiver wakes up seldom."""
    load = Load(address=address("h1"))
    load.receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1 << 19)
    return load


# -- a host with the key that lies ---------------------------------------------------------

def siphash(key, data):
    """SipHash-2-4 (Aumasson and Bernstein 2012)."""
    mask = (1 << 64) - 1
    k0, k1 = struct.unpack("<QQ", key)
    v = [k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573]

    def turn(x, by):
        return (x << by | x >> (64 - by)) & mask

    def rounds(count):
        for _ in range(count):
            for (a, b, left), (c, d, right) in (((0, 1, 13), (2, 3, 16)), ((2, 1, 17), (0, 3, 21))):
                v[a] = (v[a] + v[b]) & mask
                v[c] = (v[c] + v[d]) & mask
                v[b] = turn(v[b], left) ^ v[a]
                v[d] = turn(v[d], right) ^ v[c]
                v[a] = turn(v[a], 32)

    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) & 0xff])
    for (word,) in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xff
    rounds(4)
    return struct.pack("<Q", v[0] ^ v[1] ^ v[2] ^ v[3])


class Liar:
    """Reports of a host, by which the coordinator's clock is anything, and every other host's."""

    def __init__(self, rack, host, coordinator="h0"):
        self.hosts = len(rack.hosts)
        self.own = rack.hosts.index(host)
        self.address = socket.inet_pton(socket.AF_INET6, "::ffff:" + address(host))
        all_hosts = b"".join(socket.inet_pton(socket.AF_INET6, "::ffff:" + address(h)) for h in rack.hosts)
        self.digest = siphash(bytes(16), all_hosts)
        with Namespace(host):
            self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.socket.bind(("", 61005))
        self.socket.setblocking(False)
        self.socket.connect((address(coordinator), 61005))
        self.random = random.Random(1)
        self.number = 0
        self.answered = 0

    def say(self):
        """A report, with an echo of the newest answer."""
        run, number = 0, 0
        try:
            while answer := self.socket.recv(2048):
                if answer[:6] == b"TPcd\x01\x03":
                    run, number = struct.unpack("!QI", answer[8:16] + answer[24:28])
                    self.answered += 1
        except BlockingIOError:
            pass
        self.number += 1
        others = [number for number in range(self.hosts) if number != self.own]
        report = b"TPcd\x01\x02\x01\x00" + struct.pack("!QQII", 7, run, self.number, number) + self.digest
        report += struct.pack("!HH", len(others), 0)
        for other in others:
            report += struct.pack("!HHqiI", other, 0, self.random.randrange(-10**9, 10**9), 0, 1)
        self.socket.send(report + siphash(KEY, self.address + report))


# -- what is told ------------------------------------------------------------------------

def hardware__offsets_of_drifting_clocks_are_within_what_is_told():
    with Hosts(*CLOCKS) as rack:
        settle((LEARNING + 3) * WINDOW_S)
        found = errors(rack, rack.hosts)
        assert all(error_ns <= told_ns for error_ns, told_ns in found), found
        # clocks part by 30 us/s, and the kernel moves what it was told on by that
        assert max(told_ns for _, told_ns in found) <= 200, found
        peer = rack.peer("h1", "h0")
        print("#", peer)
        assert abs(peer["drift_ppb"] - 30000) < 20, peer
        # last bit to last bit of 144 bytes: two cables, and the switch sends it anew
        empty_ns = 2 * (2 * 5000 + (116 + 28 + 14 + 24) * 8 * GBIT / rack.rate_bps)
        assert abs(peer["round_trip_ns"] - empty_ns) <= 10, (peer, empty_ns)


def software__offsets_are_within_what_is_told():
    with Hosts("", "", "", hardware=False) as rack:
        settle((LEARNING + 3) * WINDOW_S)
        found = errors(rack, rack.hosts)
        assert all(error_ns <= told_ns for error_ns, told_ns in found), found
        assert max(error_ns for error_ns, _ in found) <= 500, found


def load__of_one_way_is_no_offset():
    with Hosts(*CLOCKS[:3], rate_bps=GBIT // 4) as rack:
        settle((LEARNING + 3) * WINDOW_S)
        load = load_of()
        load.start()
        settle(3 * WINDOW_S)
        found = errors(rack, rack.hosts, samples=10)
        load.end()
        assert load.bytes * 8 > rack.rate_bps, load.bytes
        assert all(error_ns <= told_ns for error_ns, told_ns in found), found


def drift__that_changes_is_followed():
    with Hosts(*CLOCKS[:3]) as rack:
        settle((LEARNING + 3) * WINDOW_S)
        now_ns = rack.stats()["time_ns"]
        rack.ctl(f"nic set h1 phc_offset_ns={int(now_ns * 15e-6)} phc_slow_ppb=30000")
        settle(6 * WINDOW_S)
        found = errors(rack, rack.hosts, samples=10)
        assert all(error_ns <= told_ns for error_ns, told_ns in found), found


def step__of_a_millisecond_is_found_within_two_windows():
    with Hosts(*CLOCKS[:3]) as rack:
        settle((LEARNING + .5) * WINDOW_S)
        rack.ctl("nic set h1 phc_offset_ns=1000000")
        settle(2.2 * WINDOW_S)
        found = errors(rack, rack.hosts, samples=5)
        assert all(error_ns <= told_ns for error_ns, told_ns in found), found
        assert any(window["peers"][0]["trouble"] == "a clock was set" for window in rack.windows("h1")), rack.said("h1")


# -- by the coordinator ------------------------------------------------------------------

COORDINATOR = ("--coordinator", "10.0.0.1")


def coordinator__tells_all_clocks_within_what_is_told():
    with Hosts(*CLOCKS, options=(*COORDINATOR, "--peers", "3")) as rack:
        settle((LEARNING + 3) * WINDOW_S)
        found = errors(rack, rack.hosts)
        assert all(error_ns <= told_ns for error_ns, told_ns in found), found
        for host in rack.hosts:
            link = rack.link(host)
            same(f"trouble of {host}", link["trouble"], None)
            same("hosts", (link["hosts_reporting"], link["hosts_known"]), (6, 6))
            same("edges", (link["edges"], link["edges_left_out"]), (9, 0))
            peers = rack.windows(host)[-1]["peers"]
            same("probed", sum(peer["probed"] for peer in peers), 3)
            assert all(peer["source"] == "mesh" and peer["told"] for peer in peers), peers
            assert all(abs(peer["surplus_ns"]) < 40 for peer in peers if peer["probed"]), peers
        text = rack.shown("h3")
        print("#", text.replace("\n", "\n# "))
        assert "coordinator 10.0.0.1: knows 6 hosts of 6 that report; of 9 edges 0 are left out" in text, text
        same("rows by the mesh", sum(" mesh " in line for line in text.splitlines()), 5)


def coordinator__that_dies_is_said_once_and_pairs_stand_by_themselves():
    with Hosts(*CLOCKS, options=(*COORDINATOR, "--peers", "3")) as rack:
        rack.end("h2")
        rack.start("h2", "--port", "61005")
        settle((LEARNING + .5) * WINDOW_S)
        rack.end("h0", signal.SIGKILL)
        settle(WINDOW_S)
        same("source", {peer["source"] for peer in rack.windows("h3")[-1]["peers"]}, {"mesh"})
        settle(5 * WINDOW_S)
        window = rack.windows("h3")[-1]
        same("trouble", window["coordinator"]["trouble"], "does not answer")
        pairs = [peer for peer in window["peers"] if peer["told"]]
        same("sources", {peer["source"] for peer in pairs}, {"pair"})
        for peer in pairs:
            offset_ns, told_ns = rack.known("h3")[peer["peer"]]
            assert abs(offset_ns - rack.true_ns("h3", "h" + str(int(peer["peer"][-1]) - 1))) <= told_ns, peer
        # whom h3 does not probe it does not know any more
        same("told", {peer["peer"] for peer in pairs}, set(rack.known("h3")))
        assert all(peer["probed"] for peer in pairs), pairs
        rack.start("h0")
        settle(4 * WINDOW_S)
        same("trouble", rack.link("h3")["trouble"], None)
        assert len(rack.known("h3")) >= 4, rack.known("h3")
        _, said = rack.end("h2")
        print("#", said.replace("\n", "\n# "))
        lines = [line.split(": ", 1)[1] for line in said.splitlines() if line.startswith("the coordinator 10.0.0.1: ")]
        same("ends", sum(line == "does not answer; pairs' own estimates count" for line in lines[1:]), 1)
        assert lines[-1].startswith("answers: "), lines


def coordinator__leaves_a_liar_out():
    with Hosts(*CLOCKS, options=COORDINATOR) as rack:
        settle((LEARNING + .5) * WINDOW_S)
        rack.end("h5")
        liar = Liar(rack, "h5")
        for _ in range(6):
            liar.say()
            settle(WINDOW_S)
        assert liar.answered >= 4, liar.answered
        link = rack.link("h0")
        same("misfits", link["misfits"], [address("h5")])
        same("hosts", (link["hosts_reporting"], link["hosts_known"]), (6, 5))
        assert address("h5") not in rack.known("h1"), rack.known("h1")
        found = errors(rack, rack.hosts[:5], samples=5)
        assert all(error_ns <= told_ns for error_ns, told_ns in found), found
        liar.socket.close()


def coordinator__goes_on_without_a_host_that_is_dead():
    with Hosts(*CLOCKS, options=COORDINATOR) as rack:
        settle((LEARNING + .5) * WINDOW_S)
        rack.end("h5", signal.SIGKILL)
        settle(8 * WINDOW_S)
        same("hosts", (rack.link("h0")["hosts_reporting"], rack.link("h0")["hosts_known"]), (5, 5))
        assert address("h5") not in rack.known("h1"), rack.known("h1")
        found = errors(rack, rack.hosts[:5], samples=5)
        assert all(error_ns <= told_ns for error_ns, told_ns in found), found


def coordinator__finds_a_step_of_a_millisecond_within_two_windows():
    for victim in ("h1", "h0"):
        with Hosts(*CLOCKS[:4], CLOCKS[4], options=COORDINATOR) as rack:
            settle((LEARNING + .5) * WINDOW_S)
            offset_ns = 1000000
            rack.ctl(f"nic set {victim} phc_offset_ns={offset_ns}")
            settle(2.2 * WINDOW_S)
            found = errors(rack, rack.hosts, samples=5)
            assert all(error_ns <= told_ns for error_ns, told_ns in found), (victim, found)


def coordinator__is_not_believed_once_our_own_clock_was_set():
    with Hosts(*CLOCKS, options=(*COORDINATOR, "--peers", "3")) as rack:
        settle((LEARNING + 3) * WINDOW_S)
        rack.ctl("nic set h1 phc_offset_ns=1000000")
        # pairs say it at the end of a window, and the coordinator only then
        settle(1.1 * WINDOW_S)
        for _ in range(10):
            for other in rack.hosts:
                offset_ns, told_ns = rack.known("h1").get(address(other), (None, None))
                if other != "h1" and offset_ns is not None:
                    error_ns = abs(offset_ns - rack.true_ns("h1", other))
                    assert error_ns <= told_ns, (other, error_ns, told_ns)
            settle(.1 * WINDOW_S)


def coordinator__sees_no_link_that_is_asymmetric_and_others_stay_as_good():
    with Hosts(*CLOCKS, options=COORDINATOR) as rack:
        settle((LEARNING + 3) * WINDOW_S)
        others = rack.hosts[:5]
        before = sorted(error_ns for error_ns, _ in errors(rack, others, samples=10))
        # frames to h5 take 10 us longer than those from it
        rack.ctl("port set s0.h5 delay_ns=15000")
        # as long as a path that became longer is taken for a queue
        settle(40 * WINDOW_S)
        after = sorted(error_ns for error_ns, _ in errors(rack, others, samples=10))
        p99 = int(len(before) * .99)
        assert after[p99] <= max(2 * before[p99], 40), (before[p99], after[p99])
        offset_ns, told_ns = rack.known("h1")[address("h5")]
        print("# h5 is off by", offset_ns - rack.true_ns("h1", "h5"), "ns, told", told_ns)
        assert abs(abs(offset_ns - rack.true_ns("h1", "h5")) - 5000) < 100, offset_ns


def coordinator__that_is_none_of_the_hosts_is_refused():
    with Hosts(*CLOCKS[:2]) as rack:
        rack.end("h0")
        rack.start("h0", "--coordinator", "10.0.0.9")
        settle(.5)
        status = rack.running.pop("h0").wait()
        same("status", status, 2)
        assert "10.0.0.9 is none of the hosts of the mesh" in rack.said("h0"), rack.said("h0")


# -- what is not told --------------------------------------------------------------------

def peer__without_clockd_is_said_and_not_told():
    with Hosts(*CLOCKS[:3]) as rack:
        rack.end("h2")
        settle(3.5 * WINDOW_S)
        same("trouble", rack.peer("h0", "h2")["trouble"], "does not answer")
        known = rack.known("h0")
        assert address("h2") not in known and address("h1") in known, known


def peer__that_dies_is_believed_as_long_as_was_said():
    with Hosts(*CLOCKS[:3]) as rack:
        settle((LEARNING + .5) * WINDOW_S)
        assert address("h2") in rack.known("h0")
        rack.end("h2", signal.SIGKILL)
        settle(WINDOW_S)
        assert address("h2") in rack.known("h0")
        settle(4 * WINDOW_S)
        assert address("h2") not in rack.known("h0"), rack.known("h0")
        peer = rack.peer("h0", "h2")
        same("trouble", peer["trouble"], "does not answer")
        same("told", peer["told"], False)
        rack.start("h2")
        settle(3 * WINDOW_S)
        assert address("h2") in rack.known("h0"), rack.peer("h0", "h2")


def key__that_is_another_is_refused():
    with Hosts(*CLOCKS[:3]) as rack:
        rack.end("h2")
        rack.file("other", "0f0e0d0c0b0a09080706050403020100\n")
        rack.start("h2", key="other")
        settle(3.5 * WINDOW_S)
        window = rack.windows("h0")[-1]
        assert window["refused"] > 50, window
        assert address("h2") not in rack.known("h0") and address("h1") in rack.known("h0"), rack.known("h0")
        same("trouble", rack.peer("h2", "h0")["trouble"], "does not answer")


def end__takes_back_what_was_told():
    with Hosts(*CLOCKS[:3]) as rack:
        settle(3.5 * WINDOW_S)
        assert len(rack.known("h0")) == 2, rack.known("h0")
        status, said = rack.end("h0")
        same("status", status, 0)
        same("known to the kernel", rack.known("h0"), {})
        # and the NIC stamps no more than before
        with Namespace("h0"):
            told = subprocess.run(["hwstamp_ctl", "-i", "eth0"], check=False, capture_output=True, encoding="utf-8").stdout
        print("#", told.split())
        assert "tx_type 0" in told and "rx_filter 0" in told, (told, said)


def log__says_a_change_once():
    with Hosts(*CLOCKS[:3]) as rack:
        rack.end("h0")
        rack.start("h0", "--peers", "10")
        settle(5.5 * WINDOW_S)
        rack.end("h2", signal.SIGKILL)
        settle(6 * WINDOW_S)
        _, said = rack.end("h0")
        print("#", said.replace("\n", "\n# "))
        lines = said.splitlines()
        same("lines of h1", sum(line.startswith(address("h1") + ": told to On-Ramp: ") for line in lines), 1)
        same("lines of h2", [line.split(": ", 1)[1].split(":")[0] for line in lines if line.startswith(address("h2"))],
             ["told to On-Ramp", "does not answer; what was said last counts on", "does not answer; On-Ramp goes on in grade (c)"])


def module__that_is_gone_is_said_and_met_again():
    with Hosts(*CLOCKS[:2]) as rack:
        settle(2.5 * WINDOW_S)
        rmmod("sch_onramp")
        settle(2 * WINDOW_S)
        window = rack.windows("h0")[-1]
        assert "no On-Ramp" in window["kernel"] and window["peers"][0]["offset_ns"] is not None, window
        same("told", window["peers"][0]["told"], False)
        insmod("sch_onramp/sch_onramp.ko")
        settle(2 * WINDOW_S)
        assert address("h1") in rack.known("h0"), rack.windows("h0")[-1]


make_device_nodes()
main(globals())
