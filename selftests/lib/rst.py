# SPDX-License-Identifier: GPL-2.0
"""Pieces of reStructuredText, as lists of lines."""


def heading(text, line):
    return [text, line * len(text), ""]


def list_table(rows):
    """The first row has the headings. A cell's further lines are indented already."""
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in rows:
        lines += [f"   {'* -' if not number else '  -'} {cell}".rstrip() for number, cell in enumerate(row)]
    return lines + [""]


def lines_in_cell(texts):
    """A cell with a line for each."""
    return "\n".join([f"| {texts[0]}", *(f"       | {text}" for text in texts[1:])])
