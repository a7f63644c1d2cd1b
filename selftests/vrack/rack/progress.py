# SPDX-License-Identifier: GPL-2.0
"""Word of progress on stderr while the guests run."""
import re
import sys
import threading
import time

# of a guest's console, by vload: how much of its simulated time has passed
PERCENT = re.compile(r"vload: +(\d+)%")
# a line of its own in a log is worth more than this
LOG_EVERY_S = 30
# with less than this done the rest would be guessed
FIRST_ESTIMATE = 0.02


def minutes(seconds):
    """As people say it."""
    seconds = int(seconds)
    return f"{seconds // 60} min {seconds % 60:02d} s" if seconds >= 60 else f"{seconds} s"


class Progress:
    """A line for each run that has ended, and now and then what is under way."""

    def __init__(self, total, quiet):
        self.total, self.quiet = total, quiet
        self.done = 0
        self.started = time.monotonic()
        self.said = {}
        self.under_way = {}     # run -> share of it that is done
        self.lock = threading.Lock()

    def line(self, name, text):
        """A line of a guest's console."""
        with self.lock:
            percent = PERCENT.match(text)
            if percent:
                self.under_way[name] = int(percent.group(1)) / 100
            self._console(name, text)

    def ended(self, run, name):
        with self.lock:
            self.done += 1
            self.under_way.pop(name, None)
            self._run_ended(run, name)

    def finish(self):
        """After the last run."""

    def elapsed_s(self):
        return time.monotonic() - self.started

    def left(self):
        """How long the rest takes if it goes on like this, in words; empty while nobody knows."""
        share = (self.done + sum(self.under_way.values())) / self.total
        if share < FIRST_ESTIMATE or share >= 1:
            return ""
        return f", about {minutes(self.elapsed_s() * (1 - share) / share)} left"

    def _console(self, name, text):
        """Told at most every five seconds."""
        now = time.monotonic()
        if now - self.said.get(name, self.started) >= 5:
            self.said[name] = now
            self._say(f"{name}: {text}")

    def _run_ended(self, run, name):
        verdict = f"FAILED: {run.failure} (log: {run.log})" if run.failure else "done"
        self._say(f"{name}: {verdict}, {run.wall_s:.1f} s")

    def _say(self, text):
        if not self.quiet:
            print(f"# [{self.done}/{self.total}, {self.elapsed_s():.0f} s{self.left()}] {text}",
                  file=sys.stderr, flush=True)


class OneLine(Progress):
    """One line, which a terminal shows in one place and a log now and then."""

    def __init__(self, total, quiet):
        super().__init__(total, quiet)
        self.terminal = sys.stderr.isatty()
        self.told = self.started - LOG_EVERY_S

    def finish(self):
        if self.terminal and not self.quiet:
            print(file=sys.stderr, flush=True)

    def _console(self, name, text):
        self._show()

    def _run_ended(self, run, name):
        if run.failure:
            self._print(f"{name} FAILED: {run.failure} (log: {run.log})\n")
        self._show()

    def _show(self):
        now = time.monotonic()
        if not self.terminal and now - self.told < LOG_EVERY_S:
            return
        self.told = now
        self._print(f"{self.done} of {self.total} runs done after {minutes(self.elapsed_s())}{self.left()}"
                    + ("" if self.terminal else "\n"))

    def _print(self, text):
        if not self.quiet:
            # from the line's start, and nothing of a longer one stays
            print(f"\r{text}\033[K" if self.terminal else text, end="", file=sys.stderr, flush=True)


def of(total, quiet, one_line):
    return (OneLine if one_line or sys.stderr.isatty() else Progress)(total, quiet)
