"""``make bench``: speed against peers as ratios in one run, and the budgets, in one table.

python tests/bench/run.py [--only peers|dashboard] [--long]
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from pathlib import Path

# Not as the package tests.bench: a peer installs a package of the name tests.
sys.path.append(str(Path(__file__).resolve().parents[2]))

import dashboard
import diffusion
import numpy as np
import peers
import testing
from table import Row, show


def main() -> int:
    """Measure what is asked for and print the table; 1 if a peer's values differ from ours."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=("peers", "dashboard"))
    parser.add_argument("--long", action="store_true", help="also 1,000 reruns for the memory row")
    asked = parser.parse_args()
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    print(
        f"{os.cpu_count()} cores, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"load {load}\n"
    )
    rows: list[Row] = []
    if asked.only != "dashboard":
        rows += peers.rows() + testing.rows() + diffusion.rows()
    if asked.only != "peers":
        rows += dashboard.rows(long=asked.long)
    print(show(rows))
    return int(any(row.equal is False for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
