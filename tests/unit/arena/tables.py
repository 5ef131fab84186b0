"""Small tables of battles for the tests."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from models.ranking.battles import Battles, from_names

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "arena"
SHARED = Path(__file__).resolve().parents[4] / "shared" / "golden" / "arena"


def golden(name: str) -> dict:
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


def table(*rows: tuple[str, str, int, int, int]) -> Battles:
    """Rows (model_a, model_b, wins of a, wins of b, ties)."""
    a, b, y = [], [], []
    for first, second, *counts in rows:
        for outcome, count in zip((1.0, 0.0, 0.5), counts, strict=True):
            a += [first] * count
            b += [second] * count
            y += [outcome] * count
    return from_names(a, b, y)


def from_case(case: dict) -> Battles:
    """The battles of a case of bt_small.json."""
    return table(*((a, b, x, y, t + bad) for a, b, x, y, t, bad in case["battles_spec"]))


def synthetic() -> tuple[dict, np.ndarray, np.ndarray, np.ndarray, list[str]]:
    """The recipe of bt_synthetic_100k.json: golden, a, b, y and names."""
    want = golden("bt_synthetic_100k")
    rng = np.random.default_rng(want["seed"])
    m, n = want["n_models"], want["n_battles"]
    theta = rng.normal(0.0, 0.6, m)
    theta -= theta.mean()
    a = rng.integers(0, m, n)
    b = (a + rng.integers(1, m, n)) % m
    u, t = rng.random(n), rng.random(n)
    p = 1 / (1 + np.exp(-(theta[a] - theta[b])))
    y = np.where(t < 0.08, 0.5, np.where(u < p, 1.0, 0.0))
    return want, a, b, y, [f"m{i:02d}" for i in range(m)]
