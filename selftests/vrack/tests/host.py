#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What a host sees of its virtual NIC.

Runs in a guest: host.py VRACK.KO. The moment at which the NIC lets go of an
skb is what TSQ, BQL and TCP's "is it still in the host?" look at.
"""

import fcntl
import os
import socket
import struct
import subprocess
import sys
import threading
import time

from rackctl import Namespace, Rack, main, near, same, settle

MODULE = sys.argv[1]
DEBUG = os.environ.get("TURNPIKE_DEBUG") == "1"  # a hundred times slower
SIOCOUTQ = 0x5411
GBIT = 10**9
INFLIGHT = "/sys/class/net/eth0/queues/tx-0/byte_queue_limits/inflight"


def pair(rate0, rate1, *more, nic=""):
    """Hosts h0 and h1 behind one switch, IP 10.0.0.1 and 10.0.0.2."""
    rack = Rack(MODULE, "switch add s0 alpha_milli=0",
                f"nic add h0 ip=10.0.0.1 {nic}", f"nic add h1 ip=10.0.0.2 {nic}",
                f"link add h0 s0 rate_bps={rate0}", f"link add h1 s0 rate_bps={rate1}", *more)
    rack.host("h0", "10.0.0.1/8")
    rack.host("h1", "10.0.0.2/8")
    rack.ctl("stats reset")
    return rack


def udp(host):
    with Namespace(host):
        return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


def unsent(sock):
    """Bytes (truesize) the kernel still charges to the socket's sending side."""
    return struct.unpack("i", fcntl.ioctl(sock, SIOCOUTQ, b"\0" * 4))[0]


def tcp_pair():
    """A connection h0 -> h1: (sender, receiver)."""
    with Namespace("h1"):
        listener = socket.create_server(("10.0.0.2", 5000))
    with Namespace("h0"):
        sender = socket.create_connection(("10.0.0.2", 5000))
    receiver, _ = listener.accept()
    listener.close()
    return sender, receiver


def transfer(size):
    """Move size bytes h0 -> h1 over TCP, whole."""
    sender, receiver = tcp_pair()
    feeder = threading.Thread(target=lambda: (sender.sendall(bytes(size)), sender.close()))
    feeder.start()
    got = 0
    while chunk := receiver.recv(1 << 20):
        got += len(chunk)
    feeder.join()
    receiver.close()
    same("bytes received", got, size)


def completion__not_before_the_last_bit_and_at_once_after():
    # 1214 + 24 bytes at 10 Mbit/s: 990.4 us
    with pair(10_000_000, 10 * GBIT):
        sock = udp("h0")
        sock.sendto(bytes(1172), ("10.0.0.2", 9))
        settle(900e-6)
        assert unsent(sock) > 0, "completed before its last bit was sent"
        settle(150e-6)
        same("bytes charged after the last bit", unsent(sock), 0)


def completion__not_held_by_a_queue_in_the_network():
    with pair(10 * GBIT, 10_000_000) as rack:
        sock = udp("h0")
        for _ in range(100):
            sock.sendto(bytes(1172), ("10.0.0.2", 9))
        settle(1e-3)
        assert rack.port("s0.h1")["queue_bytes"] > 90 * 1200, "no queue to speak of"
        same("bytes charged while the switch queues", unsent(sock), 0)


# Five full frames, which TCP hands over at once.
def burst_lasts_ns(**nic):
    with pair(10 * GBIT, 10 * GBIT, nic=" ".join(f"{key}={value}" for key, value in nic.items())) as rack:
        sender, receiver = tcp_pair()
        settle(.01)
        rack.ctl("stats reset")
        sender.sendall(bytes(5 * 1448))
        settle(.01)
        arrived = rack.nic("h1")
        same("frames", arrived["rx_packets"], 5)
        sender.close()
        receiver.close()
        return (arrived["rx_last_ps"] - arrived["rx_first_ps"]) / 1000


def burst__leaves_at_the_lines_rate():
    near("ns", burst_lasts_ns(), 4 * 1230.4, .001)


def burst__paced_within_leaves_at_that_rate():
    near("ns", burst_lasts_ns(pace_bps=GBIT), 4 * 12304, .001)


