# SPDX-License-Identifier: GPL-2.0
"""Where the guest finds what it needs of the machine's files.

What a program does may depend on how long the names are that it is given, and a guest's memory
on how many directories it went through.  So that runs of a clone elsewhere are the same, the
guest has these directories at one place: hostfs takes a directory of the machine as its root.
"""
import shlex

INSIDE = "/run/turnpike"


class Places:
    def __init__(self, **directories):
        """By the name each has inside."""
        self.directories = directories

    def inside(self, path):
        """What the guest calls a file of the machine's."""
        for name, directory in self.directories.items():
            if path == directory or path.startswith(directory + "/"):
                return f"{INSIDE}/{name}{path[len(directory):]}"
        return path

    def lines(self):
        """Lines 'NAME DIRECTORY', quoted for a shell."""
        return [f"{name} {shlex.quote(directory)}" for name, directory in self.directories.items()]
