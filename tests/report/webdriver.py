"""A browser driven by the WebDriver protocol, with Python's standard library alone.

    with Browser() as browser:
        browser.open(f"file://{page}")
        browser.run("return document.title")

Chromium and chromedriver are Debian's (chromium, chromium-driver). `available` says whether they are
installed. Chromium runs headless, draws by the CPU (SwiftShader), asks nobody for anything, and logs
its network requests; its profile is a new folder that goes with it.
"""
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ARGUMENTS = [
    "--headless",
    "--no-sandbox",  # CI runs as root
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
]
WAIT_SECONDS = 60  # CI may be busy
# What an element is called in the protocol.
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


def available():
    return shutil.which("chromedriver") is not None and shutil.which("chromium") is not None


class BrowserError(Exception):
    pass


class Browser:
    def __init__(self, width=1280, height=900, dark=False, arguments=()):
        self.folder = tempfile.mkdtemp(prefix="stickslip-browser-")
        self.session = None
        log = os.path.join(self.folder, "driver.log")
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0", f"--log-path={log}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            self.port = self._read_port()
            self._begin(width, height, dark, arguments)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _read_port(self):
        # "ChromeDriver was started successfully on port 12345."
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                return int(line.strip().rstrip(".").rsplit(" ", 1)[1])
        raise BrowserError("chromedriver did not start")

    def _begin(self, width, height, dark, arguments):
        options = {
            "binary": shutil.which("chromium"),
            "args": ARGUMENTS
            + [f"--user-data-dir={self.folder}/profile", f"--window-size={width},{height}"]
            + list(arguments),
        }
        capabilities = {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        answer = self.call("POST", "session", {"capabilities": {"alwaysMatch": capabilities}})
        self.session = answer["sessionId"]
        self.size(width, height)
        self.theme(dark)

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/{path}",
            data=data,
            method=method,
            headers={"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise BrowserError(f"{value['error']}: {value['message'].splitlines()[0]}") from None

    def post(self, path, body=None):
        return self.call("POST", f"session/{self.session}/{path}", body or {})

    def get(self, path):
        return self.call("GET", f"session/{self.session}/{path}")

    # ---- The browser

    def devtools(self, command, **parameters):
        return self.post("goog/cdp/execute", {"cmd": command, "params": parameters})

    def size(self, width, height):
        """The width and height of the page itself, whatever the window's."""
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def theme(self, dark):
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.devtools("Emulation.setEmulatedMedia", features=features)

    def logs(self, kind):
        return self.post("se/log", {"type": kind})

    def errors(self):
        """What the console complained about since the last call."""
        return [e["message"] for e in self.logs("browser") if e["level"] in ("SEVERE", "WARNING")]

    def requests(self):
        """Addresses that were asked for since the last call."""
        urls = []
        for entry in self.logs("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                urls.append(message["params"]["request"]["url"])
        return urls

    # ---- The page

    def open(self, url):
        self.post("url", {"url": url})

    def run(self, script, *arguments):
        return self.post("execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script, what, seconds=WAIT_SECONDS):
        """Until a script returns something true, which is the answer."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = self.run(script)
            if value:
                return value
            time.sleep(0.02)
        raise BrowserError(f"waited {seconds} s for {what}")

    def find(self, selector):
        return self.post("element", {"using": "css selector", "value": selector})[ELEMENT]

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def click(self, selector, seconds=WAIT_SECONDS):
        """Again if the page has replaced the element meanwhile, as it does on a slow machine."""
        scroll = "document.querySelector(arguments[0]).scrollIntoView({block: 'center'})"
        end = time.monotonic() + seconds
        while True:
            try:
                self.run(scroll, selector)
                self.post(f"element/{self.find(selector)}/click")
                return
            except BrowserError as error:
                if "stale element" not in str(error) or time.monotonic() > end:
                    raise
            time.sleep(0.02)

    def type(self, selector, text):
        self.post(f"element/{self.find(selector)}/value", {"text": text})

    def keys(self, selector, *keys):
        """Presses keys one after the other in an element, in one round trip."""
        self.run("document.querySelector(arguments[0]).focus()", selector)
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.post("actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def pointer(self, selector, *moves):
        """Moves are (x, y) from the middle of the element, or "down" and "up"."""
        origin = {ELEMENT: self.find(selector)}
        actions = [
            {"type": f"pointer{move.capitalize()}", "button": 0}
            if isinstance(move, str)
            else {
                "type": "pointerMove",
                "duration": 0,
                "origin": origin,
                "x": int(move[0]),
                "y": int(move[1]),
            }
            for move in moves
        ]
        pointer = {"type": "pointer", "id": "mouse", "actions": actions}
        self.post("actions", {"actions": [pointer]})

    def picture(self, path, whole=False):
        if whole:
            height = self.run("return document.documentElement.scrollHeight")
            width = self.run("return document.documentElement.clientWidth")
            self.size(width, min(height, 12000))
            time.sleep(0.4)  # the page draws again after a change of size
        data = self.devtools("Page.captureScreenshot", format="png")["data"]
        import base64

        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        if self.session is not None:
            try:
                self.call("DELETE", f"session/{self.session}")
            except (BrowserError, OSError):
                pass
            self.session = None
        self.driver.terminate()
        try:
            self.driver.wait(5)
        except subprocess.TimeoutExpired:
            self.driver.kill()
            self.driver.wait()
        self.driver.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)
