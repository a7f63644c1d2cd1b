#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""tools/report: the page of a recording, whatever is in it, and that of a run of the rack."""
import gzip
import html.parser
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
REPORT = os.path.join(TOP, "tools", "report")
PICTURES = os.path.join(TOP, "Documentation", "pictures")
sys.dont_write_bytecode = True
sys.path.insert(0, REPORT)

# pylint: disable=wrong-import-position
import measures  # noqa: E402
import page  # noqa: E402
import plots  # noqa: E402
import reading  # noqa: E402

EVIL = "<script>alert('x')</script>\"&\u202e$\x07"
SECOND_NS = 10**9


def header(**more):
    return {"turnpike_recording": 1, "host": "db17", "kernel": "6.12.1", "version": "9.9", "time_s": 1790000000,
            "t_ns": 5 * SECOND_NS, "interval_ns": SECOND_NS, "device": "", "no_trace": None, **more}


def connection(index, second, slow):
    return {"local": f"10.0.0.1:{5000 + index}", "remote": f"10.0.0.{2 + index % 3}:80", "congctl": "timely",
            "rtt_ns": (40 + index) * slow * 1000, "min_rtt_ns": 21000, "cwnd_segs": 10, "retransmits": second, "pacing_bps": 10**9,
            "bytes_acked": second * 10**7 * (index + 1), "bytes_received": 0, "delivery_bps": 10**9}


def look(second, slow=1, name="eth0"):
    return {"look": True, "t_ns": (5 + second) * SECOND_NS, "took_ns": 10**6, "namespaces": [{
        "netns": "", "verdict": "working", "timely": {"flows": 8}, "peers": {"answering": 2, "silent": ["10.0.0.99"]},
        "devices": [{"name": name, "queues": 4, "packets": 1000 * second, "held_packets": 100 * second, "drops": second,
                     "flows": 8, "pauses": 5 * second, "samples": 900 * second, "delay_p50_ns": 4000, "delay_p99_ns": 61000,
                     "line_rate_bps": 10**10}],
        "tcp": {"out_segs": 5000 * second, "retrans_segs": 3 * second, "timeouts": second},
        "connections": [connection(index, second, slow) for index in range(8)], "connections_left_out": 992,
        "onramp_flows": [{"local": "10.0.0.1", "local_port": 5000, "remote": "10.0.0.2", "remote_port": 80, "dev": name,
                          "source": "orack", "samples": 5, "pauses": 4, "held_packets": 3, "delay_p50_ns": 1, "delay_p99_ns": 2}],
        "tlt_flows": [{"local": "10.0.0.1", "local_port": 5000, "remote": "10.0.0.2", "remote_port": 80, "peer": "deaf",
                       "important": 7, "echoes": 6, "injected": 5, "rtos": 4}]}]}


def events(count=400):
    dice = random.Random(1)
    for index in range(count):
        t_ns = 5 * SECOND_NS + index * SECOND_NS // 100
        host = f"10.0.0.{2 + index % 3}"
        yield {"event": "onramp_send", "t_ns": t_ns, "dst": host, "sport": 5000, "dport": 80, "start_seq": index, "bytes": 100,
               "hold_ns": 0, "pacing_bps": 10**9}
        yield {"event": "onramp_sample", "t_ns": t_ns + 1000, "dst": host, "sport": 5000, "dport": 80, "end_seq": index,
               "delay_ns": int(dice.expovariate(1 / 10000)), "judged_ns": 1, "rtt_ns": 50000, "pause_ns": 0}
        yield {"event": "timely_decision", "t_ns": t_ns, "src": "10.0.0.1:5000", "dst": f"{host}:80", "rate_bps": 10**9,
               "rtt_ns": 30000 + index, "acked_bytes": 64000, "branch": "increase"}


FINDINGS = [{"check": "key", "severity": "warning", "what": "On-Ramp has no key", "why": "forgery", "mend": "turnpike onramp key generate"},
            {"check": "module", "severity": "fine", "what": "modules are there", "why": "", "mend": ""}]
