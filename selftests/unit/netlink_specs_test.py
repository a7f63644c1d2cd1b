#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Documentation/netlink/*.yaml against include/uapi/turnpike.h and the modules' own tables: names,
numbers, types, checks and rights, in both directions."""

import glob
import os
import re
import sys
import unittest

try:
    import yaml
except ImportError:
    print("1..0 # SKIP needs python3-yaml")
    sys.exit(4)

TOP = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../..")
sys.path.append(os.path.join(TOP, "selftests/lib"))
from ynl import Set, Spec  # noqa: E402  # pylint: disable=wrong-import-position

FAMILIES = {
    # family: its prefix in the header, files with its policies and operations, their policies' names by set
    "turnpike_onramp": ("ONRAMP", "sch_onramp/orack/orack_genl.c", {"onramp": "orack_policy"}),
    "turnpike_tlt": ("TLT", "tlt/tlt_genl.c", {"tlt": "tlt_policy", "rule": "tlt_rule_policy"}),
    "turnpike_stamps": ("STAMPS", "drivers/nicstamp/nicstamp_genl.c", {"stamps": "nicstamp_genl_policy"}),
}
HEADERS = ["include/uapi/turnpike.h", "sch_onramp/orack/*.h", "tlt/*.[ch]"]
# What the kernel's headers have.
CONSTANTS = {"IFNAMSIZ": 16, "sizeof(struct in6_addr)": 16, "sizeof(struct onramp_ask)": 17}
# Of enumerations the header's, and its last name, which counts them; those that the header has none of
# are named by the tool.
ENUMS = {"clock-mode": ("tlt_clock_mode", "TLT_CLOCK_"), "sender-mode": ("tlt_sender_mode", "TLT_SENDER_"),
         "foreign": ("tlt_foreign", "TLT_FOREIGN_"), "peer": ("tlt_peer", "TLT_PEER_")}
NAMED_BY_THE_TOOL = {"grade": "tools/turnpike/onramp_family.h", "source": "tools/turnpike/onramp_flows.cc"}
RIGHTS = {"GENL_UNS_ADMIN_PERM": "uns-admin-perm", "GENL_ADMIN_PERM": "admin-perm"}
KINDS = ("DATA", "ECHO", "CLOCK", "CLOCK_ECHO", "CONTROL", "PLAIN")
# The kernel's schema (genetlink-legacy) has more.
SCHEMA = {
    "": {"name", "protocol", "uapi-header", "kernel-policy", "version", "doc", "definitions", "attribute-sets",
         "operations"},
    "definitions": {"name", "type", "doc", "entries", "members"},
    "members": {"name", "type", "len", "display-hint"},
    "attribute-sets": {"name", "name-prefix", "subset-of", "doc", "attributes"},
    "attributes": {"name", "type", "value", "doc", "enum", "struct", "sub-type", "nested-attributes", "multi-attr",
                   "display-hint", "checks"},
    "checks": {"min", "max", "min-len", "max-len", "exact-len"},
    "operations": {"name-prefix", "list"},
    "list": {"name", "doc", "attribute-set", "flags", "do", "dump"},
    "do": {"request", "reply"}, "dump": {"request", "reply"},
    "request": {"attributes"}, "reply": {"attributes"},
}
TYPES = r"(u8|u16|u32|u64|s32|s64|string|flag|nest|16 bytes|4 or 16 bytes|struct)\b"


def source(path):
    """Text of a file, without comments."""
    with open(os.path.join(TOP, path), encoding="utf-8") as stream:
        return stream.read()


def without_comments(text):
    """Of C."""
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)


UAPI = source("include/uapi/turnpike.h")


def constants():
    """Numbers that the headers define."""
    found = dict(CONSTANTS)
    paths = [path for pattern in HEADERS for path in sorted(glob.glob(os.path.join(TOP, pattern)))]
    for path in paths:
        for name, value in re.findall(r"#define\s+(\w+)\s+(\d+)\b", source(path)):
            found[name] = int(value)
    return found


def enumerations():
    """Pairs of the name of each enum, empty if it has none, and its names with their numbers."""
    known, found = constants(), []
    for name, body in re.findall(r"\benum\s*(\w*)\s*\{(.*?)\}", without_comments(UAPI), re.DOTALL):
        number, values = 0, {}
        for entry in filter(None, (part.strip() for part in body.split(","))):
            word, _, expression = (part.strip() for part in entry.partition("="))
            number = evaluate(expression, {**known, **values}) if expression else number
            values[word] = number
            number += 1
        known.update(values)
        found.append((name, values))
    return found


def evaluate(expression, known):
    """A sum or product of names and numbers."""
    for name in sorted(known, key=len, reverse=True):
        expression = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", str(known[name]), expression)
    assert re.fullmatch(r"[\d+*() -]+", expression), expression
    return eval(expression)  # pylint: disable=eval-used


ENUMERATIONS = enumerations()
NUMBERS = {name: number for _, values in ENUMERATIONS for name, number in values.items()}
KNOWN = {**constants(), **NUMBERS}


def c_name(prefix, name):
    """A name of the header."""
    return (prefix + name).upper().replace("-", "_")


def header_names(prefix):
    """Names and numbers of the enum with NAME_UNSPEC, but for this one and what counts them."""
    values = next(values for _, values in ENUMERATIONS if prefix + "UNSPEC" in values)
    return {name: number for name, number in values.items()
            if number and name.startswith(prefix)}


def header_counters(prefix):
    """Numbers of the attributes of counters: one more than the counters'."""
    values = next(values for name, values in ENUMERATIONS if name == prefix.lower() + "_stat")
    found = {}
    for name, number in values.items():
        part = name.removeprefix(f"{prefix}_STAT_")
        if part == name or name == "STAMPS_PORT_STATS_COUNT":
            continue
        if prefix == "TLT" and part in ("PACKETS", "BYTES", "RECEIVED"):
            found.update({f"{name}_{kind}": number + i + 1 for i, kind in enumerate(KINDS)})
        else:
            found[name] = number + 1
    return found


