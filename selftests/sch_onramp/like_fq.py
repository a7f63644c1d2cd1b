#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What tc shows of fq, it shows of onramp by the same names.

usage: like_fq.py options FQ ONRAMP     of `tc -j qdisc show', one of each: values, too
       like_fq.py counters FQ ONRAMP    of `tc -j -s qdisc show'
       like_fq.py text FQ ONRAMP        of `tc -s qdisc show': in the same order, too

Exit status 1, and what differs, if something does.
"""
import json
import re
import sys

OWN = {"pause", "mode", "threshold", "gain", "pause_max", "feedback", "feedback_timeout",
       "governor", "gate", "line_rate"}
# A tc before 6.8 does not show those of bands of fq (the space is in its JSON), one before 6.13 not the other.
NEWER = {"bands", "priomap", "priomap ", "weights", "weights ", "offload_horizon"}
# Of each qdisc, by tc itself.
IDENTITY = {"kind", "handle"}


def differing_options(fq, onramp):
    """One line an option that differs, is missing or is not fq's."""
    fq, onramp = (json.loads(text)[0]["options"] for text in (fq, onramp))
    for name in fq.keys() | onramp.keys() - OWN - NEWER:
        values = [json.dumps(options.get(name, "missing")) for options in (fq, onramp)]
        if values[0] != values[1]:
            yield f"{name}: fq {values[0]}, onramp {values[1]}"


def differing_counters(fq, onramp):
    """One line a name that onramp does not have, or with another kind of value."""
    fq, onramp = (json.loads(text)[0] for text in (fq, onramp))
    for name in fq.keys() - IDENTITY:
        if not isinstance(onramp.get(name), type(fq[name])):
            yield f"{name}: fq {fq[name]}, onramp {onramp.get(name, 'missing')}"


def differing_text(fq, onramp):
    """The first word of fq's that does not come in its place."""
    words = iter(re.findall(r"[a-z_][a-z_0-9]*", onramp))
    for word in re.findall(r"\b[a-z_][a-z_0-9]*", fq.split(" root ", 1)[1]):
        if word not in words:
            yield f"{word}: fq's, not onramp's or not in this place"
            return


def main(what, fq, onramp):
    """Exit status of the program."""
    compare = {"options": differing_options, "counters": differing_counters, "text": differing_text}
    differences = list(compare[what](fq, onramp))
    for line in differences:
        print(line)
    return 1 if differences else 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
