#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The page of `turnpike report' in a headless Chromium: it asks for nothing, complains of nothing, and its plots are seen.

TURNPIKE_SCREENSHOTS names a directory that gets pictures of the pages. Without Chromium (apt install
chromium-headless-shell) all is skipped.
"""
import base64
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
import report_test  # noqa: E402
import page  # noqa: E402
import rack_run  # noqa: E402
import reading  # noqa: E402

BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)
# No answer takes as long, however busy the machine is: what hangs is to end.
HANGS_S = 300
# A window as wide as a laptop's, and one of a telephone.
WIDTHS = (1100, 420)
SIZES = """(() => {
    const box = one => { const r = one.getBoundingClientRect(); return [one.tagName, r.width, r.height, r.right]; };
    const all = [...document.querySelectorAll("svg, img")];
    return JSON.stringify({
        plots: all.map(box), unread: [...document.images].filter(one => !one.complete || !one.naturalWidth).length,
        lines: [...document.querySelectorAll("svg path")].filter(one => one.getTotalLength() > 0).length,
        words: [...document.querySelectorAll("svg text")].filter(one => one.getBoundingClientRect().width > 0).length,
        wide: document.documentElement.scrollWidth, height: document.documentElement.scrollHeight, text: document.body.innerText });
})()"""


class Browser:
    """A Chromium that is spoken to by pipes, in the words of its DevTools."""

    def __init__(self, directory):
        (to_read, self.to), (self.back, back_write) = os.pipe(), os.pipe()

        def pipes():
            # It reads from 3 and writes to 4; each may be in the other's way.
            high = [os.dup2(fd, number) for fd, number in ((to_read, 103), (back_write, 104))]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        words = [BROWSER, "--headless", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={directory}", "--no-first-run",
                 "--disable-background-networking", "--disable-dev-shm-usage", "about:blank"]
        if os.getuid() == 0:
            words.insert(1, "--no-sandbox")
        # pylint: disable=consider-using-with,subprocess-popen-preexec-fn
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        close_fds=False, preexec_fn=pipes, start_new_session=True)
        os.close(to_read)
        os.close(back_write)
        self.alarm = threading.Timer(HANGS_S, self.kill)
        self.alarm.start()
        self.number, self.rest, self.events = 0, b"", []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def close(self):
        self.alarm.cancel()
        self.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.back)

    def message(self):
        while b"\0" not in self.rest:
            more = os.read(self.back, 1 << 20)
            if not more:
                raise EOFError(f"{BROWSER} ended, or hung for {HANGS_S} s")
            self.rest += more
        first, self.rest = self.rest.split(b"\0", 1)
        return json.loads(first)

    def call(self, method, **parameters):
        self.number += 1
        words = {"id": self.number, "method": method, "params": parameters}
        if hasattr(self, "session"):
            words["sessionId"] = self.session
        data = json.dumps(words).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        while True:
            message = self.message()
            if message.get("id") == self.number:
                if "error" in message:
                    raise ValueError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def wait_for(self, method):
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.message())

    def parameters(self, method):
        return [event["params"] for event in self.events if event.get("method") == method]


@unittest.skipUnless(BROWSER, "no Chromium is installed: apt install chromium-headless-shell")
class InBrowser(report_test.Case):
    def setUp(self):
        super().setUp()
        directory = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(directory.cleanup)
        self.browser = Browser(directory.name)
        self.addCleanup(self.browser.close)

    def look(self, name, text, width):
        """What stands on the page; its complaints and requests are none."""
        path = self.path(f"{name}.html")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
        browser = self.browser
        browser.events = []
        for part in ("Page", "Log", "Runtime", "Network"):
            browser.call(f"{part}.enable")
        browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        browser.call("Page.navigate", url=f"file://{path}")
        browser.wait_for("Page.loadEventFired")
        found = json.loads(browser.call("Runtime.evaluate", expression=SIZES, returnByValue=True)["result"]["value"])
        picture = browser.call("Page.captureScreenshot", captureBeyondViewport=True,
                               clip={"x": 0, "y": 0, "width": width, "height": min(found["height"], 8000), "scale": 1})["data"]
        self.picture(f"{name}-{width}.png", base64.b64decode(picture), width)
        self.assertEqual([one["entry"]["text"] for one in browser.parameters("Log.entryAdded")], [])
        self.assertEqual(browser.parameters("Runtime.consoleAPICalled") + browser.parameters("Runtime.exceptionThrown"), [])
        asked = {one["request"]["url"].split(":")[0] for one in browser.parameters("Network.requestWillBeSent")}
        self.assertLessEqual(asked, {"file", "data"})
        files = [one for one in browser.parameters("Network.requestWillBeSent") if one["request"]["url"].startswith("file:")]
        self.assertEqual(len(files), 1, "the page alone is read")
        return found

    def picture(self, name, data, width):
        self.assertEqual(struct.unpack(">I", data[16:20])[0], width)
        if os.environ.get("TURNPIKE_SCREENSHOTS"):
            with open(os.path.join(os.environ["TURNPIKE_SCREENSHOTS"], name), "wb") as stream:
                stream.write(data)

    def check_plots(self, found, width, count):
        self.assertEqual(len(found["plots"]), count)
        for tag, wide, high, right in found["plots"]:
            self.assertGreater(wide, 100, tag)
            self.assertGreater(high, 50, tag)
            self.assertLessEqual(right, width, f"{tag} is wider than the window")
        self.assertEqual(found["unread"], 0)

    def test_page__of_a_recording(self):
        before = [report_test.header(), *(report_test.look(second, slow=40) for second in range(11)), report_test.SUMMARY]
        text = page.of_recording(reading.read(self.put(report_test.lines())), reading.read(self.put(before, "before.rec")))
        for width in WIDTHS:
            with self.subTest(width=width):
                found = self.look("recording", text, width)
                self.check_plots(found, width, 5)
                self.assertGreater(found["lines"], 50)
                self.assertGreater(found["words"], 50)
                self.assertIn("turnpike on db17: working", found["text"])

    # One table wider than the window would make all of the page go sideways.
    def test_page__is_no_wider_than_its_window(self):
        found = self.look("wide", page.of_recording(reading.read(self.put(report_test.lines())), None), WIDTHS[1])
        self.assertLessEqual(found["wide"], WIDTHS[1])

    def test_page__of_a_run_of_the_rack(self):
        self.rack()
        with open(os.path.join(report_test.PICTURES, "story.svg"), encoding="utf-8") as stream:
            story = stream.read()
        with open(self.path("story.svg"), "w", encoding="utf-8") as stream:
            stream.write(story)
        os.unlink(self.path("rtt-cdf.svg"))
        text = page.of_rack(rack_run.read(self.directory.name))
        for width in WIDTHS:
            with self.subTest(width=width):
                found = self.look("rack", text, width)
                self.check_plots(found, width, 3)
                self.assertIn("2.45 ms", found["text"] + text)

    # A name of a host that is a script is text, and none runs.
    def test_page__of_foreign_names_runs_nothing(self):
        things = report_test.lines(host=report_test.EVIL)
        found = self.look("evil", page.of_recording(reading.read(self.put(things)), None), WIDTHS[0])
        self.assertIn("<script>alert", found["text"])
        self.assertEqual(self.browser.parameters("Page.javascriptDialogOpening"), [])


if __name__ == "__main__":
    unittest.main()
