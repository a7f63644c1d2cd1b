#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""selftests/check/circles: files that call each other are found, and what makes the circle is told."""
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.realpath(__file__))
CIRCLES = os.path.join(os.path.dirname(HERE), "check", "circles")


def source(name, *calls):
    declared = "".join(f"void {call}(void);" for call in calls)
    return f"{declared} void {name}(void) {{ {' '.join(call + '();' for call in calls)} }}"


class Circles(unittest.TestCase):
    def look_at(self, **files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = os.path.join(folder, name.replace("__", "/"))
                os.makedirs(os.path.dirname(path), exist_ok=True)
                subprocess.run(["cc", "-x", "c", "-c", "-o", path + ".o", "-"], input=text, text=True, check=True)
            return subprocess.run([sys.executable, CIRCLES, folder], check=False, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_one_way__is_0(self):
        ended = self.look_at(top=source("top", "middle", "low"), middle=source("middle", "low"), low=source("low"))
        self.assertEqual((ended.returncode, ended.stdout), (0, ""))

    def test_circle__is_told_with_its_calls(self):
        ended = self.look_at(a=source("a", "b"), b=source("b", "c"), c=source("c", "a"))
        self.assertEqual(ended.returncode, 1)
        for line in ("a calls b: b", "b calls c: c", "c calls a: a"):
            self.assertIn(line, ended.stdout)

    def test_circle__with_a_room_below_is_found(self):
        ended = self.look_at(a=source("a", "b"), room__b=source("b", "a"))
        self.assertEqual(ended.returncode, 1)
        self.assertIn("room/b calls a", ended.stdout)

    def test_calls__of_others_do_not_count(self):
        self.assertEqual(self.look_at(a=source("a", "printk"), b=source("b", "printk")).returncode, 0)

    def test_folder__without_objects_is_refused(self):
        self.assertIn("no objects", self.look_at().stderr)


if __name__ == "__main__":
    unittest.main()
