"""The hybrid estimate against second witnesses: double integrals, closed forms, simulation."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from models.quest import measures
from models.quest.baselines import ppi, ppi_plus_plus, rectified_quantile
from models.quest.estimate import (
    estimate,
    labels_only,
    labels_saved,
    predictions_only,
    prepare,
    quest,
)
from models.quest.influence import sparsity, summarise
from models.quest.measures import ExponentialWeight, Quantile, StepWeight

pytestmark = pytest.mark.unit

cheap = settings(max_examples=20, deadline=None, derandomize=True)

WEIGHTS = [
    measures.mean(),
    measures.cvar_upper(0.8),
    measures.cvar_lower(0.15),
    measures.interval(0.25, 0.75),
    measures.steps((0, 0.1, 0.5, 0.9, 1), (3, 1, 1, 3)),
    measures.steps((0.2, 0.5, 0.7), (-1, 3)),
    ExponentialWeight(2.0),
]
MEASURES = [*WEIGHTS, Quantile(0.5), Quantile(0.8)]
IDS = [measure.name for measure in MEASURES]


def draw(seed: int, n: int = 40, n_unlabelled: int = 90, noise: float = 0.4):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n + n_unlabelled)
    yhat = np.exp(0.2 + 0.8 * z + noise * rng.normal(size=z.size))
    return np.exp(z[:n]), yhat[:n], yhat[n:]


# -- the paper's double integrals, term by term ------------------------------------------------


def mid_cell(weight, m: int) -> np.ndarray:
    """psi(j/m) for j = 0..m as the mean of psi over the cell around j/m; none outside the data."""
    psi = np.zeros(m + 1)
    for j in range(1, m):
        left, right = weight.antiderivative([(j - 0.5) / m, (j + 0.5) / m])
        psi[j] = m * (right - left)
    return psi


def double_integral(x, y, weight, joint) -> float:
    """Sum of psi(F(s)) psi(G(t)) [H(s,t) - F(s) G(t)] over the cells on which it is constant."""
    psi_x, psi_y = mid_cell(weight, x.size), mid_cell(weight, y.size)
    total = 0.0
    for s, s_next in pairwise(sorted(x)):
        for t, t_next in pairwise(sorted(y)):
            i, j = np.sum(x <= s), np.sum(y <= t)
            gap = joint(s, t) - i / x.size * j / y.size
            total += psi_x[i] * psi_y[j] * gap * (s_next - s) * (t_next - t)
    return total


@pytest.mark.parametrize("weight", WEIGHTS, ids=IDS[: len(WEIGHTS)])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_variance_and_covariance_are_the_papers_double_integrals(weight, seed):
    y, yhat, pool = draw(seed, n=13, n_unlabelled=17)
    if seed == 3:  # ties
        y, yhat, pool = np.round(y), np.round(yhat), np.round(pool)
    parts = prepare(y, yhat, pool, weight)
    sigma2_y = double_integral(y, y, weight, lambda s, t: np.mean(y <= min(s, t)))
    sigma2_pool = double_integral(pool, pool, weight, lambda s, t: np.mean(pool <= min(s, t)))
    eta = double_integral(y, yhat, weight, lambda s, t: np.mean((y <= s) & (yhat <= t)))
    assert parts.labels.variance == pytest.approx(sigma2_y, rel=1e-9)
    assert parts.unlabelled.variance == pytest.approx(sigma2_pool, rel=1e-9)
    assert parts.eta == pytest.approx(eta, rel=1e-9, abs=1e-12)


def test_quantile_covariance_is_the_papers_formula():
    y, yhat, pool = draw(4, n=60)
    parts = prepare(y, yhat, pool, Quantile(0.7), alpha=0.1)
    q, qhat = parts.labels.value, parts.labelled.value
    share = np.mean((y <= q) & (yhat <= qhat)) - np.mean(y <= q) * np.mean(yhat <= qhat)
    slopes = [sparsity(np.sort(x), 0.7, 0.1) for x in (y, pool)]
    assert parts.eta == pytest.approx(share * slopes[0] * slopes[1], rel=1e-9)
    assert parts.labels.variance == pytest.approx(slopes[0] ** 2 * 0.7 * 0.3, rel=1e-9)


# -- closed forms -------------------------------------------------------------------------------


def test_variance_of_the_mean_is_the_samples_variance():
    y, yhat, pool = draw(5)
    parts = prepare(y, yhat, pool, measures.mean())
    assert parts.labels.variance == pytest.approx(np.var(y), rel=1e-12)
    assert parts.eta == pytest.approx(np.cov(y, yhat, bias=True)[0, 1], rel=1e-12)
    assert parts.lam_raw == pytest.approx(
        np.cov(y, yhat, bias=True)[0, 1] / ((1 + 40 / 90) * np.var(pool)), rel=1e-12
    )


@pytest.mark.parametrize("b", [0.5, 0.8, 0.9])
def test_variance_of_a_uniform_tail_mean(b):
    """U(0,1): (1-b)^2 s2 = var max(U, b) = (1-b)^2 (4 - 3(1-b)) (1-b) / 12 over (1-b)^2."""
    grid = (np.arange(200_000) + 0.5) / 200_000
    variance = summarise(grid, measures.cvar_upper(b), 0.1).variance
    excess = integrate.quad(lambda u: max(u - b, 0.0), 0, 1, points=[b])[0]
    square = integrate.quad(lambda u: max(u - b, 0.0) ** 2, 0, 1, points=[b])[0]
    want = (square - excess**2) / (1 - b) ** 2
    assert want == pytest.approx((1 - b) * (1 + 3 * b) / 12, rel=1e-9)
    assert variance == pytest.approx(want, rel=1e-4)


def test_sparsity_of_a_uniform_sample_is_one_and_of_an_exponential_one_over_the_tail():
    grid = (np.arange(100_000) + 0.5) / 100_000
    for level in (0.2, 0.5, 0.9):
        assert sparsity(grid, level, 0.1) == pytest.approx(1.0, rel=1e-3)
        assert sparsity(-np.log1p(-grid), level, 0.1) == pytest.approx(1 / (1 - level), rel=0.02)


def test_best_weight_of_a_perfect_model_is_n_over_n_plus_N_from_one():
    """With Yhat = Y, eta = s2, so lam* = 1/(1+r) where the pool has the labels' variance."""
    y = np.random.default_rng(6).normal(size=50)
    parts = prepare(y, y, np.tile(y, 4), measures.mean())
    assert parts.lam_raw == pytest.approx(1 / (1 + 50 / 200), rel=1e-12)
    assert parts.rho2(parts.lam_raw, "plug-in") == pytest.approx(
        np.var(y) * 50 / 250, rel=1e-12
    )  # the variance of a mean over n + N labels


