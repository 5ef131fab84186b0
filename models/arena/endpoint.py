"""A visitor's own model, behind an OpenAI-compatible address: ``/v1/completions`` or chat.

Asked first for a completion with the code after the cursor as ``suffix``, which models that can
fill in understand. An endpoint that does not know that address is asked as a chat model, by the
prompt of ``infill``. Address, model and key stay in memory, and no text that is shown or logged
holds the key.
"""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from models.arena.infill import Order, context, prompt
from models.arena.postprocess import MAX_LINES
from models.arena.strict import strict

TIMEOUT = 15.0  # seconds for the whole request, as released
MOST_BYTES = 1_000_000
AT_ONCE = 2
_FREE = threading.BoundedSemaphore(AT_ONCE)
_UNKNOWN = {404, 405, 501}
_MOST_KEY = 4096

Way = Literal["completions", "chat"]


class EndpointError(ValueError):
    """One sentence on why there is no completion; never with the key in it."""


class _NotThere(EndpointError):
    """The address does not exist at this endpoint."""


@dataclass(frozen=True)
class EndpointCompletion:
    """What an endpoint wrote.

    Attributes
    ----------
    raw, text : as received, and as it is inserted at the cursor (at most five lines)
    latency_ms : of the request that answered, > 0
    way : by which address
    """

    raw: str
    text: str
    latency_ms: float
    way: Way


