# SPDX-License-Identifier: GPL-2.0
"""Reads a recording, which somebody else may have made: whatever is in it, what comes out has sane types and bounds."""
import gzip
import json
import math
import zlib

VERSION = 1
LINE_MOST = 64 << 20
BYTES_MOST = 4 << 30
EVENTS_MOST = 5_000_000
LOOKS_MOST = 100_000
# Of one look: what a recording keeps is less.
LIST_MOST = 5000
# 300 years in ns.
NUMBER_MOST = 1e19


class Unreadable(Exception):
    """A sentence for the user."""


def number(thing, key):
    """A count or an amount; None where there is none, or it cannot be one."""
    value = thing.get(key) if isinstance(thing, dict) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    # An int may be larger than any float.
    return value if 0 <= value <= NUMBER_MOST and not math.isnan(value) else None


def text(thing, key):
    """A string; empty where there is none."""
    value = thing.get(key) if isinstance(thing, dict) else None
    return value if isinstance(value, str) else ""


def objects(thing, key):
    """A list of objects; what is no object is left out."""
    value = thing.get(key) if isinstance(thing, dict) else None
    found = value if isinstance(value, list) else []
    return [one for one in found[:LIST_MOST] if isinstance(one, dict)]


def mapping(thing, key):
    """An object; empty where there is none."""
    value = thing.get(key) if isinstance(thing, dict) else None
    return value if isinstance(value, dict) else {}


class Recording:
    """What is in a file."""

    def __init__(self, path):
        self.path = path
        self.header = {}
        self.looks = []
        self.samples = []       # of On-Ramp: t_ns, address, queueing delay in ns
        self.sends = []         # t_ns, address, bytes, hold in ns
        self.decisions = []     # of timely: t_ns, address, RTT in ns, rate in bit/s, branch
        self.doctor = None
        self.configuration = {}
        self.summary = {}
        self.troubles = []      # sentences
        self.foreign = 0        # lines that tell nothing

    def add(self, thing):
        """One line."""
        if "event" in thing:
            if len(self.samples) + len(self.sends) + len(self.decisions) < EVENTS_MOST:
                self._add_event(thing)
        elif thing.get("look"):
            if len(self.looks) < LOOKS_MOST and number(thing, "t_ns") is not None:
                self.looks.append(thing)
        elif "doctor" in thing:
            self.doctor = objects(thing, "doctor")
        elif "configuration" in thing:
            self.configuration = thing
        elif "summary" in thing:
            self.summary = mapping(thing, "summary")
        else:
            self.foreign += 1

    def _add_event(self, thing):
        kind, t_ns, dst = thing["event"], number(thing, "t_ns"), text(thing, "dst")
        lists = {"onramp_sample": (self.samples, ("delay_ns",)), "onramp_send": (self.sends, ("bytes", "hold_ns")),
                 "timely_decision": (self.decisions, ("rtt_ns", "rate_bps"))}
        found, names = lists.get(kind, (None, ())) if isinstance(kind, str) else (None, ())
        values = [number(thing, name) for name in names]
        if found is None or t_ns is None or None in values:
            self.foreign += 1
            return
        branch = (text(thing, "branch"),) if kind == "timely_decision" else ()
        found.append((t_ns, host_of(dst) if branch else dst, *values, *branch))

    def finish(self):
        """Each processor's events are written as they come: by time."""
        for events in (self.samples, self.sends, self.decisions):
            events.sort(key=lambda event: event[0])
        self.looks.sort(key=lambda look: number(look, "t_ns"))
        if self.foreign:
            self.troubles.append(f"{self.foreign} lines of the file say nothing that this program knows.")
        if not self.summary:
            self.troubles.append("The file has no summary at its end: it was cut.")

    @property
    def start_ns(self):
        """When it begins, by CLOCK_MONOTONIC."""
        times = [number(self.header, "t_ns"), *(number(look, "t_ns") for look in self.looks[:1])]
        times += [events[0][0] for events in (self.samples, self.sends, self.decisions) if events]
        return min((time for time in times if time is not None), default=0)


def host_of(end):
    """The address of "10.1.0.1:80" or "[::1]:80"."""
    return end.rpartition(":")[0].strip("[]") if ":" in end else end


def read(path):
    """The recording in a file. Raises Unreadable; a file that is cut gives what is before, and a trouble."""
    recording = Recording(path)
    try:
        with gzip.open(path, "rb") as stream:
            for thing in _things(stream, recording):
                recording.add(thing)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        if not recording.header:
            raise Unreadable(f"{path}: is no recording of turnpike ({error})") from error
        recording.troubles.append(f"The file is cut or damaged: {error}.")
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror or error}") from error
    if not recording.header:
        raise Unreadable(f"{path}: is empty")
    recording.finish()
    return recording


def _things(stream, recording):
    """Objects, the first of which is the header."""
    total = 0
    while line := stream.readline(LINE_MOST):
        total += len(line)
        if total > BYTES_MOST:
            recording.troubles.append("The file has more than this program reads: the rest is left out.")
            return
        thing = _object(line)
        if not recording.header:
            _check_header(thing, recording.path)
            recording.header = thing
        elif thing is None:
            recording.foreign += 1
        else:
            yield thing


def _object(line):
    try:
        thing = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return thing if isinstance(thing, dict) else None


def _check_header(thing, path):
    version = number(thing, "turnpike_recording") if thing else None
    if version is None:
        raise Unreadable(f"{path}: is no recording of turnpike")
    if version > VERSION:
        raise Unreadable(f"{path}: a later turnpike made it; this one reads version {VERSION}")
