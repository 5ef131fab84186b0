"""Rebuild assets/altt: `python scripts/build_altt_data.py`, with requirements-data.txt installed.

The digits are scikit-learn's, the answers those of a logistic regression that was trained on a
third of them; only the other two thirds are written. The cart-pole episodes come from our own
simulator. Same packages, same seeds, same machine: same bytes. The dashboard never runs this.
"""

# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from models.altt import cartpole, digits  # noqa: E402

TRAINED_ON = 599  # a third of 1,797
EPISODES = 2000


def build_digits() -> None:
    """Train on a third, answer the rest."""
    pixels, digit = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(digit))
    train, rest = order[:TRAINED_ON], np.sort(order[TRAINED_ON:])
    model = LogisticRegression(C=0.01, max_iter=5000).fit(pixels[train], digit[train])
    chance = model.predict_proba(pixels[rest])
    np.savez_compressed(
        digits.DATA,
        images=pixels[rest].reshape(-1, 8, 8).astype(np.uint8),
        digit=digit[rest].astype(np.uint8),
        answer=chance.argmax(axis=1).astype(np.uint8),
        confidence=chance.max(axis=1).astype(np.float32),
    )


def build_cartpole() -> None:
    """Let each policy balance from the same starts."""
    start = cartpole.starts(EPISODES, np.random.default_rng(0))
    steps = cartpole.steps_balanced(cartpole.policies(), start)
    np.savez_compressed(cartpole.DATA, steps=steps.astype(np.uint8))


if __name__ == "__main__":
    digits.DATA.parent.mkdir(parents=True, exist_ok=True)
    build_digits()
    build_cartpole()
