# SPDX-License-Identifier: GPL-2.0
"""What is kept of a run, as the words of a page: means of metrics by Python's formats, and what a bound asks for."""
import string


class Metrics(dict):
    """A variant's means by name, and its "most" and "least" of all seeds."""

    def __init__(self, by_seed):
        super().__init__()
        for name, values in by_seed.items():
            known = [value for value in values if value is not None]
            self[name] = sum(known) / len(known)
            self[f"most {name}"], self[f"least {name}"] = max(known), min(known)


class Form(string.Formatter):
    """Names of metrics as they are: "to 1.5 Gb/s ms" has no attribute."""

    def get_field(self, field_name, args, kwargs):
        return kwargs[field_name], field_name


def names_in(form):
    """The metrics of a FORM."""
    return [name for _, name, _, _ in Form().parse(form) if name is not None]


def cell_of(data, variant, form):
    if variant not in data["variants"]:
        if any(option.lstrip("'").startswith("--variant") for option in data.get("options", ())):
            return ""
        raise KeyError(f"{data['scenario']} has no variant '{variant}'")
    metrics = Metrics(data["variants"][variant])
    missing = [name for name in names_in(form) if name not in metrics]
    for name in missing:
        if not any(name in Metrics(by_seed) for by_seed in data["variants"].values()):
            raise KeyError(f"no metric '{name}'")
    return "" if missing else Form().vformat(form, (), metrics)


def asked(bound):
    parts = [f"{word} {bound[key]:g}" for key, word in (("min", "at least"), ("max", "at most")) if bound[key] is not None]
    return ", ".join(parts)
