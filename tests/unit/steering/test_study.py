"""The trials behind the claims, at small sizes, and the claims' form."""

from __future__ import annotations

import numpy as np
import pytest

from models.steering import claims, study

pytestmark = pytest.mark.unit


def once(name: str, *arguments: object) -> np.ndarray:
    return claims.trial(np.random.default_rng(4), name, arguments)


@pytest.mark.parametrize(
    ("name", "arguments", "numbers"),
    [
        ("plane_race", (4, 3.0, 0.2), 2),
        ("plane_rarity", (4, 3.0, 0.05, 0.6), 2),
        ("plane_sizes", ((4, 2), 3.0), 2),
        ("plane_potentials", (4, 1.0), 6),
        ("plane_strengths", (4, (1.0, 10.0)), 2),
        ("plane_correlations", (8,), 4),
        ("plane_truth", (4, 3.0), 2),
        ("digit_race", (2, 2.0, 3), 3),
        ("digit_unsmooth", ("thin strokes", 2, 3.0), 2),
        ("dno_against_best", (2, 2, 1.0), 2),
        ("dno_noises", (2, 2), 2),
        ("dno_regularised", (2, 2), 6),
        ("dno_estimators", (2, 7), 3),
    ],
)
def test_a_trial_gives_its_numbers_and_the_same_ones_again(name, arguments, numbers):
    first = once(name, *arguments)
    assert first.shape == (numbers,)
    assert np.isfinite(first).all()
    np.testing.assert_array_equal(first, once(name, *arguments))


class Asked(Exception):
    """Carries the trial that a claim would have run."""


def test_every_measured_claim_names_a_trial(monkeypatch):
    def ask(trial, count, seed):
        raise Asked(trial.keywords["name"])

    monkeypatch.setattr("models.claims.run_trials", ask)
    measured = [claim for claim in claims.CLAIMS if claim.measure]
    assert len(measured) == len(claims.CLAIMS) - 1
    for claim in measured:
        with pytest.raises(Asked) as asked:
            claim.measure("quick", 0, lambda *news: None)
        assert callable(getattr(study, asked.value.args[0]))


@pytest.mark.statistical
def test_steering_beats_best_of_n_where_the_target_is_rare():
    """40 paired trials: the mean lead, about 0.66, is above 5 of its standard errors."""
    gap = np.array(
        [
            np.subtract(*study.plane_race(np.random.default_rng([9, i]), 16, 3.0, 0.2))
            for i in range(40)
        ]
    )
    assert gap.mean() > 5 * gap.std() / np.sqrt(40)


def test_the_judgement_of_a_gain_follows_its_interval():
    rng = np.random.default_rng(0)
    better = np.stack([rng.normal(1, 0.1, 50), rng.normal(0, 0.1, 50)], axis=1)
    judge = claims._gain(better, names=("one", "other"))
    assert judge.verdict == "holds"
    assert judge.value == pytest.approx((better[:, 0] - better[:, 1]).mean())
    assert claims._gain(better[:, ::-1], names=("one", "other")).verdict == "contradicted"
