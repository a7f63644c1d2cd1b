# SPDX-License-Identifier: GPL-2.0
"""Results of selftests/vrack/run: which of them need not be made again, and what the tree keeps of them."""
import json
import os
import shlex

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
DATA = os.path.join(TOP, "Documentation", "results", "data")
DIGITS = 5
# Options that change a result.
TELLING = ("--seeds", "--set", "--variant")


class Unfit(Exception):
    """A result that the tree does not keep: says why."""


def load(path):
    """The document; None if there is none, or not a whole one."""
    try:
        with open(path, encoding="utf-8") as stream:
            return json.load(stream)
    except (OSError, ValueError):
        return None


def save(path, document):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as stream:
        json.dump(document, stream, indent=1)
        stream.write("\n")


def asked_for(words):
    """What of a command line changes a result."""
    kept = []
    for number, word in enumerate(words):
        option, _, value = word.partition("=")
        if option in TELLING and value:
            kept += [option, value]
        elif option in TELLING or (number and words[number - 1] in TELLING):
            kept.append(word)
    return kept


def is_done(document, command, commit):
    """A run of this very tree that ended, with the same seeds, settings and variants."""
    return bool(document and not document["failures"] and document["versions"]["turnpike"] == commit
                and not commit.endswith("-dirty") and asked_for(document["arguments"]) == asked_for(command))


def rounded(value):
    """Enough digits to print, and files that differ where results do."""
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def options_of(arguments):
    """What the runner was told to change or to leave out, as it was told."""
    kept = []
    for number, word in enumerate(arguments):
        if word in ("--set", "--variant"):
            kept.append(f"{word} {shlex.quote(arguments[number + 1])}")
        elif word.startswith(("--set=", "--variant=")):
            kept.append(shlex.quote(word))
    return kept


def metrics_by_seed(seeds):
    """{metric: [of each seed]}; a metric that no seed has is left out."""
    found = {}
    for seed in seeds:
        for name, value in (seed["metrics"] or {}).items():
            found.setdefault(name, []).append(rounded(value))
    return {name: values for name, values in found.items() if any(value is not None for value in values)}


def slim(document):
    """What the tree keeps of a result. A bound that was skipped says nothing."""
    scenario = document["scenario"]
    return {
        "scenario": scenario["file"].removesuffix(".yaml"), "title": scenario["title"], "source": scenario["source"],
        "commit": document["versions"]["turnpike"], "kernel": document["versions"]["kernel"],
        "day": document["started"][:10], "options": options_of(document["arguments"]),
        "seeds": sorted({seed["seed"] for variant in document["variants"] for seed in variant["seeds"]}),
        "variants": {variant["name"]: metrics_by_seed(variant["seeds"]) for variant in document["variants"]},
        "bounds": [{key: rounded(bound[key]) for key in ("variant", "name", "min", "max", "why", "measured", "pass")}
                   for bound in document["bounds"] if not bound["skipped"]],
    }


def fit(path):
    """The result as the tree keeps it. Unfit: there is none, a run failed, or no commit has its tree."""
    document = load(path)
    if not document:
        raise Unfit(f"{path}: no result of a run")
    if document["failures"]:
        raise Unfit(f"{path}: a run failed: {document['failures'][0]}")
    if document["versions"]["turnpike"].endswith("-dirty"):
        raise Unfit(f"{path}: made by a tree that no commit has")
    return slim(document)


def origin(data, command=None):
    """Two lines for a page: what made the data, by which tree."""
    seeds = data["seeds"]
    words = [command or f"selftests/vrack/run selftests/scenarios/{data['scenario']}.yaml",
             f"--seeds {seeds[0]}-{seeds[-1]}", *data.get("options", ())]
    return (f"``{' '.join(words)}``,\n"
            f"commit {data['commit']}, {data['day']}, Linux {data['kernel']}.")
