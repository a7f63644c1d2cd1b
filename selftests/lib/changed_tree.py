# SPDX-License-Identifier: GPL-2.0
"""A copy of the tree whose modules differ in a line: what mutants and ablations are."""
import os
import re
import shutil
import subprocess

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
# What a guest runs, and what it is run with.
TOOLS = ("turnpike", "tc/q_onramp.so", "umlseed.so")


class Wrong(Exception):
    """The change is no good: says why."""


def output_of(*command):
    return subprocess.run(command, cwd=TOP, check=True, text=True, stdout=subprocess.PIPE).stdout


def prepare_kernel():
    """The tools, and where the kernel is."""
    kernel = output_of("selftests/kernel/build").splitlines()[-1]
    subprocess.run(["make", "-s", "tools"], cwd=TOP, check=True, stdout=subprocess.DEVNULL)
    return kernel


def replaced(text, line, becomes):
    """@text with @line, or the few lines that follow each other, as @becomes.  Indents do not count."""
    lines = text.split("\n")
    bare = [words.strip() for words in lines]
    sought = [words.strip() for words in line.strip().split("\n")]
    found = [i for i in range(len(lines)) if bare[i:i + len(sought)] == sought]
    if len(found) != 1:
        raise Wrong(f"has its line {len(found)} times")
    indent = re.match(r"\s*", lines[found[0]]).group(0)
    lines[found[0]:found[0] + len(sought)] = [indent + becomes.strip()]
    return "\n".join(lines)


class Tree:
    """The copy is below @out, and what its compilers say beside it."""

    def __init__(self, out, name, kernel):
        self.out = out
        self.kernel = kernel
        self.modules = None
        self.root = os.path.join(out, name)
        shutil.rmtree(self.root, ignore_errors=True)
        for path in output_of("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0"):
            if path and os.path.lexists(os.path.join(TOP, path)):
                self.copy(path)
        for tool in TOOLS:
            self.copy(os.path.join("build", tool))

    def copy(self, path):
        os.makedirs(os.path.dirname(os.path.join(self.root, path)), exist_ok=True)
        shutil.copy2(os.path.join(TOP, path), os.path.join(self.root, path), follow_symlinks=False)

    def build(self, name, version="0.mutant"):
        """Sets self.modules to the directory of the new modules."""
        with open(os.path.join(self.out, f"{name}.build"), "w", encoding="utf-8") as log:
            done = subprocess.run(["make", "-s", "uml-modules", f"KDIR={self.kernel}", "SPARSE=0",
                                   f"VERSION={version}"], cwd=self.root, check=False, text=True,
                                  stdout=subprocess.PIPE, stderr=log)
        if done.returncode:
            raise Wrong(f"it does not compile: {log.name}")
        self.modules = done.stdout.splitlines()[-1]

    def change(self, file, line, becomes):
        """Replaces the line, or the few lines; returns a function that takes that back."""
        path = os.path.join(self.root, file)
        with open(path, encoding="utf-8") as source:
            before = source.read()
        try:
            self.write(path, replaced(before, line, becomes))
        except Wrong as why:
            raise Wrong(f"{file} {why}") from None
        return lambda: self.write(path, before)

    @staticmethod
    def write(path, text):
        with open(path, "w", encoding="utf-8") as source:
            source.write(text)
