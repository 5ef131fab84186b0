"""The process that opens a stranger's Parquet file: bytes on standard input, a table on output.

The answer is one line of JSON (a refusal in one sentence, or the columns left out), followed by
the table as an Arrow stream.
"""

from __future__ import annotations

import json
import sys

import pyarrow as pa

from ui.tables.limits import Limits, UploadError
from ui.tables.parquet import unpack

_MEMORY = 2 * 2**30
_CPU_SECONDS = 60


def main() -> None:
    """Read, unpack, answer."""
    limit_resources()
    output = sys.stdout.buffer
    try:
        table, left_out = unpack(sys.stdin.buffer.read(), Limits(**json.loads(sys.argv[1])))
    except UploadError as error:
        output.write(json.dumps({"refused": str(error)}).encode() + b"\n")
        return
    output.write(json.dumps({"left_out": left_out}).encode() + b"\n")
    with pa.ipc.new_stream(output, table.schema) as stream:
        stream.write_table(table)


def limit_resources() -> None:
    """Cap memory and processor time, so that a file cannot take the machine's."""
    try:
        import resource
    except ImportError:  # Windows has no such limits; the checks of sizes remain
        return
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
