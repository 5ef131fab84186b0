"""Files from strangers as text, line by line: size bounded, gzip unpacked, encoding checked."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

MOST_BYTES = 1 << 30  # after unpacking
MOST_CHARACTERS = 1 << 24  # of one record

_ZIP, _GZIP = b"PK\x03\x04", b"\x1f\x8b"


class Bounded(io.RawIOBase):
    """A byte stream that refuses to give more than ``most`` bytes."""

    def __init__(self, source: Any, most: int) -> None:
        """Wrap anything with ``read(size)``."""
        self._source, self._most, self._left = source, most, most

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer from the source."""
        data = self._source.read(len(buffer))
        self._left -= len(data)
        if self._left < 0:
            raise ValueError(
                f"The file is larger than {self._most / 2**20:,.0f} MB when unpacked: split it."
            )
        buffer[: len(data)] = data
        return len(data)


def open_text(stream: IO[bytes], most: int = MOST_BYTES) -> io.TextIOWrapper:
    """Return the stream as UTF-8 text with its line ends as they are.

    Raises
    ------
    ValueError
        If it is empty, a zip archive, or in UTF-16.
    """
    head = io.BufferedReader(Bounded(stream, most))
    start = head.peek(4)[:4]
    if not start:
        raise ValueError("The file is empty.")
    if start == _ZIP:
        raise ValueError(
            "This is a zip archive, perhaps a workbook: save the votes as CSV, JSONL or JSON."
        )
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ValueError("The file is in UTF-16: save it as UTF-8.")
    body: Any = head
    if start[:2] == _GZIP:
        body = io.BufferedReader(Bounded(gzip.GzipFile(fileobj=head), most))
    return io.TextIOWrapper(body, encoding="utf-8-sig", errors="strict", newline="")


def lines(text: io.TextIOWrapper) -> Iterator[str]:
    r"""Yield lines with their ends, which may be \n, \r\n or \r.

    Raises
    ------
    ValueError
        If a line exceeds the bound, or the bytes are not UTF-8 or no valid gzip.
    """
    number = 0
    with readable_errors():
        while line := text.readline(MOST_CHARACTERS):
            number += 1
            if len(line) == MOST_CHARACTERS and line[-1] not in "\r\n":
                raise ValueError(
                    f"Line {number} is longer than {MOST_CHARACTERS:,} characters: is this a log "
                    "of votes?"
                )
            yield line


def chunks(text: io.TextIOWrapper, size: int = 1 << 16) -> Iterator[str]:
    """Yield the text piece by piece, with the same errors as :func:`lines`."""
    with readable_errors():
        while piece := text.read(size):
            yield piece


@contextmanager
def readable_errors() -> Iterator[None]:
    """Turn what decoding and unpacking raise into one sentence."""
    try:
        yield
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise ValueError(
            f"The file is not UTF-8 text (it holds the byte {byte:#04x}): save it as UTF-8."
        ) from None
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise ValueError("The gzip file is damaged or cut short: pack it again.") from None
