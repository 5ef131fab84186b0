"""The client of a visitor's own model, against a fake endpoint on this machine."""

from __future__ import annotations

import copy
import json
import logging
import pickle
import threading
import traceback
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from models.arena import endpoint as module
from models.arena.endpoint import MOST_BYTES, Endpoint, EndpointError

pytestmark = pytest.mark.unit

KEY = "sk-very-secret-0123456789"
PREFIX, SUFFIX = "def add(a, b):\n    return ", "\n\nprint(add(1, 2))\n"


class Fake(BaseHTTPRequestHandler):
    """Answers as the path's first part says: /slow/v1/completions is slow."""

    seen: ClassVar[list[tuple[str, dict, str | None]]] = []
    gate = threading.Event()  # opened at the end of a test, so that no handler outlives it
    running: ClassVar[list[int]] = [0, 0]  # now, most
    lock = threading.Lock()

    def log_message(self, *args) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append((self.path, asked, self.headers["Authorization"]))
        kind = self.path.split("/")[1]
        if kind == "chatonly" and self.path.endswith("/v1/completions"):
            return self.answer(404, b"{}")
        match kind:
            case "v1":
                return self.answer(200, completion("a + b"))
            case "chatonly":
                return self.answer(200, chat("<CODE>\n    return a + b\n</CODE>"))
            case "slow":
                self.gate.wait(30)
                return None
            case "drip":
                self.send_response(200)
                self.send_header("Content-Length", "100000")
                self.end_headers()
                while not self.gate.wait(0.02):
                    try:
                        self.wfile.write(b" ")
                    except OSError:
                        break
                return None
            case "error":
                return self.answer(500, f"Traceback: bad key {KEY}".encode())
            case "key":
                return self.answer(401, f"wrong key {KEY}".encode())
            case "text":
                return self.answer(200, b"<html>busy</html>")
            case "shape":
                return self.answer(200, b'{"choices": []}')
            case "number":
                return self.answer(200, b'{"choices": [{"text": 7}]}')
            case "deep":
                return self.answer(200, b"[" * 200_000)
            case "huge":
                return self.answer(200, completion("x" * (MOST_BYTES + 10)))
            case "long":
                return self.answer(200, completion("\n".join(f"x{i} = {i}" for i in range(400))))
            case "blank":
                return self.answer(200, completion("  \n \n"))
            case "moved":
                self.send_response(307)
                self.send_header("Location", "/v1/completions")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return None
            case "two":
                with self.lock:
                    self.running[0] += 1
                    self.running[1] = max(self.running)
                self.gate.wait(0.3)
                with self.lock:
                    self.running[0] -= 1
                return self.answer(200, completion("1"))
            case "junk":
                self.wfile.write(b"this is not HTTP\r\n\r\n")
                return None
        return self.answer(404, b"")

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(OSError):  # the client may have heard enough
            self.wfile.write(body)


def completion(text: str) -> bytes:
    return json.dumps({"choices": [{"text": text}]}).encode()


def chat(text: str) -> bytes:
    return json.dumps({"choices": [{"message": {"content": text}}]}).encode()


@pytest.fixture
def base() -> Iterator[str]:
    Fake.seen.clear()
    Fake.running[:] = [0, 0]
    Fake.gate.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Fake)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    Fake.gate.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("tail", ["", "/", "/v1", "/v1/"])
def test_native_suffix_is_sent_and_the_text_returned(base, tail):
    got = Endpoint(base + tail, "coder", KEY).complete(PREFIX, SUFFIX)
    assert (got.raw, got.text, got.way) == ("a + b", "a + b", "completions")
    assert got.latency_ms > 0
    ((path, asked, key),) = Fake.seen
    assert path == "/v1/completions"
    assert (asked["prompt"], asked["suffix"], asked["model"]) == (PREFIX, SUFFIX, "coder")
    assert (asked["temperature"], asked["top_p"], asked["max_tokens"]) == (0.5, 0.9, 512)
    assert key == f"Bearer {KEY}"


def test_no_key_and_no_suffix_are_not_sent(base):
    Endpoint(base, "coder").complete(PREFIX, "")
    ((_, asked, key),) = Fake.seen
    assert key is None
    assert "suffix" not in asked


def test_a_chat_endpoint_is_asked_by_the_infill_method(base):
    got = Endpoint(base + "/chatonly", "coder", KEY).complete(PREFIX, SUFFIX)
    assert (got.text, got.way) == ("a + b", "chat")
    assert got.raw.startswith("<CODE>")
    assert [path for path, *_ in Fake.seen] == [
        "/chatonly/v1/completions",
        "/chatonly/v1/chat/completions",
    ]
    assert PREFIX in Fake.seen[1][1]["messages"][1]["content"]


