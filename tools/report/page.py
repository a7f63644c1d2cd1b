# SPDX-License-Identifier: GPL-2.0
"""The page: HTML that needs nothing else, runs nothing, and has every foreign word escaped."""
import html
import time

import measures
import plots
from plots import duration, rate
from reading import mapping, number, objects, text

ROWS_MOST = 50
TEXT_MOST = 20000
NAME_MOST = 200
# What a page may do: nothing, and look as it says itself.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
STYLE = """
body { font: 13px/1.45 system-ui, sans-serif; color: #222; max-width: 1040px; margin: 1.5em auto; padding: 0 1em }
h1 { font-size: 19px; margin: 0 } h2 { font-size: 15px; margin: 1.8em 0 .5em; border-bottom: 1px solid #ccc }
h3 { font-size: 13px; margin: 1em 0 .3em } .lead { font-size: 16px; margin: .5em 0 .2em } .small { color: #555; font-size: 12px }
table { border-collapse: collapse; font-size: 12px; margin: .3em 0 1em; display: block; overflow-x: auto } caption { text-align: left; font-weight: bold; white-space: nowrap }
th, td { padding: 2px 10px 2px 0; text-align: left; vertical-align: top; border-bottom: 1px solid #eee }
th { border-bottom: 1px solid #999; font-weight: 600 } .n { text-align: right; white-space: nowrap }
svg, img { max-width: 100%; height: auto } .row { display: flex; flex-wrap: wrap; gap: 1em } figure { margin: 0 }
figcaption { font-weight: 600; font-size: 12px } pre { background: #f6f6f6; padding: .6em; overflow-x: auto; font-size: 11px }
code { background: #f3f3f3 } .broken, .warning { font-weight: bold } .broken { color: #a00 } .warning { color: #8a5a00 }
summary { cursor: pointer; font-weight: 600 } @media print { details > * { display: block } }
"""
WHY_NO_PLOT = {
    "tail": "No delays: no connection sent data from one look to the next, and no trace event has one.",
    "time": "Nothing changed from look to look.",
}


def plain(name, most=NAME_MOST):
    """A name that others chose: what does not print is told by its number, and what is long is cut."""
    shown = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in name[:most])
    return shown + ("..." if len(name) > most else "")


def esc(name, most=NAME_MOST):
    return html.escape(plain(str(name), most), quote=True)


def block(words):
    """Text of many lines."""
    lines = [plain(line, 1000).replace("\\u0009", "    ") for line in words[:TEXT_MOST].split("\n")]
    return f"<pre>{html.escape(chr(10).join(lines))}</pre>"


def shown(value, form):
    """A number in the words of form; "-" where there is none."""
    return "-" if value is None else form(value)


def percent(share):
    return f"{float(f'{share * 100:.3g}'):g} %"


def count(value):
    return f"{value:,.0f}".replace(",", " ")


def size(value):
    for unit, step in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= step:
            return f"{value / step:.3g} {unit}"
    return f"{value:.0f} B"


def table(title, heads, rows, total=None):
    """rows: of cells that are escaped here; heads: a name, with a leading + for numbers. Empty without rows."""
    if not rows:
        return ""
    cls = [' class="n"' if head.startswith("+") else "" for head in heads]
    lines = ["<table><caption>" + esc(title) + "</caption><tr>" +
             "".join(f"<th{c}>{esc(head.lstrip('+'))}</th>" for c, head in zip(cls, heads)) + "</tr>"]
    lines += ["<tr>" + "".join(f"<td{c}>{esc(cell)}</td>" for c, cell in zip(cls, row)) + "</tr>" for row in rows[:ROWS_MOST]]
    more = max(total or 0, len(rows)) - min(len(rows), ROWS_MOST)
    rest = f'<p class="small">{more:.0f} more are not shown.</p>' if more else ""
    return "\n".join(lines) + "</table>" + rest


