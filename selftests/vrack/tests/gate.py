#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""On-Ramp on the rack's NIC, which has a line, byte queue limits and several queues.

Runs in a guest: gate.py VRACK.KO. Where the driver has BQL there is no line-rate gate; under mq
packets of several flows pass through several qdiscs, which come and go.
"""

import json
import os
import socket
import subprocess
import sys
import threading
import time

from rackctl import Namespace, Rack, insmod, main, paced, rmmod, same

MODULE = sys.argv[1]
TC = {**os.environ, "TC_LIB_DIR": os.path.join(os.environ["TURNPIKE_BUILD"], "tc")}
GBIT = 10**9
QUEUES = 4
# TCP's hashes are random: one of the queues is left without a flow once in 25 million times
FLOWS = 64
# a debug kernel is ten times slower
KILOBYTES = 64 if os.environ.get("TURNPIKE_DEBUG") == "1" else 512
# of all flows together half of the line
PACING = 625_000_000 // FLOWS


class Hosts(Rack):
    """h0 sends to h1 through 10 Gbit/s."""

    def __init__(self, queues=1):
        super().__init__(MODULE, "switch add s0", f"nic add h0 ip=10.0.0.1 queues={queues}",
                         "nic add h1 ip=10.0.0.2",
                         *(f"link add {name} s0 rate_bps={10 * GBIT} delay_ns=5000" for name in ("h0", "h1")))
        insmod("sch_onramp/sch_onramp.ko")
        self.host("h0", "10.0.0.1/8")
        self.host("h1", "10.0.0.2/8")
        self.tc("h1", "qdisc", "add", "dev", "eth0", "root", "onramp")

    def __exit__(self, *args):
        for name in self.namespaces:
            self.tc(name, "qdisc", "del", "dev", "eth0", "root")
        rmmod("sch_onramp")
        super().__exit__(*args)

    def tc(self, host, *words):
        done = subprocess.run(["tc", "-n", host, *words], env=TC, check=True, capture_output=True)
        return done.stdout

    def qdiscs(self):
        """By handle, as tc has them."""
        shown = json.loads(self.tc("h0", "-s", "-j", "qdisc", "show", "dev", "eth0"))
        return {entry["handle"]: entry for entry in shown}

    def onramps(self):
        return [entry for entry in self.qdiscs().values() if entry["kind"] == "onramp"]

    def under_mq(self):
        self.tc("h0", "qdisc", "replace", "dev", "eth0", "root", "handle", "1:", "mq")
        for number in range(1, QUEUES + 1):
            self.child("replace", number, "feedback", "orack")

    def child(self, what, number, *options):
        words = ["handle", f"{number + 100}:", "onramp", *options] if what != "del" else []
        self.tc("h0", "qdisc", what, "dev", "eth0", "parent", f"1:{number:x}", *words)

    def transfer(self, during=lambda: None):
        """By FLOWS connections at a time; during() runs in the middle of it."""
        with Namespace("h1"):
            listener = socket.create_server(("10.0.0.2", 5000), backlog=FLOWS)
        senders = [paced("h0", PACING) for _ in range(FLOWS)]
        receivers = []
        for sender in senders:
            sender.connect(("10.0.0.2", 5000))
            receivers.append(listener.accept()[0])
        listener.close()
        feeders = [threading.Thread(target=feed, args=(sender,)) for sender in senders]
        got = []
        drains = [threading.Thread(target=lambda sock=sock: got.append(drain(sock))) for sock in receivers]
        for thread in (*feeders, *drains):
            thread.start()
        time.sleep(KILOBYTES * 1024 / PACING / 4)
        during()
        for thread in (*feeders, *drains):
            thread.join()
        for sock in (*senders, *receivers):
            sock.close()
        same("bytes received", sum(got), FLOWS * KILOBYTES << 10)


def feed(sender):
    sender.sendall(bytes(KILOBYTES << 10))
    sender.shutdown(socket.SHUT_WR)


def drain(receiver):
    got = 0
    while chunk := receiver.recv(1 << 20):
        got += len(chunk)
    return got


def gate__is_off_where_the_driver_has_bql():
    with Hosts() as rack:
        rack.tc("h0", "qdisc", "add", "dev", "eth0", "root", "onramp", "feedback", "orack")
        rack.transfer()
        shown = rack.onramps()[0]
        same("bql", shown["bql"], "yes")
        same("gate_active", shown["gate_active"], "no")
        same("gated", shown["gated"], 0)
        assert shown["samples"] > 100, shown


def mq__packets_pass_through_all_children():
    with Hosts(QUEUES) as rack:
        rack.under_mq()
        rack.transfer()
        time.sleep(0.1)
        children, all_of_them = rack.onramps(), rack.qdiscs()["1:"]
        same("children", len(children), QUEUES)
        for name in ("packets", "bytes", "drops", "overlimits", "requeues"):
            same(f"{name} of mq", all_of_them[name], sum(child[name] for child in children))
        for child in children:
            print(f"# {child['handle']} packets {child['packets']} samples {child['samples']} "
                  f"controlled {child['controlled']}")
            assert child["packets"] > 100, child
            same("waiting", child["qlen"], 0)
        same("drops", all_of_them["drops"], 0)
        assert sum(child["samples"] for child in children) > 100


def mq__children_replaced_and_deleted_under_traffic():
    with Hosts(QUEUES) as rack:
        rack.under_mq()

        def churn():
            for number in range(1, QUEUES + 1):
                rack.child("replace", number, "threshold", "20us", "feedback", "orack")
                rack.child("del", number)
                rack.child("replace", number, "feedback", "orack")
                time.sleep(0.001)

        rack.transfer(during=churn)
        same("children", len(rack.onramps()), QUEUES)
        rack.transfer()
        for child in rack.onramps():
            assert child["packets"] > 100, child


def mq__deleted_and_put_back_under_traffic():
    with Hosts(QUEUES) as rack:
        rack.under_mq()

        def churn():
            for _ in range(3):
                rack.tc("h0", "qdisc", "replace", "dev", "eth0", "root", "onramp")
                time.sleep(0.001)
                rack.under_mq()
                time.sleep(0.001)

        rack.transfer(during=churn)
        same("children", len(rack.onramps()), QUEUES)


main(globals())
