"""`python app.py` and `streamlit run app.py` start a server that answers on this machine only."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import shlex
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytestmark = pytest.mark.app

ROOT = Path(__file__).resolve().parents[3]
APP = str(ROOT / "app.py")
USUAL_PORT = 8501
PATIENCE = 120.0  # seconds after which what has not happened counts as failed

# What a visitor may type; below a path of its own, as a proxy would show it, and without.
STARTS = {
    "python app.py": ([sys.executable, APP], ""),
    "streamlit run app.py": (
        [sys.executable, "-m", "streamlit", "run", APP, "--server.baseUrlPath", "lab/demo"],
        "/lab/demo",
    ),
}

# A browser that only reports which address it was asked to open.
BROWSER = """
import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as tester:
    tester.sendall(sys.argv[2].encode())
"""


@dataclass(frozen=True)
class Answer:
    """What the server sent back."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes


@dataclass(frozen=True)
class Server:
    """A running dashboard: where it said it is, what it printed, where its browser reports."""

    url: str
    output: str
    browser: socket.socket

    def get(self, path: str) -> Answer:
        """Answer to a path sent as it stands; `urllib` would tidy `..` away."""
        parts = urlsplit(self.url)
        connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=PATIENCE)
        with contextlib.closing(connection):
            connection.request("GET", parts.path + path)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())


@contextlib.contextmanager
def taken(port: int) -> Iterator[None]:
    """Keep a port busy, unless someone else does already."""
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):
            holder.bind(("127.0.0.1", port))
            holder.listen()
        yield


@pytest.fixture(scope="module", params=STARTS)
def start(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def server(start: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The dashboard, started from another folder, on a desktop, while its usual port is busy."""
    folder = tmp_path_factory.mktemp("elsewhere")
    browser = folder / "browser.py"
    browser.write_text(BROWSER)
    theirs = {k: v for k, v in os.environ.items() if not k.startswith("STREAMLIT_")}
    with taken(USUAL_PORT), socket.create_server(("127.0.0.1", 0)) as reports:
        reports.settimeout(PATIENCE)
        command = shlex.join([sys.executable, str(browser), str(reports.getsockname()[1])])
        process = subprocess.Popen(
            STARTS[start][0],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            env=theirs | {"STREAMLIT_SERVER_HEADLESS": "false", "BROWSER": f"{command} %s"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        alarm = threading.Timer(PATIENCE, process.kill)
        alarm.start()
        try:
            output = ""
            for line in process.stdout or ():
                output += line
                if said := re.search(r"Liveproof is at (\S+)", line):
                    break
            else:
                pytest.fail(f"The server ended before it said where it is:\n{output}")
            alarm.cancel()
            yield Server(said[1], output, reports)
        finally:
            alarm.cancel()
            process.terminate()
            process.communicate()


def test_a_free_port_is_found_when_the_usual_one_is_taken(server: Server, start: str) -> None:
    parts = urlsplit(server.url)
    assert (parts.scheme, parts.hostname, parts.path) == ("http", "127.0.0.1", STARTS[start][1])
    assert parts.port is not None
    assert parts.port > USUAL_PORT


def test_every_setting_is_known_to_streamlit(server: Server) -> None:
    """A misspelt option is only logged, while the server starts."""
    assert "config option" not in server.output


def test_health_answers_ok(server: Server) -> None:
    answer = server.get("/_stcore/health")
    assert (answer.status, answer.body) == (200, b"ok")


def test_a_tab_opens_at_the_address(server: Server) -> None:
    connection, _ = server.browser.accept()
    with connection, connection.makefile() as tab:
        assert tab.read() == server.url


def test_only_this_machine_can_reach_it(server: Server) -> None:
    """127.0.0.2 is this machine too, but not the address bound; a wildcard would answer there."""
    with socket.socket() as visitor:
        visitor.settimeout(5)
        assert visitor.connect_ex(("127.0.0.2", urlsplit(server.url).port or 0)) != 0


@pytest.mark.parametrize("font", sorted(f.name for f in (ROOT / "assets/fonts").glob("*.woff2")))
def test_fonts_come_with_their_type_and_leave_to_keep_them(server: Server, font: str) -> None:
    answer = server.get(f"/fonts/{font}")
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "font/woff2"
    assert answer.headers["Cache-Control"] == "public, max-age=2592000"
    assert answer.headers["ETag"]
    assert answer.body == (ROOT / "assets/fonts" / font).read_bytes()


@pytest.mark.parametrize(
    "path",
    [
        "/fonts/../icon.svg",
        "/fonts/%2e%2e/icon.svg",
        "/fonts/..%2ficon.svg",
        "/fonts/%2e%2e%2f%2e%2e%2fapp.py",
        "/fonts/..%5c..%5capp.py",
        "/fonts/....//icon.svg",
        "/fonts//etc/passwd",
        "/fonts/%2fetc%2fpasswd",
        "/fonts/inter.woff2%00.svg",
        "/fonts/",
        "/fonts/none.woff2",
    ],
)
def test_no_path_leads_out_of_the_fonts(server: Server, path: str) -> None:
    answer = server.get(path)
    assert answer.status in (400, 404)
    assert answer.headers["Cache-Control"] is None
    assert len(answer.body) < 100


def test_the_tab_wears_our_icon_before_the_page_is_there(server: Server) -> None:
    answer = server.get("/favicon.png")
    assert (answer.status, answer.headers["Content-Type"]) == (200, "image/png")
    assert answer.body == (ROOT / "assets/icon.png").read_bytes()


def test_what_every_page_needs_is_imported_once_and_left_alone_by_the_collector() -> None:
    """Served by another ASGI server, it says nothing: that server knows the port, we do not."""
    script = """
import asyncio, gc, json, sys
import app
async def served():
    async with app.lifespan(app.app):
        print(json.dumps([gc.get_freeze_count(), len(gc.get_objects()), sorted(sys.modules)]))
asyncio.run(served())
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    frozen, visited, modules = json.loads(done.stdout)
    assert {"numpy", "pandas", "plotly.graph_objects", "scipy.stats"} <= set(modules)
    assert not {"torch", "diffusers"} & set(modules)
    assert visited < frozen / 10
