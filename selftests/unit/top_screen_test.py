#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""turnpike top on a pseudo terminal, and turnpike watch: what a person sees, and how they end.

pyte is the terminal: it makes a screen of what the program writes. Nothing is loaded; the connections are this
program's own, on loopback.
"""
import errno
import fcntl
import json
import os
import pty
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

try:
    import pyte
except ImportError:
    print("# SKIP needs python3-pyte (make deps)")
    sys.exit(4)

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
TURNPIKE = os.path.join(os.environ.get("TURNPIKE_BUILD", os.path.join(TOP, "build")), "turnpike")
# What is waited for comes at once, but on a machine that is very busy.
PATIENCE_S = 300
# One that cannot scroll by more than a line at once (indn): pyte knows no such sequence, and what stands on its screen
# is not what the program wrote. xterm can, and does where rows above those that stay go.
KNOWN = next((name for name in ("linux", "vt100")
              if subprocess.run(["infocmp", name], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                check=False).returncode == 0), None)


def environment(**more):
    """Nothing of the caller's: neither its locale nor its terminal."""
    return {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "TERM": KNOWN, "LC_ALL": "C.UTF-8", **more}


def loopback(test):
    """A connection of this program with itself: its two ports."""
    listener = socket.create_server(("127.0.0.1", 0))
    one = socket.create_connection(listener.getsockname())
    other, _ = listener.accept()
    for sock in (listener, one, other):
        test.addCleanup(sock.close)
    one.sendall(b"x" * 1000)
    return one, other


