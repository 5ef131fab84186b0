"""``python -m models.altt verify certificate.json log.csv``: recompute a certificate."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from models.altt.certificate import verify


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0 if the certificate fits its log, 1 if anything was changed, 2 without a file."""
    parser = argparse.ArgumentParser(prog="python -m models.altt", description=__doc__)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("verify", help="recompute a certificate from its log")
    command.add_argument("certificate", type=Path, help="certificate.json")
    command.add_argument("log", type=Path, help="log.csv")
    chosen = parser.parse_args(arguments)
    try:
        faults = verify(chosen.certificate.read_bytes(), chosen.log.read_bytes())
    except OSError as missing:
        sys.stderr.write(f"{missing}\n")
        return 2
    for line in faults or ["Verified: the certificate follows from the log."]:
        sys.stdout.write(f"{line}\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
