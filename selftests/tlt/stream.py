#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A stream of known bytes, compared at its other end.

stream.py serve [--port N] [--slow S] [--parallel] [--receive-buffer BYTES] [--uid N]
                [--socket KIND]
    take connections one after another (or all at once) until killed, each with a
    first line "WAY SEED BYTES" and then what SEED makes, a function of the offset;
    answer "ok" or what differs
    --slow: read a little at a time, with pauses that let the window close
    --uid: this user's is what is taken, while who listens stays the same
stream.py send ADDRESS --seed N --bytes N [--way WAY] [--repeat N] [--port N] [--tos N]
               [--write BYTES] [--pause S] [--timeout S] [--uid N] [--socket KIND] [--by CALL]
    send such a stream, and print "seconds=S retransmits=N bytes=N" of what was
    compared; with --repeat so many, each with a seed of its own, and "median=S", what
    one in the middle took. WAY is one of
    plain   the receiver answers when it has all
    shut    the sending side is shut at once, so that the FIN is in flight with the
            data; the receiver wants the end right after the last byte
    close   the same with the whole socket; another connection asks what came
    both    the receiver sends as much at the same time
    urgent  rounds of data with an urgent byte among it, which the receiver must find
            at its place and apart from the rest; inline: within the rest
    --write, --pause: so many bytes at a time, and then wait
    --uid: of the user whose sockets these are
    --by: zerocopy (the kernel must tell of each call that it is done with the pages),
    sendfile, splice; else by copies
