"""What a visitor takes home from the aLTT page: the report, the certificate and its log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, asdict, fields, is_dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from models.altt.certificate import issue
from models.altt.race import Race
from models.altt.sheet import certificate_html
from models.catalog import Demo
from pages.altt import compute, texts
from pages.altt.compute import Run
from pages.altt.settings import OWN, SIMULATED, Settings
from pages.altt.yourdata import Upload
from ui.controls import Controls
from ui.report import Figure, Report

VERIFY = "python -m models.altt verify altt_certificate.json altt_log.csv"
UNUSED = {
    "risks": ("custom",),
    "names": ("feed",),
    "kind": SIMULATED,
}
IMPORTS = (
    "from models.altt.config import Config",
    "from models.altt.race import run",
)
BET = "from models.betting import Bet"


def build(
    demo: Demo,
    settings: Settings,
    run: Run,
    sentences: list[str],
    figure: tuple[go.Figure, str],
    upload: Upload | None,
) -> Report:
    """Collect the report of the state on screen."""
    paper = demo.papers[0]
    chosen = asdict(settings)
    for name, sources in UNUSED.items():
        if settings.source not in sources:
            del chosen[name]
    if upload is not None and settings.source == "yours":
        chosen["file"] = upload.name
    picture, alt = figure
    n = run.config.n_candidates
    return Report(
        slug=demo.slug,
        title=f"{demo.title}: {int(run.certified.sum())} of {n} settings certified",
        claim=paper.claim,
        sentences=(*sentences, texts.promise(run)),
        frame=texts.table(run),
        settings=chosen,
        seed=settings.seed,
        result={
            "guarantee": texts.promise(run),
            "certified": [run.names[i] for i in np.flatnonzero(run.certified)],
            "certified_numbers": np.flatnonzero(run.certified),
            "tests_used": run.trace.spent,
            "stopped": run.stopped or "by choice",
            "largest_log_wealth": round(float(run.log_wealth.max()), 6),
            "zeros_needed": run.zeros,
            "certified_in_turn": None if run.flat is None else int(run.flat.count[-1]),
            "certified_by_ltt": {name: int(mask.sum()) for name, mask in run.ltt.items()},
        },
        figures=(Figure("Wealth of every candidate", picture, alt),),
        snippet=snippet(settings, run, upload),
        citation=f"{paper.authors}: {paper.title}. {paper.venue}, arXiv {paper.arxiv}.",
    )


def snippet(settings: Settings, run: Run, upload: Upload | None) -> str:
    """Return the Python lines that print the largest log-wealth, the tests and the certified."""
    imports, made = _source(settings, upload)
    config = _call(run.config)
    if settings.source == "feed":
        return "\n".join(
            [
                "from models.altt.log import resume_json",
                "",
                "with open('altt_run.json', encoding='utf-8') as file:",
                "    state = resume_json(file.read())[0].state()",
                *_PRINT,
            ]
        )
    return "\n".join(
        [
            *(["import pandas as pd"] if "pd." in made else []),
            "import numpy as np",
            *sorted([*IMPORTS, *imports, *([BET] if "Bet(" in config else [])]),
            "",
            made,
            f"config = {config}",
            f"for state in run(config, source, np.random.default_rng({settings.seed})):",
            "    pass",
            *_PRINT,
        ]
    )


def _call(value: Any) -> str:
    """Return the call that makes a record, without what it leaves at the default."""
    given = []
    for item in fields(value):
        held = getattr(value, item.name)
        usual = item.default if item.default_factory is MISSING else item.default_factory()
        if held != usual:
            given.append(f"{item.name}={_call(held) if is_dataclass(held) else repr(held)}")
    return f"{type(value).__name__}({', '.join(given)})"


_PRINT = ("print(round(float(state.log_wealth.max()), 6), state.spent, *state.certified_ids)",)


def _source(settings: Settings, upload: Upload | None) -> tuple[list[str], str]:
    """Imports of a source of losses, and the lines that make it."""
    if settings.source == "yours" and upload is not None:
        return ["from models.altt.table import read_losses"], (
            f"{upload.code}\nsource = table.source()"
        )
    names = ["Stream"]
    imports = []
    match settings.source:
        case "digits":
            imports, world = (
                ["from models.altt import digits"],
                f"digits.load().pool({settings.alpha})",
            )
        case "cartpole":
            imports, world = ["from models.altt import cartpole"], "cartpole.pool()"
        case "custom":
            names.append("simulated")
            world = f"simulated({compute.numbers(settings.risks)}, {settings.kind!r})"
        case _:
            names.append("preset")
            world = f"preset({settings.source!r}, {settings.kind!r})[0]"
    imports.append(f"from models.altt.environments import {', '.join(sorted(names))}")
    losses = f"np.random.default_rng([{settings.seed}, 1])"
    return imports, f"source = Stream({world}, {losses})"


def certificate(
    controls: Controls, settings: Settings, run: Run, race: Race | None, upload: Upload | None
) -> None:
    """Offer the certificate, its log, and the line that recomputes it."""
    available = upload.table.available if settings.source == "yours" and upload else None

    def made() -> tuple[str, str]:
        known = compute.race_of(settings) if race is None else race
        return issue(
            known,
            run.names,
            settings.seed,
            by_rule=settings.source != "feed",
            available=available,
        )

    files: tuple[tuple[str, str, str, Callable[[], str]], ...] = (
        ("Certificate (JSON)", "certificate.json", "application/json", lambda: made()[0]),
        ("Certificate (one page)", "certificate.html", "text/html",
         lambda: certificate_html(made()[0])),
        ("Its log (CSV)", "log.csv", "text/csv", lambda: made()[1]),
    )  # fmt: skip
    st.markdown(
        "**The certificate**: what was promised, who is certified, and the checksum of the log "
        "from which anyone can recompute it; the command fails if either file was changed."
    )
    with st.container(horizontal=True):
        for label, name, mime, data in files:
            st.download_button(
                label,
                data,
                f"altt_{name}",
                mime,
                key=controls.key(f"certificate_{name.replace('.', '_')}"),
                icon=":material/verified:" if name != "log.csv" else ":material/download:",
                on_click="ignore",
            )
    st.code(VERIFY, language="bash", wrap_lines=True)
    if settings.source in OWN:
        st.caption("A certificate vouches for the arithmetic, not for where the losses came from.")
