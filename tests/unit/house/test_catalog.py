"""The catalogue: the planned papers, in order, true to the folders, and light to import."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import get_args

import pytest
from streamlit.material_icon_names import ALL_MATERIAL_ICONS

from models import catalog
from models.catalog import DEMOS, Demo, Paper, by_slug, sections, working

pytestmark = pytest.mark.unit

ROOT = Path(__file__).resolve().parents[3]
PAPERS = [(demo, paper) for demo in DEMOS for paper in demo.papers]

PLAN = {
    "Diffusion and generation": (
        "steering s4s duo expert_race inverse_generative pullback_geometry tabcutmix"
    ),
    "Statistics you can trust": (
        "quest altt kqe rare_logistic residual_tpp local_stability controllable_learning"
    ),
    "Preferences and people": "arena rcdb kabb rlthf larpo flaw_report",
    "Language models": (
        "rsd polybasic memory_layers wegeft skim model_swarms ibcircuit tree_bp wikibigedit optmath"
    ),
    "Vision and networks": "pathconv metakan cuter genzsl she_hashing ta2net rz_nas",
    "Physics and engineering": (
        "phy_ssm nips_pde transolver_pp ssde neural_heaviside bnn_opf spectral_filtering"
    ),
    "Optimisation and graphs": (
        "pfev po_combinatorial mixed_curvature_vrp sorted_reachability ganm edge_gnn spectral_gnn "
        "pdudt"
    ),
    "Control and robots": "telograf arsq dexscale safety_certificate",
}

every_demo = pytest.mark.parametrize("demo", DEMOS, ids=lambda demo: demo.slug)
every_paper = pytest.mark.parametrize(
    ("demo", "paper"), PAPERS, ids=[f"{demo.slug}-{paper.arxiv}" for demo, paper in PAPERS]
)


# -- all papers, each once, in order --------------------------------------------------------


def test_sections_and_slugs_follow_the_plan_in_order():
    found = {name: [demo.slug for demo in demos] for name, demos in sections().items()}
    assert list(found.items()) == [(name, slugs.split()) for name, slugs in PLAN.items()]


def test_sections_hold_the_demos_in_the_catalogues_order():
    assert tuple(demo for demos in sections().values() for demo in demos) == DEMOS


def test_there_are_57_papers_on_56_pages():
    assert len(DEMOS) == 56
    assert len(PAPERS) == 57
    assert [demo.slug for demo in DEMOS if len(demo.papers) != 1] == ["steering"]


@pytest.mark.parametrize("name", ["slug", "title", "icon"])
def test_no_two_demos_share(name):
    values = [getattr(demo, name) for demo in DEMOS]
    assert len(set(values)) == len(values)


@pytest.mark.parametrize("name", ["title", "claim", "arxiv"])
def test_no_two_papers_share(name):
    values = [value for _, paper in PAPERS if (value := getattr(paper, name))]
    assert len(set(values)) == len(values)


# -- what a visitor reads -------------------------------------------------------------------


@every_demo
def test_menu_entry_is_short_and_its_symbol_exists(demo: Demo):
    assert demo.slug.isidentifier()
    assert demo.slug == demo.slug.lower()
    assert 0 < len(demo.title) <= 28
    symbol = re.fullmatch(r":material/([a-z0-9_]+):", demo.icon)
    assert symbol
    assert symbol[1] in ALL_MATERIAL_ICONS
    assert demo.status in get_args(catalog.Status)
    assert demo.grade in get_args(catalog.Grade)
    assert all(library.isidentifier() for library in demo.needs)


@every_paper
def test_texts_keep_their_limits(demo: Demo, paper: Paper):
    for text in (paper.title, paper.authors, paper.venue, paper.claim, paper.reported):
        assert text == " ".join(text.split())
    assert paper.title
    assert paper.venue == "ICML 2025"
    assert paper.authors or demo.status == "making"
    assert re.fullmatch(r"(\d{4}\.\d{5})?", paper.arxiv)
    assert len(paper.reported) <= 90
    assert not paper.reported.endswith(".")


@every_paper
def test_claim_is_one_sentence(demo: Demo, paper: Paper):
    assert 40 <= len(paper.claim) <= 160
    assert re.fullmatch(r"[A-Z][^.!?]*\.", paper.claim)


def test_figures_known_at_second_hand_say_so():
    marked = {demo.slug for demo, paper in PAPERS if "second-hand" in paper.reported}
    assert marked == {"expert_race", "inverse_generative", "kabb"}
    for slug in marked:
        assert by_slug(slug).papers[0].reported.endswith(" (reported about, second-hand)")


def test_entries_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        DEMOS[0].status = "works"
    with pytest.raises(FrozenInstanceError):
        DEMOS[0].papers[0].reported = "more"
    assert len({hash(demo) for demo in DEMOS}) == len(DEMOS)


# -- true to the folders --------------------------------------------------------------------


def test_pages_are_exactly_those_of_the_working_demos():
    scripts = {path.parent.name for path in (ROOT / "pages").glob("*/page.py")}
    assert scripts == {demo.slug for demo in working()}


def test_no_folder_of_pages_is_without_an_entry():
    folders = {path.parent.name for path in (ROOT / "pages").glob("*/*.py")}
    assert folders <= {demo.slug for demo in DEMOS}


def test_each_working_demo_has_a_package():
    for demo in working():
        assert (ROOT / "models" / demo.slug / "__init__.py").is_file(), demo.slug


# -- helpers --------------------------------------------------------------------------------


@every_demo
def test_by_slug_finds_each_demo(demo: Demo):
    assert by_slug(demo.slug) is demo


@pytest.mark.parametrize("slug", ["", "nothing", "QuEst", "quest "])
def test_by_slug_names_an_unknown_slug(slug):
    expected = (
        f"No demo has the slug {slug!r}; it must be one of the 56 slugs in models/catalog.py."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(expected)}$"):
        by_slug(slug)


def test_working_keeps_the_order_and_leaves_out_what_is_in_the_making():
    assert by_slug("quest") in working()
    assert working() == tuple(demo for demo in DEMOS if demo.status != "making")


def test_helpers_read_the_catalogue(monkeypatch):
    second, first = by_slug("quest"), by_slug("altt")
    monkeypatch.setattr(catalog, "DEMOS", (first, second))
    assert sections() == {"Statistics you can trust": (first, second)}
    assert by_slug("quest") is second
    with pytest.raises(ValueError, match="'arena'"):
        by_slug("arena")


# -- light ----------------------------------------------------------------------------------


def test_import_brings_in_nothing_heavy():
    code = (
        "import sys; before = set(sys.modules); import models.catalog; "
        "print(*sorted({name.partition('.')[0] for name in set(sys.modules) - before}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert "models" in loaded
    assert loaded <= {"models"} | sys.stdlib_module_names
