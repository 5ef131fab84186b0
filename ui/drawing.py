"""A pad to draw a small grey picture on, by mouse, touch or keyboard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import streamlit as st

from ui.controls import Controls

_JS = (Path(__file__).with_name("drawing.js")).read_text(encoding="utf-8")
_CSS = (Path(__file__).with_name("drawing.css")).read_text(encoding="utf-8")
_HTML = (
    '<div class="pad"><canvas tabindex="0" role="application"></canvas>'
    '<div class="side"><button type="button">Clear</button>'
    '<p class="told" aria-live="polite"></p></div></div>'
)
LEVELS = 4  # darkness of a cell, from 0


def read_cells(value: Any, size: int) -> npt.NDArray[np.float64] | None:
    """Return what the browser sent as an array (size, size) in [0, 1], or None if it is not one.

    An empty picture is None too.
    """
    if not isinstance(value, list) or len(value) != size * size:
        return None
    if not all(isinstance(v, int) and not isinstance(v, bool) and 0 <= v <= LEVELS for v in value):
        return None
    cells = np.array(value, dtype=np.float64).reshape(size, size) / LEVELS
    return cells if cells.any() else None


def drawing_pad(controls: Controls, name: str, size: int, label: str) -> Any:
    """Draw the pad; returns the picture, float64 (size, size) in [0, 1], or None while empty."""
    pad = st.components.v2.component("liveproof_drawing", html=_HTML, css=_CSS, js=_JS)
    key = controls.key(name)
    kept = st.session_state.get(f"{key}_cells")
    found = pad(
        key=key,
        data={"size": size, "levels": LEVELS, "label": label, "cells": kept},
        default={"cells": kept},
        on_cells_change=lambda: None,
    )
    st.session_state[f"{key}_cells"] = found.cells
    return read_cells(found.cells, size)