# -- properties ---------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", MEASURES, ids=IDS)
@cheap
@given(seed=st.integers(0, 10**6), c=st.floats(1e-3, 1e3))
def test_scaling_labels_and_predictions_scales_everything(measure, seed, c):
    y, yhat, pool = draw(seed)
    before = quest(prepare(y, yhat, pool, measure))
    after = quest(prepare(c * y, c * yhat, c * pool, measure))
    assert after.lam == pytest.approx(before.lam, rel=1e-6, abs=1e-9)
    assert [after.estimate, after.low, after.high, after.se] == pytest.approx(
        [c * v for v in (before.estimate, before.low, before.high, before.se)],
        rel=1e-6,
        nan_ok=True,
    )


@pytest.mark.parametrize("measure", MEASURES, ids=IDS)
@cheap
@given(seed=st.integers(0, 10**6), shift=st.integers(-500, 500))
def test_shifting_all_predictions_changes_nothing(measure, seed, shift):
    y, yhat, pool = draw(seed)
    yhat, pool = np.round(yhat, 3), np.round(pool, 3)
    before = quest(prepare(y, yhat, pool, measure))
    after = quest(prepare(y, yhat + shift, pool + shift, measure))
    assert [after.estimate, after.low, after.high, after.lam] == pytest.approx(
        [before.estimate, before.low, before.high, before.lam], rel=1e-7, abs=1e-7, nan_ok=True
    )


