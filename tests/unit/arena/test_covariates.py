"""The top place's advantage and style, against golden values and scipy's optimiser."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, special

from models.arena.voters import Crowd, deal
from models.ranking.battles import Battles, aggregate, from_names
from models.ranking.bradley_terry import elo, fit
from models.ranking.covariates import TOP, control, relative_difference, standardised
from models.ranking.uncertainty import standard_errors
from tests.unit.arena.tables import SHARED, golden, table


def one_by_one(names, a, b, y) -> Battles:
    """Battles that are not merged, so that each can have covariates."""
    return Battles(tuple(names), a, b, y, np.ones(a.size, np.int64), np.ones(a.size))


def styled(seed: int, n: int, gamma: float, style: tuple[float, ...]):
    """Votes moved by the top place and by style, with the covariates."""
    rng = np.random.default_rng(seed)
    theta = np.array([0.6, 0.1, -0.2, -0.5])
    a, b = deal(4, n, rng)
    z = standardised(rng.normal(size=(n, len(style))))
    p = special.expit(theta[a] - theta[b] + gamma + z @ np.array(style))
    y = (rng.random(n) < p).astype(float)
    return one_by_one(["A", "B", "C", "D"], a, b, y), z, theta


@pytest.mark.golden
@pytest.mark.skipif(not SHARED.is_dir(), reason="the released votes are not part of the project")
@pytest.mark.parametrize("ridge", [0.1, 1.0])
def test_position_effect_of_the_released_examples(ridge):
    lines = (SHARED / "copilot_arena_v1_votes.csv").read_text().splitlines()[1:]
    rows = [line.split(",") for line in lines]
    battles = from_names(
        [row[0] for row in rows], [row[1] for row in rows], [1 - float(row[2]) for row in rows]
    )
    want = golden("copilot_arena_v1_bt")[f"ridge_{ridge}"]
    found = control(battles, ridge=ridge)
    assert found.effects[0] == pytest.approx(want["gamma_top_natural"], abs=1e-5)
    assert elo(found.beta) == pytest.approx(want["elo_with_position_term"], abs=1e-3)
    assert special.expit(found.effects[0]) == pytest.approx(want["p_top_wins_equal_models"])


@pytest.mark.unit
@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_all_parameters_maximise_the_likelihood(ridge):
    battles, z, _ = styled(1, 300, 0.8, (0.5, -0.3))
    found = control(battles, z, ("length", "lists"), ridge=ridge, effects_ridge=ridge)

    def loss(v):
        beta = v[:4]
        logit = beta[battles.a] - beta[battles.b] + v[4] + z @ v[5:]
        fitted = battles.score * special.log_expit(logit)
        fitted += (1 - battles.score) * special.log_expit(-logit)
        return -fitted.sum() + (ridge + 1e-9) / 2 * v @ v

    want = optimize.minimize(loss, np.zeros(7), method="BFGS", options={"gtol": 1e-6}).x
    assert found.names == (TOP, "length", "lists")
    assert found.exists
    assert found.beta == pytest.approx(want[:4] - want[:4].mean(), abs=1e-4)
    assert found.effects == pytest.approx(want[4:], abs=1e-4)


@pytest.mark.unit
def test_without_covariates_it_is_the_plain_fit():
    battles = table(("A", "B", 9, 4, 2), ("B", "C", 7, 5, 1), ("C", "A", 3, 8, 0))
    found = control(battles, position=False)
    assert found.beta == pytest.approx(fit(battles), abs=1e-9)
    errors = np.sqrt(np.diag(found.covariance))
    assert errors == pytest.approx(standard_errors(battles, found.beta), abs=1e-9)


@pytest.mark.statistical
def test_effects_are_recovered_within_their_errors():
    # 3 effects of 5 standard errors each: a false alarm has chance 2e-6.
    battles, z, theta = styled(2, 20_000, 0.9, (0.4, -0.2))
    found = control(battles, z, ("length", "lists"))
    errors = (found.high - found.low) / 2 / 1.959964
    assert (np.abs(found.effects - [0.9, 0.4, -0.2]) < 5 * errors).all()
    assert found.beta == pytest.approx(theta - theta.mean(), abs=0.15)


@pytest.mark.statistical
def test_ignored_liking_for_the_top_shrinks_scores_but_keeps_their_order():
    crowd = Crowd(np.array([0.8, 0.3, -0.2, -0.9]), gamma=1.5)
    rng = np.random.default_rng(4)
    battles = crowd.battles(*deal(4, 40_000, rng), rng)
    plain, full = fit(battles), control(battles)
    # Standard errors are below 0.03 each, so that the gaps of 0.5 keep their order for certain.
    assert list(np.argsort(-plain)) == [0, 1, 2, 3]
    assert np.ptp(plain) < 0.75 * 1.7
    assert full.beta == pytest.approx(crowd.theta, abs=0.15)
    assert full.low[0] < 1.5 + 0.1
    assert full.high[0] > 1.5 - 0.1


@pytest.mark.unit
def test_an_effect_without_a_maximum_is_not_given_an_interval():
    battles = table(("A", "B", 5, 0, 0), ("B", "A", 4, 0, 0))  # the top one, always
    found = control(battles)
    assert not found.exists
    assert (found.low[0], found.high[0]) == (-math.inf, math.inf)
    assert np.isfinite(found.effects).all()
    assert found.effects[0] > 1


@pytest.mark.unit
def test_components_keep_levels_of_their_own():
    battles = table(
        ("A", "B", 6, 3, 0), ("B", "A", 4, 5, 0), ("C", "D", 7, 2, 0), ("D", "C", 3, 4, 1)
    )
    found = control(battles)
    assert found.exists
    assert found.beta[:2].sum() == pytest.approx(0, abs=1e-9)
    assert found.beta[2:].sum() == pytest.approx(0, abs=1e-9)


@pytest.mark.unit
def test_style_differences_are_relative_and_standardised():
    assert relative_difference([3, 0, 0], [1, 0, 5]) == pytest.approx([0.5, 0, -1])
    z = standardised([[1.0, 5.0], [3.0, 7.0], [5.0, 6.0]])
    assert z.mean(axis=0) == pytest.approx([0, 0])
    assert z.std(axis=0) == pytest.approx([1, 1])
    with pytest.raises(ValueError, match=r"Covariate 1 .* is the same in all battles"):
        standardised([[1.0, 5.0], [3.0, 5.0]])
    with pytest.raises(ValueError, match="not finite"):
        standardised([[1.0], [np.nan]])
    with pytest.raises(ValueError, match="must not be negative"):
        relative_difference([-1], [2])


@pytest.mark.unit
def test_bad_calls_are_refused():
    battles = table(("A", "B", 2, 1, 0))
    with pytest.raises(ValueError, match="1 covariates, but 0 names"):
        control(battles, np.ones(battles.a.size))
    with pytest.raises(ValueError, match="must pair up row by row"):
        control(battles, np.ones(7), ("z",))
    with pytest.raises(ValueError, match="no battles"):
        control(aggregate(["A", "B"], np.empty(0, int), np.empty(0, int), []))
