"""Potentials, the published weights and resampling against stored values."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from models.steering import potentials
from models.steering.released import start_released
from models.steering.resampling import (
    effective_size,
    log_mean,
    normalise,
    resample,
    residual,
    select,
    stratified,
    systematic,
)

pytestmark = pytest.mark.golden

FOLDER = Path(__file__).resolve().parents[2] / "golden" / "steering"
NAMES = {
    "diff": "difference",
    "max": "max",
    "add": "sum",
    "sum": "sum",
    "rt": "current",
    "is": "none",
}


def cases(name: str) -> list[dict]:
    return json.loads((FOLDER / f"{name}.json").read_text())["cases"]


@pytest.mark.parametrize("case", cases("fk_exact_weights"), ids=lambda c: f"seed{c['seed']}")
@pytest.mark.parametrize("name", ["diff", "max", "sum", "rt", "is"])
def test_exact_weights_of_every_potential(case, name):
    rewards = np.array(case["rewards_per_step_slot"])
    k, golden = rewards.shape[1], case["potentials"][name]
    lineages, log_weights = potentials.start(NAMES[name], k), np.zeros(k)
    log_z, roots = 0.0, np.arange(k)
    for step in golden["steps"]:
        last = step["step"] == case["schedule"][-1]
        log_g, lineages = lineages.weigh(case["lmbda"] * rewards[step["step"]], terminal=last)
        log_weights = log_weights + log_g
        np.testing.assert_allclose(log_g, step["log_potential"], atol=1e-9)
        np.testing.assert_allclose(lineages.accumulated, step["accumulated"], atol=1e-9)
        np.testing.assert_allclose(log_weights, step["log_weights"], atol=1e-9)
        weights = normalise(log_weights)
        np.testing.assert_allclose(weights, step["normalised_weights"], atol=1e-9)
        assert effective_size(weights) == pytest.approx(step["ess"], abs=1e-9)
        if step["resampled"]:
            parents = np.array(step["resampled"])
            log_z += log_mean(log_weights)
            lineages, roots, log_weights = lineages.follow(parents), roots[parents], np.zeros(k)
    assert log_z + log_mean(log_weights) == pytest.approx(golden["log_Z"], abs=1e-9)
    assert roots.tolist() == golden["final_ancestors"]


def label(case: dict) -> str:
    kind = "adaptive" if case["adaptive"] else "always"
    return f"{case['repo_variant']}-{case['potential']}-{kind}-{case['seed']}"


@pytest.mark.parametrize("case", cases("fkd_released_code"), ids=label)
def test_released_weights_and_bookkeeping(case):
    k = case["num_particles"]
    state = start_released(
        case["repo_variant"],
        NAMES[case["potential"]],
        case["lmbda"],
        k,
        adaptive=case["adaptive"],
    )
    roots = np.arange(k)
    for step in case["steps"]:
        if not step["scheduled"]:
            continue
        last = step["step"] == case["time_steps"] - 1
        weights, state = state.weigh(np.array(step["reward"]), terminal=last)
        assert (weights is None) == (step["weights"] is None)
        if weights is not None:
            np.testing.assert_allclose(weights, step["weights"], rtol=1e-5)
            parents = np.array(step["indices"])
            state, roots = state.follow(parents), roots[parents]
        np.testing.assert_allclose(state.statistic, step["population_rs_after"], rtol=1e-5)
        np.testing.assert_allclose(state.product, step["product_after"], rtol=2e-5)
        assert roots.tolist() == step["lineage"]


@pytest.mark.parametrize("case", cases("resampling"), ids=lambda c: f"seed{c['seed']}")
def test_resampling_indices(case):
    weights, m = np.array(case["weights"]), case["num_samples"]
    uniforms = np.array(case["uniforms"])
    assert systematic(weights, m, case["u"]).tolist() == case["systematic"]
    assert stratified(weights, uniforms).tolist() == case["stratified"]
    assert select(weights, uniforms).tolist() == case["multinomial_inverse_cdf"]
    assert effective_size(weights / weights.sum()) == pytest.approx(case["ess"], rel=1e-4)
    copies = np.bincount(residual(weights, m, np.random.default_rng(0)), minlength=len(weights))
    assert copies.sum() == m
    assert (copies >= np.floor(m * weights)).all()


@pytest.mark.parametrize("scheme", ["systematic", "stratified", "residual", "multinomial"])
def test_copies_are_right_on_average(scheme):
    """Means over 4,000 draws within 6 standard errors: false alarms below 1e-7."""
    weights = np.array([0.02, 0.5, 0.0, 0.28, 0.2])
    rng, draws = np.random.default_rng(7), 4000
    counts = np.array(
        [np.bincount(resample(weights, scheme, rng), minlength=5) for _ in range(draws)]
    )
    error = counts.std(axis=0) / np.sqrt(draws)
    assert (np.abs(counts.mean(axis=0) - 5 * weights) <= 6 * error + 1e-12).all()
    assert counts[:, 2].sum() == 0


@pytest.mark.parametrize("scheme", ["systematic", "residual", "stratified"])
def test_equal_weights_keep_every_particle(scheme):
    k = 7
    chosen = resample(np.full(k, 1 / k), scheme, np.random.default_rng(3))
    assert sorted(chosen.tolist()) == list(range(k))


@pytest.mark.parametrize("k", [1, 2, 7, 64, 1000])
def test_counting_points_is_searching_for_them(k):
    rng = np.random.default_rng(k)
    for _ in range(50):
        weights = rng.dirichlet(np.full(k, 0.3))
        u = rng.random()
        searched = select(weights, (np.arange(k) + u) / k)
        assert systematic(weights, k, u).tolist() == searched.tolist()


@pytest.mark.parametrize("u", [0.0, 1e-17, 1 - 2**-53])
def test_systematic_draws_as_many_as_asked_for_at_the_ends(u):
    for weights in (np.full(7, 1 / 7), np.array([0.0, 0.3, 0.7, 0.0]), np.array([1.0])):
        chosen = systematic(weights, 9, u)
        assert len(chosen) == 9
        assert (weights[chosen] > 0).all()


def test_selection_survives_a_sum_that_rounds_below_one():
    weights = np.array([0.1] * 10 + [0.0])
    assert select(weights / weights.sum(), np.array([1 - 1e-17, 0.9999999999999999])).max() == 9
