"""The home page: what this is, a card for every paper that works, a quiet list of the others."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from models.catalog import DEMOS, Demo, sections
from ui import charts, ledger
from ui.controls import Controls

ASSETS = Path(__file__).resolve().parents[1] / "assets"
ALL = "All"
controls = Controls("home")


def matches(demo: Demo, words: list[str], section: str) -> bool:
    """Whether every word stands somewhere in a paper's texts, within the section."""
    text = " ".join(
        [demo.title, demo.section, *(f"{p.title} {p.authors} {p.claim}" for p in demo.papers)]
    ).lower()
    return section in (ALL, demo.section) and all(word in text for word in words)


def card(demo: Demo) -> None:
    """Draw one paper: its picture, its claim, the number measured here and the verdict."""
    page = f"pages/{demo.slug}/page.py"
    with st.container(border=True, height="stretch"):
        picture = ASSETS / "thumbnails" / f"{demo.slug}_{charts.current_mode()}.png"
        if picture.exists():
            st.image(str(picture), alt=f"The default picture of {demo.title}", width="stretch")
        st.page_link(ROOT / page, label=f"**{demo.title}**", icon=demo.icon)
        for paper in demo.papers:
            st.caption(f"{paper.title}. {paper.authors}, {paper.venue}")
        st.markdown(demo.papers[0].claim)
        entry = ledger.headline(demo.slug)
        if entry is None:
            st.caption("Not measured yet.")
            return
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**{ledger.figure(entry.measurement, entry.unit)}**", width="content")
            ledger.badge(entry.measurement)
        st.caption(f"Measured here: {entry.measurement.trials:,} trials, {entry.date}.")


ROOT = ASSETS.parent
st.title("Papers that prove themselves in front of you", anchor=False)
st.markdown(
    "Each page runs one machine-learning paper's real algorithm beside its baselines, on real data "
    "or yours, and measures the paper's claim again while you watch."
)
search, choice = st.columns([0.4, 0.6], vertical_alignment="bottom")
with search:
    words = controls.text("search", "Search", "", "Words in a title, an author or a claim.")
with choice:
    section = controls.choice(
        "section",
        "Section",
        {ALL: "All sections", **{name: name for name in sections()}},
        ALL,
        "Shows one section only.",
    )

found = [demo for demo in DEMOS if matches(demo, words.lower().split(), section)]
ready = [demo for demo in found if demo.status == "works"]
if ready:
    with st.grid(min_column_width=320, key="home_cards"):
        for demo in ready:
            card(demo)
elif found:
    st.info("The papers that match are still in the making; they are listed below.")
else:
    st.info("No paper matches. Try fewer words, or all sections.")

making = [demo for demo in found if demo.status != "works"]
if making:
    papers = sum(len(demo.papers) for demo in making)
    st.header("In the making", divider="gray", anchor=False)
    st.caption(
        f"{papers} papers without a page yet. They are named so that you know what is planned; "
        "nothing about them is measured here."
    )
    with st.grid(min_column_width=340, key="home_making"):
        for name in dict.fromkeys(demo.section for demo in making):
            titles = [p.title for d in making if d.section == name for p in d.papers]
            st.caption(f"**{name}**\n" + "\n".join(f"- {title}" for title in titles))
