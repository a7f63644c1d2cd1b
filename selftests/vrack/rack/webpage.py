# SPDX-License-Identifier: GPL-2.0
"""The page that `turnpike report' makes of a run's directory."""
import os
import subprocess
import sys

from .tools import REPO

MAKER = os.path.join(REPO, "tools", "report")


def write(directory):
    """Its path; None, with the reason on standard error, if it cannot be made: the run counts without it."""
    path = os.path.join(directory, "report.html")
    words = ["/usr/bin/python3", "-I", "-B", MAKER, "--force", "--output", path, "--", directory]
    done = subprocess.run(words, text=True, capture_output=True, check=False)
    if done.returncode:
        print(f"no page: {done.stderr.strip()}", file=sys.stderr)
        return None
    return path