def document(title, body):
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width"><title>{esc(title)}</title><style>{STYLE}</style></head>
<body>
{body}
</body></html>
"""


def section(title, *parts):
    """Without parts there is none."""
    inner = "\n".join(part for part in parts if part)
    return f"<h2>{esc(title)}</h2>\n{inner}\n" if inner else ""


def figure(svg, caption=""):
    return f"<figure>{f'<figcaption>{esc(caption)}</figcaption>' if caption else ''}{svg}</figure>" if svg else ""


# -- a recording

def of_recording(now, before):
    """The page of a recording, beside one of before or None."""
    kinds = measures.kinds(now)
    old_kinds = measures.kinds(before) if before else {}
    tails = plots.tails(kinds, old_kinds)
    return document(f"turnpike: {text(now.header, 'host')}", "\n".join([
        head(now, before, kinds, old_kinds),
        section("In numbers", numbers(now, before, kinds, old_kinds)),
        section("How long the longest delays are",
                '<div class="row">' + "".join(figure(svg, what) for _, what, svg in tails) + "</div>" if tails
                else f"<p>{WHY_NO_PLOT['tail']}</p>"),
        section("Over time", figure(plots.over_time(now, kinds)) or f"<p>{WHY_NO_PLOT['time']}</p>"),
        section("By peer", *peers(now, kinds)),
        section("What doctor found", doctor(now)),
        section("Devices", devices(now)),
        section("Connections", connections(now)),
        section("Flows of On-Ramp", onramp_flows(now)),
        section("Flows of TLT", tlt_flows(now)),
        section("Settings", *settings(now)),
        section("The recording", about(now, before)),
    ]))


def host_line(recording):
    header = recording.header
    seconds = number(header, "time_s")
    when = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds)) if seconds and seconds < 1e11 else "at an unknown time"
    return f"{esc(text(header, 'host') or 'a host')}, Linux {esc(text(header, 'kernel') or '?')}, turnpike " \
           f"{esc(text(header, 'version') or '?')}, {when}, {esc(shown(number(recording.summary, 'duration_ns'), duration))}"


def verdicts(recording):
    """Of the namespaces of the last look."""
    found = [(text(space, "netns"), text(space, "verdict")) for space in objects(recording.looks[-1], "namespaces")] \
        if recording.looks else []
    return "; ".join((f"{esc(name)}: " if name else "") + esc(verdict) for name, verdict in found if verdict)


def compared(now, before):
    """"38 times shorter" """
    if not now or not before:
        return ""
    ratio = before / now
    if 0.95 < ratio < 1.05:
        return "the same"
    return f"{ratio:.3g} times shorter" if ratio > 1 else f"{1 / ratio:.3g} times longer"


def lead(kinds, old_kinds, totals, earlier):
    """The one sentence that somebody reads."""
    both = [name for name in kinds if name in old_kinds]
    if both:
        kind, old = kinds[both[0]], old_kinds[both[0]]
        words = f"the p99 of the {kind.what}: {duration(old.at(99))} before, {duration(kind.at(99))} now, " \
                f"{compared(kind.at(99), old.at(99))}"
        if totals["rate_bps"] and earlier.get("rate_bps"):
            words += f"; {rate(earlier['rate_bps'])} before, {rate(totals['rate_bps'])} now"
        return words
    if kinds:
        kind = next(iter(kinds.values()))
        return f"{kind.what}: p50 {duration(kind.at(50))}, p99 {duration(kind.at(99))}"
    return "no delay was seen"


def head(now, before, kinds, old_kinds):
    words = lead(kinds, old_kinds, measures.totals(now), measures.totals(before) if before else {})
    lines = [f"<h1>turnpike on {esc(text(now.header, 'host') or 'a host')}: {verdicts(now) or 'no look at the host'}</h1>",
             f'<p class="lead">{esc(words[:1].upper() + words[1:], 400)}.</p>', f'<p class="small">{host_line(now)}']
    if before:
        lines.append(f"<br>before: {host_line(before)}")
    lines.append("</p>")
    worst = [one for one in now.doctor or () if text(one, "severity") in ("broken", "warning")]
    if worst:
        lines.append(f'<p><a href="#doctor">doctor has {len(worst)} thing{"s" if len(worst) > 1 else ""} to mend</a></p>')
    return "\n".join(lines)


def numbers(now, before, kinds, old_kinds):
    """One row a number, before and now."""
    totals, earlier = measures.totals(now), measures.totals(before) if before else {}
    rows = []
    for name in {**kinds, **old_kinds}:
        for share in (50, 99, 99.9):
            new, old = (one[name].at(share) if name in one else None for one in (kinds, old_kinds))
            rows.append([f"{(kinds.get(name) or old_kinds[name]).what}, p{share:g}", old, new, duration])
        new, old = (len(one[name].values) if name in one else None for one in (kinds, old_kinds))
        rows.append([f"{(kinds.get(name) or old_kinds[name]).what}, samples", old, new, count])
    for key, what, form in (("rate_bps", "data acknowledged", rate), ("sent", "segments sent", count),
                            ("resent", "segments sent again", count), ("timeouts", "TCP's timeouts", count),
                            ("held", "packets held by On-Ramp", percent), ("drops", "packets dropped by onramp", count)):
        rows.append([what, earlier.get(key), totals[key], form])
    rows = [[what, shown(old, form), shown(new, form)] for what, old, new, form in rows if old is not None or new is not None]
    if not before:
        return table("", ["what", "+value"], [[what, new] for what, _, new in rows])
    return table("", ["what", "+before", "+now"], rows)


def peers(recording, kinds):
    """Plot and table of hosts."""
    if not kinds:
        return []
    kind = next(iter(kinds.values()))
    hosts = kind.by_host()
    rows = [[host, count(len(values)), *(duration(measures.percentile(values, share)) for share in (50, 99)), duration(values[-1])]
            for host, values in hosts]
    silent = sorted({peer for space in objects(recording.looks[-1], "namespaces")
                     for peer in silent_of(space)}) if recording.looks else []
    return [figure(plots.peers(kind)), table(kind.what, ["host", "+samples", "+p50", "+p99", "+most"], rows),
            table("Asked for receipts of delays, and never sent one", ["host"], [[peer] for peer in silent])]


def silent_of(space):
    found = mapping(space, "peers").get("silent")
    return [peer for peer in found if isinstance(peer, str)] if isinstance(found, list) else []


def doctor(recording):
    """What is wrong first, with what mends it."""
    if recording.doctor is None:
        return ""
    order = {"broken": 0, "warning": 1, "info": 2}
    bad = sorted((one for one in recording.doctor if text(one, "severity") in order), key=lambda one: order[text(one, "severity")])
    rows = "".join(f'<tr><td class="{text(one, "severity")}">{text(one, "severity")}</td><td>{esc(text(one, "what"), 500)}</td>'
                   f'<td>{esc(text(one, "why"), 500)}</td><td><code>{esc(text(one, "mend"), 500)}</code></td></tr>' for one in bad)
    fine = sum(text(one, "severity") == "fine" for one in recording.doctor)
    found = f'<table id="doctor"><tr><th></th><th>what</th><th>why it matters</th><th>try</th></tr>{rows}</table>' if rows else ""
    return f"{found}<p>{fine} check{'' if fine == 1 else 's'} found all well.</p>"


def last_of(recording, key):
    """Of the last look: (namespace, thing); and how many there were."""
    spaces = objects(recording.looks[-1], "namespaces") if recording.looks else []
    found = [(text(space, "netns"), one) for space in spaces for one in objects(space, key)]
    return found, len(found) + sum(number(space, f"{key}_left_out") or 0 for space in spaces)


def devices(recording):
    found, total = last_of(recording, "devices")
    rows = [[text(one, "name"), name or "-", *(shown(number(one, key), count) for key in
             ("queues", "flows", "packets", "held_packets", "pauses", "drops", "samples")),
             *(shown(number(one, key), duration) for key in ("delay_p50_ns", "delay_p99_ns")),
             shown(number(one, "line_rate_bps") or None, rate)] for name, one in found]
    return table("onramp on devices, since it was put there", ["device", "namespace", "+queues", "+flows", "+packets", "+held", "+pauses",
                                                               "+drops", "+samples", "+delay p50", "+p99", "+line"], rows, total)


def connections(recording):
    """By what they sent while it was recorded, those of the last look."""
    found, total = last_of(recording, "connections")
    first = measures.connections(recording.looks[0]) if recording.looks else {}
    rows = []
    for name, one in found:
        old = first.get((name, text(one, "local"), text(one, "remote")), {})
        rows.append([one, name, measures.grown(old, one, "bytes_acked") if old else number(one, "bytes_acked") or 0,
                     measures.grown(old, one, "retransmits") if old else number(one, "retransmits") or 0])
    rows.sort(key=lambda row: -row[2])
    return table("TCP connections to other hosts", ["local", "remote", "namespace", "congestion control", "+data sent", "+sent again",
                                                    "+RTT", "+least RTT", "+pacing"],
                 [[text(one, "local"), text(one, "remote"), name or "-", text(one, "congctl"), size(sent), count(again),
                   *(shown(measures.time_ns(one, key), duration) for key in ("rtt", "min_rtt")),
                   shown(number(one, "pacing_bps"), rate)] for one, name, sent, again in rows], total)


def ends_of(one):
    """local and remote, with ports."""
    return [f"{text(one, side)} {shown(number(one, side + '_port'), lambda port: f'{port:.0f}')}" for side in ("local", "remote")]


def onramp_flows(recording):
    found, total = last_of(recording, "onramp_flows")
    found.sort(key=lambda pair: -(number(pair[1], "samples") or 0))
    rows = [[*ends_of(one), text(one, "dev"), text(one, "source"), shown(number(one, "samples"), count),
             shown(number(one, "pauses"), count), shown(number(one, "held_packets"), count),
             *(shown(number(one, key), duration) for key in ("delay_p50_ns", "delay_p99_ns"))] for _, one in found]
    return table("flows with feedback", ["local", "remote", "device", "feedback", "+samples", "+pauses", "+held packets", "+delay p50",
                                         "+p99"], rows, total)


def tlt_flows(recording):
    found, total = last_of(recording, "tlt_flows")
    rows = [[*ends_of(one), text(one, "peer"), *(shown(number(one, key), count) for key in ("important", "echoes", "injected", "rtos"))]
            for _, one in found]
    return table("flows with marks", ["local", "remote", "peer", "+important", "+echoes", "+injected", "+timeouts"], rows, total)


def settings(recording):
    """What the recording has of the host's configuration."""
    found = recording.configuration
    sysctls = [[name, str(value)] for name, value in sorted(mapping(found, "sysctls").items()) if isinstance(value, (str, int))]
    parts = [f"<h3>{esc(name)}</h3>{block(value)}" for key in ("files", "commands")
             for name, value in list(mapping(found, key).items())[:ROWS_MOST] if isinstance(value, str) and value.strip()]
    if sysctls:
        lines = "\n".join(f"{name} = {value}" for name, value in sysctls)
        parts.append(f"<details><summary>{len(sysctls)} sysctls</summary>{block(lines)}</details>")
    return parts


