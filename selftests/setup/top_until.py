#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""turnpike top on a pseudo terminal, until its screen has what is wanted.

usage: top_until.py [--as-nobody] TURNPIKE KEYS PATTERN...

Presses KEYS, and ends with 0 and the screen once some line matches each pattern.
"""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time

try:
    import pyte
except ImportError:
    print("needs python3-pyte")
    sys.exit(4)

LINES, COLUMNS = 40, 160
PATIENCE_S = 120


def main():
    words = sys.argv[1:]
    nobody = ["setpriv", "--reuid=65534", "--clear-groups"] if words[0] == "--as-nobody" else []
    program, keys, *patterns = words[1:] if nobody else words
    master, slave = pty.openpty()
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    environment = {**os.environ, "TERM": "linux", "LC_ALL": "C"}
    top = subprocess.Popen([*nobody, program, "top"], stdin=slave, stdout=slave, stderr=slave, env=environment)
    os.write(master, keys.encode())
    screen = pyte.Screen(COLUMNS, LINES)
    stream = pyte.ByteStream(screen)
    end = time.monotonic() + PATIENCE_S
    found = False
    while not found and time.monotonic() < end and top.poll() is None:
        if select.select([master], [], [], 0.2)[0]:
            stream.feed(os.read(master, 65536))
        found = all(re.search(pattern, "\n".join(screen.display)) for pattern in patterns)
    print("\n".join(screen.display))
    if top.poll() is None:
        os.write(master, b"q")
    # It ends, though nobody reads what it writes then.
    return 0 if top.wait(PATIENCE_S) == 0 and found else 1


if __name__ == "__main__":
    sys.exit(main())
