"""Rebuild assets/steering/digits.npz with requirements-data.txt installed.

Run `python scripts/build_steering_data.py`. The digits are scikit-learn's, all of them, in its
order and with its values 0 to 16. Neither the dashboard nor its tests run this.
"""

# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

DATA = Path(__file__).resolve().parent.parent / "assets" / "steering" / "digits.npz"

if __name__ == "__main__":
    pixels, digit = load_digits(return_X_y=True)
    DATA.parent.mkdir(parents=True, exist_ok=True)
    images = pixels.reshape(-1, 8, 8).astype(np.uint8)
    np.savez_compressed(DATA, images=images, digit=digit.astype(np.uint8))
