# SPDX-License-Identifier: GPL-2.0
"""One guest: boot the kernel on a run directory, watch it, judge its end."""
import functools
import os
import re
import selectors
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from .tools import REPO

# What the kernel says when it is not well, on the console or in its log.
ILL = re.compile(r"Kernel panic|\bOops\b|\bBUG:|WARNING:|KASAN:|UBSAN:|INFO: task|INFO: possible|"
                 r"INFO: trying|INFO: inconsistent|general protection|segfault at|"
                 r"refcount_t:|Segmentation fault|possible recursive locking|suspicious RCU")
LEAK = re.compile(r"unreferenced object")


CONSOLE = "console.txt"

_running = set()
_stopping = threading.Event()


class Outcome:
    """failure is None or a sentence; log is the file that tells more."""

    def __init__(self, failure, log, wall_s):
        self.failure = failure
        self.log = log
        self.wall_s = wall_s


def run(directory, tools, settings, seed, on_line=None):
    """Boot the guest of a run directory and wait for its end; the seed is of its kernel's randomness."""
    started = time.monotonic()
    command = ["env", f"TURNPIKE_SEED={seed}", f"LD_PRELOAD={tools.umlseed}", *_command(tools.kernel, settings)]
    failure = _boot(command, directory, started + settings["wall_timeout_s"], on_line)
    log, failure = _judge(directory, failure)
    return Outcome(failure, log, time.monotonic() - started)


def _command(kernel, settings):
    """The same words for every run: the kernel stirs them into its random pool.

    Init is found in the working directory, a temporary one, by way of the machine's
    own /proc, which the guest sees until it mounts its own.
    """
    return [*_fixed_addresses(), kernel, f"mem={settings['guest_mem']}", "root=/dev/root", "rootfstype=hostfs",
            "rootflags=/", "rw", "init=/proc/self/cwd/init.sh", "con=null", "con0=fd:0,fd:1",
            "time-travel=inf-cpu", "time-travel-start=1000000000000000000",
            _no_jitter(kernel),
            # or the first getrandom() of 6.1 waits for a minute of gathered entropy
            "random.trust_cpu=1", "random.trust_bootloader=1", "quiet", *settings["boot"]]


@functools.lru_cache
def _no_jitter(kernel):
    done = subprocess.run([os.path.join(REPO, "selftests/lib/no-jitter"), os.path.dirname(kernel)], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()


@functools.lru_cache
def _fixed_addresses():
    """setarch -R where it is allowed: else the guest's memory size varies a little."""
    allowed = subprocess.run(["setarch", "-R", "true"], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, check=False).returncode == 0
    return ["setarch", "-R"] if allowed else []


def _boot(command, directory, deadline, on_line):
    """None, or why the guest did not end by itself."""
    environment = {**os.environ, "TMPDIR": _fast_directory()}
    with open(os.path.join(directory, CONSOLE), "wb") as log, \
            tempfile.TemporaryDirectory(prefix="vrack.", dir="/var/tmp") as start:
        shutil.copy(os.path.join(directory, "init.sh"), start)
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, start_new_session=True,
                                   cwd=start, env=environment)
        _running.add(process)
        if _stopping.is_set():
            _kill(process)
        try:
            return _watch(process, log, deadline, on_line)
        finally:
            _end(process)


def _fast_directory():
    """The guest's memory is a file; on a disk it would be written back."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else os.environ.get("TMPDIR", "/tmp")


def _watch(process, log, deadline, on_line):
    selector = selectors.DefaultSelector()
    selector.register(process.stdout, selectors.EVENT_READ)
    rest = b""
    while True:
        if not selector.select(max(0, deadline - time.monotonic())):
            return "hung: wall_timeout_s passed"
        chunk = os.read(process.stdout.fileno(), 65536)
        if not chunk:
            return None
        log.write(chunk)
        log.flush()
        *lines, rest = (rest + chunk).replace(b"\r", b"\n").split(b"\n")
        for line in filter(None, lines):
            if on_line:
                on_line(line.decode("utf-8", "replace").rstrip())


def stop_all():
    """End every guest at once; their threads then return by themselves."""
    _stopping.set()
    for process in list(_running):
        _kill(process)


def _kill(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _end(process):
    """The guest's processes are children of the kernel's, in its session."""
    if process.poll() is None:
        try:
            process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            pass
    _kill(process)
    process.wait()
    _running.discard(process)
    process.stdout.close()


def _judge(directory, failure):
    """(log to read, what went wrong or None)."""
    console = os.path.join(directory, CONSOLE)
    dmesg = os.path.join(directory, "dmesg.txt")
    if failure:
        return console, failure
    for log in (console, dmesg):
        line = _first(log, ILL)
        if line:
            return log, f"the kernel said: {line}"
    leaks = os.path.join(directory, "kmemleak.txt")
    if _first(leaks, LEAK):
        return leaks, "kmemleak found a leak"
    status = _text(os.path.join(directory, "status")).strip()
    if status != "ok":
        return console, status or "the guest ended before its time"
    return console, None


def _first(path, pattern):
    return next((line.strip() for line in _text(path).splitlines() if pattern.search(line)), None)


def _text(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except OSError:
        return ""
