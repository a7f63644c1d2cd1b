#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""netlink_fuzz.py throws each attribute that include/uapi/turnpike.h has; it runs in guests alone."""

import os
import sys
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../fuzz"))
import netlink_fuzz  # noqa: E402  # pylint: disable=wrong-import-position


class Attributes(unittest.TestCase):
    def test_of_the_header__are_all_known(self):
        self.assertEqual(netlink_fuzz.prefixes_unknown(), [])


if __name__ == "__main__":
    unittest.main()
