"""Imports run one way: app.py → ui → models, pages → ui and models, and no paper knows another."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.unit

ROOT = Path(__file__).resolve().parents[3]
OURS = ("app", "models", "pages", "ui")
SCREEN = {"streamlit", "plotly", "starlette", "uvicorn"}
TORCH = {"torch", "diffusers", "transformers", "safetensors"}
MODELS_FOR_UI = {"models.catalog", "models.claims"}
STREAMLIT_IN_MODELS = {"models.loaders"}
LIGHT = {"models.catalog"}


def sources(root: Path) -> dict[str, Path]:
    """Every module of ours by its dotted name; packages end in `.__init__`."""
    files = [f for top in OURS for f in [root / f"{top}.py", *(root / top).rglob("*.py")]]
    return {".".join(f.relative_to(root).with_suffix("").parts): f for f in files if f.is_file()}


def imports(name: str, text: str, known: set[str]) -> Iterator[str]:
    """Dotted names that a module imports anywhere in it, also inside functions."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            up = name.split(".")[: -node.level] if node.level else []
            base = ".".join([*up, *(node.module or "").split(".")]).strip(".")
            for alias in node.names:
                # `from models import claims` names a module; `from models.claims import Claim` no.
                full = f"{base}.{alias.name}"
                yield full if {full, f"{full}.__init__"} & known else base


def broken(root: Path) -> list[str]:
    """Sentences about imports that run against the arrows."""
    modules = sources(root)
    papers = {p.name for p in (root / "pages").iterdir() if p.is_dir()}
    known = set(modules)
    found = []
    for name, file in modules.items():
        for target in imports(name, file.read_text("utf-8"), known):
            why = objection(name, target, papers)
            if why:
                found.append(f"{name} imports {target}: {why}.")
    return sorted(set(found))


def objection(name: str, target: str, papers: set[str]) -> str | None:
    """Why `name` may not import `target`, or None."""
    layer, module = name.split(".")[0], name.removesuffix(".__init__")
    goal, *rest = target.split(".")
    paper = name.split(".")[1] if name.count(".") >= 2 and name.split(".")[1] in papers else None
    goal_paper = rest[0] if goal in ("models", "pages") and rest and rest[0] in papers else None

    if goal == "app":
        return "nothing imports the launcher"
    if layer != "models" and goal in TORCH:
        return "only models/ computes with torch"
    if goal_paper and paper and paper != goal_paper:
        return "no paper knows another"
    match layer:
        case "app" if goal in ("models", "pages"):
            return "the launcher knows ui/ only"
        case "ui" if goal == "pages" or goal_paper:
            return "ui/ knows no paper"
        case "ui" if goal == "models" and ".".join([goal, *rest[:1]]) not in MODELS_FOR_UI:
            return "of models/, ui/ knows the catalogue and the claims"
        case "models" if goal in ("ui", "pages"):
            return "models/ knows no screen"
        case "models" if goal in SCREEN and module not in STREAMLIT_IN_MODELS:
            return "models/ knows no screen"
        case "models" if target in STREAMLIT_IN_MODELS:
            return "loaders are for pages, and bring Streamlit with them"
        case "models" if goal_paper and not paper and module not in STREAMLIT_IN_MODELS:
            return "what papers share knows no paper"
        case "models" if module in LIGHT and goal not in sys.stdlib_module_names:
            return "the catalogue is read by everything and imports nothing heavy"
    return None


def test_every_arrow_runs_forward() -> None:
    assert broken(ROOT) == []


def test_every_layer_was_read() -> None:
    read = sources(ROOT)
    assert {"app", "ui.routes", "models.__init__"} <= set(read)
    assert any(name.startswith("pages.") for name in read)


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("models/one/method.py", "import streamlit as st"),
        ("models/one/method.py", "def f():\n    from plotly import graph_objects"),
        ("models/one/method.py", "from ui.charts import frame"),
        ("models/one/method.py", "from models.two.method import run"),
        ("models/one/method.py", "from ..two import method"),
        ("models/one/method.py", "import pages.one.figures"),
        ("models/one/method.py", "from models import loaders"),
        ("models/one/method.py", "import app"),
        ("models/trials.py", "from models.one import method"),
        ("models/trials.py", "from .one import method"),
        ("models/catalog.py", "import numpy as np"),
        ("ui/charts.py", "from models.one.method import run"),
        ("ui/charts.py", "from models import trials"),
        ("ui/charts.py", "import pages.one.figures"),
        ("ui/charts.py", "import torch"),
        ("pages/one/page.py", "from pages.two import figures"),
        ("pages/one/page.py", "from models.two.method import run"),
        ("pages/one/page.py", "import torch.nn.functional as F"),
        ("app.py", "from models.catalog import DEMOS"),
    ],
)
def test_an_arrow_that_runs_back_is_found(tmp_path: Path, file: str, line: str) -> None:
    house(tmp_path, file, line)
    (sentence,) = broken(tmp_path)
    assert sentence.startswith(file.removesuffix(".py").replace("/", "."))


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("app.py", "from ui.routes import routes"),
        ("ui/charts.py", "import streamlit as st\nfrom models import catalog, claims"),
        ("ui/charts.py", "from models.claims import Claim\nfrom ui import routes"),
        ("pages/home.py", "from models.catalog import DEMOS\nimport streamlit"),
        ("pages/one/page.py", "from models import trials\nfrom models.one import method"),
        ("pages/one/page.py", "from pages.one import figures\nfrom models import loaders"),
        ("models/one/method.py", "import numpy\nfrom models.trials import run\nimport torch"),
        ("models/one/method.py", "from ..trials import run"),
        ("models/loaders.py", "import streamlit as st\nfrom models.one.method import load"),
        ("models/catalog.py", "from dataclasses import dataclass"),
    ],
)
def test_an_arrow_that_runs_forward_is_let_through(tmp_path: Path, file: str, line: str) -> None:
    house(tmp_path, file, line)
    assert broken(tmp_path) == []


def house(root: Path, file: str, line: str) -> None:
    """A small repository with two papers, one of whose modules holds `line`."""
    for path in (
        "app.py",
        "ui/routes.py",
        "ui/charts.py",
        "pages/home.py",
        *(f"models/{name}.py" for name in ("__init__", "catalog", "claims", "trials", "loaders")),
        *(f"pages/{slug}/{name}.py" for slug in ("one", "two") for name in ("page", "figures")),
        *(f"models/{slug}/{name}.py" for slug in ("one", "two") for name in ("__init__", "method")),
    ):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(line if path == file else "", encoding="utf-8")
