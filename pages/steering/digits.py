"""Steering a small network that draws digits: pictures appear while they are drawn."""

from __future__ import annotations

import io
from collections.abc import Generator
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from PIL import Image

from models.diffusion.denoisers import Denoiser, unet_denoiser
from models.steering import digits as data
from models.steering.climb import Climb, climbs
from models.steering.gallery import (
    Gallery,
    best_by_size,
    distance,
    galleries,
    tiled,
    usual_distance,
)
from models.steering.methods import Method
from models.steering.study import digit_denoiser
from models.steering.training import TrainConfig, train
from models.torchrun import torch, worker
from pages.steering import curves
from pages.steering.digit_settings import CLIMBERS, DigitSettings, draw_controls
from pages.steering.texts import NAMES
from ui import charts
from ui.controls import Controls
from ui.live import live
from ui.report import csv_bytes
from ui.upload import plain

COLUMNS, SCALE, GAP = 8, 9, 6
TRAIN_STEPS = 400
SIZES, REPEATS = (1, 2, 4, 8, 16), 6


def draw(controls: Controls) -> None:
    """Draw the section: controls, the pictures of every method, and two longer measurements."""
    st.markdown(
        "A network of 635,681 weights that this project trained on handwritten digits of 8 × 8 "
        "pixels. It knows nothing of the reward; a second classifier, trained on other digits, "
        "judges what comes out."
    )
    left, right = st.columns([0.32, 0.68], gap="large")
    with left:
        settings = draw_controls(controls)
    with right:
        try:
            settings.check()
            denoiser = _denoiser(controls)
            if denoiser is not None:
                _pictures(controls, settings, denoiser)
        except ValueError as error:
            st.error(plain(str(error)))


def _denoiser(controls: Controls) -> Denoiser | None:
    """Return the shipped network, or one that the visitor trains here where it is missing."""
    own: Denoiser | None = st.session_state.get(controls.key("d_trained"))
    if own is not None:
        st.caption("These pictures come from the network that you have just trained.")
        return own
    try:
        return digit_denoiser()
    except ValueError as error:
        st.warning(plain(str(error)))

    def training() -> Generator[tuple[int, float, Any], None, None]:
        for state in train(TrainConfig(steps=TRAIN_STEPS)):
            if state.step % 5 == 0:
                yield state.step, state.loss, state

    found = live(
        controls.key("d_train"),
        f"Train the network here, {TRAIN_STEPS} steps",
        None,
        training,
        lambda item: (item[0] / TRAIN_STEPS, f"step {item[0]}, loss {item[1]:.3f}"),
        turn=worker,
    )
    if found is None:
        return None
    _, _, state = found
    state.unet.load_state_dict(state.averaged)
    made = unet_denoiser(state.unet.eval().requires_grad_(False), data.NO_CLASS)
    st.session_state[controls.key("d_trained")] = made
    return made


def _pictures(controls: Controls, settings: DigitSettings, denoiser: Denoiser) -> None:
    reward = settings.image_reward
    methods = settings.methods
    if "guidance" in methods and (why := _unguided(settings)):
        st.caption(f"Gradient guidance is left out: {why}.")
        methods = tuple(m for m in methods if m != "guidance")
    if not methods:
        st.info("Choose at least one method.")
        return
    found = live(
        controls.key("d_draw"),
        f"Draw {settings.k} pictures with each method",
        settings,
        lambda: galleries(
            denoiser, settings.grid, reward, settings.config, settings.k, methods,
            seed=settings.seed, digit=settings.wanted,
        ),
        lambda item: _told(item, methods),
        show=lambda item: _wall(list(item.values())[-1]),
        turn=worker,
    )  # fmt: skip
    if found is not None:
        _shown(controls, settings, found)
    st.markdown("**Climb in the noise (DNO), and the reward against k**")
    if not reward.differentiable:
        st.caption(
            "This reward has no gradient: the climb estimates one from perturbed noises (hybrid 2)."
        )
    found_climbs: dict[float, Climb] | None = live(
        controls.key("d_dno"),
        f"Optimise the noise of {CLIMBERS} pictures",
        settings,
        lambda: climbs(
            denoiser,
            settings.dno_grid,
            reward,
            settings.dno,
            CLIMBERS,
            distance,
            seed=settings.seed,
        ),
        lambda item: (
            sum(c.steps[-1] for c in item.values()) / (2 * settings.dno.steps),
            f"γ = {max(item):g}: step {int(item[max(item)].steps[-1])}",
        ),
        turn=worker,
    )
    look = charts.look()
    if found_climbs is not None:
        fig, alt = curves.climbs(
            found_climbs, look, fit=("Distance to a real digit", "distance"), usual=usual_distance()
        )
        charts.show(fig, key="steering_fig_digit_climbs", alt=alt)
        for gamma, climb in found_climbs.items():
            st.image(
                png(climb.samples),
                width=wide(climb.samples),
                caption=f"γ = {gamma:g} after {int(climb.steps[-1])} steps",
                alt=f"Pictures whose noise was optimised with γ = {gamma:g}",
            )
        st.caption(
            "Rising rewards with a rising distance mean that the pictures leave the digits. "
            f"Dashed: the median distance of real unseen digits. Each picture cost "
            f"{max(c.network_calls for c in found_climbs.values()):,} network calls."
        )
    sizes = live(
        controls.key("d_sizes"),
        "Best reward with 1 to 16 particles",
        settings,
        lambda: best_by_size(
            denoiser, settings.grid, reward, settings.config, SIZES, REPEATS, settings.seed
        ),
        lambda item: (
            len(item["steering"]) / REPEATS,
            f"{len(item['steering'])} of {REPEATS} repeats",
        ),
        turn=worker,
    )
    if sizes is not None:
        fig, alt = curves.pictures(sizes, SIZES, look)
        charts.show(fig, key="steering_fig_digit_sizes", alt=alt)


