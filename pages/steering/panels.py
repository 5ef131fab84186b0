"""The steering page below the first screen: the comparison, further views, failures."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from models.steering.playground import Playground
from models.steering.race import Race
from models.torchrun import worker
from pages.steering import compute, curves, digits, texts, views
from pages.steering.settings import Settings
from ui import charts
from ui.controls import Controls
from ui.live import live
from ui.upload import plain

TABS = (
    "Weights and lineages",
    "Reward on the way",
    "Groups",
    "Against k",
    "Climb in the noise (DNO)",
    "On pictures: digits",
)
COLUMNS = {
    "particles": ("Particles", "%d"),
    "best_reward": ("Best reward", "%.3f"),
    "mean_reward": ("Mean reward", "%.3f"),
    "standard_error": ("± SE", "%.3f"),
    "mmd2_to_target": ("MMD² to target", "%.4f"),
    "share_gap": ("Gap of shares", "%.3f"),
    "starting_points_left": ("Ancestors", "%d"),
    "network_calls": ("Network calls", "%d"),
    "reward_calls": ("Reward calls", "%d"),
    "seconds": ("Seconds", "%.3f"),
}


def comparison(run: Race) -> None:
    """Draw the methods at equal network calls, and why one of them is missing."""
    st.dataframe(
        texts.table(run),
        hide_index=True,
        key="steering_table",
        column_config={
            "method": st.column_config.TextColumn("Method", width="medium"),
            **{
                name: st.column_config.NumberColumn(label, format=form)
                for name, (label, form) in COLUMNS.items()
            },
        },
        alt="Every method's rewards, distance from the target and cost at equal network calls",
    )
    for method, why in run.refusals.items():
        st.caption(f"{texts.NAMES[method]} is left out. {plain(why)}")
    st.caption(
        "Best of n shows one sample, so that it has no mean; guidance pays three calls a step and "
        "gets fewer particles. Direct noise optimisation takes seconds and stands under its tab."
    )


def more_views(controls: Controls, settings: Settings, run: Race) -> None:
    """Views that explain the picture; only the open tab is computed."""
    tabs = st.tabs(TABS, key=controls.key("view"), on_change="rerun", bind="query-params")
    look = charts.look()
    if tabs[0].open:
        with tabs[0]:
            fig, alt = views.effective(run, look)
            charts.show(fig, key="steering_fig_effective", alt=alt)
            st.caption(
                "Dashed: particles are copied below it. Dotted: where they were copied. An even "
                "spread of weights has an effective sample size of k."
            )
            fig, alt = views.tree(run, look)
            charts.show(fig, key="steering_fig_tree", alt=alt)
            st.caption("Read from right to left: who each particle of the end descends from.")
    if tabs[1].open:
        with tabs[1]:
            fig, alt = views.rewards(run, look)
            charts.show(fig, key="steering_fig_rewards", alt=alt)
            st.caption(texts.correlated(run))
    if tabs[2].open:
        with tabs[2]:
            fig, alt = views.shares(run, look)
            charts.show(fig, key="steering_fig_shares", alt=alt)
    if tabs[3].open:
        with tabs[3]:
            _against_k(controls, settings, run.place)
    if tabs[4].open:
        with tabs[4]:
            _noise(controls, settings, run)
    if tabs[5].open:
        with tabs[5]:
            digits.draw(controls)


def _against_k(controls: Controls, settings: Settings, place: Playground) -> None:
    st.markdown(
        f"Races with 1 to {compute.SIZES[-1]} particles, {compute.REPEATS} times with fresh "
        "noises: what the best particle scores, and how far the particles are from the target."
    )
    found = live(
        controls.key("ladder"),
        "Race with 1 to 32 particles",
        replace(settings, k=0),
        lambda: compute.ladder(settings, place),
        lambda item: (
            item.repeats / compute.REPEATS,
            f"{item.repeats} of {compute.REPEATS} repeats",
        ),
        turn=worker,
    )
    if found is not None:
        fig, alt = curves.ladder(found, charts.look())
        charts.show(fig, key="steering_fig_sizes", alt=alt)
        st.markdown(texts.sized(found))


def _noise(controls: Controls, settings: Settings, run: Race) -> None:
    st.markdown(
        f"{compute.DNO_SAMPLES} samples climb the reward by {compute.DNO_STEPS} gradient steps on "
        "all their noises: once freely (γ = 0), once held where Gaussian noise can be (γ = 1)."
    )
    if not settings.smooth:
        st.caption(
            "This reward has no gradient: the climb uses the paper's estimate from perturbed "
            "noises (hybrid 2) instead."
        )
    found = live(
        controls.key("dno"),
        "Optimise the noise",
        replace(settings, k=0, potential=""),
        lambda: compute.optimise(settings, run.place),
        lambda item: (
            sum(c.steps[-1] for c in item.values()) / (2 * compute.DNO_STEPS),
            f"γ = {max(item):g}: step {int(item[max(item)].steps[-1])}",
        ),
        turn=worker,
    )
    if found is not None:
        look = charts.look()
        fig, alt = curves.climbs(found, look, fit=("Mean log p(x)", "log p"))
        charts.show(fig, key="steering_fig_climbs", alt=alt)
        fig, alt = views.landed(run, found, look)
        charts.show(fig, key="steering_fig_landed", alt=alt)
        st.markdown(texts.climbed(found, run.grid.steps))
        st.caption(
            "P(z): how likely Gaussian noise is to look as uneven as z. log p(x): whether the "
            "sample is still one that the model would draw."
        )


def when_it_fails(settings: Settings) -> None:
    """Measure three ways in which steering goes wrong, on the default plane."""
    st.markdown(
        "Three ways to spoil it, each over 40 runs with 16 particles: **no fresh noise**, so that "
        "copies stay copies; **greedy potentials**, which narrow the particles; and **a common "
        "target**, where there is less to gain."
    )
    found = compute.failures()
    st.dataframe(
        found,
        hide_index=True,
        key="steering_failures",
        alt="Best reward, different samples and distance from the target under each setting",
        column_config={
            "best_gain": st.column_config.NumberColumn("Best minus best of 16", format="%.2f"),
            "distinct": st.column_config.NumberColumn("Different of 16", format="%.1f"),
            "spread": st.column_config.NumberColumn("Spread", format="%.2f"),
            "share_gap": st.column_config.NumberColumn("Shares: gain", format="%.3f"),
            "distance_ratio": st.column_config.NumberColumn("MMD² ratio", format="%.2f"),
        },
    )
    st.caption(
        "Best: highest reward of 16 steered particles minus that of 16 plain samples. Different: "
        "distinct points among them. Spread: mean distance of two. Shares: how much nearer the "
        "groups' shares are to the target's than those of weighted plain samples. Ratio: squared "
        "distance from the target over that of weighted plain samples; below 1 steering is nearer."
    )
    if settings.schedule.eta == 0:
        st.caption("η stands at 0 above: the picture shows the first of these.")
