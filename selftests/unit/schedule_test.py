#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""selftests/lib/schedule.py: what is begun next, and what a run with a limit of time leaves out."""
import os
import sys
import threading
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../lib"))
import schedule  # noqa: E402  # pylint: disable=wrong-import-position


class Clock:
    now_s = 100.0

    def __call__(self):
        return self.now_s


def filled(order=None, **tiers):
    waiting = schedule.Schedule(order)
    for name, tests in tiers.items():
        waiting.add(name.replace("_", "-"), tests)
    waiting.close()
    return waiting


def all_of(waiting, guests):
    return list(iter(lambda: waiting.take(guests), None))


class Take(unittest.TestCase):
    def test_workers__take_what_they_prefer_and_then_the_rest(self):
        tiers = {"check": ["c1"], "uml_6": ["u1", "u2"], "scenario": ["s1"], "qemu": ["q1"]}
        self.assertEqual(all_of(filled(**tiers), guests=False)[:2], ["c1", "q1"])
        self.assertEqual(sorted(all_of(filled(**tiers), guests=True)[:3]), ["s1", "u1", "u2"])
        self.assertEqual(len(all_of(filled(**tiers), guests=True)), 5)

    def test_tiers__go_on_at_one_pace(self):
        taken = all_of(filled(uml_1=["a"] * 8, uml_2=["b"] * 2), guests=True)
        self.assertEqual("".join(taken), "abaaaabaaa")

    def test_tiers__of_the_host_that_say_most_come_first(self):
        self.assertEqual(all_of(filled(qemu=["q"], check=["c1", "c2"], unit=["u"]), guests=False)[3:], ["q"])

    def test_order__is_that_of_the_number(self):
        tests = [str(number) for number in range(20)]
        first, again, other = (all_of(filled(order, uml=tests), guests=True) for order in (1, 1, 2))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)
        self.assertEqual(sorted(first), sorted(tests))
        self.assertEqual(all_of(filled(uml=tests), guests=True), tests)

    def test_take__waits_for_what_is_added(self):
        waiting = schedule.Schedule()
        taken = []
        worker = threading.Thread(target=lambda: taken.extend(all_of(waiting, True)))
        worker.start()
        waiting.add("unit", ["a"])
        waiting.add("uml", [])
        waiting.close()
        worker.join()
        self.assertEqual(taken, ["a"])

    def test_drop__leaves_nothing_to_begin(self):
        waiting = schedule.Schedule()
        waiting.add("unit", ["a"])
        waiting.drop()
        self.assertIsNone(waiting.take(True))


class TheLimit(unittest.TestCase):
    def test_limit__without_minutes_is_none(self):
        self.assertTrue(schedule.Limit().may_begin)
        self.assertIsNone(schedule.Limit().end_s)

    def test_limit__ends_what_was_begun_later_than_it_begins_nothing(self):
        clock = Clock()
        limit = schedule.Limit(10, clock)
        clock.now_s += 599
        self.assertTrue(limit.may_begin)
        clock.now_s += 1
        self.assertFalse(limit.may_begin)
        self.assertEqual(limit.end_s, clock.now_s + limit.GRACE_S)

    def test_limit__is_put_off_so_far_and_no_further(self):
        limit = schedule.Limit(10, Clock())
        for _ in range(3):
            limit.put_off(limit.MOST_PUT_OFF_S / 2)
        self.assertEqual(limit.end_s, 100 + 600 + limit.MOST_PUT_OFF_S + limit.GRACE_S)


if __name__ == "__main__":
    unittest.main()
