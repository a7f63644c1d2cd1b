#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Cases of the kernel's tc-testing, one at a time, in the network namespace it is called in.

usage: tdc.py list FILE       their numbers and names
       tdc.py run FILE ID     exit status 0: it passed; 4: it needs more than is here

A case is what is run before and after, a command with the status it must end with, and
another one whose output must have so many matches of a pattern.
"""
import json
import re
import subprocess
import sys

NAMES = {"$TC": "tc", "$IP": "ip", "$DUMMY": "dummy1"}


def run(command):
    """A command line of a case, or one with the statuses that it may end with."""
    words = command if isinstance(command, str) else command[0]
    for name, value in NAMES.items():
        words = words.replace(name, value)
    print(f"$ {words}", flush=True)
    done = subprocess.run(words, shell=True, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    print(done.stdout, end="", flush=True)
    return done


def judge(case):
    """What is wrong; None: nothing."""
    for command in case["setup"]:
        run(command)
    status = run(case["cmdUnderTest"]).returncode
    if status != int(case["expExitCode"]):
        return f"status {status}, {case['expExitCode']} expected"
    found = len(re.findall(case["matchPattern"], run(case["verifyCmd"]).stdout))
    if found != int(case["matchCount"]):
        return f"{found} matches of '{case['matchPattern']}', {case['matchCount']} expected"
    return None


def main(action, path, wanted=None):
    """Exit status of the program."""
    with open(path, encoding="utf-8") as file:
        cases = json.load(file)
    if action == "list":
        for case in cases:
            print(case["id"], case["name"])
        return 0
    case = next(case for case in cases if case["id"] == wanted)
    if "scapy" in case:
        print("it sends frames by scapy")
        return 4
    wrong = judge(case)
    for command in case["teardown"]:
        run(command)
    if wrong:
        print(wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in ("list", "run"):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