@pytest.mark.parametrize("measure", MEASURES, ids=IDS)
@cheap
@given(seed=st.integers(0, 10**6))
def test_row_order_does_not_matter(measure, seed):
    y, yhat, pool = draw(seed)
    if seed % 2:  # ties as well
        y, yhat, pool = np.round(y, 1), np.round(yhat, 1), np.round(pool, 1)
    rng = np.random.default_rng(seed)
    rows = rng.permutation(y.size)
    before = quest(prepare(y, yhat, pool, measure))
    after = quest(prepare(y[rows], yhat[rows], rng.permutation(pool), measure))
    assert [after.estimate, after.low, after.high, after.lam] == pytest.approx(
        [before.estimate, before.low, before.high, before.lam], rel=1e-9, abs=1e-9, nan_ok=True
    )


@pytest.mark.parametrize("measure", MEASURES, ids=IDS)
@cheap
@given(seed=st.integers(0, 10**6))
def test_weight_zero_ignores_the_predictions(measure, seed):
    y, yhat, pool = draw(seed)
    parts = prepare(y, yhat, pool, measure)
    found = quest(parts, lam=0.0)
    other = quest(prepare(y, np.zeros(y.size), np.arange(5.0), measure), lam=0.0)
    classical = labels_only(parts)
    assert (found.estimate, found.low, found.high) == (other.estimate, other.low, other.high)
    assert [found.estimate, found.low, found.high] == pytest.approx(
        [classical.estimate, classical.low, classical.high], rel=1e-12, nan_ok=True
    )


@pytest.mark.parametrize("measure", MEASURES, ids=IDS)
@cheap
@given(seed=st.integers(0, 10**6), lam=st.floats(-3, 3), rows=st.integers(2, 12))
def test_split_variance_is_never_negative_and_equals_its_definition(measure, seed, lam, rows):
    y, yhat, pool = draw(seed, n=rows, n_unlabelled=5)
    parts = prepare(y, yhat, pool, measure)
    a, b, c = (s.influence for s in (parts.labels, parts.labelled, parts.unlabelled))
    direct = np.mean((a - lam * b) ** 2) + lam**2 * rows / 5 * np.mean(c**2)
    scale = np.mean(a**2) + lam**2 * (np.mean(b**2) + np.mean(c**2))
    assert parts.rho2(lam) >= 0
    assert parts.rho2(lam) == pytest.approx(direct, rel=1e-9, abs=1e-12 * scale)


def test_plug_in_variance_can_be_negative_where_the_split_one_is_not():
    """Why the split variance is the default: the paper's one fails on some small samples."""
    signs = []
    for seed in range(60):
        y, yhat, pool = draw(seed, n=50, n_unlabelled=2000, noise=0.2)
        parts = prepare(y, yhat, pool, measures.cvar_upper(0.8))
        lam = parts.lam_raw
        signs.append((parts.rho2(lam, "plug-in") < 0, parts.rho2(lam, "split") < 0))
        if signs[-1][0]:
            found = quest(parts, lam="raw", variance="plug-in")
            assert "plug-in variance is negative" in found.refusal
            assert math.isnan(found.width)
    negative = np.sum(signs, axis=0)
    assert negative[0] > 0
    assert negative[1] == 0


@pytest.mark.parametrize("measure", MEASURES, ids=IDS)
@cheap
@given(seed=st.integers(0, 10**6), noise=st.floats(0, 5))
def test_clipped_weight_lies_between_zero_and_one_and_is_the_nearest_to_the_raw(
    measure, seed, noise
):
    y, yhat, pool = draw(seed, noise=noise)
    parts = prepare(y, -yhat if seed % 2 else yhat, -pool if seed % 2 else pool, measure)
    clipped, raw = parts.choose_lam("clip"), parts.choose_lam("raw")
    assert 0 <= clipped <= 1
    assert clipped == min(max(raw, 0), 1)