KIND, of both ends: tcp, mptcp, tls (the kernel encrypts what comes after the first line),
fastopen (the first line goes with the SYN)
"""
import argparse
import contextlib
import errno
import fcntl
import os
import random
import select
import socket
import statistics
import struct
import sys
import tempfile
import threading
import time

CHUNK = 1 << 16
SLOW_READ = 20000
# Most bytes before an urgent one and after it: several segments.
ROUND = 20000
TURN = b"."
SIOCATMARK = 0x8905  # linux/sockios.h; Python has no names for this and what follows
SO_ZEROCOPY = 60
MSG_ZEROCOPY = 0x4000000
SO_EE_ORIGIN_ZEROCOPY = 5
IPPROTO_MPTCP = 262
TCP_ULP = 31
SOL_TLS = 282
TLS_TX, TLS_RX = 1, 2
# Version 1.2 and AES-GCM-128 (linux/tls.h); vector, key, salt, number of the first record.
TLS_KEY = struct.pack("=HH", 0x0303, 51) + b"i" * 8 + b"k" * 16 + b"s" * 4 + bytes(8)


def content(seed, size):
    generator = random.Random(seed)
    while size > 0:
        part = generator.randbytes(min(size, CHUNK))
        size -= len(part)
        yield part


def rounds(seed, size):
    """Triples: what comes before an urgent byte, that byte, what comes after it."""
    generator = random.Random(seed)
    while size > 0:
        before = generator.randbytes(generator.randint(1, ROUND))
        # What is read after the urgent byte moves the reader off the mark.
        after = generator.randbytes(generator.randint(1, ROUND))
        yield before, generator.randbytes(1), after
        size -= len(before) + 1 + len(after)


def answering_seed(seed):
    """Of what the receiver sends."""
    return -1 - seed


class Differs(Exception):
    """What came is not what was sent."""


class Reader:
    def __init__(self, sock, slow=0):
        self.sock = sock
        self.slow = slow
        self.seen = 0

    def take(self, size):
        if self.slow:
            time.sleep(self.slow)
        data = self.sock.recv(min(SLOW_READ if self.slow else CHUNK, size))
        if not data:
            raise Differs(f"the stream ends after {self.seen} bytes")
        return data

    def expect(self, part):
        got = 0
        while got < len(part):
            data = self.take(len(part) - got)
            if data != part[got:got + len(data)]:
                wrong = next(i for i, byte in enumerate(data) if byte != part[got + i])
                raise Differs(f"byte {self.seen + wrong} differs")
            got += len(data)
            self.seen += len(data)

    def expect_content(self, seed, size):
        for part in content(seed, size):
            self.expect(part)

    def expect_end(self):
        if self.sock.recv(1):
            raise Differs(f"there is more after {self.seen} bytes")

    def is_at_mark(self):
        return struct.unpack("i", fcntl.ioctl(self.sock, SIOCATMARK, bytes(4)))[0] != 0

    def expect_unmarked(self, part):
        """No more of it may be asked for than is there: a read ends at a mark."""
        end = self.seen + len(part)
        while self.seen < end:
            if self.is_at_mark():
                raise Differs(f"a mark is at byte {self.seen}")
            size = min(end - self.seen, 1 + self.seen % ROUND)
            self.expect(part[len(part) - (end - self.seen):][:size])

    def expect_urgent(self, byte, inline):
        if not select.select([], [], [self.sock], self.sock.gettimeout())[2]:
            raise Differs(f"no urgent data comes after byte {self.seen}")
        if not self.is_at_mark():
            raise Differs(f"no mark is at byte {self.seen}")
        if inline:
            self.expect(byte)
        elif self.sock.recv(1, socket.MSG_OOB) != byte:
            raise Differs(f"the urgent byte at {self.seen} differs")


def read_line(sock):
    line = b""
    while not line.endswith(b"\n"):
        byte = sock.recv(1)
        if not byte:
            raise Differs("no first line")
        line += byte
    return line.decode()


def read_to_end(sock):
    text = b""
    while data := sock.recv(1000):
        text += data
    return text.decode()


def drain(sock):
    """Closed with data unread, a socket resets its connection, and what it said is lost."""
    while sock.recv(CHUNK):
        pass


def send_copies(sock, seed, args):
    for part in content(seed, args.bytes):
        step = args.write or len(part)
        for start in range(0, len(part), step):
            sock.sendall(part[start:start + step])
            if args.pause:
                time.sleep(args.pause)


class ZeroCopy:
    """Calls whose pages the kernel has, and what it told of them."""

    def __init__(self, sock):
        self.sock = sock
        # One with a time limit would wait for data to come.
        self.notices = sock.dup()
        self.notices.setblocking(False)
        self.calls = self.told = 0
        self.pages = []     # not to be used again until then
        sock.setsockopt(socket.SOL_SOCKET, SO_ZEROCOPY, 1)

    def take_notices(self):
        with contextlib.suppress(BlockingIOError):
            while True:
                for _, _, notice in self.notices.recvmsg(1, 512, socket.MSG_ERRQUEUE)[1]:
                    _, origin, _, _, _, first, last = struct.unpack("=IBBBBII", notice[:16])
                    if origin == SO_EE_ORIGIN_ZEROCOPY:
                        self.told += last - first + 1

    def send(self, part):
        self.pages.append(part)
        left = memoryview(part)
        while left:
            try:
                left = left[self.sock.send(left, MSG_ZEROCOPY):]
                self.calls += 1
            except OSError as error:
                # There are too many that it did not tell of yet.
                if error.errno != errno.ENOBUFS:
                    raise
                time.sleep(0.001)
            self.take_notices()

    def finish(self):
        patience = time.monotonic() + self.sock.gettimeout()
        while self.told < self.calls and time.monotonic() < patience:
            time.sleep(0.001)
            self.take_notices()
        self.notices.close()
        if self.told != self.calls:
            raise Differs(f"{self.calls} calls with pages, {self.told} told to be done")


def send_zerocopy(sock, seed, args):
    zerocopy = ZeroCopy(sock)
    for part in content(seed, args.bytes):
        zerocopy.send(part)
    zerocopy.finish()


def splice_all(source, sock, size):
    read_end, write_end = os.pipe()
    while size > 0:
        piped = os.splice(source, write_end, min(size, CHUNK))
        size -= piped
        while piped > 0:
            piped -= os.splice(read_end, sock, piped)
    os.close(read_end)
    os.close(write_end)


def send_file(sock, seed, args):
    with tempfile.TemporaryFile() as file:
        for part in content(seed, args.bytes):
            file.write(part)
        file.seek(0)
        if args.by == "sendfile":
            sock.sendfile(file)
            return
        file.flush()
        # Which knows no time limit.
        sock.setblocking(True)
        splice_all(file.fileno(), sock.fileno(), args.bytes)
        sock.settimeout(args.timeout)


def send_content(sock, seed, args):
    ways = {"copies": send_copies, "zerocopy": send_zerocopy}
    ways.get(args.by, send_file)(sock, seed, args)


def new_socket(family, kind):
    return socket.socket(family, socket.SOCK_STREAM, IPPROTO_MPTCP if kind == "mptcp" else 0)


def encrypt(sock, direction):
    sock.setsockopt(socket.IPPROTO_TCP, TCP_ULP, b"tls")
    sock.setsockopt(SOL_TLS, direction, TLS_KEY)


def become(uid):
    """The user whose sockets those are that come from now on."""
    if uid is not None:
        os.setuid(uid)


class Server:
    def __init__(self, args):
        self.args = args
        self.verdicts = {}  # of connections that their sender closed
        self.listener = None

    def compare_urgent(self, sock, way, seed, size):
        inline = way == "inline"
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, inline)
        reader = Reader(sock)
        with self.listener.accept()[0] as turns:
            for before, byte, after in rounds(seed, size):
                reader.expect_unmarked(before)
                reader.expect_urgent(byte, inline)
                if not inline:
                    turns.sendall(TURN)
                reader.expect(after)
                turns.sendall(TURN)

    def compare_both(self, sock, seed, size):
        def answer():
            for part in content(answering_seed(seed), size):
                sock.sendall(part)

        sender = threading.Thread(target=answer)
        sender.start()
        try:
            Reader(sock, self.args.slow).expect_content(seed, size)
        finally:
            sender.join()

    def compare(self, sock, way, seed, size):
        if way in ("urgent", "inline"):
            self.compare_urgent(sock, way, seed, size)
        elif way == "both":
            self.compare_both(sock, seed, size)
        else:
            reader = Reader(sock, self.args.slow)
            reader.expect_content(seed, size)
            if way in ("shut", "close"):
                reader.expect_end()

    def verdict(self, sock, way, seed, size):
        if way == "verdict":
            return self.verdicts.pop(seed, "no stream of this seed has ended")
        try:
            self.compare(sock, way, seed, size)
        except Differs as fault:
            return str(fault)
        return "ok"

    def serve_one(self, sock):
        with sock:
            try:
                way, seed, size = read_line(sock).split()
                if self.args.socket == "tls":
                    encrypt(sock, TLS_RX)
                verdict = self.verdict(sock, way, int(seed), int(size))
                if way == "close":
                    self.verdicts[int(seed)] = verdict
                else:
                    sock.sendall(verdict.encode())
                    sock.shutdown(socket.SHUT_WR)
                    drain(sock)
            except (OSError, Differs, ValueError) as error:
                print(error, file=sys.stderr)

    def run(self):
        with new_socket(socket.AF_INET6, self.args.socket) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            listener.bind(("", self.args.port))
            if self.args.socket == "fastopen":
                listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 100)
            listener.listen(100)
            self.listener = listener
            if self.args.receive_buffer:
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF,
                                    self.args.receive_buffer)
            become(self.args.uid)
            while True:
                sock, _ = listener.accept()
                if self.args.parallel:
                    threading.Thread(target=self.serve_one, args=(sock,), daemon=True).start()
                else:
                    self.serve_one(sock)


class Sender:
    """One connection of the sending side."""

    def __init__(self, args, seed):
        self.args = args
        self.seed = seed
        self.compared = args.bytes
        self.retransmits = 0

    def open(self):
        args = self.args
        family = socket.AF_INET6 if ":" in args.address else socket.AF_INET
        sock = new_socket(family, args.socket)
        sock.settimeout(args.timeout)
        if args.tos:
            sock.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, args.tos)
        if args.write:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if args.socket != "fastopen":
            sock.connect((args.address, args.port))
        return sock

    def connect(self, way):
        sock = self.open()
        line = f"{way} {self.seed} {self.args.bytes}\n".encode()
        if self.args.socket == "fastopen":
            # With a time limit it would not wait for the connection.
            sock.setblocking(True)
            sock.sendto(line, socket.MSG_FASTOPEN, (self.args.address, self.args.port))
            sock.settimeout(self.args.timeout)
        else:
            sock.sendall(line)
        if self.args.socket == "tls":
            encrypt(sock, TLS_TX)
        return sock

    def send_urgent(self, sock, inline):
        """
        Linux 6.12, with TLT or without, takes a byte of a TCP header for the urgent byte
        where a segment or an ACK that begins right after it overtakes it. So what comes
        after waits, and turns are told on a connection of their own.
        """
        with self.open() as turns:
            for before, byte, after in rounds(self.seed, self.args.bytes):
                sock.sendall(before)
                sock.send(byte, socket.MSG_OOB)
                if not inline and turns.recv(1) != TURN:
                    return
                sock.sendall(after)
                if turns.recv(1) != TURN:
                    return

    def send_both(self, sock):
        sender = threading.Thread(target=send_content, args=(sock, self.seed, self.args))
        sender.start()
        try:
            Reader(sock).expect_content(answering_seed(self.seed), self.args.bytes)
        finally:
            sender.join()
        self.compared = 2 * self.args.bytes

    def send(self, sock, way):
        if way in ("urgent", "inline"):
            self.send_urgent(sock, way == "inline")
        elif way == "both":
            self.send_both(sock)
        else:
            send_content(sock, self.seed, self.args)
        if way == "shut":
            sock.shutdown(socket.SHUT_WR)

    def note_retransmits(self, sock):
        info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 232)
        self.retransmits = struct.unpack_from("I", info, 100)[0]

    def answer(self, way):
        with self.connect(way) as sock:
            if way == "close":
                # A receiver that has seen enough resets it; its verdict tells why.
                with contextlib.suppress(ConnectionError):
                    self.send(sock, way)
                return None
            if way != "verdict":
                self.send(sock, way)
            answer = read_to_end(sock)
            self.note_retransmits(sock)
            return answer

    def run(self):
        """None, or what is wrong."""
        try:
            answer = self.answer(self.args.way)
            if self.args.way == "close":
                answer = self.answer("verdict")
        except Differs as fault:
            return f"on the way back: {fault}"
        return None if answer == "ok" else answer or "no answer"


def send(args):
    seconds = []
    retransmits = compared = 0
    become(args.uid)
    for number in range(args.repeat):
        start = time.monotonic()
        sender = Sender(args, args.seed + number)
        fault = sender.run()
        seconds.append(time.monotonic() - start)
        if fault:
            print(f"seed {sender.seed}: {fault}")
            return 1
        retransmits += sender.retransmits
        compared += sender.compared
    median = f" median={statistics.median(seconds):.3f}" if args.repeat > 1 else ""
    print(f"seconds={sum(seconds):.3f} retransmits={retransmits} bytes={compared}{median}")
    return 0


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    server = commands.add_parser("serve")
    server.add_argument("--port", type=int, default=5100)
    server.add_argument("--slow", type=float, default=0)
    server.add_argument("--parallel", action="store_true")
    server.add_argument("--receive-buffer", type=int, default=0)
    server.add_argument("--uid", type=int)
    sender = commands.add_parser("send")
    sender.add_argument("address")
    sender.add_argument("--port", type=int, default=5100)
    sender.add_argument("--seed", type=int, required=True)
    sender.add_argument("--bytes", type=int, required=True)
    sender.add_argument("--way", default="plain",
                        choices=["plain", "shut", "close", "both", "urgent", "inline"])
    sender.add_argument("--repeat", type=int, default=1)
    sender.add_argument("--tos", type=int, default=0)
    sender.add_argument("--write", type=int, default=0)
    sender.add_argument("--pause", type=float, default=0)
    sender.add_argument("--timeout", type=float, default=60)
    sender.add_argument("--uid", type=int)
    sender.add_argument("--by", default="copies", choices=["copies", "zerocopy", "sendfile", "splice"])
    for end in (server, sender):
        end.add_argument("--socket", default="tcp", choices=["tcp", "mptcp", "tls", "fastopen"])
    args = parser.parse_args()
    if args.command == "serve":
        return Server(args).run()
    return send(args)


if __name__ == "__main__":
    sys.exit(main())
