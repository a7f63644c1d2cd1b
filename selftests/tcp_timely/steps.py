#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""One TCP connection, step by step, and what its socket says between the steps.

steps.py ADDRESS STEP...

cc=NAME        congestion control, before or after connecting
connect=PORT
pacing=BYTES   SO_MAX_PACING_RATE
write=BYTES    so many and no more
send=SECONDS   as much as the socket takes
trickle=SECONDS  a small packet each 2 ms
idle=SECONDS   nothing is written
run=COMMAND    for the shell; no time passes for the connection
abort=now      a reset; else what was written is sent first, however long it takes
show=LABEL     what the socket says: LABEL.KEY=VALUE ...
watch=LABEL    least and most of every 100 us of the last send or idle, LABEL.least_KEY=VALUE ...
packets=LABEL  LABEL.bytes of a packet that left through veth0, on average since the last such step

Keys: pacing (bytes/s of payload), rate (the engine's, bytes/s of the wire), cwnd, flight, retransmits,
acked (bytes);
recovery_cwnd where the flow was in recovery.
"""
import selectors
import socket
import struct
import subprocess
import sys
import time

TCP_CONGESTION = 13
TCP_CC_INFO = 26
SO_MAX_PACING_RATE = 47
STEP_SECONDS = 0.0001
RECOVERY = 3


def socket_says(sock):
    info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 232)
    unacked, sacked, lost, retrans = struct.unpack_from("4I", info, 24)
    cc_info = sock.getsockopt(socket.IPPROTO_TCP, TCP_CC_INFO, 32)
    said = {"pacing": struct.unpack_from("Q", info, 104)[0],
            "rate": struct.unpack_from("Q", cc_info)[0] if len(cc_info) == 20 else 0,
            "cwnd": struct.unpack_from("I", info, 80)[0],
            "flight": unacked - sacked - lost + retrans,
            "retransmits": struct.unpack_from("I", info, 100)[0],
            "acked": struct.unpack_from("Q", info, 120)[0]}
    if info[1] == RECOVERY:
        said["recovery_cwnd"] = said["cwnd"]
    return said


def left_through_veth():
    """Packets, as the device is given them, and bytes."""
    with open("/proc/net/dev", encoding="ascii") as devices:
        words = next(line for line in devices if "veth0:" in line).split(":")[1].split()
    return int(words[9]), int(words[8])


def say(label, said):
    print(*(f"{label}.{key}={value}" for key, value in said.items()), flush=True)


class Connection:
    """What the steps are done to."""

    def __init__(self, address):
        self.address = address
        self.sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.seen = {}
        self.left = left_through_veth()

    def see(self):
        for key, value in socket_says(self.sock).items():
            least, most = self.seen.get(key, (value, value))
            self.seen[key] = min(least, value), max(most, value)

    def until(self, seconds, write):
        end = time.monotonic() + seconds
        self.seen = {}
        while (left := end - time.monotonic()) > 0:
            write()
            self.see()
            time.sleep(min(left, STEP_SECONDS))

    def fill(self):
        try:
            while self.sock.send(bytes(1 << 16)):
                pass
        except BlockingIOError:
            pass

    def cc(self, name):
        self.sock.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, name.encode())

    def connect(self, port):
        self.sock.settimeout(5)
        self.sock.connect((self.address, int(port)))
        self.sock.setblocking(False)

    def pacing(self, count):
        self.sock.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, int(count))

    def write(self, count):
        self.sock.send(bytes(int(count)))

    def send(self, seconds):
        self.until(float(seconds), self.fill)

    def trickle(self, seconds):
        for _ in range(int(float(seconds) / 0.002)):
            self.sock.send(bytes(1000))
            time.sleep(0.002)

    def idle(self, seconds):
        self.until(float(seconds), lambda: None)

    def abort(self, _when):
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()

    def run(self, command):
        subprocess.run(command, shell=True, check=True)

    def show(self, label):
        say(label, socket_says(self.sock))

    def watch(self, label):
        for i, which in enumerate(("least", "most")):
            say(label, {f"{which}_{key}": values[i] for key, values in self.seen.items()})

    def packets(self, label):
        before, self.left = self.left, left_through_veth()
        packets = self.left[0] - before[0]
        say(label, {"bytes": (self.left[1] - before[1]) // max(packets, 1)})


def main():
    connection = Connection(sys.argv[1])
    for step in sys.argv[2:]:
        verb, _, value = step.partition("=")
        getattr(connection, verb)(value)
    return 0


if __name__ == "__main__":
    sys.exit(main())
