"""QuEst-Opt: the weights solve what they claim to solve, and QuEst is a special case."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, optimize

from models.quest import measures
from models.quest.estimate import prepare, quest
from models.quest.measures import ExponentialWeight
from models.quest.opt import Bin, Sinusoid, bins, quest_opt, sinusoids

pytestmark = pytest.mark.unit

WEIGHTS = [
    measures.mean(),
    measures.cvar_upper(0.8),
    measures.interval(0.25, 0.75),
    ExponentialWeight(2.0),
]
IDS = [weight.name for weight in WEIGHTS]
BASES = {"bins": bins(5), "sinusoids": sinusoids()}


def draw(seed: int, n: int = 200, n_unlabelled: int = 800):
    r = np.random.default_rng(seed)
    y = np.exp(r.normal(size=n + n_unlabelled))
    w = 0.2 + y * np.exp(0.4 * r.normal(size=y.size))
    return y[:n], w[:n], w[n:]


@pytest.mark.parametrize("weight", WEIGHTS, ids=IDS)
@pytest.mark.parametrize("variance", ["split", "plug-in"])
def test_the_one_element_basis_without_ridge_is_quest_with_the_raw_weight(weight, variance):
    y, yhat, pool = draw(1)
    parts = prepare(y, yhat, pool, weight)
    found = quest_opt(parts, yhat, pool, [weight], reg=1e-12, variance=variance)
    want = quest(parts, lam="raw", variance=variance)
    assert found.xi == pytest.approx([want.lam], rel=1e-9)
    assert found.rho2 == pytest.approx(float(parts.rho2(want.lam, variance)), rel=1e-9)
    assert (found.interval.estimate, found.interval.low, found.interval.high) == pytest.approx(
        (want.estimate, want.low, want.high), rel=1e-9
    )


@pytest.mark.parametrize("weight", WEIGHTS, ids=IDS)
@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("reg", [1e-3, 0.1, 3.0])
def test_the_weights_minimise_the_penalised_variance(weight, basis, reg):
    """Objective rebuilt from the single-measure quantities, minimised numerically."""
    y, yhat, pool = draw(2)
    parts = prepare(y, yhat, pool, weight)
    found = quest_opt(parts, yhat, pool, BASES[basis], reg=reg, variance="plug-in")
    each = [prepare(y, yhat, pool, phi) for phi in BASES[basis]]
    c = np.stack([phi.unlabelled.influence for phi in each])  # all in sorted order, so they pair
    s = c @ c.T / pool.size
    eta = np.array([np.mean(parts.labels.influence * phi.labelled.influence) for phi in each])
    ridge = reg * np.trace(s) / len(each)

    def objective(xi: np.ndarray) -> float:
        return float(
            1.25 * xi @ s @ xi + parts.labels.variance - 2 * xi @ eta + ridge / 2 * xi @ xi
        )

    def slope(xi: np.ndarray) -> np.ndarray:
        return 2.5 * s @ xi - 2 * eta + ridge * xi

    assert slope(found.xi) == pytest.approx(0, abs=1e-9 * np.abs(eta).max() + 1e-12)
    search = optimize.minimize(objective, np.zeros(len(each)), jac=slope, tol=1e-10)
    assert objective(found.xi) <= search.fun + 1e-9 * abs(search.fun)
    assert objective(found.xi) == pytest.approx(search.fun, rel=1e-5)
    assert found.rho2 == pytest.approx(
        objective(found.xi) - ridge / 2 * found.xi @ found.xi, rel=1e-9
    )
    assert found.rho2 <= parts.labels.variance


@pytest.mark.parametrize("basis", BASES)
def test_the_estimate_adds_the_weighted_corrections(basis):
    y, yhat, pool = draw(3)
    parts = prepare(y, yhat, pool, measures.cvar_upper(0.8))
    found = quest_opt(parts, yhat, pool, BASES[basis])
    each = [prepare(y, yhat, pool, phi) for phi in BASES[basis]]
    shift = [phi.unlabelled.value - phi.labelled.value for phi in each]
    assert found.interval.estimate == pytest.approx(parts.labels.value + found.xi @ shift, rel=1e-9)
    rest = parts.labels.influence - sum(
        xi * phi.labelled.influence for xi, phi in zip(found.xi, each, strict=True)
    )
    pooled = sum(xi * phi.unlabelled.influence for xi, phi in zip(found.xi, each, strict=True))
    want = np.mean(rest**2) + 0.25 * np.mean(pooled**2)
    assert found.rho2 == pytest.approx(want, rel=1e-9)
    assert found.interval.se == pytest.approx(math.sqrt(want / 200), rel=1e-9)
    assert math.isnan(found.interval.lam)


def test_more_ridge_means_smaller_weights_and_in_the_limit_labels_only():
    y, yhat, pool = draw(4)
    parts = prepare(y, yhat, pool, measures.mean())
    sizes = [
        np.linalg.norm(quest_opt(parts, yhat, pool, bins(), reg=reg).xi)
        for reg in (0.01, 0.1, 1.0, 10.0, 1e9)
    ]
    assert (np.diff(sizes) < 0).all()
    assert sizes[-1] < 1e-6


def test_bins_add_up_to_the_mean():
    y, yhat, pool = draw(5)
    total = sum(prepare(y, yhat, pool, phi).labels.value for phi in bins(7))
    assert total == pytest.approx(y.mean(), rel=1e-12)
    p = np.linspace(-0.5, 1.5, 41)
    assert sum(phi.antiderivative(p) for phi in bins(7)) == pytest.approx(np.clip(p, 0, 1))
    assert Bin(0.2, 0.5).antiderivative([0.1, 0.3, 0.9]) == pytest.approx([0, 0.1, 0.3])


def test_sinusoids_are_integrals_of_sines_and_cosines_at_the_stated_frequencies():
    basis = sinusoids()
    assert len(basis) == len({(phi.frequency, phi.cosine) for phi in basis}) == 30
    frequencies = sorted({phi.frequency for phi in basis}, reverse=True)
    assert frequencies == pytest.approx([10000 ** (-k / 15) for k in range(15)])
    for phi in (*basis, Sinusoid(17.0, True), Sinusoid(17.0, False)):
        wave = np.cos if phi.cosine else np.sin
        for p in (0.0, 0.3, 1.0):
            want = integrate.quad(lambda t, w=phi.frequency, f=wave: f(w * t), 0, p)[0]
            assert phi.antiderivative(p) == pytest.approx(want, rel=1e-9, abs=1e-12)
        assert phi.antiderivative([-1.0, 2.0]) == pytest.approx(phi.antiderivative([0.0, 1.0]))


def test_row_order_does_not_matter():
    y, yhat, pool = draw(6)
    rows = np.random.default_rng(0).permutation(y.size)
    one = quest_opt(prepare(y, yhat, pool, measures.mean()), yhat, pool, bins())
    two = quest_opt(
        prepare(y[rows], yhat[rows], pool[::-1], measures.mean()), yhat[rows], pool[::-1], bins()
    )
    assert two.xi == pytest.approx(one.xi, rel=1e-9)
    assert two.interval.low == pytest.approx(one.interval.low, rel=1e-12)