CONFIGURATION = {"configuration": True, "sysctls": {"net/core/default_qdisc": "fq_codel"}, "files": {"/etc/turnpike/turnpike.conf": "[net]"},
                 "commands": {"tc qdisc show": "qdisc onramp 1: dev eth0 root"}}
SUMMARY = {"summary": {"duration_ns": 10 * SECOND_NS, "looks": 11, "events": 1200, "lost_limit": 77, "lost_buffer": 0, "no_trace": None}}


def lines(**more):
    """A whole recording."""
    return [header(**more), CONFIGURATION, *(look(second) for second in range(11)), *events(), {"doctor": FINDINGS}, SUMMARY]


class Strict(html.parser.HTMLParser):
    """Every element that is opened is closed, and what has an address is listed."""
    ALONE = {"meta", "br", "img", "path", "use", "rect", "circle"}

    def __init__(self, text):
        super().__init__()
        self.open, self.addresses, self.names, self.ids = [], [], set(), []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        self.addresses += [value for name, value in attrs if name in ("href", "src", "xlink:href", "action", "data", "srcset")]
        self.ids += [value for name, value in attrs if name == "id"]
        if any(name.startswith("on") for name, _ in attrs):
            raise ValueError(f"{tag} would run something")
        if tag not in self.ALONE:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if tag not in self.ALONE and self.open.pop() != tag:
            raise ValueError(f"{tag} is closed, and something else was open")


class Case(unittest.TestCase):
    """A directory with recordings, or with a run of the rack."""

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def put(self, things, name="some.rec", cut=None):
        text = b"".join(thing if isinstance(thing, bytes) else json.dumps(thing).encode() + b"\n" for thing in things)
        with open(self.path(name), "wb") as stream:
            stream.write(gzip.compress(text)[:cut])
        return self.path(name)

    def rack(self, **more):
        result = {"scenario": {"title": "An incast <b>"}, "started": "2026-01-02", "versions": {"turnpike": "abc"}, "pass": True,
                  "variants": [{"name": "timely", "metrics": {"p99": 55.0, "util": 0.996}},
                               {"name": "cubic", "metrics": {"p99": 2446.0, "util": 1.0}}],
                  "bounds": [{"variant": "timely", "name": "tail", "min": None, "max": 60, "measured": 55.0, "pass": True, "skipped": None}],
                  **more}
        with open(self.path("result.json"), "w", encoding="utf-8") as stream:
            json.dump(result, stream)
        with open(self.path("rtt-cdf.svg"), "w", encoding="utf-8") as stream:
            stream.write("<svg onload='alert(1)'></svg>")


