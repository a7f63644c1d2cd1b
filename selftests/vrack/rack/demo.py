# SPDX-License-Identifier: GPL-2.0
"""What `make demo` says in one sentence, and which picture it shows."""
import os

# The plot to look at first, in this order; not every scenario has each.
PICTURES = ("story.svg", "rtt-cdf.png", "queue-delay-cdf.png", "fct-by-size.png")
# Of the variants that ours is compared with; others are in the table.
RIVALS = ("dctcp", "cubic", "bbr")


def sentence(document):
    """The first variant beside what everybody has."""
    ours, *others = [variant for variant in document["variants"] if variant["metrics"]] or [None]
    if ours is None or ours["metrics"].get("p99") is None:
        return "No run ended well."
    metrics = ours["metrics"]
    text = (f"With {ours['name']}, 99 of 100 packets had a round trip below {metrics['p99']:.0f} us, "
            f"and {100 * metrics['util']:.1f} % of the link was used")
    rivals = [f"{100 * variant['metrics']['util']:.1f} % and {variant['metrics']['p99']:.0f} us with "
              f"{variant['name']}" for variant in others if variant["name"] in RIVALS]
    return text + ("; it is " + ", ".join(rivals) if rivals else "") + "."


def picture(directory, files):
    """The path of the picture, as short as it can be told; None if there is none."""
    for name in PICTURES:
        if name in files:
            return short(os.path.join(directory, name))
    return None


def short(path):
    """A path as short as it can be told."""
    return min(path, os.path.relpath(path), key=len)
