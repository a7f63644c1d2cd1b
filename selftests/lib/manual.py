#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Reads a manual page: its entries (.TP), each with the names it begins with and its text.

usage: manual.py settings PAGE    "NAME DEFAULT MIN MAX" of each entry that begins with
                                  (UNIT, MIN to MAX...; default DEFAULT...), tabs between them;
                                  what is not said is -
"""
import os
import re
import sys
from dataclasses import dataclass, field

ESCAPES = [(r"\\f[A-Z]", ""), (r"\\-", "-"), (r"\\&", ""), (r"\\\(aq", "'")]


@dataclass
class Entry:
    """What follows .TP: the section it is in, its first line, the lines after it."""
    section: str
    head: str = ""
    lines: list = field(default_factory=list)

    @property
    def text(self):
        """All of it, in one line."""
        return " ".join([self.head, *self.lines])


def plain(line):
    """A line of the source as it is read; a macro that changes fonts joins its words."""
    for pattern, text in ESCAPES:
        line = re.sub(pattern, text, line)
    macro = re.match(r"\.(SH|SS|B|I|[BIR][BIR]) +(.*)", line)
    if not macro:
        return "" if line.startswith(".") else line
    words = [quoted or bare for quoted, bare in re.findall(r'"([^"]*)"|(\S+)', macro[2])]
    return ("" if len(macro[1]) == 2 and macro[1] not in ("SH", "SS") else " ").join(words)


def lines_of(path):
    """The page's source, or that of the page which it is another name of."""
    with open(path, encoding="utf-8") as page:
        lines = page.read().splitlines()
    other = re.fullmatch(r"\.so man\d/(\S+)", lines[0]) if lines else None
    return lines_of(os.path.join(os.path.dirname(path), other[1])) if other else lines


def entries(path):
    """All entries of the page."""
    section, entry, found = "", None, []
    for line in lines_of(path):
        if line.startswith((".SH", ".SS", ".PP")):
            section, entry = section if line.startswith(".PP") else plain(line), None
        elif line == ".TP":
            entry = Entry(section)
            found.append(entry)
        elif entry and not entry.head:
            entry.head = plain(line)
        elif entry:
            entry.lines.append(plain(line))
    return found


def text_of(path):
    """The whole page in one line."""
    return " ".join(plain(line) for line in lines_of(path))


def has_word(text, word):
    """Whether the text has it as a word, or as an option."""
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None


def setting(entry):
    """Default, least and largest value, as far as the entry's second line says them."""
    first = entry.lines[0] if entry.lines else ""
    default = re.search(r"default ([^,;:()]+)", first)
    bounds = re.search(r"([\w./]+) to ([\w./]+)", first)
    return (default[1] if default else "-", *(bounds.groups() if bounds else "--"))


def settings(path):
    """Lines of the command of this name."""
    for entry in entries(path):
        if entry.lines and entry.lines[0].startswith("("):
            yield "\t".join([entry.head.split()[0].rstrip(","), *setting(entry)])


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] != "settings":
        sys.exit(__doc__)
    print("\n".join(settings(sys.argv[2])))
