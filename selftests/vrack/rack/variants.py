# SPDX-License-Identifier: GPL-2.0
"""From one scenario to its variants: named overrides times sweep axes."""
import itertools
import re

from . import paths, scenario
from .errors import ScenarioError
from .yamlfile import Map, copy

NAME = re.compile(r"[\w.,=+-]+")


class Variant:
    """A name, what it overrides, and the checked settings that result."""

    def __init__(self, name, overrides, settings):
        self.name = name
        self.overrides = overrides
        self.settings = settings


def expand(tree, sets=()):
    """All variants of a scenario; sets are (path, value, origin) for each."""
    tree = copy(tree)
    for path, value, origin in sets:
        paths.assign(tree, scenario.SCHEMA, path, value, origin)
    whole = scenario.check(tree)
    named = _named(tree, whole)
    combos = list(itertools.product(named, *(_axis(axis) for axis in whole["sweep"])))
    variants = [_variant(tree, combo) for combo in combos]
    _refuse_doubles(variants, tree)
    return variants


def _named(tree, whole):
    """(name, [(path, value, origin)]) of each entry under variants."""
    if not whole["variants"]:
        return [("", [])]
    return [(_name(name, whole["variants"].where(name)), _overrides(tree["variants"][name]))
            for name in whole["variants"]]


def _overrides(mapping):
    if mapping is None:
        return []
    return [(path, value, mapping.where(path)) for path, value in mapping.items()]


def _axis(axis):
    if bool(axis["choices"]) == bool(axis["values"]):
        raise ScenarioError(axis.origin, "an axis has either values or choices")
    if axis["choices"]:
        return [(_name(name, axis.origin), _overrides(axis["choices"][name]))
                for name in axis["choices"]]
    if not axis["path"]:
        raise ScenarioError(axis.origin, "an axis of values needs a path")
    return [(_name(f"{axis['name']}={value}", axis.origin),
             [(path, value, axis.origin) for path in axis["path"]])
            for value in axis["values"]]


def _name(name, origin):
    if not NAME.fullmatch(name):
        raise ScenarioError(origin, f"'{name}' is no name for a variant (letters, digits, .,=+-)")
    return name


def _variant(tree, combo):
    name = ",".join(part for part, _ in combo if part) or "base"
    overrides = [entry for _, entries in combo for entry in entries]
    own = copy(tree)
    for path, value, origin in overrides:
        paths.assign(own, scenario.SCHEMA, path, copy(value), origin)
    return Variant(name, {path: value for path, value, _ in overrides}, scenario.check(own))


def _refuse_doubles(variants, tree):
    seen = set()
    for variant in variants:
        if variant.name in seen:
            where = tree.where("sweep") if isinstance(tree, Map) else ""
            raise ScenarioError(where, f"two variants are called '{variant.name}'")
        seen.add(variant.name)