class Top:
    """turnpike top as the leader of a session whose terminal is ours."""

    def __init__(self, test, *words, lines=24, columns=80, ignore_hangup=False, **more):
        self.screen = pyte.Screen(columns, lines)
        self.stream = pyte.ByteStream(self.screen)
        self.master, slave = pty.openpty()
        self.status = None
        self.resize(lines, columns)
        self.modes = termios.tcgetattr(slave)

        def become():
            signal.signal(signal.SIGHUP, signal.SIG_IGN if ignore_hangup else signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(  # pylint: disable=consider-using-with,subprocess-popen-preexec-fn
            [TURNPIKE, "top", *words], stdin=slave, stdout=slave, stderr=slave, env=environment(**more),
            start_new_session=True, preexec_fn=become)
        self.slave = slave
        test.addCleanup(self.end)

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for name in ("master", "slave"):
            self.close(name)

    def close(self, name):
        if getattr(self, name) is not None:
            os.close(getattr(self, name))
            setattr(self, name, None)

    def resize(self, lines, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.screen.resize(lines, columns)

    def press(self, keys):
        os.write(self.master, keys.encode())

    def take(self):
        """What it wrote meanwhile."""
        if select.select([self.master], [], [], 0.05)[0]:
            try:
                self.stream.feed(os.read(self.master, 65536))
            except OSError as error:
                if error.errno != errno.EIO:
                    raise

    def text(self):
        return "\n".join(self.screen.display)

    def wait_for(self, test, what):
        """Until the screen is so: what() is true of its text."""
        end = time.monotonic() + PATIENCE_S
        while not what(self.text()):
            self.take()
            if time.monotonic() > end or self.process.poll() is not None:
                test.fail(f"waited in vain; status {self.process.poll()}, on the screen:\n{self.text()}")

    def wait_for_end(self, test):
        end = time.monotonic() + PATIENCE_S
        while self.process.poll() is None:
            if self.master is None:
                time.sleep(0.02)
            else:
                self.take()
            if time.monotonic() > end:
                test.fail(f"it does not end; on the screen:\n{self.text()}")
        while self.master is not None and select.select([self.master], [], [], 0)[0]:
            self.take()
        return self.process.returncode


def shows(*words):
    return lambda text: all(word in text for word in words)


class Screen(unittest.TestCase):
    def start(self, *words, **more):
        top = Top(self, *words, **more)
        top.wait_for(self, shows("turnpike top"))
        return top

    def assert_restored(self, top):
        self.assertEqual(termios.tcgetattr(top.slave), top.modes)

    def test_connections__are_seen_with_their_ports(self):
        one, other = loopback(self)
        top = self.start()
        ends = (f"{one.getsockname()[1]} 127.0.0.1:{other.getsockname()[1]}",
                f"{other.getsockname()[1]} 127.0.0.1:{one.getsockname()[1]}")
        top.press(f"/{one.getsockname()[1]}\n")
        top.wait_for(self, shows("remote", "acked", "RTT", "feedback", "cc", "only '", *ends))

    def test_connections__that_end_go(self):
        listener = socket.create_server(("127.0.0.1", 0))
        one = socket.create_connection(listener.getsockname())
        other, _ = listener.accept()
        end = f"127.0.0.1:{listener.getsockname()[1]}"
        listener.close()
        top = self.start("--interval", "0.2")
        top.press(f"/{end}\n")
        top.wait_for(self, lambda text: text.count(end) == 2)
        one.close()
        other.close()
        top.wait_for(self, lambda text: text.count(end) == 1)

    def test_connections__above_that_are_not_wanted_go(self):
        others = [loopback(self) for _ in range(4)]
        one, _ = loopback(self)
        end = f"127.0.0.1:{one.getsockname()[1]}"
        top = self.start("--interval", "0.2", lines=200)
        for other, _ in others:
            top.wait_for(self, shows(f"127.0.0.1:{other.getsockname()[1]}"))
        top.press(f"/{end}\n")
        top.wait_for(self, lambda text: text.count("127.0.0.1:") == 2 and text.count(end) == 2)  # a row, and the filter

    def test_views__by_keys(self):
        loopback(self)
        top = self.start()
        for key, words in (("p", ("peer", "conns")), ("v", ("device", "drops", "last minute")),
                           ("?", ("freeze, and go on", "quit")), ("c", ("remote", "feedback"))):
            top.press(key)
            top.wait_for(self, shows(*words))
        top.press("f")
        top.wait_for(self, shows("FROZEN"))
        top.press("fn")
        top.wait_for(self, shows("by name"))
        top.press("\033[B\033[A\033[6~")

    def test_size__changes(self):
        loopback(self)
        top = self.start()
        for lines, columns in ((40, 150), (10, 40), (3, 10), (1, 1), (24, 80)):
            top.resize(lines, columns)
            if columns > 30:
                top.wait_for(self, lambda text: shows("turnpike top", "remote")(text) and
                             text.splitlines()[-1].strip() != "")
        top.press("q")
        self.assertEqual(top.wait_for_end(self), 0)

    def test_q__restores_the_terminal(self):
        top = self.start()
        self.assertNotEqual(termios.tcgetattr(top.slave), top.modes)
        top.press("q")
        self.assertEqual(top.wait_for_end(self), 0)
        self.assert_restored(top)

    def test_signals__restore_the_terminal(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            top = self.start()
            top.process.send_signal(number)
            self.assertEqual(top.wait_for_end(self), -number)
            self.assert_restored(top)

    def test_interrupt__by_its_key(self):
        top = self.start()
        top.press("\003")
        self.assertEqual(top.wait_for_end(self), -signal.SIGINT)
        self.assert_restored(top)

    def test_terminal__that_closes_ends_it(self):
        top = self.start("--interval", "3600", ignore_hangup=True)
        # No other has it open now but the program.
        top.close("slave")
        top.close("master")
        self.assertEqual(top.wait_for_end(self), 2)

    def test_terminal__that_nobody_reads_keeps_it_not(self):
        top = self.start("--interval", "0.1")
        # All that it may write before it waits for its reader.
        fcntl.ioctl(top.slave, termios.TCXONC, termios.TCOOFF)
        top.press("?")
        top.process.send_signal(signal.SIGTERM)
        self.assertIn(top.wait_for_end(self), (-signal.SIGTERM, 128 + signal.SIGTERM))
        self.assert_restored(top)

    def test_locale__no_decimal_comma(self):
        one, _ = loopback(self)
        top = self.start(LC_ALL="de_DE.UTF-8", LC_NUMERIC="de_DE.UTF-8")
        top.press(f"/{one.getsockname()[1]}\n")
        top.wait_for(self, shows("only '"))
        self.assertNotRegex(top.text(), r"\d,\d")

    def test_terminals__unknown_or_dumb_are_refused(self):
        for name, says in (("no-such-terminal", "a terminal 'no-such-terminal' is not known here"),
                           ("dumb", "cannot place characters"), ("", "TERM does not say")):
            top = Top(self, TERM=name, columns=200)
            self.assertEqual(top.wait_for_end(self), 2)
            self.assertIn(says, top.text())
            self.assertIn("turnpike watch", top.text())
            self.assert_restored(top)


def ended(*words, **more):
    """Status, output and errors of turnpike without a terminal."""
    done = subprocess.run([TURNPIKE, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, env=environment(), check=False, **more)
    return done.returncode, done.stdout, done.stderr


class WithoutTerminal(unittest.TestCase):
    def test_top__names_watch(self):
        self.assertEqual(ended("top"), (2, "", "turnpike: top needs a terminal; turnpike watch prints lines\n"))

    def test_usage__wrong(self):
        for words in (("top", "eth0"), ("top", "--interval", "0"), ("watch", "--interval", "nan"),
                      ("watch", "--interval", "-1"), ("watch", "--count", "0"), ("watch", "lo", "lo"),
                      ("watch", "--count", "x"), ("watch", "--interval", "1x")):
            self.assertEqual(ended(*words)[0], 64, words)

    def test_watch__no_such_device(self):
        status, out, said = ended("watch", "no-such-dev")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("no device no-such-dev is up", said)


@unittest.skipUnless("lo" in [name for _, name in socket.if_nameindex()], "no loopback")
class Watch(unittest.TestCase):
    def test_lines__so_many(self):
        status, out, said = ended("watch", "lo", "--count", "2", "--interval", "0.1")
        self.assertEqual((status, said), (0, ""))
        lines = [line for line in out.splitlines() if ":" not in line.split()[1]]
        self.assertIn("timeouts", lines[0])
        self.assertEqual([line.split()[1] for line in lines[1:]], ["lo", "lo"])

    def test_json__an_object_a_line(self):
        status, out, _ = ended("watch", "lo", "-j", "-n", "2", "-i", "0.1")
        self.assertEqual(status, 0)
        objects = [json.loads(line) for line in out.splitlines()]
        own = [one for one in objects if one["netns"] == ""]
        self.assertEqual([one["device"] for one in own], ["lo", "lo"])
        self.assertGreaterEqual(own[1]["time_s"], own[0]["time_s"])
        for name in ("sent_bps", "received_bps", "retransmits", "timeouts"):
            self.assertIsInstance(own[1][name], int, name)
        self.assertIsNone(own[1]["delay_p99_ns"])

    def test_lines__are_there_at_once(self):
        with subprocess.Popen([TURNPIKE, "watch", "lo", "-i", "0.1"], stdout=subprocess.PIPE,
                              env=environment()) as watch:
            self.assertIn(b"timeouts", watch.stdout.readline())
            self.assertIn(b" lo ", watch.stdout.readline())
            watch.terminate()
            self.assertEqual(watch.wait(PATIENCE_S), -signal.SIGTERM)

    def test_pipe__that_closes_ends_it(self):
        # At its next line, or at once.
        for interval in ("0.1", "3600"):
            with tempfile.TemporaryFile() as errors, \
                 subprocess.Popen([TURNPIKE, "watch", "lo", "-i", interval], stdout=subprocess.PIPE, stderr=errors,
                                  env=environment(), restore_signals=False) as watch:
                self.assertIn(b"timeouts", watch.stdout.readline())
                watch.stdout.close()
                watch.wait(PATIENCE_S)


if __name__ == "__main__":
    if KNOWN is None:
        print("# SKIP no terminal is known here: ncurses-base is missing")
        sys.exit(4)
    sys.exit(unittest.main())
