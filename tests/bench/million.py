"""One QuEst interval on a million predictions: prints its CPU seconds and the peak memory in MB."""

from __future__ import annotations

import re
import time
from pathlib import Path

import numpy as np

from models.quest.estimate import estimate
from models.quest.measures import cvar_upper

if __name__ == "__main__":
    rng = np.random.default_rng(1)
    z = rng.normal(size=1_001_000)
    predicted = 0.3 + 0.8 * z + 0.6 * rng.normal(size=z.size)
    start = time.process_time()
    estimate(z[:1000], predicted[:1000], predicted[1000:], cvar_upper(0.8))
    spent = time.process_time() - start
    # Not getrusage: a child's figure there starts at what its parent had reached.
    peak = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    print(spent, int(peak[1]) / 1024 if peak else float("nan"))