# A burst of each of two flows, in rings of their own: the frames of one leave between those of the other.
def burst__paced_leaves_room_for_other_rings():
    with pair(10 * GBIT, 10 * GBIT, nic=f"queues=2 pace_bps={GBIT}") as rack:
        pairs = [tcp_pair() for _ in range(8)]
        settle(.01)
        rack.ctl("stats reset")
        for sender, _ in pairs:
            sender.sendall(bytes(5 * 1448))
        settle(.01)
        arrived = rack.nic("h1")
        same("frames", arrived["rx_packets"], 40)
        for sender, receiver in pairs:
            sender.close()
            receiver.close()
    lasts_ns = (arrived["rx_last_ps"] - arrived["rx_first_ps"]) / 1000
    # one ring alone: eight bursts of four gaps each, and a frame at the line's rate after each
    print(f"# {lasts_ns} ns")
    assert 4 * 12304 < lasts_ns < .9 * 8 * (4 * 12304 + 1230)


def bql__in_flight_until_the_last_bit():
    with pair(10_000_000, 10 * GBIT):
        sock = udp("h0")
        sock.sendto(bytes(1172), ("10.0.0.2", 9))
        with Namespace("h0"):
            subprocess.run(["mount", "-t", "sysfs", "sys", "/sys"], check=True)
            try:
                with open(INFLIGHT, encoding="ascii") as f:
                    same("inflight", int(f.read()), 1214)
                settle(1.1e-3)
                with open(INFLIGHT, encoding="ascii") as f:
                    same("inflight", int(f.read()), 0)
            finally:
                subprocess.run(["umount", "/sys"], check=True)


def qdisc_packets(host):
    out = subprocess.run(["tc", "-s", "-n", host, "qdisc", "show", "dev", "eth0"],
                         capture_output=True, text=True, check=True).stdout
    return int(out.split(" pkt ")[0].split()[-1])


def tso__the_device_cuts_and_the_qdisc_sees_large_packets():
    with pair(10 * GBIT, 10 * GBIT) as rack:
        subprocess.run(["tc", "-n", "h0", "qdisc", "add", "dev", "eth0", "root", "pfifo"],
                       check=True)
        transfer(20_000_000)
        frames = rack.nic("h0")["tx_packets"]
        sink = rack.nic("h1")
    near("frames", frames, 20_000_000 / 1448, 0.01)
    same("frames lost", frames - sink["rx_packets"], 0)


def captured(sock):
    """IPv4 and TCP headers of the frames that a packet socket has, those with data."""
    frames = []
    while True:
        try:
            packet = sock.recv(65536)
        except BlockingIOError:
            return frames
        ip = struct.unpack("!BBHHHBBH4s4s", packet[:20])
        tcp = struct.unpack("!HHIIBBHHH", packet[20:40])
        words = struct.unpack("!10H", packet[:20])
        payload = packet[20 + (tcp[4] >> 4) * 4:]
        if ip[6] == socket.IPPROTO_TCP and payload:
            frames.append({"ip_sum": sum(words) % 0xffff, "length": ip[2], "bytes": len(packet),
                           "id": ip[3], "ecn": ip[1] & 3, "dscp": ip[1] >> 2, "seq": tcp[2], "flags": tcp[5],
                           "payload": payload})


def frames_of_a_stream(data, dscp=0):
    """Send data h0 -> h1 with ECN; (what came, the frames it came in)."""
    with Namespace("h1"):
        subprocess.run(["ethtool", "-K", "eth0", "gro", "off"], check=True)
        wire = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
    for host in ("h0", "h1"):
        with Namespace(host), open("/proc/sys/net/ipv4/tcp_ecn", "w", encoding="ascii") as f:
            f.write("1")
    wire.setblocking(False)
    sender, receiver = tcp_pair()
    sender.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, dscp << 2)
    feeder = threading.Thread(target=lambda: (sender.sendall(data), sender.close()))
    feeder.start()
    got = b"".join(iter(lambda: receiver.recv(1 << 20), b""))
    feeder.join()
    receiver.close()
    return got, captured(wire)


