# SPDX-License-Identifier: GPL-2.0
"""What is written to the control file of vrack.ko, a command a line."""
from . import plan as plans

PORT_KEYS = ("queue_limit_bytes", "ecn_k_bytes", "ecn_kmin_bytes", "ecn_kmax_bytes",
             "ecn_pmax_milli", "color_k_bytes", "fcs_ppb", "rate_bps", "delay_ns",
             "late_ppb", "late_ns", "jitter_ns", "clear_dscp", "ecn_ingress", "ecn_pi_ref_bytes",
             "ecn_pi_k1_micro", "ecn_pi_k2_milli", "police_bps", "police_bytes")
SWITCH_KEYS = ("buffer_bytes", "alpha_milli", "seed")
PFC_KEYS = ("pfc_prios", "pfc_xoff_bytes", "pfc_xon_bytes")


def commands(plan, seed):
    lines = [f"seed {seed}"]
    lines += [_nic(plan, name) for name in plan.graph.hosts]
    lines += [_switch(plan, name, seed) for name in plan.graph.switches]
    lines += [_link(link, plan.graph.switches) for link in plan.graph.links]
    for name in plan.graph.switches:
        lines += _switch_settings(plan, name)
    lines += _port_settings(plan)
    lines += [_words(f"dscp set {number}", values)
              for number, values in plan.settings["dscp"].items()]
    return lines + ["up"]


def _words(head, values, keys=None):
    """head key=value ...; keys without a value are left out."""
    words = [f"{key}={int(value) if isinstance(value, bool) else value}"
             for key, value in values.items()
             if value is not None and (keys is None or key in keys)]
    return " ".join([head] + words)


def _nic(plan, name):
    values = _merged(plan.settings["nic"], plan.settings["nics"], name)
    head = f"nic add {name} ip={plan.address(name)} ip6={plan.address(name, 6)}"
    return _words(head, values)


def _switch(plan, name, seed):
    """Switches of one seed would all hash flows alike, hence one each."""
    values = _switch_values(plan, name)
    values["seed"] = seed * 1000 + plan.graph.switches.index(name)
    return _words(f"switch add {name}", values, SWITCH_KEYS)


def _switch_values(plan, name):
    return _merged(plan.settings["switch"], plan.settings["switches"], name)


def _merged(common, special, name):
    """Settings of all, and over them those of the patterns that name it."""
    values = dict(common)
    for own in plans.matching(special, name):
        values.update({key: value for key, value in own.items() if value is not None})
    return values


def _link(link, switches):
    ports = [f"{side}={port}" for side, end, port, plain in
             (("a", link.a, link.port_a, link.b), ("b", link.b, link.port_b, link.a))
             if end in switches and port != plain]
    words = [f"link add {link.a} {link.b} rate_bps={link.rate_bps} delay_ns={link.delay_ns}"]
    if link.fcs_ppb:
        words.append(f"fcs_ppb={link.fcs_ppb}")
    return " ".join(words + ports)


def _switch_settings(plan, name):
    values = _switch_values(plan, name)
    lines = []
    if any(values[key] for key in PFC_KEYS):
        lines.append(_words(f"switch set {name}", values, PFC_KEYS))
    if any(values.get(key) is not None for key in PORT_KEYS):
        lines.append(_words(f"port set {name}.*", values, PORT_KEYS))
    return lines


def _port_settings(plan):
    lines = []
    for port in plan.graph.port_names():
        for values in plans.matching(plan.settings["ports"], port):
            lines.append(_words(f"port set {port}", values))
    return lines
