#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""nicstamp's generic feed: stamps of devices whose drivers give none.

Runs in a guest: feed.py VRACK.KO. The rack's NIC without a clock hands over no stamps,
and veth knows nothing of them: both are stock drivers here. h0 sends with timely to h1.
"""

import contextlib
import subprocess

from feedctl import (ADDRESSES, DELAY_NS, ENOUGH, GBIT, VETH_RTT_NS, Background, Cable, Wire, counters,
                     echo, feed, ip, knob, more, names, none_comes, refused, rename, run, tell, transfer)
from rackctl import Namespace, insmod, main, near, rmmod, same, settle

PROBES = 6


# -- what comes of it

def rtt__of_a_rack_nic_is_that_of_its_path():
    size = 1000
    with Wire():
        feed("use")
        knob("tcp_timely/source", "sw")
        flow = echo(100, size)
        counted = counters()
    # there and back: two cables, each frame sent twice; IP, TCP with timestamps, Ethernet
    frame_ns = (size + 20 + 32 + 38) * 8 * 10**9 // (10 * GBIT)
    near("RTT", flow["rtt_min_ns"], 4 * DELAY_NS + 4 * frame_ns, 0.01)
    assert flow["samples"] >= 90, flow
    assert counted["source_driver"] >= 90, counted


def rtt__is_that_of_the_nic_and_of_its_own_frame():
    size = 1000
    with Wire("phc=1"):
        by_nic = echo(100, size)["rtt_min_ns"]
    with Wire():
        feed("use")
        by_host = echo(100, size)["rtt_min_ns"]
    # the NIC stamps what has left, the feed what is about to
    near("RTT", by_host, by_nic + (size + 20 + 32 + 38) * 8 * 10**9 // (10 * GBIT), 0.01)


def rtt__of_a_veth_is_what_its_peer_waits():
    with Cable():
        feed("use")
        flow = echo(100, 1000)
    near("RTT", flow["rtt_min_ns"], VETH_RTT_NS, 0.01)


def rtt__without_what_a_qdisc_adds():
    shown = {}
    with Wire():
        with Namespace("h0"):
            run("tc", "qdisc", "replace", "dev", "eth0", "root", "tbf", "rate", "200mbit", "burst", "20k",
                "limit", "1m")
        feed("use")
        transfer(during=lambda: shown.update(tell("flows")[0]))
    print(f"# by stamps {shown['rtt_ns']} ns, by TCP {shown['tcp_rtt_ns']} ns")
    assert shown["samples"] > ENOUGH, shown
    assert shown["rtt_min_ns"] > 4 * DELAY_NS, shown
    assert 10 * shown["rtt_ns"] < shown["tcp_rtt_ns"], shown


def samples__with_gro_and_without():
    for way in (Wire, Cable):
        for state in ("on", "off"):
            with way():
                for host, _ in ADDRESSES:
                    with Namespace(host):
                        run("ethtool", "-K", "eth0", "gro", state)
                feed("use")
                more()
                stats = tell("stats")
                # nothing is recorded twice, and what is stamped twice counts once
                same("sent again", stats["retransmitted"], 0)
                assert stats["rx"] <= stats["tx"] == stats["wanted"], stats


def source__says_which_stamps():
    with Wire():
        feed("use")
        for word, source, least in (("auto", "source_driver", ENOUGH), ("sw", "source_driver", ENOUGH),
                                    ("hw", "source_driver", 0), ("tcp", "source_tcp_ns", ENOUGH)):
            knob("tcp_timely/source", word)
            before = counters()[source]
            transfer()
            got = counters()[source] - before
            assert got >= least if least else got == 0, f"{word}: {got}"


# -- switched on and off

def devices__are_used_and_dropped():
    with Cable():
        same("devices", tell("devices"), [])
        none_comes()
        feed("use")
        same("devices", names(tell("devices")), [("eth0", "generic")])
        same("clock", tell("devices")[0]["clock"], "host")
        more()
        feed("drop")
        same("devices", tell("devices"), [])
        none_comes()
        feed("use")
        more()


def probes__are_there_while_they_are_of_use():
    probes = lambda: tell("stats")["probes"]
    with Cable():
        same("before", probes(), 0)
        feed("use")
        same("used", probes(), PROBES)
        feed("use", netns="h1")
        feed("drop")
        same("one of two dropped", probes(), PROBES)
        rmmod("tcp_timely")
        same("nobody listens", probes(), 0)
        insmod("tcp_timely/tcp_timely.ko")
        same("somebody listens", probes(), PROBES)
        feed("drop", netns="h1")
        same("both dropped", probes(), 0)
        none_comes()


def use__refused_with_a_reason():
    with Cable():
        refused("no such device", "use", "eth7", "--netns", "h0")
        refused("no such device", "use", "eth0")
        refused("no such device", "use", "a-name-that-is-too-long", "--netns", "h0")
        refused("h7: No such file", "use", "eth0", "--netns", "h7")
        refused("no such network namespace", "use", "eth0", "--netns", "/dev/null")
        refused("loopback", "use", "lo", "--netns", "h0")
        refused("not used", "drop", "eth0", "--netns", "h0")
        ip("-n", "h0", "link", "add", "link", "eth0", "name", "eth0.5", "type", "vlan", "id", "5")
        refused("upon another", "use", "eth0.5", "--netns", "h0")
        feed("use")
        refused("used already", "use", "eth0", "--netns", "h0")
        more()


def use__refused_where_the_driver_gives_stamps():
    with Wire("phc=1"):
        same("devices", names(tell("devices")), [("eth0", "driver")])
        refused("gives stamps by itself", "use", "eth0", "--netns", "h0")
        refused("gives stamps by itself", "drop", "eth0", "--netns", "h0")
        more()


def driver__that_gives_stamps_later_takes_over():
    with Wire() as rack:
        feed("use")
        transfer(during=lambda: rack.ctl("nic set h0 phc=1 phc_fast_ppb=50000"))
        same("devices", names(tell("devices")), [("eth0", "driver")])
        same("probes", tell("stats")["probes"], 0)
        before = counters()["source_nic"]
        transfer()
        assert counters()["source_nic"] >= before + ENOUGH, counters()


def flows__of_other_namespaces_have_half_at_most():
    with Cable():
        rmmod("tcp_timely")
        rmmod("nicstamp")
        insmod("drivers/nicstamp/nicstamp.ko", "max_flows=16")
        insmod("tcp_timely/tcp_timely.ko")
        feed("use")
        with contextlib.ExitStack() as flows:
            for port in range(5001, 5001 + 12):
                flows.enter_context(Background(port))
            settle(0.05)
            same("flows", len(tell("flows")), 8)
            assert tell("stats")["flows_refused"] > 0
        settle(0.1)
        # What ended makes room.
        more()


# -- under traffic

def device__used_and_dropped_under_traffic():
    with Cable(), Background():
        for _ in range(20):
            feed("use")
            settle(0.002)
            feed("drop")


def device__renamed_under_traffic():
    with Cable():
        feed("use")
        with Background():
            for name in ("eth5", "eth0", "eth6"):
                rename("eth0" if name != "eth0" else "eth5", name)
                same("devices", names(tell("devices")), [(name, "generic")])
        more()
        feed("drop", "eth6")
        same("devices", tell("devices"), [])


def device__moved_under_traffic():
    with Cable():
        feed("use")
        ip("netns", "add", "h2")
        with Background():
            ip("-n", "h0", "link", "set", "eth0", "netns", "h2")
            settle(0.01)
            refused("no such device", "drop", "eth0", "--netns", "h0")
            same("devices", names(tell("devices")), [("eth0", "generic")])
            ip("-n", "h2", "link", "set", "eth0", "netns", "h0")
            ip("-n", "h0", "addr", "add", ADDRESSES[0][1], "dev", "eth0")
            ip("-n", "h0", "link", "set", "eth0", "up")
        ip("netns", "del", "h2")
        more()


def device__deleted_under_traffic():
    with Cable() as cable:
        for _ in range(3):
            feed("use")
            with Background():
                ip("-n", "h0", "link", "del", "eth0")
                same("devices", tell("devices"), [])
                same("probes", tell("stats")["probes"], 0)
            cable.lay()


def netns__deleted_with_its_device():
    with Cable():
        feed("use", netns="h1")
        ip("netns", "add", "h2")
        ip("-n", "h1", "link", "set", "eth0", "netns", "h2")
        ip("netns", "del", "h2")
        for _ in range(100):
            if not tell("devices"):
                break
            settle(0.1)
        same("devices", tell("devices"), [])


def module__unloaded_under_traffic():
    with Cable():
        with Background():
            for _ in range(5):
                feed("use")
                settle(0.005)
                run("rmmod", "nicstamp")
                settle(0.005)
                insmod("drivers/nicstamp/nicstamp.ko")
                same("devices", tell("devices"), [])
        feed("use")
        more()


main(globals())