def about(recording, before):
    """What it lacks is said."""
    lines = []
    for name, one in (("", recording), ("before: ", before)):
        if one is None:
            continue
        events = len(one.samples) + len(one.sends) + len(one.decisions)
        lost = [(number(one.summary, "lost_limit"), "lost beyond --events"),
                (number(one.summary, "lost_buffer"), "lost for which the kernel's buffer had no room")]
        words = f"{len(one.looks)} looks, {count(events)} trace events"
        words += "".join(f", {count(many)} {why}" for many, why in lost if many)
        no_trace = text(one.header, "no_trace") or text(one.summary, "no_trace")
        lines.append(f"{name}{esc(one.path)}: {esc(words)}." + (f" No trace: {esc(no_trace, 500)}." if no_trace else ""))
        lines += [f"{name}{esc(trouble, 500)}" for trouble in one.troubles]
    return "".join(f"<p>{line}</p>" for line in lines)


# -- a run of the virtual rack

def of_rack(run):
    """The page of a scenario's results."""
    title = text(mapping(run.result, "scenario"), "title") or "a scenario"
    variants = [(text(one, "name"), mapping(one, "metrics")) for one in objects(run.result, "variants")]
    parts = []
    for key, what, unit in (("p99", "p99 of the RTT", "us"), ("fct_p99_us", "p99 of completion times", "us"),
                            ("util", "share of the link that was used", "")):
        rows = [(name, number(metrics, key)) for name, metrics in variants]
        rows = [(name, value) for name, value in rows if value]
        if rows:
            form = (lambda value: duration(value * 1000)) if unit else percent
            parts.append(figure(plots.bars(f"bars-{key.replace('_', '-')}", what, rows[:ROWS_MOST], form, bool(unit)), what))
    names = list(dict.fromkeys(key for _, metrics in variants for key in metrics))[:12]
    rows = [[name, *(shown(number(metrics, key), lambda value: f"{value:.4g}") for key in names)] for name, metrics in variants]
    verdict = "every bound holds" if run.result.get("pass") is True else "some bound does not hold, or a run failed"
    return document(f"turnpike: {title}", "\n".join([
        f"<h1>{esc(title)}</h1>", f'<p class="lead">{verdict[:1].upper() + verdict[1:]}.</p>',
        f'<p class="small">virtual rack, {esc(text(run.result, "started"))}, turnpike '
        f'{esc(text(mapping(run.result, "versions"), "turnpike"))}</p>',
        section("Variants", *parts, table("what was measured", ["variant", *(f"+{name}" for name in names)], rows)),
        section("Bounds", table("what must hold", ["variant", "bound", "+measured", "+least", "+most", "verdict"],
                                [[text(one, "variant"), text(one, "name"),
                                  *(shown(number(one, key), lambda value: f"{value:.4g}") for key in ("measured", "min", "max")),
                                  "skipped" if one.get("skipped") else "holds" if one.get("pass") is True else "fails"]
                                 for one in objects(run.result, "bounds")])),
        section("Plots", "".join(f'<p><img alt="{esc(name)}" src="data:image/svg+xml;base64,{data}"></p>' for name, data in run.pictures)),
    ]))