def _unguided(settings: DigitSettings) -> str:
    """Why gradient guidance cannot run, or ""."""
    if not settings.image_reward.differentiable:
        return "this reward has no gradient"
    return "" if settings.schedule.eta else "with η = 0 it has no step to guide"


def _told(item: dict[Method, Gallery], methods: tuple[Method, ...]) -> tuple[float, str]:
    now = list(item.values())[-1]
    share = (len(item) - 1 + now.step / now.steps) / len(methods)
    return share, f"{NAMES[now.method]}: step {now.step} of {now.steps}"


def _wall(gallery: Gallery) -> None:
    st.image(
        png(gallery.images),
        width=wide(gallery.images),
        caption=f"{NAMES[gallery.method]}, step {gallery.step}",
        alt=f"Pictures of {NAMES[gallery.method]} on their way",
    )


def _shown(controls: Controls, settings: DigitSettings, found: dict[Method, Gallery]) -> None:
    for gallery in found.values():
        order = np.argsort(-gallery.weights, kind="stable")
        st.image(
            png(gallery.images[torch.from_numpy(order)]),
            width=wide(gallery.images),
            caption=caption(gallery, settings),
            alt=f"Pictures of {NAMES[gallery.method]}",
        )
        for notice in gallery.notices:
            st.warning(plain(notice), icon=":material/warning:")
    frame = table(found)
    st.dataframe(
        frame,
        hide_index=True,
        key="steering_digit_table",
        alt="Every picture's weight, ancestor, reward, judge's probability and nearest real digit",
    )
    with st.container(horizontal=True):
        st.download_button(
            "Table (CSV)", csv_bytes(frame), "steering_digits.csv", "text/csv",
            key=controls.key("d_csv"), icon=":material/download:", on_click="ignore",
        )  # fmt: skip
        images = torch.cat([gallery.images for gallery in found.values()])
        st.download_button(
            "Pictures (PNG)", png(images, settings.k), "steering_digits.png", "image/png",
            key=controls.key("d_png"), icon=":material/download:", on_click="ignore",
        )  # fmt: skip


def caption(gallery: Gallery, settings: DigitSettings) -> str:
    """Say what a method's pictures reached, heaviest first."""
    name = NAMES[gallery.method]
    if gallery.rewards is None:
        return f"{name}, stopped after step {gallery.step} of {gallery.steps}: estimates so far"
    used = gallery.weights > 0
    mean = float(gallery.weights[used] @ gallery.rewards[used])
    alive = len(np.unique(gallery.roots))
    asked = "the wanted digit" if settings.wanted is not None else "some digit"
    return (
        f"{name}, heaviest first: best reward {gallery.rewards.max():.2f}, mean {mean:.2f}; "
        f"the judge sees {asked} with probability {gallery.weights @ gallery.judge:.0%}; "
        f"distance to the nearest real "
        f"digit {gallery.weights @ gallery.nearest:.2f}; {alive} of {len(gallery.roots)} starting "
        f"points left; {gallery.network_calls:,} network calls, {gallery.reward_calls:,} reward "
        "calls"
    )


def table(found: dict[Method, Gallery]) -> pd.DataFrame:
    """One row a picture."""
    frames = []
    for method, gallery in found.items():
        k = len(gallery.weights)
        frames.append(
            pd.DataFrame(
                {
                    "method": NAMES[method],
                    "picture": np.arange(1, k + 1),
                    "ancestor": gallery.roots + 1,
                    "weight": gallery.weights.round(6),
                    "reward": np.full(k, np.nan) if gallery.rewards is None else gallery.rewards,
                    "judge": gallery.judge.round(6),
                    "nearest_real": gallery.nearest.round(4),
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


def wide(images: torch.Tensor) -> int:
    """Width in pixels at which pictures are shown."""
    return min(len(images), COLUMNS) * (images.shape[-1] * SCALE + GAP) - GAP


def png(images: torch.Tensor, columns: int = COLUMNS) -> bytes:
    """Return pictures laid out as one PNG."""
    sheet = tiled(images, columns, SCALE, GAP, 200).astype(np.uint8)
    out = io.BytesIO()
    Image.fromarray(sheet, mode="L").save(out, "PNG")
    return out.getvalue()
