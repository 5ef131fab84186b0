"""Samples at the edge of what the method can say: tails, ties, tiny and huge samples."""

from __future__ import annotations

import math

import numpy as np
import pytest

from models.quest import measures
from models.quest.baselines import bootstrap, ppi_plus_plus
from models.quest.calibrated import calibrated
from models.quest.estimate import estimate, labels_only, predictions_only, prepare, quest
from models.quest.influence import plug_in, summarise, weight_influence
from models.quest.intake import Samples, advise
from models.quest.measures import Quantile
from models.quest.opt import bins, quest_opt, sinusoids
from models.quest.study import Question, analyse

pytestmark = pytest.mark.unit

MEASURES = [
    measures.mean(),
    measures.cvar_upper(0.8),
    measures.cvar_lower(0.2),
    measures.interval(0.25, 0.75),
    Quantile(0.5),
]
IDS = [measure.name for measure in MEASURES]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def noisy(n: int, n_unlabelled: int, seed: int = 0):
    r = rng(seed)
    z = r.normal(size=n + n_unlabelled)
    yhat = 0.2 + 0.8 * z + 0.4 * r.normal(size=z.size)
    return z[:n], yhat[:n], yhat[n:]


# -- tails --------------------------------------------------------------------------------------


def test_a_quarter_of_five_values_takes_one_and_a_quarter_of_them():
    value = plug_in(np.arange(5.0), measures.cvar_upper(0.75))
    assert value == pytest.approx((4 + 0.25 * 3) / 1.25, rel=1e-15)
    assert value == pytest.approx(3.8, rel=1e-15)


def test_the_top_tenth_of_ten_labels_is_the_maximum():
    y = rng(1).normal(size=10)
    found = estimate(y, y, y, measures.cvar_upper(0.9), lam=0.0)
    assert found.estimate == pytest.approx(y.max(), rel=1e-12)
    assert found.low < found.estimate < found.high


def test_the_90_percent_quantile_of_ten_labels_has_exactly_nine_at_or_below():
    y = rng(2).permutation(10.0 + np.arange(10))
    found = estimate(y, y, y, Quantile(0.9), lam=0.0)
    assert found.estimate == 18.0


def test_a_quantile_beyond_the_last_but_one_label_is_the_maximum_without_an_interval():
    y = rng(3).normal(size=10)
    parts = prepare(y, y, y, Quantile(0.95))
    assert parts.labels.value == y.max()
    assert "a quantile at the very end of the sample" in quest(parts).refusal


@pytest.mark.parametrize("measure", [measures.cvar_upper(0.99), Quantile(0.99)])
def test_half_a_label_in_the_tail_is_refused_with_the_smallest_usable_number(measure):
    y, yhat, pool = noisy(50, 300)
    with pytest.raises(ValueError, match=r"rests on 0\.5 of 50 labels; at least 100 labels"):
        estimate(y, yhat, pool, measure)
    with pytest.raises(ValueError, match="at least 100 labels are needed"):
        analyse(Samples(y, yhat, pool), Question(measure), rng())
    assert math.isfinite(prepare(y, yhat, pool, measure).labels.value)  # the core still computes
    y, yhat, pool = noisy(100, 300)
    assert estimate(y, yhat, pool, measures.cvar_upper(0.99)).estimate > np.sort(y)[-2]


# -- ties and borders ---------------------------------------------------------------------------


@pytest.mark.parametrize("n", [10, 30, 70, 90, 1000])
def test_borders_on_a_data_point_do_not_depend_on_the_last_bit(n):
    """0.1 x 30 is 3.0000000000000004: psi taken point by point would jump there by O(1/n)."""
    x = np.sort(rng(n).normal(size=n))
    for low, high in ((0.1, 0.7), (0.2, 0.9), (0.3, 0.6)):
        exact = measures.interval(low, high)
        for nudge in (-1e-15, 1e-15):
            near = measures.interval(low + nudge, high - nudge)
            assert plug_in(x, near) == pytest.approx(plug_in(x, exact), rel=1e-11, abs=1e-13)
            assert weight_influence(x, near) == pytest.approx(
                weight_influence(x, exact), rel=1e-11, abs=1e-12
            )
        i, j = round(n * low), round(n * high)
        assert plug_in(x, exact) == pytest.approx(x[i:j].mean(), rel=1e-11, abs=1e-13)


def test_tied_values_share_their_influence():
    x = np.round(rng(4).normal(size=60))
    for measure in MEASURES:
        found = summarise(x, measure, 0.1).influence
        for value in np.unique(x):
            assert np.ptp(found[x == value]) <= 1e-12