def header_types(prefix):
    """What the comments of an enum say of types; one that says nothing is as the one before."""
    body = re.search(rf"\b{prefix}UNSPEC,(.*?)__{prefix}MAX", UAPI, re.DOTALL)[1]
    found, kind = {}, None
    for name, comment in re.findall(rf"\t({prefix}\w+),[ \t]*(?:/\*\s*(.*?)\*/)?", body, re.DOTALL):
        said = re.match(TYPES, comment)
        kind = said[1] + ("[]" if comment[said.end():].startswith("[") or said[1] == "struct" else "") if said else kind
        found[name] = kind
    return found


def policy(text, name):
    """By attribute, type and checks of a table of the kernel's."""
    body = re.search(rf"nla_policy {name}\[.*?\] = \{{(.*?)\n\}};", without_comments(text), re.DOTALL)[1]
    return {attribute: check_of(re.sub(r"\s+", " ", entry).strip().rstrip(",").strip())
            for attribute, entry in re.findall(r"\[(\w+)\] = (.*?)(?=\n\t\[|\Z)", body, re.DOTALL)}


def check_of(entry):
    """A pair of a type and checks, as the specification has them."""
    exact = re.fullmatch(r"NLA_POLICY_EXACT_LEN\((.*)\)", entry)
    if exact:
        return "binary", {"exact-len": evaluate(exact[1], KNOWN)}
    bound = re.fullmatch(r"NLA_POLICY_(MIN|MAX)\(NLA_(\w+), (.*)\)", entry)
    if bound:
        return bound[2].lower(), {bound[1].lower(): evaluate(bound[3], KNOWN)}
    kind = re.search(r"\.type = NLA_(\w+)", entry)[1]
    length = re.search(r"\.len = ([^,}]*)", entry)
    names = {"NUL_STRING": "string", "NESTED": "nest"}
    return names.get(kind, kind.lower()), {"max-len": evaluate(length[1], KNOWN)} if length else {}


