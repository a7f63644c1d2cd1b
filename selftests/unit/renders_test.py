#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What selftests/check/renders says of documents."""
import os
import subprocess
import sys
import tempfile
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
TABLE = ".. list-table::\n   :widths: 25 75\n\n   * - a\n     - b\n"


def renders(text):
    """Exit status and output."""
    with tempfile.NamedTemporaryFile("w", suffix=".rst") as document:
        document.write(text)
        document.flush()
        done = subprocess.run([os.path.join(TOP, "selftests/check/renders"), document.name], text=True,
                              stdout=subprocess.PIPE, check=False)
    return done.returncode, done.stdout


class Renders(unittest.TestCase):
    def test_tables__are_tables(self):
        self.assertEqual(renders("Text\n\n" + TABLE + "\n==== ==\na    b\n==== ==\n"), (0, ""))

    def test_tables__behind_a_border_are_text(self):
        status, said = renders("Text\n\n==== ==" + TABLE)
        self.assertEqual(status, 1)
        self.assertIn("a table is lost: '==== ==.. list-table::'", said)

    def test_errors__are_said(self):
        status, said = renders("`unfinished\n")
        self.assertEqual(status, 1)
        self.assertIn("WARNING", said)


if __name__ == "__main__":
    sys.exit(unittest.main())
