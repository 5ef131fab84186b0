"""What a visitor takes home from the QuEst page: numbers, settings, the lines that repeat them."""

from __future__ import annotations

from dataclasses import asdict

import pandas as pd
import plotly.graph_objects as go

from models.catalog import Demo
from models.quest.study import Analysis
from pages.quest.settings import Settings
from pages.quest.yourdata import Upload
from ui.report import Figure, Report

OWN_ONLY = ("n", "pool", "kept", "seed", "show_truth", "quality", "bias", "noise", "tail")


def build(
    demo: Demo,
    settings: Settings,
    analysis: Analysis,
    sentences: list[str],
    picture: go.Figure,
    alt: str,
    upload: Upload | None,
) -> Report:
    """Collect the report of the state on screen."""
    paper = demo.papers[0]
    chosen = asdict(settings)
    if settings.source == "yours" and upload is not None:
        chosen = {name: value for name, value in chosen.items() if name not in OWN_ONLY}
        chosen["file"] = upload.name
    parts = analysis.parts
    return Report(
        slug=demo.slug,
        title=f"{demo.title}: the {parts.measure.name}",
        claim=paper.claim,
        sentences=tuple(sentences),
        frame=table(analysis),
        settings=chosen,
        seed=settings.seed,
        result={
            "measure": parts.measure.sentence,
            "estimate": analysis.quest.estimate,
            "low": analysis.quest.low,
            "high": analysis.quest.high,
            "standard_error": analysis.quest.se,
            "weight_lam": analysis.quest.lam,
            "best_weight_unclipped": parts.lam_raw,
            "value_labels": parts.labels.value,
            "value_predictions_labelled": parts.labelled.value,
            "value_predictions_unlabelled": parts.unlabelled.value,
            "sigma2_labels": parts.labels.variance,
            "sigma2_predictions": parts.unlabelled.variance,
            "eta": parts.eta,
            "rho2_split": float(parts.rho2(analysis.quest.lam, "split")),
            "rho2_plug_in": float(parts.rho2(analysis.quest.lam, "plug-in")),
            "n_labelled": parts.n,
            "n_unlabelled": parts.n_unlabelled,
            "labels_alone_needed": analysis.labels_worth,
        },
        figures=(Figure("Every method's interval", picture, alt),),
        snippet=snippet(settings, upload),
        citation=f"{paper.authors}: {paper.title}. {paper.venue}, arXiv {paper.arxiv}.",
    )


def table(analysis: Analysis) -> pd.DataFrame:
    """Return what is drawn, one row a method."""
    return pd.DataFrame(
        [
            {
                "method": answer.method,
                "estimate": answer.estimate,
                "low": answer.low,
                "high": answer.high,
                "standard_error": answer.se,
                "weight_on_predictions": answer.lam,
                "why_no_interval": answer.refusal,
            }
            for answer in analysis.intervals.values()
        ]
    )


def snippet(settings: Settings, upload: Upload | None) -> str:
    """Return the Python lines that print the estimate and interval on screen."""
    build, arguments = settings.recipe
    name = build.__name__
    options = f"alpha={settings.alpha}, lam={settings.lam!r}, variance={settings.variance!r}"
    imports = [f"from models.quest.measures import {name}"]
    if settings.source == "yours" and upload is not None:
        imports = ["import pandas as pd", *imports]
        loader = "from_arrays" if "from_arrays" in upload.code else "from_columns"
        imports.append(f"from models.quest.intake import {loader}")
        made = upload.code.splitlines()
    else:
        imports = ["import numpy as np", *imports, "from models.quest.draws import Draw"]
        made = [f"samples = {settings.draw()!r}(np.random.default_rng({settings.seed}))"]
    return "\n".join(
        [
            *sorted(imports, key=lambda line: line.startswith("from")),
            "from models.quest.estimate import estimate",
            "",
            *made,
            f"measure = {name}({', '.join(map(repr, arguments))})",
            "answer = estimate(",
            "    samples.labels, samples.predictions, samples.pool, measure,",
            f"    {options},",
            ")",
            "print(answer.estimate, answer.low, answer.high)",
        ]
    )
