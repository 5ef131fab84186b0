"""One draw through every method, and many draws against a known truth."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from scipy import stats

from models.quest import measures
from models.quest.baselines import ppi
from models.quest.calibrated import METHOD as CALIBRATED
from models.quest.estimate import labels_only, labels_saved, predictions_only, prepare, quest
from models.quest.intake import Samples
from models.quest.measures import Quantile
from models.quest.study import METHODS, Question, analyse, summarise_trials, trial

pytestmark = pytest.mark.unit


def draw(rng: np.random.Generator, n: int = 60, n_unlabelled: int = 300) -> Samples:
    z = rng.normal(size=n + n_unlabelled)
    w = 0.4 + 0.8 * z + 0.4 * rng.normal(size=z.size)
    return Samples(z[:n], w[:n], w[n:])


SAMPLES = draw(np.random.default_rng(1))


def test_every_method_answers_under_its_own_name():
    for measure, absent in (
        (measures.mean(), set()),
        (Quantile(0.5), {CALIBRATED}),
        (measures.cvar_upper(0.8), {"PPI++"}),
    ):
        found = analyse(SAMPLES, Question(measure), np.random.default_rng(0))
        assert set(found.intervals) == set(METHODS) - absent
        assert all(name == answer.method for name, answer in found.intervals.items())
        fast = analyse(SAMPLES, Question(measure), np.random.default_rng(0), calibrate=False)
        assert set(fast.intervals) == set(METHODS) - absent - {CALIBRATED}


def test_answers_are_those_of_the_single_functions():
    question = Question(measures.cvar_lower(0.3), alpha=0.2, lam=0.7, variance="plug-in")
    found = analyse(SAMPLES, question, np.random.default_rng(0))
    y, yhat, pool = SAMPLES.labels, SAMPLES.predictions, SAMPLES.pool
    parts = prepare(y, yhat, pool, question.measure, alpha=0.2)
    assert found.quest == quest(parts, lam=0.7, variance="plug-in")
    assert found.labels == labels_only(parts)
    assert found.intervals["PPI"] == ppi(parts, y, yhat, pool)
    assert found.intervals["Predictions only"] == predictions_only(parts)
    assert found.labels_worth == labels_saved(found.quest, found.labels, 60)
    assert found.labels_worth == pytest.approx(60 * (found.labels.width / found.quest.width) ** 2)


def test_labels_worth_is_unknown_without_an_interval():
    flat = Samples(np.ones(60), SAMPLES.predictions, SAMPLES.pool)
    found = analyse(flat, Question(measures.mean()), np.random.default_rng(0))
    assert math.isnan(found.labels_worth)


def test_a_trial_lists_the_methods_in_order_and_leaves_gaps_as_nan():
    question = Question(measures.mean())
    for calibrate in (False, True):
        row = trial(np.random.default_rng(5), draw, question, calibrate=calibrate)
        rng = np.random.default_rng(5)
        found = analyse(draw(rng), question, rng, calibrate=calibrate).intervals
        assert row.shape == (18,)
        for name, (estimate, low, high) in zip(METHODS, row.reshape(6, 3), strict=True):
            if name in found:
                assert (estimate, low, high) == (
                    found[name].estimate,
                    found[name].low,
                    found[name].high,
                )
            else:
                assert (name, calibrate) == (CALIBRATED, False)
                assert np.isnan([estimate, low, high]).all()


def test_trials_are_summarised_by_hand():
    """Three repetitions of one method: covers, misses, refused."""
    rows = np.full((3, 6, 3), np.nan)
    rows[:, 0] = [(1.0, 0.0, 2.0), (3.0, 2.5, 3.5), (4.0, np.nan, np.nan)]
    (found,) = summarise_trials(rows.reshape(3, 18), truth=1.5)
    assert (found.method, found.trials, found.refused) == ("QuEst", 3, 1)
    assert found.error == pytest.approx((0.5 + 1.5 + 2.5) / 3)
    assert found.error_se == pytest.approx(1 / math.sqrt(3))
    assert found.width == pytest.approx(1.5)
    assert found.coverage == 0.5
    exact = stats.binomtest(1, 2).proportion_ci(0.95)
    assert (found.coverage_low, found.coverage_high) == (exact.low, exact.high)


def test_a_method_without_any_interval_has_an_error_and_no_coverage():
    rows = np.full((1, 6, 3), np.nan)
    rows[0, METHODS.index("Labels only"), 0] = 2.0
    (found,) = summarise_trials(rows.reshape(1, 18), truth=1.5)
    assert (found.method, found.error, found.refused) == ("Labels only", 0.5, 1)
    assert np.isnan([found.error_se, found.width, found.coverage, found.coverage_low]).all()
    assert summarise_trials(np.empty((0, 18)), truth=1.5) == ()


def test_the_ends_of_an_interval_cover():
    rows = np.full((2, 6, 3), np.nan)
    rows[:, 0] = [(1.0, 0.0, 1.5), (2.0, 1.5, 3.0)]
    assert summarise_trials(rows.reshape(2, 18), truth=1.5)[0].coverage == 1.0


@pytest.mark.statistical
def test_many_draws_show_what_the_method_claims():
    """Model biased by 0.4: predictions alone never cover, QuEst does and beats the labels.

    True values (4000 trials): coverage of QuEst .888, labels .892, predictions 0; error ratio of
    QuEst to labels .637, with a standard error of .028 in 400 trials, so that .85 is 7 of them
    away.  In 400 trials a coverage of .888 falls below .80 with probability
    binom.cdf(319, 400, .888) = 1e-7.
    """
    question = Question(measures.interval(0.25, 0.75))
    step = partial(trial, draw=draw, question=question)
    results = np.stack([step(np.random.default_rng(seed)) for seed in range(400)])
    by_method = {row.method: row for row in summarise_trials(results, truth=0.0)}
    assert set(by_method) == set(METHODS) - {CALIBRATED, "PPI++"}
    assert by_method["QuEst"].coverage >= 0.80
    assert by_method["Labels only"].coverage >= 0.80
    assert by_method["Predictions only"].coverage < 0.05
    assert by_method["QuEst"].error < 0.85 * by_method["Labels only"].error
    assert by_method["QuEst"].width < by_method["Labels only"].width
    assert all(row.refused == 0 for row in by_method.values())
