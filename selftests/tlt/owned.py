#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A process that sits on the lock of its TCP socket.

owned.py receive PORT DEVICE
    take a connection and read from it into memory that is not there yet, while nobody may
    change or look at the memory map: recv() then waits, with the socket's lock, for as long
    as DEVICE takes for two packets of 60 bytes. Prints "read N" after that.
owned.py send ADDRESS PORT
    send small packets to it for three seconds

The map is locked by an mmap() of a packet socket's ring, which waits for a sender that
uses the ring, and that one waits for its packet to leave.
"""
import ctypes
import mmap
import socket
import struct
import sys
import threading
import time

SOL_PACKET = 263  # linux/if_packet.h; Python has no names for these
PACKET_TX_RING = 13
TP_STATUS_SEND_REQUEST = 1
HEADER = 32  # struct tpacket_hdr, before the frame
FRAME = bytes.fromhex("ffffffffffff" "020000000001" "88b5") + bytes(46)
BLOCK = 4096
SLOT = 2048


def ring_of(device):
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    sock.setsockopt(SOL_PACKET, PACKET_TX_RING, struct.pack("4I", BLOCK, 1, SLOT, BLOCK // SLOT))
    sock.bind((device, 0x88b5))
    ring = mmap.mmap(sock.fileno(), BLOCK)
    for at in range(0, BLOCK, SLOT):
        ring[at + HEADER:at + HEADER + len(FRAME)] = FRAME
        ring[at:at + 12] = struct.pack("LI", TP_STATUS_SEND_REQUEST, len(FRAME))
    return sock, ring


def receive(port, device):
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
                          ctypes.c_int, ctypes.c_long]
    with socket.create_server(("", port)) as listener:
        sock = listener.accept()[0]
    packets, ring = ring_of(device)
    memory = mmap.mmap(-1, 1 << 20)
    count = []
    reader = threading.Thread(target=lambda: count.append(sock.recv_into(memory)))
    reader.start()
    threading.Thread(target=lambda: packets.send(b"")).start()
    time.sleep(0.2)
    threading.Thread(target=lambda: libc.mmap(None, BLOCK, mmap.PROT_READ, mmap.MAP_SHARED,
                                              packets.fileno(), 0)).start()
    reader.join()
    print("read", *count, flush=True)
    del ring


def send(address, port):
    with socket.create_connection((address, port)) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(20):
            time.sleep(1 if _ == 0 else 0.1)
            sock.send(bytes(1000))


if __name__ == "__main__":
    if sys.argv[1] == "receive":
        receive(int(sys.argv[2]), sys.argv[3])
    else:
        send(sys.argv[2], int(sys.argv[3]))
