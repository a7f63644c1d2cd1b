# SPDX-License-Identifier: GPL-2.0
"""What selftests/kernel/series says of the kernels that are tested."""
import os

_LIST = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../kernel/series")


def _read():
    with open(_LIST, encoding="utf-8") as listing:
        rows = [line.split("#")[0].split() for line in listing]
    return {row[0]: row[1] for row in rows if row}


ROLES = _read()
SERIES = list(ROLES)        # oldest first


def series_of(role):
    """The series that is the oldest, the main or the newest one."""
    return next(series for series, its in ROLES.items() if its == role)


MAIN = series_of("main")
NEWEST = series_of("newest")
