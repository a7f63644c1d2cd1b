#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Holds what `turnpike ... -j' prints against what a client finds that knows Documentation/netlink alone.

    specification.py FAMILY TURNPIKE COMMAND...      FAMILY: onramp, tlt or stamps

Each COMMAND is one of turnpike's for that family, such as `flows'; `+flows' wants an entry at least.
Both ask in this network namespace, the client before and after turnpike, whose numbers have to be
between these. What goes up and down meanwhile is asked again.
"""

import ipaddress
import json
import os
import socket
import subprocess
import sys

sys.path.append(os.path.dirname(os.path.realpath(__file__)))
from ynl import Client, Spec  # noqa: E402  # pylint: disable=wrong-import-position

SPECS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../Documentation/netlink")
TRIES = 50
KINDS = ("data", "echo", "clock", "clock-echo", "control", "plain")


def underscored(counters):
    """Counters by turnpike's names."""
    return {name.replace("-", "_"): value for name, value in counters.items()}


# -- onramp

def onramp_show(client):
    """What is set."""
    found, = client.call("get")
    return {"port": found["port"], "active": found["active"] != 0, "clock_error_ns": found["clock-error"] or None,
            "keys": found.get("key-id", []), "ask": [prefix(one) for one in found.get("ask", [])]}


def prefix(ask):
    """IPv4 has its own number of bits."""
    address = ipaddress.ip_address(ask["address"])
    return f"{address}/{ask['bits'] - (96 if address.version == 4 else 0)}"


def onramp_stats(client):
    """Counters."""
    return underscored(client.call("stats")[0]["stats"])


def stamped(value):
    """Whose times."""
    return None if value is None else ("host", "nic")[value]


def truth(value):
    """A number that says yes or no; None if it is missing."""
    return None if value is None else value != 0


def onramp_peer(peer):
    """One of those below."""
    return {"remote": peer["remote"], "local": peer["local"],
            "acks": truth(peer["acks"]), "hears": truth(peer["hears"]),
            "grade": peer["grade"], "error_ns": peer.get("error"), "owd_ns": peer.get("owd"),
            "base_owd_ns": peer.get("base-owd"), "delay": peer.get("delay-kind"),
            "delay_p50_ns": peer.get("delay-p50"), "delay_p90_ns": peer.get("delay-p90"),
            "delay_p99_ns": peer.get("delay-p99"), "stamps": stamped(peer.get("nic")),
            "own_stamps": stamped(peer.get("nic-ours")), "few": truth(peer.get("few")),
            "own_few": truth(peer.get("few-ours")), "clock": f"{peer['clock']:08x}", "drift_ppb": peer["drift"],
            "clock_steps": peer["steps"], "clock_absurd": peer["absurd"], "receipts": peer["receipts"],
            "samples": peer["samples"], "refused": peer["refused"]}


def onramp_peers(client):
    """Hosts on the other side."""
    return [onramp_peer(answer["peer"]) for answer in client.call("peers")]


def onramp_clocks(client):
    """What is known of clocks. What clockd says is in no message of the kernel, and no clockd runs here."""
    grades = {answer["peer"]["remote"]: answer["peer"]["grade"] for answer in client.call("peers")}
    return {"own_error_ns": client.call("get")[0]["clock-error"] or None, "clockd": None,
            "peers": [{"peer": one["clock-peer"], "offset_ns": one["clock-offset"], "error_ns": one["clock-error"],
                       "drift_ppb": round(one["clock-drift"] / 1e3), "seconds_left": one["clock-seconds"],
                       "grade": grades.get(one["clock-peer"])} for one in client.call("clocks")]}


def handle(number):
    """As tc has it."""
    if number is None:
        return None
    minor = number & 0xffff
    return "root" if number == 0xffffffff else f"{number >> 16:x}:" + (f"{minor:x}" if minor else "")


def device(index):
    """Its name, or its number if it is gone; None for none."""
    try:
        return None if index is None else socket.if_indextoname(index)
    except OSError:
        return f"#{index}"


def onramp_flow(flow):
    """One of those below."""
    return {"local": flow["local"], "local_port": flow["local-port"], "remote": flow["remote"],
            "remote_port": flow["remote-port"], "dev": device(flow.get("ifindex")), "qdisc": handle(flow.get("handle")),
            "parent": handle(flow.get("parent")), "source": flow["source"], "grade": flow.get("grade"),
            "coarse": truth(flow["coarse"]), "held": flow["left"] != 0, "pause_left_ns": flow["left"],
            "queued_packets": flow.get("queued"), "pauses": flow["pauses"], "paused_ns": flow["paused"],
            "held_packets": flow["held"], "held_ns": flow["held-time"], "beta": flow["beta"] / 1e6,
            "samples": flow["samples"], "noisy": truth(flow.get("noisy", 0)),
            "feedback_age_ns": flow.get("age"), "delay_ns": flow.get("delay"),
            "delay_p50_ns": flow.get("delay-p50"), "delay_p90_ns": flow.get("delay-p90"),
            "delay_p99_ns": flow.get("delay-p99"), "base_owd_ns": flow.get("base-owd"),
            "release_rate_bytes_per_s": flow.get("rate"), "burst_limit_bytes": flow.get("burst")}


def onramp_flows(client):
    """Connections that are held when need be."""
    return [onramp_flow(answer["flow"]) for answer in client.call("flows")]


# -- tlt

def tlt_show(client):
    """What is set."""
    found, = client.call("get")
    if not found["enabled"]:
        return {"enabled": False}
    return {"enabled": True, "map": tlt_map(found["map"]), "dscp": dict(zip(KINDS, found["map"])),
            "period": found["period"], "clock": found["clock"], "sender": found["sender"], "foreign": found["foreign"],
            "rules": [tlt_rule(rule) for rule in found.get("rules", {}).get("rule", [])]}


def tlt_map(codes):
    """Its name, or all of it."""
    named = {(3, 7, 11, 15, 19, 23): "local", (10, 12, 18, 20, 26, 8): "vma"}
    return named.get(tuple(codes)) or ",".join(f"{kind}={code}" for kind, code in zip(KINDS, codes))


def span(rule, name):
    """Of a number to another."""
    low, high = rule[f"{name}-low"], rule[f"{name}-high"]
    return str(low) if low == high else f"{low}-{high}"


def tlt_rule(rule):
    """Which packets."""
    told = {}
    if "ifindex" in rule:
        told["dev"] = device(rule["ifindex"])
    if "port-low" in rule:
        told["port"] = span(rule, "port")
    if "address" in rule:
        told["peer"] = f"{ip_text(rule['address'])}/{rule['prefix']}"
    if "uid-low" in rule:
        told["uid"] = span(rule, "uid")
    return {**told, **({"cgroup": rule["cgroup"]} if "cgroup" in rule else {})}


def ip_text(digits):
    """Of 4 or 16 bytes."""
    return str(ipaddress.ip_address(bytes.fromhex(digits)))


def tlt_sent(counters):
    """Packets and bytes by kind."""
    return {kind: {"packets": counters.get(f"packets-{kind}", 0), "bytes": counters.get(f"bytes-{kind}", 0)}
            for kind in KINDS}


def tlt_stats(client):
    """Counters."""
    counters = client.call("stats")[0]["stats"]
    plain = {name: value for name, value in counters.items()
             if not name.startswith(("packets-", "bytes-", "received-"))}
    return {"sent": tlt_sent(counters), "received": {kind: counters[f"received-{kind}"] for kind in KINDS},
            **underscored(plain)}


def tlt_flow(flow):
    """One of those below; turnpike calls a peer that speaks TLT tlt."""
    names = ("injected-byte", "injected-segment", "injected-bytes", "inject-refused", "echoes-dropped",
             "clocks-dropped", "cuts", "cut-bytes")
    return {"local": ip_text(flow["local"]), "local_port": flow["local-port"], "remote": ip_text(flow["remote"]),
            "remote_port": flow["remote-port"], "peer": {"speaks": "tlt"}.get(flow["peer"], flow["peer"]),
            "important": flow["important"], "echoes": flow["echoes"], "injected": flow["injected"],
            "rtos": flow["rtos"], "idle_ns": flow["idle-ms"] * 10**6, "sent": tlt_sent(flow["stats"]),
            **underscored({name: flow["stats"].get(name, 0) for name in names})}


def tlt_flows(client):
    """Connections."""
    return [tlt_flow(answer["flow"]) for answer in client.call("flows")]


# -- stamps

def stamps_stats(client):
    """Counters."""
    found, = client.call("stats")
    return {**underscored(found["stats"]), "probes": found["probes"]}


def stamps_port(port):
    """One of those below; what is not known is left out."""
    told = {"dev": port["name"], "ifindex": port["ifindex"], "netns": port["netns"],
            "feed": "generic" if "generic" in port else "driver", "clock": "host" if "host" in port else "nic",
            "clock_bits": port["bits"], "step_ns": port["step-ns"],
            "tx_stamp": "first" if "tx-first" in port else "last", "stats": underscored(port["stats"])}
    if "followed" in port:
        told["rx_clock"] = "nic"
    return {**told, **{name.replace("-", "_"): port[name] for name in ("rate-ppb", "error-ns") if name in port}}


def stamps_devices(client):
    """NICs."""
    return [stamps_port(answer["port"]) for answer in client.call("ports")]


def stamps_flow(flow):
    """One of those below."""
    return {"local": flow["local"], "local_port": flow["local-port"], "remote": flow["remote"],
            "remote_port": flow["remote-port"], "tx": "host" if "tx-host" in flow else "nic",
            "rx": "host" if "rx-host" in flow else "nic", "samples": flow["samples"], "rtt_ns": flow["rtt-ns"],
            "error_ns": flow["error-ns"], "rtt_min_ns": flow["rtt-min-ns"], "tcp_rtt_ns": flow["tcp-rtt-ns"]}


def stamps_flows(client):
    """Connections."""
    return [stamps_flow(answer["flow"]) for answer in client.call("flows")]


READERS = {
    "onramp": {"show": onramp_show, "stats": onramp_stats, "peers": onramp_peers, "flows": onramp_flows,
               "clock show": onramp_clocks},
    "tlt": {"show": tlt_show, "stats": tlt_stats, "flows": tlt_flows},
    "stamps": {"stats": stamps_stats, "devices": stamps_devices, "flows": stamps_flows},
}


# -- comparison

def ordered(value):
    """Lists of connections or devices by their ends."""
    names = ("dev", "netns", "local", "local_port", "remote", "remote_port")
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return sorted(value, key=lambda one: [str(one.get(name)) for name in names])
    return value


def differences(before, told, after, where=""):
    """What turnpike told that the client did not see before or after."""
    if isinstance(told, dict) and isinstance(before, dict) and isinstance(after, dict):
        if not before.keys() == told.keys() == after.keys():
            return [f"{where}: names {sorted(told)}, not {sorted(before)} or {sorted(after)}"]
        return [found for name in told
                for found in differences(before[name], told[name], after[name], f"{where}.{name}")]
    if isinstance(told, list) and isinstance(before, list) and len(before) == len(told) == len(after):
        lists = zip(ordered(before), ordered(told), ordered(after))
        return [found for i, values in enumerate(lists) for found in differences(*values, f"{where}[{i}]")]
    numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in (before, told, after))
    good = min(before, after) <= told <= max(before, after) if numbers else told in (before, after)
    return [] if good else [f"{where}: {told}, not {before} or {after}"]


def holds(client, turnpike, family, command):
    """Whether both tell the same."""
    some, command = command.startswith("+"), command.lstrip("+")
    read = READERS[family][command]
    for _ in range(TRIES):
        before = read(client)
        words = [turnpike, family, *command.split(), "-j"]
        told = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
        found = differences(before, told, read(client), command)
        if some and not told:
            found.append(f"{command}: there is none")
        if not found:
            print(f"{command}: {len(told)} alike")
            return True
    print("\n".join(found))
    return False


def main():
    """The command line."""
    if len(sys.argv) < 4 or sys.argv[1] not in READERS:
        sys.exit(__doc__)
    family, turnpike, *commands = sys.argv[1:]
    client = Client(Spec(os.path.join(SPECS, f"turnpike_{family}.yaml")))
    sys.exit(0 if all([holds(client, turnpike, family, command) for command in commands]) else 1)


if __name__ == "__main__":
    main()
