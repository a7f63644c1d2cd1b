#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A client of generic netlink that knows a specification and nothing else: the requests that it
makes and the answers that it reads are what Documentation/netlink/*.yaml says.

    ynl.py SPEC OPERATION [ATTRIBUTES]       ATTRIBUTES: JSON, names as in the specification

It prints the answers as a list. Addresses are text, structures lists of objects, bytes hexadecimal.
"""

import ipaddress
import json
import os
import struct
import sys

import yaml

sys.path.append(os.path.dirname(os.path.realpath(__file__)))
import genl  # noqa: E402  # pylint: disable=wrong-import-position
import netlink  # noqa: E402  # pylint: disable=wrong-import-position

FORMATS = {"u8": "=B", "u16": "=H", "u32": "=I", "u64": "=Q", "s8": "=b", "s16": "=h", "s32": "=i", "s64": "=q"}


def _address(data):
    address = ipaddress.ip_address(data)
    return str(getattr(address, "ipv4_mapped", None) or address)


def _address_bytes(text):
    """16 bytes; IPv4 is mapped."""
    address = ipaddress.ip_address(text)
    return address.packed if address.version == 6 else bytes(10) + b"\xff\xff" + address.packed


class Set:
    """An attribute set: pairs of a number and what the specification says of an attribute."""

    def __init__(self, spec, name):
        self.spec, self.name = spec, name
        found = spec.sets[name]
        number, numbered = 0, []
        for attribute in found["attributes"]:
            number = attribute.get("value", number + 1)
            numbered.append((number, attribute))
        if "subset-of" in found:
            whole = Set(spec, found["subset-of"])
            wanted = {attribute["name"]: attribute for _, attribute in numbered}
            numbered = [(number, {**attribute, **wanted[attribute["name"]]})
                        for number, attribute in whole.numbered if attribute["name"] in wanted]
        self.numbered = numbered
        self.by_number = dict(numbered)
        self.by_name = {attribute["name"]: (number, attribute) for number, attribute in numbered}

    # -- answers

    def decode(self, data):
        """Attributes in a row; of one that the specification does not know, KeyError."""
        found = {}
        while len(data) >= 4:
            length, kind = struct.unpack_from("=HH", data)
            attribute = self.by_number[kind & ~netlink.NESTED]
            if attribute["type"] != "pad":
                value = self.value(attribute, data[4:length])
                if attribute.get("multi-attr"):
                    found.setdefault(attribute["name"], []).append(value)
                else:
                    found[attribute["name"]] = value
            data = data[(length + 3) & ~3:]
        return found

    def value(self, attribute, data):
        """What an attribute's bytes mean; struct.error if they are not as many as they have to be."""
        kind = attribute["type"]
        if kind == "flag":
            return True
        if kind == "nest":
            return Set(self.spec, attribute["nested-attributes"]).decode(data)
        if kind == "string":
            return data.rstrip(b"\0").decode(errors="backslashreplace")
        if kind == "binary":
            return self.bytes_value(attribute, data)
        number, = struct.unpack(FORMATS[kind], data)
        return self.spec.enum_name(attribute["enum"], number) if "enum" in attribute else number

    def bytes_value(self, attribute, data):
        """Of a binary attribute."""
        if "sub-type" in attribute:
            return [value for value, in struct.iter_unpack(FORMATS[attribute["sub-type"]], data)]
        if "struct" in attribute:
            return self.spec.structures(attribute["struct"], data)
        return _address(data) if attribute.get("display-hint") == "ipv6" else data.hex()

    # -- requests

    def encode(self, values):
        """The attributes of a request, by name."""
        packed = b""
        for name, value in values.items():
            number, attribute = self.by_name[name]
            for one in value if attribute.get("multi-attr") else [value]:
                flag = netlink.NESTED if attribute["type"] == "nest" else 0
                packed += netlink.attribute(number | flag, self.bytes_of(attribute, one))
        return packed

    def bytes_of(self, attribute, value):
        """The other way round than value()."""
        kind = attribute["type"]
        if kind == "nest":
            return Set(self.spec, attribute["nested-attributes"]).encode(value)
        if kind == "string":
            return value.encode() + b"\0"
        if kind in FORMATS:
            number = self.spec.enum_number(attribute["enum"], value) if "enum" in attribute else value
            return struct.pack(FORMATS[kind], number)
        if "sub-type" in attribute:
            return b"".join(struct.pack(FORMATS[attribute["sub-type"]], one) for one in value)
        return _address_bytes(value) if attribute.get("display-hint") == "ipv6" else bytes.fromhex(value)


class Spec:
    """What a file of Documentation/netlink says."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as stream:
            self.text = yaml.safe_load(stream)
        self.sets = {one["name"]: one for one in self.text["attribute-sets"]}
        self.definitions = {one["name"]: one for one in self.text.get("definitions", ())}
        self.operations, number = {}, 0
        for operation in self.text["operations"]["list"]:
            number = operation.get("value", number + 1)
            self.operations[operation["name"]] = (number, operation)

    def enum_name(self, name, number):
        """Of a value; the number itself if it has none."""
        entries = self.definitions[name]["entries"]
        return entries[number] if number < len(entries) else number

    def enum_number(self, name, value):
        """Of a name."""
        return self.definitions[name]["entries"].index(value)

    def structures(self, name, data):
        """As many of a structure as there are."""
        members = self.definitions[name]["members"]
        form = "=" + "".join(f"{m['len']}s" if m["type"] == "binary" else FORMATS[m["type"]][1:] for m in members)
        return [{m["name"]: _address(value) if m.get("display-hint") == "ipv6" else value
                 for m, value in zip(members, values)} for values in struct.iter_unpack(form, data)]


class Client:
    """Sends what a specification has, to its family in this network namespace."""

    def __init__(self, spec):
        self.spec = spec
        self.sock = netlink.open_socket(genl.NETLINK_GENERIC)
        self.family = genl.family_id(self.sock, spec.text["name"])

    def call(self, name, values=None):
        """Answers to an operation, in a list; raises OSError as the kernel says."""
        number, operation = self.spec.operations[name]
        way = "dump" if "dump" in operation else "do"
        attributes = Set(self.spec, operation["attribute-set"])
        allowed = operation[way].get("request", {}).get("attributes", [])
        for given in values or {}:
            if given not in allowed:
                raise KeyError(f"{name} takes no {given}")
        body = struct.pack("BBH", number, self.spec.text.get("version", 1), 0) + attributes.encode(values or {})
        flags = netlink.ACK | (netlink.DUMP if way == "dump" else 0)
        self.sock.send(netlink.message(self.family, flags, body))
        return [attributes.decode(answer[genl.HEADER_BYTES:]) for answer in self.answers()]

    def answers(self):
        """Messages of the family, to the last."""
        while True:
            for kind, payload in netlink.messages(self.sock.recv(1 << 17)):
                netlink.check(kind, payload)
                if kind in (netlink.NLMSG_ERROR, netlink.NLMSG_DONE):
                    return
                yield payload


def main():
    """The command line."""
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    client = Client(Spec(sys.argv[1]))
    print(json.dumps(client.call(sys.argv[2], json.loads(sys.argv[3]) if sys.argv[3:] else None)))


if __name__ == "__main__":
    main()