def test_the_way_can_be_chosen(base):
    one = Endpoint(base + "/chatonly", "coder")
    assert one.complete(PREFIX, SUFFIX, way="chat").way == "chat"
    with pytest.raises(EndpointError, match="does not know /completions"):
        one.complete(PREFIX, SUFFIX, way="completions")


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("error", r"error \(HTTP 500\)"),
        ("key", r"refuses the key \(HTTP 401\)"),
        ("text", "not the JSON of a completion"),
        ("shape", "not the JSON of a completion"),
        ("deep", "not the JSON of a completion"),
        ("number", "holds no text"),
        ("huge", "longer than 1,000,000 bytes"),
        ("moved", r"redirects elsewhere \(HTTP 307\)"),
        ("junk", "is no HTTP"),
        ("nothing", "does not know /chat/completions"),
    ],
)
def test_a_bad_answer_becomes_one_sentence_without_the_key(base, kind, says, caplog):
    caplog.set_level(logging.DEBUG)
    with pytest.raises(EndpointError, match=says) as caught:
        Endpoint(f"{base}/{kind}", "coder", KEY).complete(PREFIX, SUFFIX)
    whole = "".join(traceback.format_exception(caught.value))
    assert KEY not in str(caught.value) + whole + caplog.text
    assert str(caught.value).count(". ") == 0
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("kind", ["slow", "drip"])
def test_slow_answers_end_at_the_time_out(base, kind):
    with pytest.raises(EndpointError, match=r"did not answer within 0\.3 s"):
        Endpoint(f"{base}/{kind}", "coder", KEY, timeout=0.3).complete(PREFIX, SUFFIX)


def test_the_time_out_is_fifteen_seconds():
    assert Endpoint("http://localhost", "coder").timeout == 15


def test_nobody_there(base):
    with pytest.raises(EndpointError, match="cannot be reached"):
        Endpoint("http://127.0.0.1:1", "coder", KEY).complete(PREFIX, SUFFIX)


def test_a_long_answer_is_cut_to_five_lines(base):
    got = Endpoint(base + "/long", "coder").complete(PREFIX, SUFFIX)
    assert got.text == "x0 = 0\nx1 = 1\nx2 = 2\nx3 = 3\nx4 = 4"


def test_blanks_alone_are_no_completion(base):
    assert Endpoint(base + "/blank", "coder").complete(PREFIX, SUFFIX).text == ""


def test_at_most_two_requests_run_at_once(base):
    one = Endpoint(base + "/two", "coder")
    threads = [threading.Thread(target=one.complete, args=(PREFIX, SUFFIX)) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(Fake.seen) == 5
    assert Fake.running[1] <= 2


def test_a_third_request_is_told_to_wait(base, monkeypatch):
    monkeypatch.setattr(module, "_FREE", threading.BoundedSemaphore(1))
    assert module._FREE.acquire(blocking=False)
    with pytest.raises(EndpointError, match="try again later"):
        Endpoint(base, "coder", timeout=0.05).complete(PREFIX, SUFFIX)
    assert Fake.seen == []


def test_the_key_is_never_written():
    one = Endpoint("https://api.example.org/v1", "coder", KEY)
    assert KEY not in repr(one) + str(one) + f"{one}"
    for write in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="in memory only"):
            write(one)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("", "must begin with http"),
        ("localhost:8000", "must begin with http"),
        ("ftp://host/v1", "must begin with http"),
        ("file:///etc/passwd", "must begin with http"),
        ("http://", "must begin with http"),
        ("http://host:99999/v1", "must begin with http"),
        ("http://me:secret@host/v1", "no user name"),
        ("http://host/v1?key=secret", "no user name, query"),
        ("http://host/a b", "blank or a control"),
        ("http://host/\x00", "blank or a control"),
    ],
)
def test_a_bad_address_is_refused_at_once(url, says):
    with pytest.raises(ValueError, match=says) as caught:
        Endpoint(url, "coder", KEY)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("key", ["two words", "line\r\nX-Evil: 1", "clé", "x" * 5000])
def test_a_bad_key_is_refused_and_not_repeated(key):
    with pytest.raises(ValueError, match="printable ASCII") as caught:
        Endpoint("http://host", "coder", key)
    assert key not in str(caught.value)


def test_a_model_needs_a_name():
    with pytest.raises(ValueError, match="has no name"):
        Endpoint("http://host", " ")