@pytest.mark.parametrize("measure", MEASURES, ids=IDS)
@cheap
@given(seed=st.integers(0, 10**6))
def test_plug_in_variance_is_smallest_at_the_raw_weight(measure, seed):
    y, yhat, pool = draw(seed)
    parts = prepare(y, yhat, pool, measure)
    best = parts.rho2(parts.lam_raw, "plug-in")
    others = parts.rho2(parts.lam_raw + np.linspace(-2, 2, 41), "plug-in")
    assert (others >= best - 1e-9 * np.abs(others).max()).all()
    assert best <= parts.labels.variance + 1e-12


@cheap
@given(seed=st.integers(0, 10**6))
def test_two_rows_are_enough_for_the_core(seed):
    y, yhat, pool = draw(seed, n=2, n_unlabelled=2)
    for measure in MEASURES:
        found = quest(prepare(y, yhat, pool, measure))
        assert math.isfinite(found.estimate)
        assert found.refusal or found.low < found.estimate < found.high


# -- PPI++ and PPI ------------------------------------------------------------------------------


@cheap
@given(seed=st.integers(0, 10**6))
def test_fixed_weights_equal_ppi_exactly_and_the_tuned_one_up_to_one_over_n(seed):
    """PPI++ pools all predictions (divided by n + N - 1); everything else is the same."""
    y, yhat, pool = draw(seed, n=100, n_unlabelled=400)
    parts = prepare(y, yhat, pool, measures.mean())
    full, classical = quest(parts, lam=1.0), quest(parts, lam=0.0)
    assert full.estimate == pytest.approx(pool.mean() + np.mean(y - yhat), rel=1e-12)
    assert full.se**2 == pytest.approx(np.var(y - yhat) / 100 + np.var(pool) / 400, rel=1e-9)
    assert classical.estimate == pytest.approx(y.mean(), rel=1e-12)
    assert classical.se**2 == pytest.approx(np.var(y) / 100, rel=1e-9)
    tuned, ours = ppi_plus_plus(parts, y, yhat, pool), quest(parts)
    pooled = np.var(np.concatenate([yhat, pool]), ddof=1)
    raw = parts.lam_raw * np.var(pool) / pooled
    assert tuned.lam == pytest.approx(min(max(raw, 0.0), 1.0), rel=1e-9)
    assert tuned.estimate - ours.estimate == pytest.approx(
        (tuned.lam - ours.lam) * (pool.mean() - yhat.mean()), abs=1e-9
    )


def test_distance_to_ppi_plus_plus_shrinks_like_one_over_n():
    """Weight and shift each differ by n^-1/2: sixteen times the rows give a sixteenth."""
    gaps = []
    for n in (100, 1600):
        found = []
        for seed in range(60):
            y, yhat, pool = (np.log(x) for x in draw(seed, n=n, n_unlabelled=4 * n))
            parts = prepare(y, yhat, pool, measures.mean())
            found.append(ppi_plus_plus(parts, y, yhat, pool).estimate - quest(parts).estimate)
        gaps.append(np.std(found))
    assert gaps[0] / 32 < gaps[1] < gaps[0] / 8