def test_a_quarter_at_the_cap_leaves_no_interval_for_the_top_fifth():
    """Top-coding: every label that the measure weighs is the cap, whatever the model says."""
    y, yhat, pool = noisy(200, 1000)
    y = np.minimum(y, np.quantile(y, 0.75))
    answers = analyse(Samples(y, yhat, pool), Question(measures.cvar_upper(0.8)), rng()).intervals
    assert answers["QuEst"].estimate == pytest.approx(y.max(), rel=1e-12)
    for method in ("QuEst", "QuEst, calibrated", "PPI", "Labels only"):
        assert "labels show no spread" in answers[method].refusal
        assert math.isnan(answers[method].width)
    assert answers["Predictions only"].width > 0


def test_the_cap_itself_is_named_only_where_the_measure_looks():
    y, yhat, pool = noisy(200, 1000)
    y = np.minimum(y, np.quantile(y, 0.75))
    samples = Samples(y, yhat, pool)

    def capped(measure) -> bool:
        texts = [advice.text for advice in advise(samples, prepare(y, yhat, pool, measure), 0.5)]
        return any(f"25 % of the labels sit exactly at {y.max():g}" in text for text in texts)

    assert [capped(m) for m in MEASURES] == [True, True, False, False, False]


def test_a_cap_is_found_even_where_another_value_is_more_frequent():
    y = np.concatenate([np.zeros(80), np.linspace(1, 9, 80), np.full(40, 10.0)])
    parts = prepare(y, y, y, measures.cvar_upper(0.7))
    texts = [advice.text for advice in advise(Samples(y, y, y), parts, 0.5)]
    assert any("20 % of the labels sit exactly at 10" in text for text in texts)
    assert not any("sit exactly at 0" in text for text in texts)


def test_binary_labels_have_the_interval_of_a_proportion_and_no_interval_in_a_pure_tail():
    r = rng(5)
    y = r.permutation(np.repeat([0.0, 1.0], [160, 90]))
    yhat, pool = y * 0.6 + r.normal(size=250), r.normal(size=500)
    parts = prepare(y, yhat, pool, measures.mean(), alpha=0.05)
    found = labels_only(parts)
    assert found.estimate == pytest.approx(0.36, rel=1e-12)
    assert found.se == pytest.approx(math.sqrt(0.36 * 0.64 / 250), rel=1e-12)
    assert quest(parts).width <= found.width * 1.01
    top = quest(prepare(y, yhat, pool, measures.cvar_upper(0.8)))  # 36 % ones: all of the tail
    assert (top.estimate, math.isnan(top.width)) == (pytest.approx(1.0), True)
    median = analyse(Samples(y, yhat, pool), Question(Quantile(0.5)), rng())
    assert median.quest.estimate == 0.0
    assert median.quest.refusal
    advice = advise(Samples(y, yhat, pool), median.parts, 0.0)
    assert any("only 2 different values" in each.text and each.serious for each in advice)


def test_a_median_of_ratings_is_a_rating_with_a_warning_and_no_false_precision():
    r = rng(6)
    y = r.integers(1, 6, size=200).astype(float)
    yhat = np.clip(y + r.integers(-1, 2, size=200), 1, 5)
    pool = r.integers(1, 6, size=1000).astype(float)
    for level in (0.25, 0.5, 0.9):
        result = analyse(Samples(y, yhat, pool), Question(Quantile(level)), rng())
        assert result.labels.estimate in {1, 2, 3, 4, 5}
        for answer in result.intervals.values():
            assert answer.refusal or answer.width > 0
        if not result.intervals["PPI"].refusal:
            assert {result.intervals["PPI"].low, result.intervals["PPI"].high} <= {1, 2, 3, 4, 5}
        advice = advise(Samples(y, yhat, pool), result.parts, 0.0)
        assert any("quantiles of ratings jump" in each.text for each in advice)


# -- predictions --------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", MEASURES, ids=IDS)
def test_constant_predictions_fall_back_to_the_labels(measure):
    y, _, _ = noisy(60, 10)
    parts = prepare(y, np.full(60, 3.0), np.full(500, 3.0), measure)
    found, classical = quest(parts), labels_only(parts)
    assert found.lam == parts.lam_raw == 0
    assert (found.estimate, found.low, found.high) == pytest.approx(
        (classical.estimate, classical.low, classical.high), rel=1e-12
    )
    assert "unlabelled predictions show no spread" in predictions_only(parts).refusal
    answers = analyse(
        Samples(y, np.full(60, 3.0), np.full(500, 3.0)), Question(measure), rng()
    ).intervals
    tuned = "PPI++" if isinstance(measure, Quantile) else "QuEst, calibrated"
    assert answers[tuned].estimate == pytest.approx(classical.estimate, abs=0.3)


def test_constant_predictions_only_among_the_unlabelled_get_no_weight():
    y, yhat, _ = noisy(60, 10)
    for measure in MEASURES:
        assert quest(prepare(y, yhat, np.full(500, 3.0), measure)).lam == 0


