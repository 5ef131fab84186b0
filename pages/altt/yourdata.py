"""The visitor's own losses on the aLTT page: a file, its reading, and the way to the feed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from models.altt import cartpole
from models.altt.table import LossTable, read_losses
from ui.controls import Controls
from ui.report import csv_bytes
from ui.tables import EXTENSIONS, read_table
from ui.tables.limits import Limits
from ui.upload import plain

TEXT = ("csv", "tsv", "tab", "txt")
PARTS = ("file", "error", "read", "uploaded")


@dataclass(frozen=True)
class Upload:
    """A visitor's losses with what is needed to show and reproduce them.

    Attributes
    ----------
    digest : of the file's bytes and of how they are read
    code : lines of Python that read the same losses into `table`
    """

    table: LossTable
    name: str
    digest: str
    code: str


def upload(controls: Controls) -> Upload | None:
    """Draw the upload and return usable losses, or None; errors are shown as sentences."""
    st.markdown(
        "Bring the losses of your settings, numbers from 0 to 1. **Wide**: one column a setting, "
        "one row a sample. **Long**: columns *candidate* and *loss*, and *round* if the order "
        "matters. You leave with a certificate that anyone can recompute. Or test as you go, and "
        "type each loss in as it comes."
    )
    _offer(controls)
    file = st.session_state.get(controls.key("upload_file"))
    found = None if file is None else _read(controls, *file)
    with st.container(horizontal=True):
        if found is not None and st.session_state.get(controls.key("source")) != "yours":
            st.button(
                "Race these losses in the picture",
                key=controls.key("show_own"),
                type="primary",
                on_click=controls.write,
                args=({"source": "yours", "released": False},),
            )
        if st.session_state.get(controls.key("source")) != "feed":
            st.button(
                "Feed losses as I test",
                key=controls.key("show_feed"),
                icon=":material/edit:",
                on_click=controls.write,
                args=({"source": "feed", "released": False},),
            )
    return found


def _offer(controls: Controls) -> None:
    slug, limits = controls.slug, Limits.from_env()
    template = pd.DataFrame({"A": [0.0, 1.0, 0.0], "B": [0.25, 0.5, 0.0], "C": [1.0, 0.0, 1.0]})
    with st.container(horizontal=True):
        for label, key, name, data in (
            ("Template", "template", f"{slug}_template.csv", csv_bytes(template)),
            ("Sample", "sample", f"{slug}_sample.csv", sample_bytes()),
        ):
            st.download_button(
                label, data, name, "text/csv", key=f"{slug}_upload_{key}",
                icon=":material/download:", on_click="ignore",
            )  # fmt: skip
        st.button(
            "Try the sample",
            key=f"{slug}_upload_try",
            icon=":material/play_arrow:",
            on_click=_take,
            args=(controls, f"{slug}_sample.csv", sample_bytes()),
        )
    st.file_uploader(
        "Your losses",
        type=list(EXTENSIONS),
        key=f"{slug}_upload",
        max_upload_size=limits.megabytes,
        on_change=_take_uploaded,
        args=(controls,),
    )
    st.caption(
        f"CSV with commas, semicolons or tabs, also with decimal commas; Parquet, JSON lines or "
        f"XLSX; at most {limits.size}, 1,000,000 cells and 2,000 settings. The losses stay in the "
        "memory of this session and are gone when it ends."
    )


def _read(controls: Controls, name: str, data: bytes) -> Upload | None:
    """Read the file as the visitor says it is to be read."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        rewards = st.toggle(
            "These are rewards: use 1 − x",
            key=controls.key("upload_rewards"),
            help="Turns a value that should be large into a loss that should be small.",
        )
        scaled = st.toggle(
            "Scale by stated bounds",
            key=controls.key("upload_scaled"),
            help="For percentages or other units: give the smallest and largest value that is "
            "possible, not the ones that happened to occur.",
        )
        bounds = None
        if scaled:
            low = st.number_input("Smallest possible", value=0.0, key=controls.key("upload_low"))
            high = st.number_input("Largest possible", value=100.0, key=controls.key("upload_high"))
            bounds = (float(low), float(high))
    how = (hashlib.sha256(data).hexdigest(), rewards, bounds)
    kept = st.session_state.get(controls.key("upload_read"))
    if kept is None or kept[0] != how:
        try:
            kept = (how, read_losses(as_csv(data, name), rewards=rewards, bounds=bounds))
        except ValueError as error:
            kept = (how, str(error))
        st.session_state[controls.key("upload_read")] = kept
    table = kept[1]
    if isinstance(table, str):
        st.error(plain(table))
        _remove(controls)
        return None
    with st.container(horizontal=True, vertical_alignment="center"):
        total = sum(table.available)
        st.markdown(
            f"In use: **{plain(name)}**, {total:,} losses of {len(table.names):,} settings."
        )
        _remove(controls)
    for note in table.notes:
        st.caption(plain(note))
    return Upload(table, name, repr(how), code(name, rewards, bounds))


def _remove(controls: Controls) -> None:
    st.button(
        "Remove the table",
        key=controls.key("upload_remove"),
        type="tertiary",
        icon=":material/close:",
        on_click=_forget,
        args=(controls,),
    )


def code(name: str, rewards: bool, bounds: tuple[float, float] | None) -> str:
    """Return the Python lines that read the losses."""
    options = (", rewards=True" if rewards else "") + (f", bounds={bounds}" if bounds else "")
    if _extension(name) in TEXT:
        return f"with open({name!r}, 'rb') as file:\n    table = read_losses(file.read(){options})"
    reader = {"parquet": "read_parquet", "pq": "read_parquet", "xlsx": "read_excel"}
    call = reader.get(_extension(name), "read_json")
    return f"table = read_losses(pd.{call}({name!r}).to_csv(index=False){options})"


def as_csv(data: bytes, name: str) -> bytes | str:
    """Return a text file as it is, and any other kind of table as CSV.

    Raises
    ------
    ValueError
        One sentence on why the file cannot be used.
    """
    if len(data) > Limits.from_env().max_bytes:
        raise ValueError(f"The file has {len(data):,} bytes, more than is taken.")
    if _extension(name) in TEXT:
        return data
    return str(read_table(data, name).frame.to_csv(index=False))


def _extension(name: str) -> str:
    return name.rsplit(".", 1)[-1].lower()


def _take_uploaded(controls: Controls) -> None:
    file = st.session_state[controls.key("upload")]
    if file is None:
        _forget(controls)
    else:
        _take(controls, file.name, file.getvalue())


def _take(controls: Controls, name: str, data: bytes) -> None:
    _forget(controls)
    st.session_state[controls.key("upload_file")] = (name, data)


def _forget(controls: Controls) -> None:
    for part in PARTS:
        st.session_state.pop(controls.key(f"upload_{part}"), None)
    st.session_state.pop(controls.key("own_result"), None)


@st.cache_data(max_entries=1, show_spinner=False)
def sample_bytes() -> bytes:
    """Return a sample file: eight cart-pole controllers, 300 episodes each."""
    pool = cartpole.pool()
    rows = np.random.default_rng(7).integers(len(pool.losses), size=300)
    picked = np.arange(5, 20, 2)
    return csv_bytes(
        pd.DataFrame(
            pool.losses[np.ix_(rows, picked)].round(3), columns=[pool.names[i] for i in picked]
        )
    )