def test_quantile_inversion_is_the_matrix_of_indicators():
    """The cumulative counts against a literal loop over every pooled point."""
    for seed in range(5):
        y, yhat, pool = (np.round(x, 1) for x in draw(seed, n=30, n_unlabelled=50))
        parts = prepare(y, yhat, pool, Quantile(0.6), alpha=0.1)
        for tuned in (False, True):
            kept, scores = [], []
            points = np.unique(np.concatenate([y, yhat, pool]))
            for v in points:
                below_y, below, below_pool = y <= v, yhat <= v, pool <= v
                lam = 1.0
                if tuned:
                    spread = np.var(np.concatenate([below, below_pool]), ddof=1)
                    cov = np.cov(below_y, below, bias=True)[0, 1]
                    lam = np.clip(cov / (1.6 * spread), 0, 1) if spread > 0 else 0.0
                rest = below_y - lam * below
                level = lam * below_pool.mean() + rest.mean()
                se = math.sqrt(np.var(rest) / 30 + lam**2 * np.var(below_pool) / 50)
                scores.append(abs(level - 0.6))
                if scores[-1] <= stats.norm.ppf(0.95) * se:
                    kept.append(v)
            found = rectified_quantile("x", parts, 0.6, (y, yhat, pool), tuned=tuned)
            assert (found.low, found.high) == (min(kept), max(kept))
            assert found.estimate == points[np.argmin(scores)]


def test_ppi_plus_plus_is_defined_for_means_and_quantiles_only():
    y, yhat, pool = draw(7)
    defined = []
    for measure in MEASURES:
        parts = prepare(y, yhat, pool, measure)
        defined.append(ppi_plus_plus(parts, y, yhat, pool) is not None)
        assert ppi(parts, y, yhat, pool).method == "PPI"
        if isinstance(measure, StepWeight):
            plain = quest(parts, lam=1.0)
            assert ppi(parts, y, yhat, pool).low == plain.low
    assert defined == [m == measures.mean() or isinstance(m, Quantile) for m in MEASURES]


# -- results ------------------------------------------------------------------------------------


def test_predictions_only_is_the_normal_interval_of_the_pool():
    y, yhat, pool = draw(8)
    found = predictions_only(prepare(y, yhat, pool, measures.mean(), alpha=0.05))
    half = 1.959963984540054 * np.std(pool) / math.sqrt(pool.size)
    assert [found.low, found.high] == pytest.approx([pool.mean() - half, pool.mean() + half])


def test_labels_saved_follows_the_squared_width_ratio():
    y, yhat, pool = draw(9, noise=0.1)
    parts = prepare(y, yhat, pool, measures.mean())
    ours, classical = quest(parts), labels_only(parts)
    want = 40 * parts.labels.variance / float(parts.rho2(ours.lam))
    assert labels_saved(ours, classical, 40) == pytest.approx(want, rel=1e-9)
    assert want > 40


@pytest.mark.parametrize("alpha", [1e-20, 1e-6, 0.05, 0.5, 0.999])
def test_intervals_stay_finite_and_ordered_at_every_level(alpha):
    y, yhat, pool = draw(10)
    for measure in MEASURES:
        parts = prepare(y, yhat, pool, measure, alpha=alpha)
        for found in (quest(parts), labels_only(parts), predictions_only(parts)):
            assert -math.inf < found.low < found.estimate < found.high < math.inf


def test_one_call_equals_the_two_steps():
    y, yhat, pool = draw(11)
    one = estimate(y, yhat, pool, measures.cvar_upper(0.8), alpha=0.05, lam=0.3)
    two = quest(prepare(y, yhat, pool, measures.cvar_upper(0.8), alpha=0.05), lam=0.3)
    assert one == two


@pytest.mark.statistical
def test_intervals_of_a_lognormal_middle_half_cover_as_often_as_they_promise():
    """Nominal 90 %, n = 500, N = 2000; true coverage .893 (20,000 trials, standard error .002).

    Share of 3000 trials outside [.86, .94] if the true coverage is .893: binom.cdf(2579) +
    binom.sf(2820) = 1e-8; still 2e-7 at .8895.
    """
    weight = measures.interval(0.25, 0.75)
    truth = 2 * integrate.quad(lambda p: math.exp(stats.norm.ppf(p)), 0.25, 0.75)[0]
    hits = 0
    for seed in range(3000):
        y, yhat, pool = draw(seed, n=500, n_unlabelled=2000)
        found = quest(prepare(y, yhat, pool, weight))
        hits += found.low <= truth <= found.high
    assert 0.86 <= hits / 3000 <= 0.94
