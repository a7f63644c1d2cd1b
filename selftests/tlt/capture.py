# SPDX-License-Identifier: GPL-2.0
"""TCP packets as a device has them, for tests that say what must be in them."""
import signal
import socket
import struct

from checksum import checksum

ETH_P_ALL = 3
ETH_P_IP, ETH_P_IPV6 = 0x0800, 0x86dd
TCP = 6
FIN, SYN, RST, PSH, ACK, URG, ECE, CWR = (1 << bit for bit in range(8))
EOL, NOP, SACK, TIMESTAMPS = 0, 1, 5, 8
QUIET_SECONDS = 0.05
SO_RCVBUFFORCE = 33  # beyond net.core.rmem_max; Python has no name for it


def frames(device, ready):
    """(it leaves, frame) of all, until SIGTERM; a file `ready` appears when it begins."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL)) as sock:
        sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 26)
        sock.bind((device, ETH_P_ALL))
        ended = []
        signal.signal(signal.SIGTERM, lambda _number, _frame: ended.append(True))
        sock.settimeout(QUIET_SECONDS)
        with open(ready, "w", encoding="ascii"):
            pass
        while True:
            # what has arrived by the signal and was not read yet counts
            last = bool(ended)
            try:
                frame, address = sock.recvfrom(1 << 17)
                yield address[2] == socket.PACKET_OUTGOING, frame
            except TimeoutError:
                if last:
                    return


class Segment:
    """One TCP packet. `fixed`: what all of a connection's have alike in the IP header."""

    def __init__(self, traffic_class, addresses, segment, header_bytes, fixed):
        self.code, self.ect = traffic_class >> 2, traffic_class & 3
        self.fixed = fixed
        (self.sport, self.dport, self.seq, self.ack, words, self.flags, self.window,
         _, self.urgent) = struct.unpack_from("!HHLLBBHHH", segment)
        self.reserved = words & 15
        self.raw_options = segment[20:(words >> 4) * 4]
        self.data = segment[(words >> 4) * 4:]
        self.header_bytes = header_bytes + (words >> 4) * 4
        pseudo = addresses + struct.pack("!LL", len(segment), TCP)
        self.sum_is_right = checksum(pseudo + segment) == 0

    @property
    def end(self):
        return self.seq + len(self.data)

    def options(self):
        """(kind, payload) of all but padding."""
        at, raw = 0, self.raw_options
        while at < len(raw) and raw[at] != EOL:
            if raw[at] == NOP:
                at += 1
                continue
            yield raw[at], raw[at + 2:at + raw[at + 1]]
            at += raw[at + 1]

    def timestamps(self):
        """(TSval, TSecr), or None."""
        for kind, payload in self.options():
            if kind == TIMESTAMPS:
                return struct.unpack("!LL", payload)
        return None

    def sacks(self):
        for kind, payload in self.options():
            if kind == SACK:
                return list(struct.iter_unpack("!LL", payload))
        return []


def record(device, path, take, lines):
    """take(it leaves, segment) of all TCP until SIGTERM, then the file gets what lines() says."""
    for leaves, frame in frames(device, path + ".ready"):
        segment = segment_of(frame)
        if segment:
            take(leaves, segment)
    with open(path, "w", encoding="ascii") as out:
        out.writelines(line + "\n" for line in lines())


def segment_of(frame):
    """None of what is no TCP."""
    kind = struct.unpack_from("!H", frame, 12)[0]
    if kind == ETH_P_IP and frame[23] == TCP:
        bytes_ip = (frame[14] & 15) * 4
        end = 14 + struct.unpack_from("!H", frame, 16)[0]
        flags_ttl = struct.unpack_from("!H", frame, 20)[0], frame[22]
        return Segment(frame[15], frame[26:34], frame[14 + bytes_ip:end], bytes_ip, flags_ttl)
    if kind == ETH_P_IPV6 and frame[20] == TCP:
        word, length = struct.unpack_from("!LH", frame, 14)
        return Segment(word >> 20 & 255, frame[22:54], frame[54:54 + length], 40,
                       (word & 0xfffff, frame[21]))
    return None
