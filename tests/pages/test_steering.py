"""What only the steering page does: heavy runs in turn, pictures, and a network that is missing."""

from __future__ import annotations

import math

import pytest
from streamlit.testing.v1 import AppTest

from models import torchrun
from models.steering import digits as data
from models.steering import study
from pages.steering import compute, digits
from tests.pages.visit import charts, put, sound, visit
from ui import live

pytestmark = pytest.mark.app

DIGITS = {"steering_view": "On pictures: digits", "steering_d_steps": "10"}


def click(at: AppTest, key: str) -> AppTest:
    return sound(at.button(key=key).click().run(), key)


class Busy:
    """A set of workers all of whom are busy the first two times that one is asked for."""

    def __init__(self) -> None:
        self.asked = 0

    def acquire(self, timeout: float) -> bool:
        self.asked += 1
        return self.asked > 2

    def release(self) -> None:
        self.asked = 0


def test_a_second_visitor_is_told_to_wait_and_then_served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torchrun, "_FREE", Busy())
    monkeypatch.setattr(compute, "REPEATS", 2)
    said: list[str] = []
    real = live.st.progress

    def progress(value: float, text: str):
        bar = real(value, text)
        drawn = bar.progress
        bar.progress = lambda share, words: (said.append(words), drawn(share, words))[1]
        return bar

    monkeypatch.setattr(live.st, "progress", progress)
    at = click(visit("steering", {"steering_view": "Against k"}), "steering_ladder_run")
    assert said[:2] == [live.WAITING] * 2
    assert said[2:] == ["1 of 2 repeats", "2 of 2 repeats"]
    assert any("Means of 2 repeats" in chart.alt for chart in charts(at))


def test_climbing_in_the_noise_is_drawn_with_and_without_gamma(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compute, "DNO_STEPS", 4)
    at = visit("steering", {"steering_view": "Climb in the noise (DNO)", "steering_steps": "10"})
    at = click(at, "steering_dno_run")
    told = next(chart.alt for chart in charts(at) if "Direct noise optimisation" in chart.alt)
    assert "γ = 0: reward" in told
    assert "γ = 1: reward" in told
    stale = "made with earlier settings"
    assert not any(stale in text.value for text in at.caption)
    at = put(at, {"steering_lam": 2.0})
    assert any(stale in text.value for text in at.caption)


def test_no_fresh_noise_is_announced_under_the_picture() -> None:
    at = visit("steering", {"steering_eta": "0.0"})
    assert any("copies of a particle stay identical" in text.value for text in at.warning)


def test_a_potential_that_does_not_fit_is_one_sentence() -> None:
    at = visit(
        "steering",
        {
            "steering_potential": "Exact: what is to be expected",
            "steering_reward": "In the last group (no gradient)",
        },
    )
    assert [error.value for error in at.error] == [
        "The exact potential needs the analytic model and a reward with a known average: "
        "linear, quadratic or half-plane."
    ]


def test_pictures_are_drawn_with_their_weights_and_costs() -> None:
    at = click(visit("steering", DIGITS | {"steering_d_k": "4"}), "steering_d_draw_run")
    assert [error.value for error in at.error] == []
    frame = next(f.value for f in at.dataframe if "nearest_real" in f.value)
    steered = frame[frame.method == "FK steering"]
    assert len(steered) == 4
    assert steered.weight.sum() == pytest.approx(1, abs=1e-5)
    assert set(frame.method) == {"FK steering", "Best of n", "Gradient guidance"}
    assert frame.judge.between(0, 1).all()


@pytest.mark.parametrize(
    ("formula", "sentence"),
    [
        ("", "the expression has 0 characters"),
        ("__import__('os')", ""),
        ("ink +", ""),
        ("unknown * 2", "unknown"),
    ],
)
def test_a_formula_that_cannot_be_used_is_one_sentence(formula: str, sentence: str) -> None:
    at = visit("steering", DIGITS | {"steering_d_reward": "My own formula (no gradient)"})
    at = put(at, {"steering_d_formula": formula})
    (error,) = [error.value for error in at.error]
    assert sentence in error.lower()
    assert "\n" not in error


def test_a_formula_without_a_value_costs_a_particle_its_weight() -> None:
    at = visit("steering", DIGITS | {"steering_d_reward": "My own formula (no gradient)"})
    at = put(at, {"steering_d_formula": "sqrt(p3 - p5)", "steering_d_k": 32})
    at = click(at, "steering_d_draw_run")
    frame = next(f.value for f in at.dataframe if "nearest_real" in f.value)
    lost = frame[(frame.reward == -math.inf) & (frame.method == "FK steering")]
    assert (lost.weight == 0).all()
    assert any("was no number: their weight is 0" in text.value for text in at.warning)


def test_without_a_drawing_there_is_one_sentence() -> None:
    at = visit("steering", DIGITS | {"steering_d_reward": "Like my drawing"})
    assert [error.value for error in at.error] == [
        "Draw something first: the reward compares each image with a drawing."
    ]


def test_a_missing_network_can_be_trained_on_the_page(
    monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    monkeypatch.setattr(data, "WEIGHTS", tmp_path / "digits_unet.safetensors")
    monkeypatch.setattr(digits, "TRAIN_STEPS", 5)
    study.digit_denoiser.cache_clear()
    try:
        at = visit("steering", DIGITS)
        assert any("is missing: train it first" in text.value for text in at.warning)
        at = click(at, "steering_d_train_run")
        assert any("that you have just trained" in text.value for text in at.caption) or click(
            at, "steering_d_draw_run"
        )
    finally:
        study.digit_denoiser.cache_clear()
