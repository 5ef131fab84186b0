"""The theme can be read: contrast after WCAG 2.1, colours apart for four kinds of eyes."""

from __future__ import annotations

import re
import tomllib
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.unit

ROOT = Path(__file__).resolve().parents[3]
THEME: dict[str, Any] = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))[
    "theme"
]
MODES = ("light", "dark")
HUES = ("red", "orange", "yellow", "green", "blue", "violet", "gray")

# Machado, Oliveira and Fernandes (2009), severity 1.0, applied to linear RGB.
EYES = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}

# CIEDE2000: one unit is about the least that can be told side by side, and ten is told at a
# glance between areas. Methods are drawn as thin lines and small marks, which look alike sooner,
# so the six colours given to methods stand further apart than the ten together.
APART_SIX = 12.0
APART_TEN = 9.0


def rgb(colour: str) -> np.ndarray:
    return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255


def linear(colour: str) -> np.ndarray:
    c = rgb(colour)
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    weights = np.array([0.2126, 0.7152, 0.0722])
    dark, light = sorted(float(linear(c) @ weights) for c in (one, other))
    return (light + 0.05) / (dark + 0.05)


def over(colour: str, background: str, alpha: float) -> str:
    """What `colour` at opacity `alpha` looks like on `background`."""
    mixed = alpha * rgb(colour) + (1 - alpha) * rgb(background)
    return "#" + "".join(f"{round(255 * v):02X}" for v in mixed)