class Report(Case):
    def page(self, things, before=None):
        earlier = reading.read(self.put(before, "before.rec")) if before else None
        text = page.of_recording(reading.read(self.put(things)), earlier)
        strict = Strict(text)
        self.assertEqual(strict.open, [])
        return text

    def call(self, *words, status=0):
        done = subprocess.run(["/usr/bin/python3", "-I", "-B", REPORT, *words], text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return done

    # -- what is on a page

    def test_page__has_every_table(self):
        text = self.page(lines())
        for words in ("turnpike on db17: working", "Queueing delay, as On-Ramp&#x27;s feedback tells it: p50", "On-Ramp has no key",
                      "turnpike onramp key generate", "1 check found all well", "onramp on devices", "10.0.0.1:5007", "10.0.0.99",
                      "flows with feedback", "orack", "flows with marks", "deaf", "qdisc onramp 1: dev eth0 root",
                      "/etc/turnpike/turnpike.conf", "net/core/default_qdisc = fq_codel", "77 lost beyond --events",
                      "segments sent again", "TCP&#x27;s timeouts", "packets held by On-Ramp"):
            self.assertIn(words, text)
        self.assertEqual(text.count("<svg"), 5)     # three tails, over time, by peer
        self.assertNotIn("mathdefault", text)
        self.assertIn("992 more are not shown", text)

    def test_page__counts_what_is_not_shown(self):
        text = page.table("some", ["+x"], [[index] for index in range(60)])
        self.assertIn("10 more are not shown", text)
        self.assertEqual(text.count("<tr>"), 51)
        self.assertIn("992 more are not shown", page.table("some", ["x"], [["y"]] * 8, 1000))
        self.assertNotIn("more", page.table("some", ["x"], [["y"]] * 8, 8))

    def test_page__compares_with_before(self):
        slow = [header(), *(look(second, slow=40) for second in range(11)), SUMMARY]
        text = self.page(lines(), before=slow)
        for words in ("before, ", "times shorter", "<th class=\"n\">before</th>", "before: "):
            self.assertIn(words, text)
        self.assertIn("1.88 ms before, 47 us now, 40 times shorter", text)

    def test_page__needs_nothing_from_elsewhere(self):
        text = self.page(lines(), before=lines())
        strict = Strict(text)
        self.assertEqual([address for address in strict.addresses if not address.startswith("#")], [])
        self.assertFalse(strict.names & {"script", "link", "iframe", "object", "embed", "form", "base"})
        self.assertNotRegex(text, r"https?:|url\((?!#)|@import|//www")
        self.assertIn("default-src 'none'", text)
        self.assertEqual(len(strict.ids), len(set(strict.ids)))
        # What a plot refers to is there.
        self.assertLessEqual(set(re.findall(r"url\(#([^)]*)\)", text)) | {a[1:] for a in strict.addresses}, set(strict.ids))

    def test_page__escapes_names(self):
        evil = lines(host=EVIL, version=EVIL, kernel=EVIL, no_trace=EVIL)
        evil[1] = {"configuration": True, "sysctls": {EVIL: EVIL}, "files": {EVIL: EVIL}, "commands": {EVIL: EVIL}}
        evil[2:13] = [json.loads(json.dumps(look(second, name="DEV")).replace('"DEV"', json.dumps(EVIL))
                                 .replace('"timely"', json.dumps(EVIL)).replace('"working"', json.dumps(EVIL))
                                 .replace("10.0.0.2", json.dumps(EVIL)[1:-1]).replace("10.0.0.99", json.dumps(EVIL)[1:-1]))
                      for second in range(11)]
        for event in evil[13:-2]:
            event["dst"] = EVIL
            event["branch"] = EVIL
        evil[-2] = {"doctor": [{key: EVIL if key != "severity" else "warning" for key in FINDINGS[0]}]}
        text = self.page(evil)
        self.assertNotIn("<script", text)
        self.assertNotIn("\u202e", text)
        self.assertNotIn("\x07", text)
        self.assertIn("&lt;script&gt;", text)
        self.assertNotIn("script", Strict(text).names)

    def test_rtts_of_an_older_recording__are_read_in_their_unit(self):
        self.assertEqual(measures.time_ns({"rtt_us": 40}, "rtt"), 40000)
        self.assertEqual(measures.time_ns({"rtt_ns": 40500}, "rtt"), 40500)
        self.assertIsNone(measures.time_ns({"rtt_ns": None}, "rtt"))

    def test_page__without_trace(self):
        things = [header(no_trace="tracefs is not mounted"), *(look(second) for second in range(3)), SUMMARY]
        text = self.page(things)
        self.assertIn("No trace: tracefs is not mounted", text)
        self.assertIn("smoothed RTT of connections that send", text)
        self.assertNotIn("queueing delay, as", text)

    def test_page__without_anything(self):
        text = self.page([header(), SUMMARY])
        self.assertIn(page.WHY_NO_PLOT["tail"], text)
        self.assertIn("no look at the host", text)
        self.assertNotIn("<svg", text)

    def test_page__of_wrong_kinds_everywhere(self):
        """Each value of a recording by turns is something else."""
        wrong = [None, -1, 1e308, 10**30, True, "x", [], {}, [[]], [None], {"a": []}]

        def spoiled(thing, value):
            if isinstance(thing, dict):
                for key in thing:
                    yield {**thing, key: value}
                    yield from ({**thing, key: inner} for inner in spoiled(thing[key], value))
            elif isinstance(thing, list) and thing:
                yield [value, *thing[1:]]
                yield from ([inner, *thing[1:]] for inner in spoiled(thing[0], value))

        dice = random.Random(2)
        whole = [CONFIGURATION, look(0), look(1), *events(1), {"doctor": FINDINGS}, SUMMARY]
        cases = [(at, bad) for at, thing in enumerate(whole) for value in wrong for bad in spoiled(thing, value)]
        stubs = {"svg_of": lambda figure, *_: plots.pyplot().close(figure) or "<svg></svg>"}
        # Drawing takes most of the time: few are drawn.
        for count, more in ((8, {}), (100, {"tails": lambda *_: [], "over_time": lambda *_: "", "peers": lambda *_: ""})):
            with unittest.mock.patch.multiple(plots, **stubs, **more):
                for at, bad in dice.sample(cases, count):
                    with self.subTest(line=at, bad=bad):
                        self.page([header(), *whole[:at], bad, *whole[at + 1:]])

    def test_plot__of_a_narrow_range_has_labels_that_differ(self):
        kind = measures.Kind("rtt", "RTT", [(index, "10.0.0.2", 30000 + index) for index in range(400)])
        (_, _, svg), = plots.tails({"rtt": kind}, {})
        labels = re.findall(r">([0-9.]+ us)<", svg)
        self.assertEqual(len(labels), len(set(labels)), labels)
        self.assertTrue(2 <= len(labels) <= 5, labels)

    # -- what is no recording

    def test_read__says_what_is_wrong(self):
        plain = self.path("plain")
        with open(plain, "w", encoding="utf-8") as stream:
            stream.write("no gzip")
        for path, words in ((plain, "is no recording of turnpike"), (self.path("none"), "No such file"),
                            (self.put([], "empty"), "is empty"), (self.put([b"\xff\xfe\n"], "bytes"), "is no recording"),
                            (self.put([b"[" * 100000 + b"\n"], "deep"), "is no recording"),
                            (self.put([{"some": "thing"}], "other"), "is no recording"),
                            (self.put([header(turnpike_recording=2)], "later"), "a later turnpike made it")):
            with self.subTest(path=path), self.assertRaises(reading.Unreadable) as caught:
                reading.read(path)
            self.assertIn(words, str(caught.exception))

    def test_read__of_a_file_that_is_cut(self):
        whole = os.path.getsize(self.put(lines()))
        cut = reading.read(self.put(lines(), cut=whole // 2))
        self.assertTrue(any("cut" in trouble for trouble in cut.troubles), cut.troubles)
        self.assertIn("The file is cut or damaged", page.of_recording(cut, None))
        with self.assertRaises(reading.Unreadable):
            reading.read(self.put(lines(), cut=15))

    def test_read__leaves_out_garbage(self):
        recording = reading.read(self.put([header(), b"{\n", b"\xff\n", b"1\n", b"[]\n", look(0), b'{"event": 1e999, "t_ns": 1}\n',
                                           b'{"event": "onramp_sample", "t_ns": NaN}\n', b'{"event": [], "t_ns": 1}\n', SUMMARY]))
        self.assertEqual((len(recording.looks), len(recording.samples), recording.foreign), (1, 0, 7))

    def test_read__sorts_events_by_time(self):
        order = [3, 1, 2]
        recording = reading.read(self.put([header(), *({"event": "onramp_sample", "t_ns": t, "dst": "a", "delay_ns": t} for t in order)]))
        self.assertEqual([event[0] for event in recording.samples], [1, 2, 3])

    def test_number__is_sane_or_none(self):
        for value in (None, True, "1", -1, 10**30, float("nan"), float("inf"), [], {}):
            self.assertIsNone(reading.number({"x": value}, "x"), value)
        self.assertEqual(reading.number({"x": 1.5}, "x"), 1.5)
        self.assertIsNone(reading.number([], "x"))

    # -- measures

    def test_percentile__is_the_nearest_rank(self):
        self.assertEqual([measures.percentile(list(range(1, 101)), share) for share in (0, 50, 99, 99.9, 100)], [1, 50, 99, 100, 100])
        self.assertIsNone(measures.percentile([], 50))

    def test_tail__ends_at_the_largest(self):
        points = measures.tail(list(range(100000)))
        self.assertEqual(points[-1], (99999, 1e-5))
        self.assertEqual(points[0], (0, 1.0))
        self.assertLess(len(points), 400)
        self.assertEqual(measures.tail([7]), [(7, 1.0)])
        self.assertEqual(measures.tail([]), [])

    def test_rates__are_of_what_was_acknowledged(self):
        recording = reading.read(self.put([header(), look(0), look(1), look(2)]))
        self.assertEqual([round(rate) for _, rate in measures.rates(recording)], [8 * 10**7 * 36] * 2)
        self.assertEqual([share for _, share in measures.held(recording)], [0.1, 0.1])
        self.assertEqual(measures.totals(recording)["timeouts"], 2)

    def test_rtts__are_of_connections_that_send(self):
        idle = look(1)
        for one in idle["namespaces"][0]["connections"][1:]:
            one["bytes_acked"] = 0
        recording = reading.read(self.put([header(), look(0), idle]))
        self.assertEqual(measures.rtts(recording), [(6 * SECOND_NS, "10.0.0.2", 40000)])

    def test_grown__of_a_counter_that_began_anew(self):
        self.assertEqual(measures.grown({"x": 9}, {"x": 2}, "x"), 0)
        self.assertEqual(measures.grown({}, {"x": 2}, "x"), 0)

    # -- the program

    def test_program__writes_a_page_and_keeps_what_is_there(self):
        path = self.put(lines())
        self.call(path)
        out = path + ".html"
        first = os.stat(out)
        self.assertIn("is there already", self.call(path, status=1).stderr)
        self.assertEqual(os.stat(out).st_mtime_ns, first.st_mtime_ns)
        self.call("--force", path)
        self.assertNotEqual(os.stat(out).st_ino, first.st_ino)
        self.call("--output", self.path("other.html"), path)
        self.assertIn("no regular file", self.call("--force", "--output", self.directory.name, path, status=1).stderr)
        self.assertEqual([name for name in os.listdir(self.directory.name) if name.startswith(".turnpike")], [])

    def test_program__says_what_is_wrong(self):
        self.assertIn("is empty", self.call(self.put([]), status=1).stderr)
        self.assertIn("No such file", self.call(self.path("none"), status=1).stderr)
        self.assertEqual(os.listdir(self.directory.name), ["some.rec"])

    def test_program__names_the_package_that_lacks(self):
        blocked = "import sys; sys.modules['matplotlib'] = None; sys.argv = ['x', sys.argv[1]]; import runpy; runpy.run_path(%r, run_name='__main__')"
        done = subprocess.run(["/usr/bin/python3", "-c", blocked % REPORT, self.put(lines())], text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("apt install python3-matplotlib", done.stderr)

    # -- a run of the rack

    def test_rack__has_variants_bounds_and_plots(self):
        self.rack()
        self.call(self.directory.name)
        with open(self.path("report.html"), encoding="utf-8") as stream:
            text = stream.read()
        strict = Strict(text)
        self.assertTrue(all(address.startswith(("#", "data:image/svg+xml;base64,")) for address in strict.addresses))
        for words in ("An incast &lt;b&gt;", "Every bound holds", "2.45 ms", "99.6 %", "holds", "cubic"):
            self.assertIn(words, text)
        self.assertNotIn("onload", text)

    def test_rack__of_a_bound_that_fails(self):
        self.rack(**{"pass": False})
        self.call(self.directory.name)
        with open(self.path("report.html"), encoding="utf-8") as stream:
            self.assertIn("Some bound does not hold", stream.read())

    def test_rack__says_that_it_is_none(self):
        self.assertIn("there is no result.json", self.call(self.directory.name, status=1).stderr)
        self.rack(variants=7)
        self.assertIn("is no result of the rack", self.call(self.directory.name, status=1).stderr)
        self.rack()
        self.assertIn("--before is for recordings", self.call("--before", self.put(lines()), self.directory.name, status=1).stderr)


if __name__ == "__main__":
    unittest.main()