def operations(text):
    """By command, its right and whether it is answered as a dump."""
    found = {}
    for body in re.findall(r"\{([^{}]*\.cmd = [^{}]*)\}", without_comments(text)):
        rights = [right for flag, right in RIGHTS.items() if re.search(rf"\b{flag}\b", body)]
        found[re.search(r"\.cmd = (\w+)", body)[1]] = (rights, "dump" if ".dumpit" in body else "do")
    return found


def unknown_keys(value, part=""):
    """Of a part of a specification, those that the kernel's schema does not have."""
    if isinstance(value, list):
        return [found for one in value for found in unknown_keys(one, part)]
    if not isinstance(value, dict):
        return []
    found = [f"{part}: {key}" for key in value if key not in SCHEMA[part]]
    return found + [one for key, inner in value.items() if key in SCHEMA for one in unknown_keys(inner, key)]


def specs():
    """Each specification, its family's prefix, source and policies."""
    for family, (prefix, path, policies) in FAMILIES.items():
        yield Spec(os.path.join(TOP, f"Documentation/netlink/{family}.yaml")), prefix, source(path), policies


def sets(spec):
    """Those that are numbered by themselves."""
    return [Set(spec, name) for name, one in spec.sets.items() if "name-prefix" in one]


def prefix_of(numbered):
    """The header's."""
    return numbered.spec.sets[numbered.name]["name-prefix"].upper().replace("-", "_")


class Header(unittest.TestCase):
    """Names and numbers."""

    maxDiff = None

    def test_families__are_all_that_the_header_has(self):
        defined = dict(re.findall(r'#define (\w+)_GENL_NAME\s+"(\w+)"', UAPI))
        files = {os.path.basename(path)[:-5] for path in glob.glob(os.path.join(TOP, "Documentation/netlink/*.yaml"))}
        self.assertEqual(set(defined.values()), files)
        for spec, prefix, _, _ in specs():
            self.assertEqual(spec.text["name"], defined[prefix])
            self.assertEqual(spec.text["version"], KNOWN[f"{prefix}_GENL_VERSION"])

    def test_attributes__have_name_and_number(self):
        seen = set()
        for spec, _, _, _ in specs():
            for one in sets(spec):
                if one.name == "stats":
                    continue
                prefix = prefix_of(one)
                seen.add(prefix)
                ours = {c_name(prefix, attribute["name"]): number for number, attribute in one.numbered}
                self.assertEqual(ours, header_names(prefix))
                self.assertEqual(list(ours), list(header_names(prefix)))
        known = {name.removesuffix("UNSPEC") for name in NUMBERS if name.endswith("_UNSPEC")}
        self.assertEqual(seen, {prefix for prefix in known if not prefix.endswith("CMD_") and prefix != "TCA_ONRAMP_"})

    def test_counters__have_name_and_number(self):
        for spec, prefix, _, _ in specs():
            one = Set(spec, "stats")
            # Where 64 bits have to be aligned the kernel pads by attributes of type 0.
            self.assertEqual(one.by_number[0], {"name": "pad", "type": "pad", "value": 0})
            counters = [(number, attribute) for number, attribute in one.numbered if number]
            self.assertEqual({c_name(prefix_of(one), attribute["name"]): number for number, attribute in counters},
                             header_counters(prefix))
            self.assertEqual({attribute["type"] for _, attribute in counters}, {"u64"})

    def test_operations__have_name_and_number(self):
        for spec, prefix, _, _ in specs():
            ours = {c_name(spec.text["operations"]["name-prefix"], name): number
                    for name, (number, _) in spec.operations.items()}
            self.assertEqual(ours, header_names(f"{prefix}_CMD_"))

    def test_types__are_those_of_the_comments(self):
        plain = {"16 bytes": "binary", "4 or 16 bytes": "binary", "u8[]": "binary", "struct[]": "binary"}
        for spec, _, _, _ in specs():
            for one in sets(spec):
                said = {} if one.name == "stats" else header_types(prefix_of(one))
                for _, attribute in one.numbered:
                    name = c_name(prefix_of(one), attribute["name"])
                    if attribute["type"] == "pad" or one.name == "stats" or name == "ONRAMP_A_KEY_ID":
                        continue
                    with self.subTest(name):
                        self.assertEqual(attribute["type"], plain.get(said[name], said[name]))

    def test_enumerations__have_the_names(self):
        by_name = dict(ENUMERATIONS)
        for spec, _, _, _ in specs():
            for name, one in spec.definitions.items():
                if name in ENUMS:
                    enum, prefix = ENUMS[name]
                    names = [c_name(prefix, entry) for entry in one["entries"]]
                    self.assertEqual(names, [entry for entry in by_name[enum] if entry.startswith(prefix)
                                             and not entry.endswith("MODES")])
                elif name in NAMED_BY_THE_TOOL:
                    listed = ", ".join(f'"{entry}"' for entry in one["entries"])
                    self.assertIn("{" + listed + "}", source(NAMED_BY_THE_TOOL[name]))

    def test_structure__is_as_long(self):
        spec = next(specs())[0]
        lengths = {"u8": 1}
        members = spec.definitions["ask"]["members"]
        self.assertEqual(sum(member.get("len", lengths.get(member["type"])) for member in members),
                         CONSTANTS["sizeof(struct onramp_ask)"])