def cut__frames_are_what_the_stack_would_have_made():
    """Data and headers of a TSO skb's frames, some marked on their way, one of them short."""
    data = os.urandom(100_001)
    with pair(10 * GBIT, GBIT, nic="rx_frames=64 rx_ns=50000") as rack:
        rack.ctl("port set s0.h1 ecn_k_bytes=20000")
        got, frames = frames_of_a_stream(data)
        marks = rack.port("s0.h1")["ecn_marks"]
    same("data arrived", got == data, True)
    same("data in order on the wire", b"".join(f["payload"] for f in frames) == data, True)
    assert len(frames) > 60, "hardly cut"
    same("wrong IP checksums", [f for f in frames if f["ip_sum"]], [])
    same("wrong lengths", [f for f in frames if f["length"] != f["bytes"]], [])
    neighbours = list(zip(frames, frames[1:]))
    same("breaks in the sequence", [other["seq"] for one, other in neighbours if other["seq"] !=
                                    (one["seq"] + len(one["payload"])) % (1 << 32)], [])
    same("breaks in the IP identification", [other["id"] for one, other in neighbours
                                             if other["id"] != (one["id"] + 1) % (1 << 16)], [])
    same("frames marked", sum(f["ecn"] == 3 for f in frames), marks)
    assert marks > 0, "nothing marked"
    pushed = [f["flags"] & 8 for f in frames]
    assert pushed[-1] and sum(map(bool, pushed)) < len(frames) / 4, f"PSH: {pushed}"


def clear_dscp__leaves_ecn_and_nothing_else():
    """Of a TSO skb's frames, of which some were marked before."""
    data = os.urandom(100_001)
    for clear, dscp in ((0, 23), (1, 0)):
        with pair(10 * GBIT, GBIT) as rack:
            rack.ctl(f"port set s0.h1 ecn_k_bytes=20000 clear_dscp={clear}")
            got, frames = frames_of_a_stream(data, dscp=23)
            marks = rack.port("s0.h1")["ecn_marks"]
        same("data arrived", got == data, True)
        same("DSCPs", {f["dscp"] for f in frames}, {dscp})
        same("wrong IP checksums", [f for f in frames if f["ip_sum"]], [])
        same("frames marked", sum(f["ecn"] == 3 for f in frames), marks)
        assert marks > 0, "nothing marked"


def late__frames_are_overtaken():
    rounds, share, late_ns = 50, 0.05, 20000
    with pair(10 * GBIT, 10 * GBIT) as rack:
        least, _ = echo_rtt_ns(rack)
        rack.ctl(f"port set s0.h1 late_ppb={10**9} late_ns={late_ns}")
        near("round trip of frames that are all late, ns", echo_rtt_ns(rack)[0] - least, late_ns, 0.01)
        rack.ctl(f"port set s0.h1 late_ppb={share * 1e9:.0f}")
        a, b = udp("h0"), udp("h1")
        b.bind(("10.0.0.2", 9))
        b.setblocking(False)
        overtaken = 0
        for _ in range(rounds):
            for number in range(100):
                a.sendto(bytes([number]), ("10.0.0.2", 9))
            settle(0.001)
            came = [b.recv(64)[0] for _ in range(100)]
            same("each came once", sorted(came) == list(range(100)), True)
            overtaken += sum(number < max(came[:at]) for at, number in enumerate(came) if at)
    print(f"# overtaken {overtaken} of {100 * rounds}")
    # Those at the end of a round have nobody behind them.
    assert 100 * rounds * share * 0.7 < overtaken < 100 * rounds * share * 1.3


def tso__off_works_as_well():
    with pair(10 * GBIT, 10 * GBIT) as rack:
        for host in ("h0", "h1"):
            subprocess.run(["ip", "netns", "exec", host, "ethtool", "-K", "eth0", "tso", "off",
                            "gso", "off", "gro", "off"], check=True)
        transfer(5_000_000)
        near("frames", rack.nic("h0")["tx_packets"], 5_000_000 / 1448, 0.02)


def ethtool__speed_is_the_links():
    with pair(25 * GBIT, 100 * GBIT):
        for host, speed in (("h0", "25000Mb/s"), ("h1", "100000Mb/s")):
            out = subprocess.run(["ip", "netns", "exec", host, "ethtool", "eth0"],
                                 capture_output=True, text=True, check=True).stdout
            assert f"Speed: {speed}" in out, out


def echo_rtt_ns(rack, rounds=20):
    """UDP ping-pong; the smallest round trip, and the mean."""
    a, b = udp("h0"), udp("h1")
    b.bind(("10.0.0.2", 7))
    a.connect(("10.0.0.2", 7))

    def answer():
        for _ in range(rounds):
            b.sendto(*b.recvfrom(64))

    server = threading.Thread(target=answer)
    server.start()
    times = []
    for _ in range(rounds):
        start = time.monotonic_ns()
        a.send(b"x")
        a.recv(64)
        times.append(time.monotonic_ns() - start)
    server.join()
    return min(times), sum(times) / rounds


