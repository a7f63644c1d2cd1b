# SPDX-License-Identifier: GPL-2.0
"""Host lists: c[1-10] names ten hosts, c* those that exist and match."""
import fnmatch
import re

_RANGE = re.compile(r"^(.*?)\[(\d+)-(\d+)\](.*)$")
# More hosts than any guest has memory for.
MOST = 10000
_NAME = re.compile(r"^[A-Za-z][A-Za-z0-9_]{0,14}$")


def expand(pattern):
    """c[1-3] -> [c1, c2, c3]; several ranges multiply; no range: itself."""
    match = _RANGE.match(pattern)
    if not match:
        return [pattern]
    head, first, last, tail = match.groups()
    if int(first) > int(last):
        raise ValueError(f"'{pattern}' counts down")
    tails = expand(tail)
    if (int(last) - int(first) + 1) * len(tails) > MOST:
        raise ValueError(f"'{pattern}' names more than {MOST}")
    return [f"{head}{number}{rest}" for number in range(int(first), int(last) + 1) for rest in tails]


def valid(name):
    """Interface names end at 15 characters, so host names do."""
    return bool(_NAME.match(name))


def names(pattern, name):
    """Whether it is one of those that the pattern names."""
    return any(fnmatch.fnmatchcase(name, one) for one in expand(pattern))


def select(patterns, known):
    """The hosts named by a pattern or a list of them, in the order given."""
    if isinstance(patterns, str):
        patterns = [patterns]
    chosen = []
    for pattern in patterns:
        chosen += [name for name in _match(pattern, known) if name not in chosen]
    return chosen


def _match(pattern, known):
    names = []
    for name in expand(pattern):
        hits = [host for host in known if fnmatch.fnmatchcase(host, name)]
        if not hits:
            raise ValueError(f"no host '{name}'")
        names += hits
    return names
