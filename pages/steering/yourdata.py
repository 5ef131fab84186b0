"""The visitor's own points on the steering page: upload, checks, and what is fitted to them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from models.checks import Float
from models.diffusion.fitting import standardise
from models.steering.playground import default_mixture
from ui.controls import Controls
from ui.report import csv_bytes
from ui.upload import Column, plain, upload_table

X = Column(
    "x", "Across", "The first coordinate.", True,
    ("x1", "longitude", "lon", "first", "east"), "number",
)  # fmt: skip
Y = Column(
    "y", "Up", "The second coordinate.", True,
    ("x2", "latitude", "lat", "second", "north"), "number",
)  # fmt: skip
MOST = 20_000
TEMPLATE = pd.DataFrame(
    {
        "x": [1.2, -0.4, 0.9, 1.5, -0.7, -0.2, 1.1, -0.5, 0.8, 1.3, -0.3, 1.0],
        "y": [0.3, 1.1, -2.0, 0.5, 1.4, 0.9, -1.8, 1.2, -2.2, 0.1, 1.0, -1.9],
    }
)


@dataclass(frozen=True, eq=False)
class Upload:
    """A visitor's points, standardised, shape (n, 2), and the lines of Python that load them."""

    points: Float
    name: str
    digest: str
    code: str


def upload(controls: Controls) -> Upload | None:
    """Draw the upload and return usable points, or None; errors are shown as sentences."""
    st.markdown(
        "Bring points in the plane, one a row. Gaussian groups are fitted to them, and the "
        "diffusion model that draws from these groups exactly is then steered. Coordinates are "
        "shown in standard deviations from their mean."
    )
    mapped = upload_table(
        controls.slug,
        (X, Y),
        template=TEMPLATE,
        sample=("steering_sample.csv", sample_bytes()),
    )
    found = None
    if mapped is not None:
        names = [st.session_state[controls.key(f"map_{role}")] for role in ("x", "y")]
        points: Float = np.stack([mapped.values["x"].values, mapped.values["y"].values], axis=1)
        try:
            if len(points) > MOST:
                raise ValueError(
                    f"The file has {len(points):,} points, but at most {MOST:,} are fitted: "
                    "bring a random part of them."
                )
            found = Upload(
                standardise(points),
                mapped.table.name,
                hashlib.sha256(f"{mapped.table.sha256}{names}".encode()).hexdigest(),
                f"table = pd.read_csv({mapped.table.name!r})\n"
                f"points = standardise(table[{names!r}].to_numpy(float))",
            )
        except ValueError as error:
            st.error(plain(str(error)))
    if found is not None and st.session_state.get(controls.key("source")) != "yours":
        st.button(
            "Steer samples of these points",
            key=controls.key("show_own"),
            type="primary",
            on_click=controls.write,
            args=({"source": "yours"},),
        )
    return found


@st.cache_data(max_entries=1, show_spinner=False)
def sample_bytes() -> bytes:
    """Return a sample file: 300 draws of the page's three groups, moved and stretched."""
    points = default_mixture().sample(300, np.random.default_rng(7)).numpy()
    frame = pd.DataFrame((points * [3.0, 10.0] + [20.0, 100.0]).round(3), columns=["x", "y"])
    return csv_bytes(frame)
