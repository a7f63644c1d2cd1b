# SPDX-License-Identifier: GPL-2.0
"""YAML that remembers where every value came from.

yaml.safe_load() forgets line numbers, so the node graph is walked here and
each mapping and sequence keeps the origin ("FILE:LINE") of its members.
Overrides put their own origin in the same place, so one message format
serves both.
"""
import yaml

from .errors import ScenarioError


class Map(dict):
    """A mapping with the origin of itself and of each of its keys."""

    def __init__(self, origin="", items=()):
        super().__init__(items)
        self.origin = origin
        self.origins = {}

    def put(self, key, value, origin):
        self[key] = value
        self.origins[key] = origin

    def where(self, key):
        return self.origins.get(key, self.origin)


class Seq(list):
    """A sequence with the origin of itself and of each of its items."""

    def __init__(self, origin="", items=()):
        super().__init__(items)
        self.origin = origin
        self.origins = {}

    def where(self, index):
        return self.origins.get(index, self.origin)


def load(path):
    """The scenario at path as a Map."""
    try:
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError(path, getattr(error, "strerror", None) or str(error)) from None
    return parse(text, path)


def parse(text, name):
    try:
        tree = _tree(text, name)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise ScenarioError(f"{name}:{line}", error.problem or "not YAML") from None
    except yaml.YAMLError as error:
        raise ScenarioError(f"{name}:1", f"not YAML: {error}") from None
    if not isinstance(tree, Map):
        raise ScenarioError(f"{name}:1", "a scenario is a mapping of keys to values")
    return tree


def _tree(text, name):
    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        return _convert(loader, node, name) if node else None
    finally:
        loader.dispose()


def scalar(text):
    """The value of a --set argument, read as YAML would read it."""
    try:
        return parse("v: " + text, "")["v"]
    except ScenarioError:
        return text


def _convert(loader, node, name):
    if isinstance(node, yaml.ScalarNode):
        return _convert_scalar(loader, node, name)
    # By an alias of what it stands in.
    if getattr(node, "begun", False):
        raise ScenarioError(_origin(name, node), "this holds itself")
    node.begun = True
    convert = _convert_map if isinstance(node, yaml.MappingNode) else _convert_seq
    out = convert(loader, node, name)
    node.begun = False
    return out


def _convert_scalar(loader, node, name):
    try:
        return loader.construct_object(node)
    except ValueError as error:
        # The thirtieth of February, say.
        raise ScenarioError(_origin(name, node), f"'{node.value}': {error}") from None


def _convert_map(loader, node, name):
    _refuse_doubles(loader, node, name)
    loader.flatten_mapping(node)
    out = Map(_origin(name, node))
    for key_node, value_node in node.value:
        key = str(_convert_scalar(loader, key_node, name))
        out.put(key, _convert(loader, value_node, name), _origin(name, key_node))
    return out


def _refuse_doubles(loader, node, name):
    """A key written twice; asked once, since flattening adds merged keys."""
    if getattr(node, "checked", False):
        return
    node.checked = True
    seen = set()
    for key_node, _ in node.value:
        if not isinstance(key_node, yaml.ScalarNode):
            raise ScenarioError(_origin(name, key_node), "a key must be plain text")
        if key_node.value in seen:
            raise ScenarioError(_origin(name, key_node),
                                f"'{key_node.value}' stands here a second time")
        seen.add(key_node.value)


def _convert_seq(loader, node, name):
    out = Seq(_origin(name, node))
    for index, item in enumerate(node.value):
        out.append(_convert(loader, item, name))
        out.origins[index] = _origin(name, item)
    return out


def _origin(name, node):
    return f"{name}:{node.start_mark.line + 1}"


def copy(value):
    """A deep copy that keeps the origins."""
    if isinstance(value, Map):
        out = Map(value.origin, {key: copy(item) for key, item in value.items()})
    elif isinstance(value, Seq):
        out = Seq(value.origin, [copy(item) for item in value])
    else:
        return value
    out.origins = dict(value.origins)
    return out