def lab(light: np.ndarray) -> np.ndarray:
    """CIELAB (D65) of linear RGB."""
    to_xyz = np.array(
        [
            [0.4124564, 0.3575761, 0.1804375],
            [0.2126729, 0.7151522, 0.0721750],
            [0.0193339, 0.1191920, 0.9503041],
        ]
    )
    t = to_xyz @ light / to_xyz.sum(axis=1)
    f = np.where(t > 216 / 24389, np.cbrt(t), (24389 / 27 * t + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def ciede2000(one: np.ndarray, other: np.ndarray) -> float:
    """Colour difference after Sharma, Wu and Dalal (2005), equations 2 to 22."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean7 = ((np.hypot(a1, b1) + np.hypot(a2, b2)) / 2) ** 7
    stretch = 1.5 - 0.5 * np.sqrt(mean7 / (mean7 + 25**7))
    a1, a2 = a1 * stretch, a2 * stretch
    c1, c2 = np.hypot(a1, b1), np.hypot(a2, b2)
    h1, h2 = np.degrees(np.arctan2(b1, a1)), np.degrees(np.arctan2(b2, a2))
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    lm, cm, hm = (l1 + l2) / 2, (c1 + c2) / 2, np.radians(h1 + turn / 2)
    t = (
        1
        - 0.17 * np.cos(hm - np.radians(30))
        + 0.24 * np.cos(2 * hm)
        + 0.32 * np.cos(3 * hm + np.radians(6))
        - 0.20 * np.cos(4 * hm - np.radians(63))
    )
    dl = (l2 - l1) / (1 + 0.015 * (lm - 50) ** 2 / np.sqrt(20 + (lm - 50) ** 2))
    dc = (c2 - c1) / (1 + 0.045 * cm)
    dh = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn) / 2) / (1 + 0.015 * cm * t)
    bend = np.radians(60) * np.exp(-(((np.degrees(hm) % 360 - 275) / 25) ** 2))
    rt = -2 * np.sqrt(cm**7 / (cm**7 + 25**7)) * np.sin(bend)
    return float(np.sqrt(dl**2 + dc**2 + dh**2 + rt * dc * dh))


def nearest(colours: list[str], eyes: str) -> tuple[float, str, str]:
    """The two colours of the list that these eyes tell apart least."""
    seen = {c: lab(np.clip(EYES[eyes] @ linear(c), 0, 1)) for c in colours}
    return min((ciede2000(seen[a], seen[b]), a, b) for a, b in combinations(colours, 2))


def backgrounds(mode: str) -> list[str]:
    return [THEME[mode]["backgroundColor"], THEME[mode]["secondaryBackgroundColor"]]


def test_contrast_matches_the_ends_of_its_scale() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21.0)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.478, abs=1e-3)


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, 2.5, 0.0), (50.0, 0.0, -2.5), 4.3065),
        ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((22.7233, 20.0904, -46.6940), (23.0331, 14.9730, -42.5619), 2.0373),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_distance_matches_published_pairs(
    one: tuple[float, ...], other: tuple[float, ...], distance: float
) -> None:
    """Pairs 1, 8, 17, 25, 30 and 34 of the table of Sharma, Wu and Dalal (2005)."""
    assert ciede2000(np.array(one), np.array(other)) == pytest.approx(distance, abs=1e-4)


@pytest.mark.parametrize("mode", MODES)
def test_body_text_reaches_seven(mode: str) -> None:
    for background in [*backgrounds(mode), THEME[mode]["sidebar"]["backgroundColor"]]:
        assert contrast(THEME[mode]["textColor"], background) >= 7.0


@pytest.mark.parametrize("mode", MODES)
def test_faded_text_reaches_four_and_a_half(mode: str) -> None:
    """Streamlit sets captions, section names and placeholders in text colour at 60 or 70 %."""
    for background in [*backgrounds(mode), THEME[mode]["sidebar"]["backgroundColor"]]:
        faded = over(THEME[mode]["textColor"], background, 0.6)
        assert contrast(faded, background) >= 4.5


@pytest.mark.parametrize("mode", MODES)
def test_links_and_code_reach_four_and_a_half(mode: str) -> None:
    theme = THEME[mode]
    for background in backgrounds(mode):
        assert contrast(theme["linkColor"], background) >= 4.5
    assert contrast(theme["codeTextColor"], theme["codeBackgroundColor"]) >= 4.5


@pytest.mark.parametrize("mode", MODES)
def test_primary_carries_white_text_and_reads_on_the_page(mode: str) -> None:
    """White on a primary button; the primary colour itself as a slider's value and a tab's name."""
    primary = THEME[mode]["primaryColor"]
    assert contrast("#FFFFFF", primary) >= 4.5
    assert contrast(primary, THEME[mode]["backgroundColor"]) >= 4.5


@pytest.mark.parametrize("mode", MODES)
def test_selected_pill_reads_on_its_tint(mode: str) -> None:
    """Streamlit writes primary on primary at 10 % there; in the dark 4.5 is then out of reach.

    White on primary and primary on its own tint would together ask for a page darker than black.
    """
    primary, page = THEME[mode]["primaryColor"], THEME[mode]["backgroundColor"]
    least = {"light": 4.5, "dark": 4.2}[mode]
    assert contrast(primary, over(primary, page, 0.1)) >= least


@pytest.mark.parametrize("hue", HUES)
@pytest.mark.parametrize("mode", MODES)
def test_coloured_text_reads_on_the_page_and_on_its_badge(mode: str, hue: str) -> None:
    theme = THEME[mode]
    for background in [*backgrounds(mode), theme[f"{hue}BackgroundColor"]]:
        assert contrast(theme[f"{hue}TextColor"], background) >= 4.5


@pytest.mark.parametrize("mode", MODES)
def test_chart_colours_stand_out_from_the_page(mode: str) -> None:
    """3 is what WCAG 2.1 asks of graphical objects (1.4.11)."""
    colours = THEME[mode]["chartCategoricalColors"]
    pairs = [(contrast(c, b), c, b) for c in colours for b in backgrounds(mode)]
    assert min(pairs)[0] >= 3.0, min(pairs)


@pytest.mark.parametrize("eyes", EYES)
@pytest.mark.parametrize("mode", MODES)
def test_colours_of_methods_are_told_apart(mode: str, eyes: str) -> None:
    closest = nearest(THEME[mode]["chartCategoricalColors"][:6], eyes)
    assert closest[0] >= APART_SIX, closest


@pytest.mark.parametrize("eyes", EYES)
@pytest.mark.parametrize("mode", MODES)
def test_all_ten_colours_are_told_apart(mode: str, eyes: str) -> None:
    closest = nearest(THEME[mode]["chartCategoricalColors"], eyes)
    assert closest[0] >= APART_TEN, closest


def test_a_method_keeps_its_hue_between_light_and_dark() -> None:
    """Each of the six light colours is nearer to its own dark twin in hue than to another's."""
    light, dark = (THEME[m]["chartCategoricalColors"][:6] for m in MODES)

    def hue(colour: str) -> np.ndarray:
        _, a, b = lab(linear(colour))
        return np.array([a, b]) / max(np.hypot(a, b), 20.0)

    for i, colour in enumerate(light):
        gaps = [float(np.linalg.norm(hue(colour) - hue(other))) for other in dark]
        assert gaps.index(min(gaps)) == i, colour


@pytest.mark.parametrize("mode", MODES)
def test_number_of_chart_colours_is_what_streamlit_takes(mode: str) -> None:
    """Below ten categorical colours, or other than ten on a scale, it falls back without a word."""
    assert len(set(THEME[mode]["chartCategoricalColors"])) >= 10
    assert len(set(THEME[mode]["chartSequentialColors"])) == 10
    assert len(set(THEME[mode]["chartDivergingColors"])) == 10


@pytest.mark.parametrize("eyes", EYES)
@pytest.mark.parametrize("mode", MODES)
def test_scales_keep_their_order_of_lightness(mode: str, eyes: str) -> None:
    def steps(colours: list[str]) -> np.ndarray:
        return np.diff([lab(np.clip(EYES[eyes] @ linear(c), 0, 1))[0] for c in colours])

    away_from_page = -1 if mode == "light" else 1
    assert (away_from_page * steps(THEME[mode]["chartSequentialColors"]) > 0).all()
    diverging = THEME[mode]["chartDivergingColors"]
    assert (away_from_page * steps(diverging[:5]) < 0).all()
    assert (away_from_page * steps(diverging[5:]) > 0).all()


def test_light_and_dark_define_the_same_settings() -> None:
    assert THEME["light"].keys() == THEME["dark"].keys()
    assert THEME["light"]["sidebar"].keys() == THEME["dark"]["sidebar"].keys()


def test_fonts_are_declared_and_in_the_repository() -> None:
    """A family with a digit or a space in its name would be ignored unless quoted."""
    declared = {face["family"] for face in THEME["fontFaces"]}
    assert {THEME[k].split(",")[0] for k in ("font", "headingFont", "codeFont")} == declared
    for face in THEME["fontFaces"]:
        assert re.fullmatch(r"[A-Za-z]+", face["family"])
        assert (ROOT / "assets" / face["url"]).read_bytes()[:4] == b"wOF2"


def test_theme_names_no_host() -> None:
    assert "//" not in repr(THEME)
