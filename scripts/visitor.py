"""A real server and a real browser: what the pictures are made with, and the tests look through."""

from __future__ import annotations

import contextlib
import os
import queue
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Playwright,
    Request,
    Route,
    TimeoutError,
    ViewportSize,
)

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 60.0  # seconds after which what has not happened counts as failed
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ELSEWHERE = re.compile(r"^(?!http://127\.0\.0\.1:|file:|data:|blob:)")

# What a page still waits for: its script, the server, charts, pictures, letters.
WAITS = """() => {
  const app = document.querySelector('[data-testid="stApp"]');
  const some = (selector) => document.querySelector(selector) !== null;
  const all = (selector) => [...document.querySelectorAll(selector)];
  const waits = {
    app: app === null,
    script: app?.dataset.testScriptState !== 'notRunning',
    connection: app?.dataset.testConnectionState !== 'CONNECTED',
    title: !some('[data-testid="stMain"] h1'),
    skeleton: some('[data-testid="stAppSkeleton"], [data-testid="stSkeleton"]'),
    stale: some('[data-stale="true"]'),
    charts: !all('[data-testid="stPlotlyChart"]').every((c) => c.querySelector('.main-svg')),
    pictures: !all('img').every((image) => image.complete),
    letters: document.fonts.status !== 'loaded',
  };
  return Object.keys(waits).filter((what) => waits[what]);
}"""
DRAWN = f"() => ({WAITS})().length === 0"
COUNT_RUNS = """() => {
  const app = document.querySelector('[data-testid="stApp"]');
  window.finishedRuns = 0;
  new MutationObserver(() => {
    if (app.dataset.testScriptState === 'notRunning') window.finishedRuns += 1;
  }).observe(app, {attributeFilter: ['data-test-script-state']});
}"""


@dataclass(frozen=True)
class Served:
    """A running dashboard: where it is, the lines that it has printed so far, its process."""

    url: str
    lines: list[str]
    pid: int


@contextlib.contextmanager
def served(script: Path = ROOT / "app.py") -> Iterator[Served]:
    """Start the dashboard, or another script, on a free port of this machine; stop it at the end.

    Raises
    ------
    RuntimeError
        If it ends before it says where it is.
    """
    theirs = {k: v for k, v in os.environ.items() if not k.startswith("STREAMLIT_")}
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.headless", "true"]
    command += ["--logger.hideWelcomeMessage", "false"]  # it says where any script is
    process = subprocess.Popen(
        command, cwd=ROOT, env=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    lines: list[str] = []
    places: queue.Queue[str] = queue.Queue()

    def read() -> None:
        for line in process.stdout or ():
            lines.append(line)
            if said := re.search(r"(?:Liveproof is at|URL:) (\S+)", line):
                places.put(said[1])
        places.put("")

    reader = threading.Thread(target=read)
    reader.start()
    try:
        url = places.get(timeout=PATIENCE)
        if not url:
            raise RuntimeError(f"The server ended before it said where it is:\n{''.join(lines)}")
        yield Served(url, lines, process.pid)
    finally:
        process.terminate()
        process.wait()
        reader.join()
        if process.stdout:
            process.stdout.close()


def chromium() -> str:
    """Path of the browser: $CHROMIUM, or the first of the usual names on the PATH.

    Raises
    ------
    FileNotFoundError
        If there is none, with what to install.
    """
    named = os.environ.get("CHROMIUM")
    for name in [named] if named else NAMES:
        if path := shutil.which(name):
            return path
    raise FileNotFoundError(
        f"The browser tests need Chromium or Chrome, and {named or 'none'} is "
        f"{'not a program' if named else 'on the PATH'}: install it (Debian: apt-get install "
        "chromium; macOS: brew install --cask chromium) or name it in CHROMIUM."
    )


def launched(playwright: Playwright) -> Browser:
    """Start the browser without a window."""
    return playwright.chromium.launch(executable_path=chromium())


@dataclass
class Visitor:
    """One tab with all that went wrong in it.

    Attributes
    ----------
    complaints : console errors and uncaught exceptions, with the address they are about
    strays : requests that would have left this machine; they are stopped
    """

    page: Page
    complaints: list[str] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(1000 * PATIENCE)
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("websocket", lambda socket: self._watch(socket.url.replace("ws:", "http:")))
        self.page.route(ELSEWHERE, self._stop)

    def open(self, url: str) -> None:
        """Go to an address and wait until the page is drawn."""
        self.page.goto(url)
        self._await(DRAWN)
        self.page.evaluate(COUNT_RUNS)

    @contextlib.contextmanager
    def rerun(self) -> Iterator[None]:
        """Do what makes the script run, and wait until the page is drawn again."""
        runs = self.page.evaluate("window.finishedRuns")
        yield
        self._await(f"() => window.finishedRuns > {runs}")
        self._await(DRAWN)

    def wait(self) -> None:
        """Wait until the page is drawn."""
        self._await(DRAWN)

    def _await(self, condition: str) -> None:
        try:
            self.page.wait_for_function(condition)
        except TimeoutError as error:
            waits = self.page.evaluate(WAITS)
            raise AssertionError(
                f"{self.page.url} waits for {waits}; it complained {self.complaints}."
            ) from error

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.complaints.append(f"{message.text} {message.location['url']}")

    def _stop(self, route: Route, request: Request) -> None:
        self._watch(request.url)
        route.abort()

    def _watch(self, url: str) -> None:
        if ELSEWHERE.match(url):
            self.strays.append(url)


@dataclass(frozen=True)
class Look:
    """A screen: its size in pixels, and whether its owner likes it light or dark."""

    width: int
    height: int
    scheme: Literal["light", "dark"]

    def context(self, browser: Browser) -> BrowserContext:
        """A browser that has not been here before, with this screen."""
        size: ViewportSize = {"width": self.width, "height": self.height}
        return browser.new_context(viewport=size, color_scheme=self.scheme)