@dataclass(frozen=True)
class Endpoint:
    """An address, a model's name and a key.

    Parameters
    ----------
    url : "http://…" or "https://…", with or without the final "/v1"
    model : as the endpoint names it
    key : "" if none is needed
    temperature, top_p, most_tokens : as the released client asks
    timeout : seconds for a whole request

    Raises
    ------
    ValueError
        If the address is no http address, holds a user name or a query, or the model has no name.
    """

    url: str
    model: str
    key: str = field(default="", repr=False)
    temperature: float = 0.5
    top_p: float = 0.9
    most_tokens: int = 512
    timeout: float = TIMEOUT
    order: Order = "PSM"

    def __post_init__(self) -> None:
        """Check what the visitor gave."""
        parts = urlsplit(self.url.strip())
        try:
            port_fits = parts.port is None or parts.port > 0
        except ValueError:
            port_fits = False
        if parts.scheme not in ("http", "https") or not parts.hostname or not port_fits:
            raise ValueError(
                "The address must begin with http:// or https:// and name a host, as in "
                "http://localhost:8000/v1."
            )
        if parts.username is not None or parts.query or parts.fragment:
            raise ValueError(
                "The address must hold no user name, query or fragment; the key has its own field."
            )
        if any(sign.isspace() or not sign.isprintable() for sign in self.url.strip()):
            raise ValueError("The address holds a blank or a control character.")
        if not self.model.strip():
            raise ValueError("The model has no name: write it as the endpoint calls it.")
        if len(self.key) > _MOST_KEY or not all(33 <= ord(sign) < 127 for sign in self.key):
            raise ValueError(
                f"The key must be at most {_MOST_KEY} printable ASCII characters without blanks."
            )

    def __reduce__(self) -> Any:
        """Refuse to be written anywhere."""
        raise TypeError("An endpoint is kept in memory only, because it holds a key.")

    def complete(self, prefix: str, suffix: str, *, way: Way | None = None) -> EndpointCompletion:
        """Ask for the code between prefix and suffix; at most two ask at the same time.

        Parameters
        ----------
        way : by default "completions", and "chat" if the endpoint does not know that

        Raises
        ------
        EndpointError
            In one sentence: refused, too slow, too long, redirected, or not understood.
        """
        before, after = context(prefix, suffix)
        if not _FREE.acquire(timeout=self.timeout):
            raise EndpointError(
                f"{AT_ONCE} requests have been running for {self.timeout:g} s: try again later."
            )
        try:
            if way != "chat":
                try:
                    raw, took = self._ask("completions", self._fill_in(before, after))
                except _NotThere:
                    if way == "completions":
                        raise
                else:
                    text = strict(raw, prefix, suffix, overlap=False)
                    return EndpointCompletion(raw, _filled(text), took, "completions")
            raw, took = self._ask("chat/completions", self._chat(before, after))
            return EndpointCompletion(raw, _filled(strict(raw, prefix, suffix)), took, "chat")
        finally:
            _FREE.release()

    def _fill_in(self, prefix: str, suffix: str) -> dict[str, Any]:
        asked: dict[str, Any] = self._settings() | {"prompt": prefix}
        return asked | {"suffix": suffix} if suffix else asked

    def _chat(self, prefix: str, suffix: str) -> dict[str, Any]:
        asked = prompt(prefix, suffix, self.order)
        said = [("system", asked.system), ("user", asked.user)]
        messages = [{"role": role, "content": text} for role, text in said]
        return self._settings() | {"messages": messages}

    def _settings(self) -> dict[str, Any]:
        return {
            "model": self.model.strip(),
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.most_tokens,
            "stream": False,
        }

    def _ask(
        self, what: Literal["completions", "chat/completions"], asked: Any
    ) -> tuple[str, float]:
        start = time.monotonic()
        status, body = self._post(what, json.dumps(asked).encode(), start + self.timeout)
        took = max(1000 * (time.monotonic() - start), 1e-3)
        if status in _UNKNOWN:
            raise _NotThere(f"The endpoint does not know /{what} (HTTP {status}).")
        if 300 <= status < 400:
            raise EndpointError(
                f"The endpoint redirects elsewhere (HTTP {status}); the key is not sent on, so "
                "give the final address."
            )
        if status in (401, 403):
            raise EndpointError(f"The endpoint refuses the key (HTTP {status}).")
        if status != 200:
            raise EndpointError(f"The endpoint answers with an error (HTTP {status}).")
        return _text(body, chat=what != "completions"), took

    def _post(self, what: str, data: bytes, until: float) -> tuple[int, bytes]:
        """Send and read; the time-out holds for the whole, however slowly bytes drip in."""
        parts = urlsplit(self.url.strip())
        base = parts.path.rstrip("/")
        path = f"{base if base.endswith('/v1') else base + '/v1'}/{what}"
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        connection: http.client.HTTPConnection
        host = str(parts.hostname)
        if parts.scheme == "https":
            connection = http.client.HTTPSConnection(
                host, parts.port, timeout=self.timeout, context=ssl.create_default_context()
            )
        else:
            connection = http.client.HTTPConnection(host, parts.port, timeout=self.timeout)
        late, watch = threading.Event(), None
        try:
            connection.connect()
            # A time-out of the socket holds for one read only: a drip would go on for ever.
            left = max(0.0, until - time.monotonic())
            watch = threading.Timer(left, _hang_up, (connection.sock, late))
            watch.daemon = True
            watch.start()
            connection.request("POST", path, data, headers)
            with connection.getresponse() as answer:
                body = answer.read(MOST_BYTES + 1)
        except (OSError, http.client.HTTPException, ValueError, AttributeError) as error:
            if late.is_set() or isinstance(error, TimeoutError):
                raise EndpointError(
                    f"The endpoint did not answer within {self.timeout:g} s."
                ) from None
            raise EndpointError(f"The endpoint cannot be reached ({_kind(error)}).") from None
        finally:
            if watch is not None:
                watch.cancel()
            connection.close()
        if late.is_set():
            raise EndpointError(f"The endpoint did not answer within {self.timeout:g} s.")
        if len(body) > MOST_BYTES:
            raise EndpointError(f"The endpoint's answer is longer than {MOST_BYTES:,} bytes.")
        return answer.status, body


def _hang_up(line: socket.socket, late: threading.Event) -> None:
    late.set()
    with suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)


def _kind(error: Exception) -> str:
    """Say what went wrong without quoting the error, which may hold what was sent."""
    reasons: tuple[tuple[type[Exception], str], ...] = (
        (ssl.SSLError, "no secure connection"),
        (ConnectionRefusedError, "connection refused"),
        (ConnectionError, "connection broken"),
        (http.client.HTTPException, "its answer is no HTTP"),
    )
    return next((text for kind, text in reasons if isinstance(error, kind)), "no such host")


def _text(body: bytes, *, chat: bool) -> str:
    """Return the completion in an answer."""
    try:
        choice = json.loads(body)["choices"][0]
        text = choice["message"]["content"] if chat else choice["text"]
    except (ValueError, LookupError, TypeError, RecursionError):
        raise EndpointError("The endpoint's answer is not the JSON of a completion.") from None
    if not isinstance(text, str):
        raise EndpointError("The endpoint's answer holds no text.")
    return text


def _filled(text: str) -> str:
    """Return the text, or "" if nothing but blanks is left; at most five lines."""
    return "\n".join(text.split("\n")[:MAX_LINES]) if text.strip() else ""
