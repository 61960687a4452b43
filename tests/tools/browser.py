# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A headless Chromium, controlled by its DevTools protocol over two pipes."""
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PATIENCE = 30  # seconds for an answer; a dialog, for example, makes a page wait forever
NAMES = ("chromium", "chromium-browser", "google-chrome")


def find():
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """A context manager: on exit, the process is ended and its profile removed."""

    def __init__(self, program, width=1600, height=1100, dark=False):
        self.profile = tempfile.mkdtemp(prefix="ago_inspect_")
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
                 "--disable-component-update", "--disable-sync", "--disable-quic",
                 "--disable-dev-shm-usage", "--disable-breakpad", "--remote-debugging-pipe", f"--user-data-dir={self.profile}",
                 f"--window-size={width},{height}"]
        if dark:
            flags.append("--blink-settings=preferredColorScheme=0")

        def give_pipes():  # the browser reads from 3 and writes to 4
            read, write = os.dup(to_browser), os.dup(from_browser)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen([program, *flags, "about:blank"], preexec_fn=give_pipes, close_fds=False,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        env={**os.environ, "HOME": self.profile})
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.count, self.session, self.events = b"", 0, None, []
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:  # it ends its own processes if it can
            self.session = None
            self.call("Browser.close")
            self.process.wait(PATIENCE)
        except (RuntimeError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        shutil.rmtree(self.profile, ignore_errors=True)

    def read(self):
        """The next message."""
        while b"\0" not in self.buffer:
            if not select.select([self.read_end], [], [], PATIENCE)[0]:
                raise RuntimeError(f"the browser did not answer within {PATIENCE} s")
            more = os.read(self.read_end, 1 << 16)
            if not more:
                raise RuntimeError("the browser has ended")
            self.buffer += more
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def send(self, method, parameters):
        """Sends a command. Returns the number that its answer will have."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        return self.count

    def call(self, method, **parameters):
        number = self.send(method, parameters)
        while True:
            answer = self.read()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)
            if answer.get("method") == "Page.javascriptDialogOpening":  # the page waits for this
                self.send("Page.handleJavaScriptDialog", {"accept": True})

    def open(self, address):
        """Loads a page and discards the messages of the previous one."""
        self.call("Page.navigate", url="about:blank")
        self.events = []
        self.call("Page.navigate", url=address)
        for _ in range(200):
            if self.evaluate("document.readyState") == "complete" and self.evaluate("location.href") != "about:blank":
                return
            time.sleep(.05)
        raise RuntimeError(f"{address} was not loaded")

    def evaluate(self, expression):
        """The value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", expression))
        return answer["result"].get("value")

    def complaints(self):
        """Exceptions of scripts and errors on the console since the page was opened."""
        self.evaluate("1")  # all earlier events have arrived by then
        found = [e["params"]["exceptionDetails"]["text"] for e in self.events if e["method"] == "Runtime.exceptionThrown"]
        found += ["dialog: " + e["params"]["message"] for e in self.events
                  if e["method"] == "Page.javascriptDialogOpening"]
        found += [e["params"]["entry"]["text"] for e in self.events if e["method"] == "Log.entryAdded"
                  and e["params"]["entry"]["level"] in ("error", "warning")]
        return found + [str(e["params"]["args"]) for e in self.events if e["method"] == "Runtime.consoleAPICalled"]

    def requests(self):
        """All requested addresses."""
        self.evaluate("1")
        return [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        self.mouse("mouseMoved", x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)

    def press(self, key):
        text = {"text": key} if len(key) == 1 else {}
        code = {"Enter": 13, "Escape": 27, "ArrowUp": 38, "ArrowDown": 40}.get(key, 0)
        if key == "Enter":
            text = {"text": "\r"}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)
