# SPDX-License-Identifier: GPL-2.0
"""In which order selftests/run-tests begins its programs, and which it leaves out when its time is short.

Two kinds of programs share a machine well: guests, which are mostly page tables and switches of context, and
programs of the host, which are mostly computing. Where processes are dear (virtual machines whose host shadows
their page tables) two guests at once take twice as long as one. So half of the workers prefer each kind.

A run with a limit of time has to be worth something on any machine: all tiers go on at one pace, each in an
order of the commit's own, so that what one run leaves out another one has.
"""
import random
import threading
import time

# Tiers without guests that say most for their time: before all others.
FIRST = ("check", "unit")
GUESTS = ("uml", "scenario")


class Limit:
    """When programs have to have begun and ended; without minutes always and never.

    Building kernels, which a machine does once, puts it off by MOST_PUT_OFF_S at most.
    """
    # The longest program of a slow machine takes about ten minutes.
    GRACE_S = 12 * 60
    MOST_PUT_OFF_S = 18 * 60

    def __init__(self, minutes=None, clock=time.monotonic):
        self.clock = clock
        self.minutes = minutes
        self.begin_s = None if minutes is None else clock() + minutes * 60
        self.put_off_s = 0

    def put_off(self, seconds):
        self.put_off_s = min(self.put_off_s + seconds, self.MOST_PUT_OFF_S)

    @property
    def may_begin(self):
        return self.begin_s is None or self.clock() < self.begin_s + self.put_off_s

    @property
    def end_s(self):
        """On its clock, when everything has to end; None: never."""
        return None if self.begin_s is None else self.begin_s + self.put_off_s + self.GRACE_S

    def __str__(self):
        return f"no time left in a run of {self.minutes:g} minutes"


class Tier:
    """The programs of one tier that are left, in order."""

    def __init__(self, name, tests):
        self.guests = name.startswith(GUESTS)
        self.later = name not in FIRST
        self.left = list(tests)
        self.count = len(self.left)

    @property
    def progress(self):
        return 1 - len(self.left) / self.count


class Schedule:
    """Programs that wait, of all tiers; workers take from it while others are added."""

    def __init__(self, order=None):
        """order: a number that gives the order inside each tier; None: as they are added"""
        self.random = None if order is None else random.Random(order)
        self.changed = threading.Condition()
        self.tiers = []
        self.complete = False

    def add(self, name, tests):
        if not tests:
            return
        tests = list(tests)
        if self.random:
            self.random.shuffle(tests)
        with self.changed:
            self.tiers.append(Tier(name, tests))
            self.changed.notify_all()

    def close(self):
        """Nothing more is added."""
        with self.changed:
            self.complete = True
            self.changed.notify_all()

    def drop(self):
        """Nothing more is begun."""
        with self.changed:
            self.tiers = []
            self.complete = True
            self.changed.notify_all()

    def take(self, guests):
        """The next program for a worker that prefers guests, or not; None at the end."""
        with self.changed:
            while True:
                waiting = [tier for tier in self.tiers if tier.left]
                if waiting:
                    return min(waiting, key=lambda tier: (tier.guests != guests, tier.later, tier.progress)).left.pop(0)
                if self.complete:
                    return None
                self.changed.wait()
