# SPDX-License-Identifier: GPL-2.0
"""Errors that are the user's to mend: a sentence, never a traceback."""


class UsageError(Exception):
    """Something given on the command line or missing on the machine."""


class ScenarioError(UsageError):
    """A fault in a scenario; origin is FILE:LINE or the --set that caused it."""

    def __init__(self, origin, reason):
        super().__init__(f"{origin}: {reason}")
        self.origin = origin
        self.reason = reason
