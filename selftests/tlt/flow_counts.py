#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Hold what TLT counts of a flow against a cable's count.

flow_counts.py SEEN FLOWS PORT PEER
    SEEN is what watch.py wrote, FLOWS what `turnpike tlt flows -j' did, at the end of the cable
    that has PORT. Prints each kind's packets and bytes; 1 where they differ or nothing was sent.
"""
import json
import sys

CODES = {"data": 3, "echo": 7, "clock": 11, "clock-echo": 15, "control": 19, "plain": 23}


def seen_from(path, port):
    """{code: (packets, bytes, bytes of payload)}"""
    with open(path, encoding="ascii") as lines:
        words = [line.split() for line in lines]
    return {int(w[2]): tuple(map(int, w[3:])) for w in words if w[:2] == ["from", port]}


def flow_of(path, port, peer):
    with open(path, encoding="utf-8") as text:
        flows = [flow for flow in json.load(text)
                 if (flow["local_port"], flow["remote_port"]) == (int(port), int(peer))]
    if len(flows) != 1:
        sys.exit(f"{len(flows)} flows from {port} to {peer}")
    return flows[0]


def pairs(flow, wire):
    """(what, what is said, what was seen)"""
    for kind, code in CODES.items():
        packets, size, _ = wire.get(code, (0, 0, 0))
        yield kind, (flow["sent"][kind]["packets"], flow["sent"][kind]["bytes"]), (packets, size)
    packets, _, payload = wire.get(CODES["clock"], (0, 0, 0))
    yield "injected", (flow["injected_byte"] + flow["injected_segment"],
                       flow["injected_bytes"]), (packets, payload)
    yield "important", flow["important"], wire.get(CODES["data"], (0,))[0]


def main():
    seen, flows, port, peer = sys.argv[1:]
    wire = seen_from(seen, port)
    flow = flow_of(flows, port, peer)
    differ = False
    for what, said, counted in pairs(flow, wire):
        print(f"{what}: {said}, on the cable {counted}")
        differ |= said != counted
    return differ or not wire


if __name__ == "__main__":
    sys.exit(main())