@pytest.mark.parametrize("basis", [bins(5), sinusoids()], ids=["bins", "sinusoids"])
def test_free_weights_fall_back_to_the_labels_too(basis):
    y, _, _ = noisy(60, 10)
    parts = prepare(y, np.full(60, 3.0), np.full(500, 3.0), measures.mean())
    found = quest_opt(parts, np.full(60, 3.0), np.full(500, 3.0), basis)
    assert (found.xi == 0).all()
    assert found.interval.low == pytest.approx(labels_only(parts).low, rel=1e-12)


@pytest.mark.parametrize("measure", MEASURES, ids=IDS)
@pytest.mark.parametrize("constant", [-7.0, 0.0, 250.0])
def test_a_model_wrong_by_a_constant_is_corrected_in_full(measure, constant):
    y = np.round(rng(7).normal(size=2080), 6)
    yhat, pool = y[:80] - constant, y[80:] - constant
    parts = prepare(y[:80], yhat, pool, measure)
    full = quest(parts, lam=1.0)
    assert full.estimate == pytest.approx(parts.unlabelled.value + constant, abs=1e-9)
    if not isinstance(measure, Quantile):  # whose two density estimates differ
        # Only the noise of the unlabelled predictions is left.
        assert full.se == pytest.approx(math.sqrt(parts.unlabelled.variance / 2000), rel=1e-6)
        assert parts.lam_raw == pytest.approx(
            parts.labels.variance / (1.04 * parts.unlabelled.variance), rel=1e-9
        )
    assert quest(parts).width < 0.6 * labels_only(parts).width


def test_fewer_unlabelled_rows_than_labels_work_and_can_only_help_a_little():
    y, yhat, pool = noisy(400, 40)
    parts = prepare(y, yhat, pool, measures.mean())
    assert parts.ratio == 10
    assert 0 < quest(parts).lam < 0.2
    assert 0.9 < quest(parts).width / labels_only(parts).width < 1


# -- sizes --------------------------------------------------------------------------------------


def test_two_labels_give_a_mean_with_an_interval_and_a_calibrated_refusal():
    y, yhat, pool = np.array([1.0, 4.0]), np.array([2.0, 3.0]), np.array([1.0, 5.0, 6.0])
    parts = prepare(y, yhat, pool, measures.mean())
    found = quest(parts, lam=1.0)
    assert found.estimate == pytest.approx(2.5 + 4 - 2.5)
    # Residuals -1 and 1 have variance 1; the pool adds its own.
    assert found.se**2 == pytest.approx(1 / 2 + np.var(pool) / 3)
    # Every second resample repeats one label.
    assert "no interval can be calibrated" in calibrated(parts, y, yhat, rng()).refusal
    assert ppi_plus_plus(parts, y, yhat, pool).width > 0
    assert bootstrap(parts, y, rng()).low == 1.0


def test_a_million_unlabelled_rows_agree_with_direct_formulas():
    r = rng(8)
    z = r.normal(size=1_001_000)
    y, w = np.exp(z[:1000]), np.exp(0.8 * z + 0.3 * r.normal(size=z.size))
    yhat, pool = w[:1000], w[1000:]
    parts = prepare(y, yhat, pool, measures.cvar_upper(0.8))
    top = np.sort(pool)[-200_000:]
    assert parts.unlabelled.value == pytest.approx(top.mean(), rel=1e-12)
    assert parts.labels.value == pytest.approx(np.sort(y)[-200:].mean(), rel=1e-12)
    # The influence function is (max(x, q) - mean)/(1 - b), up to half a gap at the border.
    border = top[0]
    assert parts.unlabelled.variance == pytest.approx(
        np.var(np.maximum(pool, border)) / 0.04, rel=1e-5
    )
    a, b = (np.maximum(x, np.sort(x)[800]) / 0.2 for x in (y, yhat))
    assert parts.eta == pytest.approx(np.cov(a, b, bias=True)[0, 1], rel=0.01)
    median = prepare(y, yhat, pool, Quantile(0.5))
    assert median.unlabelled.value == np.partition(pool, 499_999)[499_999]


def test_a_million_rows_and_the_mean():
    r = rng(9)
    y, yhat = r.normal(size=(2, 100))
    pool = r.normal(size=1_000_000)
    found = quest(prepare(y, yhat, pool, measures.mean()), lam=1.0)
    assert found.estimate == pytest.approx(pool.mean() + np.mean(y - yhat), rel=1e-9, abs=1e-12)
    assert found.se**2 == pytest.approx(np.var(y - yhat) / 100 + np.var(pool) / 1e6, rel=1e-9)


def test_numbers_too_large_to_square_are_refused_instead_of_shown():
    y, yhat, pool = noisy(30, 60)
    with np.errstate(over="ignore", invalid="ignore"):
        parts = prepare(y * 1e200, yhat, pool, measures.mean())
        assert "not finite" in quest(parts).refusal
        assert "not finite" in labels_only(parts).refusal
