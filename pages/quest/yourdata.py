"""The visitor's own file on the QuEst page: upload, checks, and the results by group."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from models.quest.draws import Draw
from models.quest.estimate import prepare, quest
from models.quest.intake import Samples, from_arrays, from_columns
from pages.quest.settings import Settings
from ui.controls import Controls
from ui.report import csv_bytes
from ui.tables import UploadError
from ui.upload import Column, Mapped, plain, upload_table

LABEL = Column(
    "label",
    "True answer",
    "Blank cells mark the rows whose answer is not known.",
    True,
    ("gold", "truth", "y", "answer", "actual"),
    "number",
    blank_ok=True,
    infinite_ok=True,
)
PREDICTION = Column(
    "prediction",
    "Model prediction",
    "What the model says about the same row.",
    True,
    ("yhat", "pred", "predicted", "model", "score", "judge"),
    "number",
    blank_ok=True,
    infinite_ok=True,
)
GROUP = Column(
    "group", "Group", "One estimate for each group.", False, ("segment", "region"), "text", True
)
ID = Column(
    "id", "Row id", "Finds rows that stand among both kinds.", False, ("key", "name"), "text", True
)
ONE, TWO = "One file, blank labels mark the unlabelled rows", "Two files"


@dataclass(frozen=True)
class Upload:
    """A visitor's samples with what is needed to show and reproduce them.

    Attributes
    ----------
    digest : of the file's bytes and the chosen columns
    code : lines of Python that load the same arrays
    groups : samples of each group, where a group column was chosen
    group_problems : reasons why a group has no samples
    """

    samples: Samples
    name: str
    unit: str
    digest: str
    code: str
    groups: dict[str, Samples] = field(default_factory=dict)
    group_problems: dict[str, str] = field(default_factory=dict)


def upload(controls: Controls) -> Upload | None:
    """Draw the upload and return usable samples, or None; errors are shown as sentences."""
    st.markdown(
        "Bring a table with the true answer (blank where unknown) and the model's prediction of "
        "every row. You leave with an interval, a report and the code that prints the same numbers."
    )
    mode = st.radio(
        "How the data come", [ONE, TWO], key=controls.key("files"), horizontal=True,
        label_visibility="collapsed",
    )  # fmt: skip
    try:
        found = _one_file(controls) if mode == ONE else _two_files(controls)
    except ValueError as error:
        st.error(plain(str(error)))
        found = None
    if found is not None:
        for note in found.samples.notes:
            st.caption(plain(note))
        if st.session_state.get(controls.key("source")) != "yours":
            st.button(
                "Show these data in the picture",
                key=controls.key("show_own"),
                type="primary",
                on_click=controls.write,
                args=({"source": "yours"},),
            )
    return found


def results(settings: Settings, own: Upload | None) -> None:
    """Draw the answers by group, if there are groups."""
    if own is None or not (own.groups or own.group_problems):
        return
    table = by_group(own.groups, settings)
    left_out = pd.DataFrame(
        [{"group": name, "note": why} for name, why in own.group_problems.items()]
    )
    st.markdown("**By group**")
    st.dataframe(
        pd.concat([table, left_out], ignore_index=True), hide_index=True, key="quest_groups",
        alt="QuEst's answer for each group",
    )  # fmt: skip


def _one_file(controls: Controls) -> Upload | None:
    mapped = upload_table(
        controls.slug,
        (LABEL, PREDICTION, GROUP, ID),
        template=pd.DataFrame(
            {
                "id": ["a1", "a2", "a3", "a4"],
                "label": [12.5, 8.0, None, None],
                "prediction": [11.0, 9.5, 10.2, 7.7],
                "group": ["north", "south", "north", "south"],
            }
        ),
        sample=("quest_sample.csv", sample_bytes()),
    )
    if mapped is None:
        return None
    label, prediction = mapped.values["label"].values, mapped.values["prediction"].values
    samples = from_columns(label, prediction, mapped.texts.get("id"))
    groups, problems = _by_group(mapped.texts.get("group"), label, prediction)
    names = [st.session_state[controls.key(f"map_{role}")] for role in ("label", "prediction")]
    return Upload(
        samples,
        mapped.table.name,
        str(names[0]),
        _digest(mapped, names),
        _code_one(mapped, names),
        groups,
        problems,
    )


def _two_files(controls: Controls) -> Upload | None:
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("**Labelled rows**")
        labelled = upload_table(
            f"{controls.slug}_labelled",
            (LABEL, PREDICTION),
            template=pd.DataFrame({"label": [12.5, 8.0], "prediction": [11.0, 9.5]}),
        )
    with right:
        st.markdown("**Unlabelled rows**")
        pool = upload_table(
            f"{controls.slug}_pool",
            (PREDICTION,),
            template=pd.DataFrame({"prediction": [10.2, 7.7]}),
        )
    if labelled is None or pool is None:
        return None
    y, yhat = labelled.values["label"].values, labelled.values["prediction"].values
    rest = pool.values["prediction"].values
    if np.isnan(y).any():
        row = labelled.table.frame.index[int(np.argmax(np.isnan(y)))]
        raise UploadError(
            f"The file of labelled rows has no label in row {row}; move such rows to the other "
            "file."
        )
    own = from_columns(
        np.concatenate([y, np.full(rest.size, np.nan)]), np.concatenate([yhat, rest])
    )
    samples = from_arrays(own.labels, own.predictions, own.pool, own.notes)
    return Upload(
        samples,
        f"{labelled.table.name} and {pool.table.name}",
        "value",
        labelled.table.sha256[:16] + pool.table.sha256[:16],
        f'labelled = pd.read_csv("{labelled.table.name}")  # columns label, prediction\n'
        f'pool = pd.read_csv("{pool.table.name}")  # column prediction\n'
        "samples = from_arrays(labelled.label.to_numpy(float), "
        "labelled.prediction.to_numpy(float), pool.prediction.to_numpy(float))",
    )


@st.cache_data(max_entries=1, show_spinner=False)
def sample_bytes() -> bytes:
    """Return a sample file: 150 labelled and 1,000 unlabelled rows of the net-assets survey."""
    samples = Draw("net_assets", 150, 1000)(np.random.default_rng(7))
    return csv_bytes(
        pd.DataFrame(
            {
                "id": np.arange(1, 1151),
                "label": np.concatenate([samples.labels, np.full(1000, np.nan)]),
                "prediction": np.concatenate([samples.predictions, samples.pool]),
            }
        )
    )


def _by_group(
    names: npt.NDArray[np.object_] | None,
    label: npt.NDArray[np.float64],
    prediction: npt.NDArray[np.float64],
) -> tuple[dict[str, Samples], dict[str, str]]:
    groups: dict[str, Samples] = {}
    problems: dict[str, str] = {}
    if names is None:
        return groups, problems
    for name in sorted({str(name) for name in names}):
        rows = names == name
        try:
            groups[name or "(blank)"] = from_columns(label[rows], prediction[rows])
        except ValueError as error:
            problems[name or "(blank)"] = str(error)
    return groups, problems


def _digest(mapped: Mapped, names: list[object]) -> str:
    return hashlib.sha256(f"{mapped.table.sha256}{names}".encode()).hexdigest()


def _code_one(mapped: Mapped, names: list[object]) -> str:
    return (
        f"table = pd.read_csv({mapped.table.name!r})\n"
        f"samples = from_columns(table[{names[0]!r}].to_numpy(float), "
        f"table[{names[1]!r}].to_numpy(float))"
    )


def by_group(samples: dict[str, Samples], settings: Settings) -> pd.DataFrame:
    """Return QuEst's answer for each group, or the reason why a group has none."""
    rows = []
    for name, own in samples.items():
        row: dict[str, object] = {"group": name, "labels": own.labels.size}
        try:
            parts = prepare(
                own.labels, own.predictions, own.pool, settings.measure, alpha=settings.alpha
            )
            answer = quest(parts, lam=settings.lam, variance=settings.variance)
            row |= {
                "estimate": answer.estimate,
                "low": answer.low,
                "high": answer.high,
                "note": answer.refusal,
            }
        except ValueError as error:
            row |= {"note": str(error)}
        rows.append(row)
    return pd.DataFrame(rows)
