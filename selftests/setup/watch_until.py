#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""turnpike watch, until one of its objects is as wanted.

usage: watch_until.py TURNPIKE CONDITION

CONDITION is Python, of the object `one'. Ends with 0 and that object, or with 1 and the last one.
"""
import json
import subprocess
import sys
import time

PATIENCE_S = 120


def main():
    program, condition = sys.argv[1:]
    end = time.monotonic() + PATIENCE_S
    # A condition may span lines.
    wanted = compile(f"({condition})", "condition", "eval")
    with subprocess.Popen([program, "watch", "-j", "-i", "0.5"], stdout=subprocess.PIPE, text=True) as watch:
        for line in watch.stdout:
            one = json.loads(line)
            try:
                met = bool(eval(wanted, {"one": one}))  # pylint: disable=eval-used
            except TypeError:
                met = False
            if met or time.monotonic() > end:
                break
        else:
            met = False
        watch.terminate()
    print(line)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
