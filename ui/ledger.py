"""Measured claims on screen: the header's card, the live check, the visitor's ledger."""

from __future__ import annotations

import math
from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from models.claims import (
    Claim,
    Entry,
    Measure,
    Measurement,
    Scale,
    claims_of,
    read_ledger,
    record,
)

VISITOR = "visitor_ledger"
Colour = Literal["green", "orange", "red"]
BADGES: dict[str, tuple[str, Colour, str]] = {
    "holds": ("holds", "green", ":material/check:"),
    "not shown": ("does not show at this scale", "orange", ":material/help:"),
    "contradicted": ("contradicted", "red", ":material/close:"),
}


@st.cache_data(ttl=60, max_entries=1, show_spinner=False)
def shipped() -> dict[str, Entry]:
    """Return the ledger that came with the product, re-read at most once a minute."""
    return read_ledger()


def visitor() -> dict[str, Entry]:
    """Return what this visitor has measured in this session, by ``slug/claim``."""
    entries: dict[str, Entry] = st.session_state.setdefault(VISITOR, {})
    return entries


def latest(slug: str, claim: Claim) -> Entry | None:
    """Return this visitor's own measurement of a claim, or the shipped one."""
    key = f"{slug}/{claim.id}"
    return visitor().get(key) or shipped().get(key)


def figure(measurement: Measurement, unit: str) -> str:
    """Format a measured value with its interval, for example ``31 % (29 to 33)``."""
    if not math.isfinite(measurement.value):
        return "no value"
    value = f"{measurement.value:.3g}{' ' if unit else ''}{unit}"
    if not (math.isfinite(measurement.low) and math.isfinite(measurement.high)):
        return value
    return f"{value} ({measurement.low:.3g} to {measurement.high:.3g})"


def badge(measurement: Measurement) -> None:
    """Draw the verdict as a word with an icon."""
    text, colour, icon = BADGES[measurement.verdict]
    st.badge(text, color=colour, icon=icon)


def headline(slug: str) -> Entry | None:
    """Return the measurement of a paper's headline claim, the visitor's own one first."""
    for entries in (visitor(), shipped()):
        for entry in entries.values():
            if entry.slug == slug and entry.headline:
                return entry
    return None


def headline_card(slug: str) -> None:
    """Draw the paper's headline claim as measured here: number, interval, verdict."""
    entry = headline(slug)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("Measured here", width="content")
        if entry:
            badge(entry.measurement)
    if entry is None:
        st.markdown("**not measured yet**")
        st.caption("Run “Check the claim” below.")
        return
    st.markdown(f"**{figure(entry.measurement, entry.unit)}**")
    st.caption(
        f"{entry.measurement.trials:,} trials, seed {entry.seed}, {entry.date}",
        help=entry.statement,
    )


def check(slug: str) -> None:
    """Part 7: a paper's claims with their figures, and a live repetition of any of them.

    The headline claim is in sight; the others are drawn once their list is opened.
    """
    claims = claims_of(slug)
    full = st.toggle(
        "Use the paper's number of trials",
        key=f"{slug}_claims_full",
        help="Off: quick checks of at most half a minute each. On: minutes.",
    )
    scale: Scale = "full" if full else "quick"
    for claim in claims:
        if claim.headline:
            claim_row(slug, claim, scale)
    others = [claim for claim in claims if not claim.headline]
    more = st.expander(
        f"{len(others)} further claims", key=f"{slug}_claims_more", on_change="rerun"
    )
    if more.open:
        with more:
            for claim in others:
                claim_row(slug, claim, scale)


@st.fragment
def claim_row(slug: str, claim: Claim, scale: Scale) -> None:
    """Draw one claim; its button measures it again while the visitor watches."""
    with st.container(border=True):
        text, action = st.columns([0.78, 0.22], vertical_alignment="center")
        with text:
            st.markdown(f"**{claim.statement}**")
            reported = f"{claim.kind}: {claim.reported}" if claim.reported else claim.kind
            st.caption(f"{reported} · {claim.source}")
        if claim.measure is None:
            action.caption(f"Not measured here: {claim.why_not}")
            return
        key = f"{slug}_claim_{claim.id}"
        run = action.button("Measure it now", key=f"{key}_run", width="stretch")
        result = st.container()
        if run:
            _measure(slug, claim, claim.measure, scale, result)
        _show(slug, claim, result)


def _measure(
    slug: str,
    claim: Claim,
    measure: Measure,
    scale: Scale,
    place: st.delta_generator.DeltaGenerator,
) -> None:
    seed = 0
    running = place.empty()
    with running.container():
        bar = st.progress(0.0, "Starting")
        st.button("Stop and keep what is done", key=f"{slug}_claim_{claim.id}_stop")

    def progress(done: int, total: int, seconds_left: float | None, partial: Measurement) -> None:
        # Stored first: drawing is where a click on "Stop" ends this run.
        visitor()[f"{slug}/{claim.id}"] = record(slug, claim, partial, scale, seed)
        left = "" if seconds_left is None else f", about {math.ceil(seconds_left)} s left"
        bar.progress(
            min(1.0, done / total),
            f"{done:,} of {total:,} trials{left}: {figure(partial, claim.unit)}",
        )

    measured = measure(scale, seed, progress)
    visitor()[f"{slug}/{claim.id}"] = record(slug, claim, measured, scale, seed)
    running.empty()


def _show(slug: str, claim: Claim, place: DeltaGenerator) -> None:
    entry = latest(slug, claim)
    if entry is None:
        return
    own = f"{slug}/{claim.id}" in visitor()
    with place, st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{figure(entry.measurement, claim.unit)}**", width="content")
        badge(entry.measurement)
        origin = "measured by you just now" if own else f"shipped, measured {entry.date}"
        st.caption(
            f"{entry.measurement.trials:,} trials, {entry.scale}, seed {entry.seed}; {origin}. "
            f"{entry.measurement.note}",
            width="content",
        )
