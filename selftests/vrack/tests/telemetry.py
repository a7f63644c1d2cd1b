#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""In-band telemetry of switches: vrack_telemetry.ko, by what tcp_hpcc does with it.

    h0 --10G-- s0 -----> s1 -----> h1
                          ^
                x --10G---'

A flow of h0's keeps the fuller of the two links to 95 %, whatever is on it, and to what W_AI is of
the bandwidth and T. Beyond 1 the rest is a queue.

Runs in a guest: telemetry.py VRACK.KO.
"""

import sys

from rackctl import FRAME, Load, Rack, insmod, main, near, rmmod, settle

MODULE = sys.argv[1]
GBIT = 10**9
BASE_US = 100       # several packets at a gigabit
PRODUCT = 12500     # bytes of a gigabit in BASE_US
STEP = 80           # W_AI, bytes
USE = .95 + STEP / PRODUCT
OFF = .03


class Hosts(Rack):
    def __init__(self, first_bps, second_bps, step_bytes):
        super().__init__(MODULE, "switch add s0", "switch add s1", "nic add h0 ip=10.0.0.1", "nic add h1 ip=10.0.0.2",
                         "nic add x ip=10.0.0.3", f"link add h0 s0 rate_bps={10 * GBIT} delay_ns=10000",
                         f"link add s0 s1 rate_bps={first_bps} rate_ba_bps={10 * GBIT} delay_ns=10000",
                         f"link add s1 h1 rate_bps={second_bps} rate_ba_bps={10 * GBIT} delay_ns=10000",
                         f"link add x s1 rate_bps={10 * GBIT} delay_ns=10000")
        insmod("selftests/vrack/vrack_telemetry.ko")
        insmod("selftests/cc/tcp_hpcc.ko", "line_mbps=10000", f"base_us={BASE_US}", f"ai_bytes={step_bytes}")
        for number, name in enumerate(("h0", "h1", "x"), 1):
            self.host(name, f"10.0.0.{number}/8")

    def __exit__(self, *args):
        rmmod("tcp_hpcc")
        rmmod("vrack_telemetry")
        super().__exit__(*args)

    def busy(self):
        """What h0 sends in bits/s, and the longest queue before h1 in bytes, once that has settled."""
        settle(.05)
        self.ctl("stats reset")
        settle(.05)
        return self.port("s0.s1")["tx_wire_bytes"] * 8 / .05, self.port("s1.h1")["queue_max_bytes"]


def flow_has(first_bps, second_bps, step_bytes=STEP, others=()):
    """busy() of a flow through these links"""
    with Hosts(first_bps, second_bps, step_bytes) as rack:
        if others:
            rack.ctl(*others)
        load = Load(b"hpcc")
        load.start()
        has = rack.busy()
        load.end()
    return has


def telemetry__of_the_first_link():
    near("bits/s", flow_has(GBIT, 10 * GBIT)[0], USE * GBIT, OFF)


def telemetry__of_the_last_link():
    near("bits/s", flow_has(10 * GBIT, GBIT)[0], USE * GBIT, OFF)


# Their frames and the flow's meet now and then, and half a frame of queue is 6 % of the product.
def telemetry__of_what_others_send():
    others = [f"source add x h1 rate_bps={4 * GBIT // 10}"]
    near("bits/s", flow_has(10 * GBIT, GBIT, others=others)[0], (USE - .4) * GBIT, 2 * OFF)


# U is 1.15, of which .15 are 1.9 KB of queue: a frame or two, and no more than four when packets meet.
# Without the queue in U the window would grow until the queue is 37 KB.
def telemetry__of_the_queue():
    sent_bps, queue_bytes = flow_has(10 * GBIT, GBIT, PRODUCT // 5)
    near("bits/s", sent_bps, GBIT, OFF)
    print(f"# at most {queue_bytes} bytes in the queue")
    assert FRAME <= queue_bytes <= 5 * FRAME


main(globals())
