"""What a visitor takes home from the steering page."""

from __future__ import annotations

from dataclasses import asdict

import plotly.graph_objects as go

from models.catalog import Demo
from models.steering.config import FKConfig
from models.steering.race import Race
from pages.steering import texts
from pages.steering.settings import Settings
from pages.steering.yourdata import Upload
from ui.report import Figure, Report


def build(
    demo: Demo,
    settings: Settings,
    run: Race,
    sentences: list[str],
    figure: tuple[go.Figure, str],
    upload: Upload | None,
) -> Report:
    """Collect the report of the state on screen."""
    chosen = asdict(settings)
    chosen |= chosen.pop("schedule")
    own = settings.source == "yours"
    if own and upload is not None:
        chosen["file"] = upload.name
    if not own:
        del chosen["components"]
    picture, alt = figure
    cited = "; ".join(
        f"{paper.authors}: {paper.title}. {paper.venue}, arXiv {paper.arxiv}"
        for paper in demo.papers
    )
    return Report(
        slug=demo.slug,
        title=f"{demo.title}: {run.k} particles, strength {settings.lam:g}",
        claim=demo.papers[0].claim,
        sentences=(*sentences, *run.notices),
        frame=texts.table(run),
        settings=chosen,
        seed=settings.seed,
        result=texts.result(run),
        figures=(Figure("Particles and target", picture, alt),),
        snippet=snippet(settings, upload),
        citation=f"{cited}.",
    )


def snippet(settings: Settings, upload: Upload | None) -> str:
    """Return the Python lines that print best reward, mean reward and log Z of the particles."""
    own = settings.source == "yours" and upload is not None
    maker = "fit_mixture" if own else "default_mixture"
    imports = [
        "from models.diffusion.schedules import make_grid",
        "from models.steering.config import FKConfig",
        "from models.steering.methods import finish, run_method",
    ]
    if own and upload is not None:
        first = ["import pandas as pd"]
        imports.append("from models.diffusion.fitting import fit_mixture, standardise")
        imports.append("from models.steering.playground import Playground, plane_reward")
        made = [upload.code, f"mixture = fit_mixture(points, {settings.components}, 0)"]
    else:
        first = []
        imports.append(f"from models.steering.playground import Playground, {maker}, plane_reward")
        made = ["mixture = default_mixture()"]
    usual = FKConfig()
    options = ", ".join(
        f"{name}={value!r}"
        for name, value in settings.choices.items()
        if value != getattr(usual, name)
    )
    return "\n".join(
        [
            *first,
            *sorted(imports),
            "",
            *made,
            f"reward = plane_reward({settings.reward!r}, mixture)",
            f"place = Playground(reward, {settings.lam}, mixture)",
            f"config = FKConfig({options})",
            f"grid = make_grid(steps={settings.steps}, eta={settings.schedule.eta})",
            'states = run_method("steering", place.denoiser, grid, place.reward, config,'
            f" {settings.k}, seed={settings.seed})",
            'end = finish("steering", states)',
            "print(round(float(end.rewards.max()), 6), round(end.mean_reward, 6),"
            " round(end.log_z, 6))",
        ]
    )
