# SPDX-License-Identifier: GPL-2.0
"""Setting one value of a scenario by its dotted path.

A list item is named by its position or by its 'name' key; below a mapping of
free keys (sysctls, ports) dots belong to the key.
"""
from .errors import ScenarioError
from .schema import Choice, MapOf, Record
from .yamlfile import Map, Seq


def assign(tree, schema, path, value, origin):
    """Put value at path, making the mappings on the way."""
    if not path:
        raise ScenarioError(origin, "the path is empty")
    node, field, rest = tree, schema, path
    while True:
        key, rest = _split(node, field, rest, origin, path)
        child = field.child(key if isinstance(key, str) else "0") if field else None
        if not rest:
            _store(node, key, value, origin)
            return
        node = _enter(node, key, origin, path)
        field = child


def _split(node, field, rest, origin, path):
    """(key or index, remaining path) of the first step of rest below node."""
    if isinstance(node, Seq):
        return _split_item(node, rest, origin, path)
    if not isinstance(node, Map):
        raise ScenarioError(origin, f"{path}: '{rest}' is below a plain value")
    if isinstance(field, MapOf):
        return _split_free(node, field, rest)
    key, _, rest_after = rest.partition(".")
    if isinstance(field, (Record, Choice)) and field.child(key) is None:
        raise ScenarioError(origin, f"{path}: there is no '{key}' in this format")
    return key, rest_after


def _split_item(node, rest, origin, path):
    key, _, rest_after = rest.partition(".")
    if key.isdigit() and int(key) < len(node):
        return int(key), rest_after
    for index, item in enumerate(node):
        if isinstance(item, Map) and item.get("name") == key:
            return index, rest_after
    names = [item.get("name", "?") if isinstance(item, Map) else item for item in node]
    raise ScenarioError(origin, f"{path}: no item '{key}' (there are 0..{len(node) - 1}: "
                                f"{', '.join(map(str, names))})")


def _split_free(node, field, rest):
    """The longest key that is there already, else as many parts as make one."""
    for key in sorted(node, key=len, reverse=True):
        if rest == key or rest.startswith(key + "."):
            return key, rest[len(key) + 1:]
    if not field.parts:
        return rest, ""
    parts = rest.split(".")
    return ".".join(parts[:field.parts]), ".".join(parts[field.parts:])


def _enter(node, key, origin, path):
    child = node[key] if isinstance(node, Seq) else node.get(key)
    if child is None:
        child = Map(origin)
        node.put(key, child, origin)
    if not isinstance(child, (Map, Seq)):
        raise ScenarioError(origin, f"{path}: '{key}' is a plain value")
    return child


def _store(node, key, value, origin):
    if isinstance(node, Seq):
        node[key] = value
        node.origins[key] = origin
    else:
        node.put(key, value, origin)