class Modules(unittest.TestCase):
    """What the modules let pass."""

    maxDiff = None

    def test_policies__types_and_checks(self):
        for spec, _, text, policies in specs():
            for one in sets(spec):
                allowed = policy(text, policies[one.name]) if one.name in policies else {}
                for _, attribute in one.numbered:
                    name = c_name(prefix_of(one), attribute["name"])
                    kind, checks = attribute["type"], attribute.get("checks", {})
                    # In requests it is one byte.
                    if name == "ONRAMP_A_KEY_ID":
                        self.assertEqual((kind, attribute["sub-type"], checks), ("binary", "u8", {"min-len": 1}))
                        kind, checks = "u8", {"min": 1}
                    with self.subTest(name):
                        self.assertEqual((kind, checks), allowed.pop(name, (kind, {})))
                self.assertEqual(allowed, {})

    def test_policies__have_what_requests_take(self):
        for spec, _, text, policies in specs():
            for _, operation in spec.operations.values():
                one = Set(spec, operation["attribute-set"])
                for name in operation.get("do", operation.get("dump")).get("request", {}).get("attributes", []):
                    self.assertIn(c_name(prefix_of(one), name), policy(text, policies[one.name]))

    def test_operations__rights_and_ways(self):
        for spec, _, text, _ in specs():
            prefix = spec.text["operations"]["name-prefix"]
            ours = {c_name(prefix, name): (operation.get("flags", []), "dump" if "dump" in operation else "do")
                    for name, (_, operation) in spec.operations.items()}
            self.assertEqual(ours, operations(text))


class Schema(unittest.TestCase):
    """What the kernel's tools understand."""

    def test_keys__are_the_schemas(self):
        for spec, _, _, _ in specs():
            self.assertEqual(unknown_keys(spec.text), [])
            self.assertEqual(spec.text["protocol"], "genetlink-legacy")

    def test_references__are_to_what_is_there(self):
        for spec, _, _, _ in specs():
            for one in sets(spec):
                for _, attribute in one.numbered:
                    self.assertIn(attribute.get("nested-attributes", one.name), spec.sets)
                    self.assertEqual(attribute["type"] == "nest", "nested-attributes" in attribute)
                    for key in ("enum", "struct"):
                        self.assertIn(attribute.get(key), [None, *spec.definitions])
            for _, operation in spec.operations.values():
                known = Set(spec, operation["attribute-set"]).by_name
                for way in ("do", "dump"):
                    for part in operation.get(way, {}).values():
                        self.assertLessEqual(set(part["attributes"]), set(known))


if __name__ == "__main__":
    assert yaml
    unittest.main()
