# SPDX-License-Identifier: GPL-2.0
"""Field types from which the scenario format is declared.

Each type has check(value, origin, path) that returns the value to use (with
defaults filled in) or raises ScenarioError, and child(key) that tells what
stands below a key, which is how --set finds its way.
"""
import re

from . import hostnames
from .errors import ScenarioError
from .yamlfile import Map, Seq

REQUIRED = object()


class Field:
    """One value of the format; text is its line in the documentation."""

    def __init__(self, text="", default=None):
        self.text = text
        self.default = default

    def child(self, _key):
        return None

    def check(self, value, origin, path):
        return value

    @staticmethod
    def fail(origin, path, reason):
        raise ScenarioError(origin, f"{path}: {reason}")


# No quantity of a network is larger (eleven days in ns, a petabyte), and sums of some stay exact.
LARGEST = 10**15


class Number(Field):
    def __init__(self, text="", default=None, low=0, high=LARGEST, integer=False):
        super().__init__(text, default)
        self.low, self.high, self.integer = low, high, integer

    def check(self, value, origin, path):
        number = self._number(value)
        if number is None:
            self.fail(origin, path, f"'{value}' is not a{' whole' if self.integer else ''} number")
        if self.low is not None and number < self.low:
            self.fail(origin, path, f"{value} is below {self.low}")
        if number > self.high:
            self.fail(origin, path, f"{value} is above {self.high}")
        return number

    def _number(self, value):
        # YAML 1.1 takes 10e9 for text, a person does not
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            return None
        try:
            number = float(value)
        except (ValueError, OverflowError):
            return None
        if number != number or abs(number) == float("inf"):
            return None
        if number.is_integer():
            return int(value) if isinstance(value, (int, str)) and str(value).lstrip("-").isdigit() else int(number)
        return None if self.integer else number


def Int(text="", default=None, low=0, high=LARGEST):
    return Number(text, default, low, high, integer=True)


class Bool(Field):
    def check(self, value, origin, path):
        if value in (True, False):
            return bool(value)
        self.fail(origin, path, f"'{value}' is neither true nor false")


class Text(Field):
    """Text; numbers are taken as written. choices or pattern limit it."""

    def __init__(self, text="", default=None, choices=None, pattern=None):
        super().__init__(text, default)
        self.choices, self.pattern = choices, pattern

    def check(self, value, origin, path):
        if isinstance(value, bool):
            value = int(value)
        if not isinstance(value, (str, int, float)):
            self.fail(origin, path, "text expected")
        value = str(value)
        if self.choices and value not in self.choices:
            self.fail(origin, path, f"'{value}' is none of {', '.join(self.choices)}")
        if self.pattern and not re.fullmatch(self.pattern, value):
            self.fail(origin, path, f"'{value}' does not look like {self.text or self.pattern}")
        return value


class Names(Field):
    """A pattern of names, as hostnames.expand() takes it."""

    def check(self, value, origin, path):
        try:
            hostnames.expand(value)
        except ValueError as error:
            self.fail(origin, path, error)
        return value


class ListOf(Field):
    """A sequence; a single value may stand for a list of one if single."""

    def __init__(self, item, text="", default=None, single=False, at_least=0):
        super().__init__(text, default)
        self.item, self.single, self.at_least = item, single, at_least

    def child(self, _key):
        return self.item

    def check(self, value, origin, path):
        if self.single and not isinstance(value, list):
            value = Seq(origin, [value])
        if not isinstance(value, list):
            self.fail(origin, path, "a list expected")
        if len(value) < self.at_least:
            self.fail(origin, path, f"at least {self.at_least} expected")
        out = Seq(origin)
        for index, item in enumerate(value):
            where = value.where(index) if isinstance(value, Seq) else origin
            out.append(self.item.check(item, where, f"{path}.{index}"))
            out.origins[index] = where
        return out


class MapOf(Field):
    """Keys of the user's choice over values of one type.

    parts: dots that belong to a key when --set makes a new one; 0: all do.
    """

    def __init__(self, value, text="", default=None, parts=1, key=None):
        super().__init__(text, default)
        self.value, self.parts, self.key = value, parts, key

    def child(self, _key):
        return self.value

    def check(self, value, origin, path):
        if not isinstance(value, Map):
            self.fail(origin, path, "a mapping expected")
        out = Map(value.origin)
        for key, item in value.items():
            where = value.where(key)
            if self.key:
                self.key.check(key, where, f"{path}.{key}")
            out.put(key, self.value.check(item, where, f"{path}.{key}"), where)
        return out


class Record(Field):
    """Known keys only. A field whose default is REQUIRED must be given."""

    def __init__(self, fields, text="", default=None):
        super().__init__(text, default)
        self.fields = fields

    def child(self, key):
        return self.fields.get(key)

    def check(self, value, origin, path):
        if value is None:
            value = Map(origin)
        if not isinstance(value, Map):
            self.fail(origin, path, "a mapping expected")
        self._refuse_unknown(value, path)
        out = Map(value.origin)
        for key, field in self.fields.items():
            self._take(out, value, key, field, f"{path}.{key}" if path else key)
        return out

    def _refuse_unknown(self, value, path):
        for key in value:
            if key not in self.fields:
                known = ", ".join(self.fields)
                raise ScenarioError(value.where(key), f"{path + ': ' if path else ''}"
                                    f"unknown key '{key}' (known: {known})")

    def _take(self, out, value, key, field, path):
        if value.get(key) is None:
            if field.default is REQUIRED:
                self.fail(value.origin, path, "is missing")
            default = field.default
            if isinstance(field, (Record, MapOf)) and default == {}:
                default = field.check(Map(value.where(key)), value.where(key), path)
            out.put(key, default, value.where(key))
            return
        where = value.where(key)
        out.put(key, field.check(value[key], where, path), where)


class Choice(Field):
    """One of several records, told apart by the value of one key."""

    def __init__(self, tag, records, text="", default=None):
        super().__init__(text, default)
        self.tag, self.records = tag, records

    def child(self, key):
        for record in self.records.values():
            if key in record.fields:
                return record.fields[key]
        return Text() if key == self.tag else None

    def check(self, value, origin, path):
        if not isinstance(value, Map):
            self.fail(origin, path, "a mapping expected")
        kind = value.get(self.tag)
        if not isinstance(kind, str) or kind not in self.records:
            where = value.where(self.tag)
            known = ", ".join(self.records)
            self.fail(where, f"{path}.{self.tag}", f"'{kind}' is none of {known}")
        return self.records[kind].check(value, origin, path)