def rtt__is_the_wires_and_nothing_else():
    with pair(10 * GBIT, 10 * GBIT) as rack:
        least, _ = echo_rtt_ns(rack)
    # 4 serializations of 84 bytes, 4 cables of 1 us; reading clocks costs some ns
    near("round trip, ns", least, 4 * (67.2 + 1000), 0.02)


def coalescing__holds_the_interrupt_for_rx_ns():
    with pair(10 * GBIT, 10 * GBIT, nic="rx_frames=64 rx_ns=30000") as rack:
        least, _ = echo_rtt_ns(rack)
    near("round trip, ns", least, 4 * (67.2 + 1000) + 2 * 30000, 0.01)


def stream_with_loss(pattern, write_bytes, loss_ppb):
    """Send pattern h0 -> h1 through coalescing, GRO and loss; it must arrive as it was."""
    with pair(10 * GBIT, 10 * GBIT, nic="rx_frames=64 rx_ns=20000") as rack:
        rack.ctl(f"port set s0.h1 fcs_ppb={loss_ppb}")
        sender, receiver = tcp_pair()
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

        def feed():
            for at in range(0, len(pattern), write_bytes):
                sender.sendall(pattern[at:at + write_bytes])
            sender.close()

        feeder = threading.Thread(target=feed)
        feeder.start()
        got = bytearray()
        while chunk := receiver.recv(1 << 20):
            got += chunk
        feeder.join()
        receiver.close()
        assert rack.port("s0.h1")["drops"]["fcs"] > 5, "no loss to speak of"
    assert got == pattern, "the stream was damaged"


def coalescing__with_gro_and_loss_keeps_every_byte():
    stream_with_loss(bytes(range(251)) * 40000, 10_040_000, 5_000_000)


def coalescing__of_small_writes_keeps_every_byte():
    stream_with_loss(bytes(range(251)) * 4000, 700, 20_000_000)


def jitter__adds_an_exponential_wait_to_each_receive():
    with pair(10 * GBIT, 10 * GBIT, nic="jitter_ns=20000") as rack:
        _, mean = echo_rtt_ns(rack, 2000)
    near("mean round trip, ns", mean, 4 * (67.2 + 1000) + 2 * 20000, 0.1)


def carrier__off_and_on_under_traffic():
    with pair(10 * GBIT, 10 * GBIT) as rack:
        done = []
        mover = threading.Thread(target=lambda: (transfer(3_000_000), done.append(1)))
        mover.start()
        for state in (0, 1, 0, 1):
            time.sleep(1e-3)
            rack.ctl(f"nic set h0 carrier={state}")
        mover.join()
        same("transfers done", len(done), 1)


def link__down_and_up_under_traffic():
    with pair(10 * GBIT, 10 * GBIT):
        sock = udp("h0")
        for i in range(50):
            sock.sendto(bytes(1000), ("10.0.0.2", 9))
            if i % 10 == 5:
                for state in ("down", "up"):
                    subprocess.run(["ip", "-n", "h1", "link", "set", "eth0", state], check=True)


def ctl__bad_lines_are_refused_with_a_reason():
    bad = ["nic add h9", "switch set s9 alpha_milli=1", "port set s0.h1 rate_bps=1",
           "port set s0.h1 colour=red", "nic set h0 ring=1", "dscp set 64 prio=1",
           "switch set s0 pfc_prios=1 pfc_xoff_bytes=1 pfc_xon_bytes=2", "frobnicate",
           "source add h0 h9", "series start port=s0.h1", "up", "port set s0.h1 rate_bps=1e9",
           "link add h0 s0", "port set s0.h1 delay_ns=10 delay_ns=20"]
    with pair(10 * GBIT, 10 * GBIT) as rack:
        before = rack.stats()["switches"]
        for line in bad:
            subprocess.run(["dmesg", "-C"], check=True)
            try:
                rack.ctl(line)
            except OSError:
                log = subprocess.run(["dmesg"], capture_output=True, text=True, check=True).stdout
                same(f"log lines of '{line}'", log.count("vrack:"), 1)
                continue
            raise AssertionError(f"taken: {line}")
        same("switches", rack.stats()["switches"], before)


def unload__under_traffic():
    for _ in range(3):
        with pair(10 * GBIT, 10 * GBIT) as rack:
            rack.ctl(f"source add h0 h1 rate_bps={2 * GBIT // 10 if DEBUG else 20 * GBIT}",
                     "series start interval_ns=1000 port=s0.h1")
            sock = udp("h0")
            for _ in range(200):
                sock.sendto(bytes(1400), ("10.0.0.2", 9))


if __name__ == "__main__":
    main(dict(globals()))
