"""Joint regions: where the outline lies, how much they hold, how often they cover."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

from models.quest import measures
from models.quest.estimate import prepare, quest
from models.quest.joint import Region, ellipsoid_volume, joint_region, unlabelled_influence
from models.quest.measures import Quantile

pytestmark = pytest.mark.unit

ASKED = [measures.cvar_lower(0.2), measures.interval(0.25, 0.75), measures.cvar_upper(0.8)]


def draw(seed: int, n: int = 120, n_unlabelled: int = 400):
    r = np.random.default_rng(seed)
    y = r.normal(size=n + n_unlabelled)
    w = 0.3 + 0.7 * y + 0.5 * r.normal(size=y.size)
    return y[:n], w[:n], w[n:]


def prepared(y, yhat, pool, asked=ASKED, alpha: float = 0.1):
    parts = [prepare(y, yhat, pool, measure, alpha=alpha) for measure in asked]
    return parts, unlabelled_influence(pool, asked, alpha)


def region(seed: int = 0, **options) -> Region:
    return joint_region(*prepared(*draw(seed)), **options)


def distance2(found: Region, points: np.ndarray) -> np.ndarray:
    gap = points - found.estimate
    return np.einsum("ij,jk,ik->i", gap, np.linalg.inv(found.covariance), gap)


# -- covariance ---------------------------------------------------------------------------------


@pytest.mark.parametrize("variance", ["split", "plug-in"])
@pytest.mark.parametrize("lam", ["clip", "raw", 0.4])
def test_the_diagonal_and_the_estimate_are_those_of_the_single_measures(variance, lam):
    parts, pool = prepared(*draw(1))
    found = joint_region(parts, pool, lam=lam, variance=variance)
    singles = [quest(p, lam=lam, variance=variance) for p in parts]
    assert found.estimate == pytest.approx([s.estimate for s in singles], rel=1e-12)
    assert np.sqrt(np.diag(found.covariance)) == pytest.approx([s.se for s in singles], rel=1e-9)
    assert found.lam == pytest.approx([s.lam for s in singles], rel=1e-12)
    assert found.covariance == pytest.approx(found.covariance.T, rel=1e-12)


def test_covariance_of_means_of_correlated_metrics_is_the_textbook_one():
    """Two metrics, weight 1: cov of the residuals over n plus cov of the predictions over N."""
    r = np.random.default_rng(2)
    y, yhat = r.normal(size=(2, 60, 2)) @ np.array([[1, 0.6], [0, 0.8]])
    pool = r.normal(size=(150, 2)) @ np.array([[1, 0.3], [0, 1]])
    mean = measures.mean()
    parts = [prepare(y[:, k], yhat[:, k], pool[:, k], mean) for k in range(2)]
    influence = [unlabelled_influence(pool[:, k], [mean], 0.1)[0] for k in range(2)]
    want = np.cov((y - yhat).T, bias=True) / 60 + np.cov(pool.T, bias=True) / 150
    for_plug_in = (
        np.cov(y.T, bias=True)
        + np.cov(pool.T, bias=True) * (1 + 60 / 150)
        - np.cov(y.T, yhat.T, bias=True)[:2, 2:]
        - np.cov(y.T, yhat.T, bias=True)[:2, 2:].T
    ) / 60
    for variance, cov in (("split", want), ("plug-in", for_plug_in)):
        found = joint_region(parts, influence, lam=1.0, variance=variance)
        assert found.covariance == pytest.approx(cov, rel=1e-9)


def test_labels_only_uses_no_prediction_at_all():
    y, yhat, pool = draw(3)
    found = joint_region(*prepared(y, yhat, pool), lam=None)
    other = joint_region(*prepared(y, -yhat[::-1], pool**3), lam=None)
    assert (found.method, region().method) == ("Labels only", "QuEst")
    assert (found.lam == 0).all()
    assert (found.covariance == other.covariance).all()
    assert found.volume == other.volume > region(3).volume


def test_order_of_the_measures_does_not_matter():
    y, yhat, pool = draw(4)
    one = joint_region(*prepared(y, yhat, pool))
    two = joint_region(*prepared(y, yhat, pool, ASKED[::-1]))
    assert two.estimate == pytest.approx(one.estimate[::-1], rel=1e-12)
    assert two.covariance == pytest.approx(one.covariance[::-1, ::-1], rel=1e-12)
    assert two.volume == pytest.approx(one.volume, rel=1e-9)


# -- geometry -----------------------------------------------------------------------------------


def test_volume_by_counting_points_in_a_box():
    """Share of 400,000 uniform points inside: standard error .0008, tolerance 6 of those."""
    found = region()
    half = np.sqrt(np.diag(found.covariance) * found.radius2)
    points = found.estimate + half * np.random.default_rng(5).uniform(-1, 1, size=(400_000, 3))
    share = np.mean(distance2(found, points) <= found.radius2)
    assert found.volume / np.prod(2 * half) == pytest.approx(share, abs=0.005)
    inside = [found.contains(q) for q in points[:300]]
    assert inside == (distance2(found, points[:300]) <= found.radius2).tolist()
    assert 0 < sum(inside) < 300


@pytest.mark.parametrize(
    ("covariance", "volume"),
    [
        (np.array([[4.0]]), 2 * 2 * 3),
        (np.diag([1.0, 4.0]), math.pi * 9 * 2),
        (np.diag([1.0, 1.0, 0.25]), 4 / 3 * math.pi * 27 / 2),
        (np.array([[2.0, 1.0], [1.0, 2.0]]), math.pi * 9 * math.sqrt(3)),
    ],
    ids=["segment", "ellipse", "ellipsoid", "tilted"],
)
def test_volume_of_known_bodies(covariance, volume):
    assert ellipsoid_volume(covariance, 9.0) == pytest.approx(volume, rel=1e-12)
    assert ellipsoid_volume(covariance * 1e-24, 9.0) == pytest.approx(
        volume * 1e-12 ** len(covariance), rel=1e-9
    )


def test_a_matrix_that_is_not_positive_definite_bounds_nothing():
    assert math.isnan(ellipsoid_volume(np.array([[1.0, 1.0], [1.0, 1.0]]), 1.0))
    assert math.isnan(ellipsoid_volume(np.array([[1.0, 2.0], [2.0, 1.0]]), 1.0))
    assert math.isnan(ellipsoid_volume(np.diag([1.0, -1e-30]), 1.0))


@pytest.mark.parametrize(("i", "j"), [(0, 1), (0, 2), (2, 1)])
def test_the_outline_is_the_shadow_of_the_boundary(i, j):
    """Each outline point is hit by the body's boundary, and no boundary point falls outside."""
    found = region()
    outline = found.ellipse(i, j)
    assert outline[0] == pytest.approx(outline[-1], rel=1e-12)
    pair = found.covariance[np.ix_([i, j], [i, j])]
    gap = outline - found.estimate[[i, j]]
    on_edge = np.einsum("ij,jk,ik->i", gap, np.linalg.inv(pair), gap)
    assert on_edge == pytest.approx(found.radius2, rel=1e-9)
    # Lift: the closest point of the body over an outline point touches the boundary.
    k = 3 - i - j
    for flat, edge in zip(gap[::10], outline[::10], strict=True):
        point = np.empty(3)
        point[[i, j]] = edge
        point[k] = found.estimate[k] + found.covariance[k, [i, j]] @ np.linalg.solve(pair, flat)
        assert distance2(found, point[None])[0] == pytest.approx(found.radius2, rel=1e-9)
    sphere = np.random.default_rng(6).normal(size=(500, 3))
    sphere *= math.sqrt(found.radius2) / np.linalg.norm(sphere, axis=1)[:, None]
    shadow = (sphere @ np.linalg.cholesky(found.covariance).T)[:, [i, j]]
    assert (np.einsum("ij,jk,ik->i", shadow, np.linalg.inv(pair), shadow)).max() <= (
        found.radius2 * (1 + 1e-9)
    )


def test_the_box_is_one_interval_a_measure_at_a_third_of_alpha():
    y, yhat, pool = draw(7)
    found = joint_region(*prepared(y, yhat, pool, alpha=0.09))
    singles = [quest(prepare(y, yhat, pool, measure, alpha=0.03)) for measure in ASKED]
    assert found.box == pytest.approx(np.array([(s.low, s.high) for s in singles]), rel=1e-12)
    assert found.box_volume == pytest.approx(np.prod([s.width for s in singles]), rel=1e-12)


def test_one_measure_is_its_own_interval():
    y, yhat, pool = draw(8)
    found = joint_region(*prepared(y, yhat, pool, [Quantile(0.5)]))
    single = quest(prepare(y, yhat, pool, Quantile(0.5)))
    assert found.box[0] == pytest.approx((single.low, single.high), rel=1e-12)
    assert found.volume == pytest.approx(single.width, rel=1e-9)  # chi-square with 1 is z squared
    assert found.radius2 == pytest.approx(NormalDist().inv_cdf(0.95) ** 2, rel=1e-9)


# -- no region ----------------------------------------------------------------------------------


def test_the_same_measure_twice_bounds_no_region():
    found = joint_region(*prepared(*draw(9), [ASKED[0], ASKED[0]]))
    assert "two of the measures carry the same information" in found.refusal
    assert math.isnan(found.volume)


@pytest.mark.parametrize("lam", ["clip", 1.0, None])
def test_labels_without_spread_bound_no_region(lam):
    y, yhat, pool = draw(10)
    y = np.minimum(y, np.quantile(y, 0.7))
    found = joint_region(*prepared(y, yhat, pool), lam=lam)
    assert "the labels of a measure show no spread" in found.refusal
    assert math.isnan(found.volume)
    assert math.isnan(found.box_volume)
    assert np.isnan(found.box).any(axis=1).tolist() == [False, False, True]


def test_an_indefinite_plug_in_covariance_names_the_way_out():
    seen = 0
    for seed in range(40):
        parts, pool = prepared(*draw(seed, n=60, n_unlabelled=2000))
        found = joint_region(parts, pool, lam="raw", variance="plug-in")
        if np.linalg.eigvalsh(found.covariance)[0] > 0:
            assert found.refusal == ""
            continue
        seen += 1
        assert "plug-in covariance is indefinite" in found.refusal
        assert math.isnan(found.volume)
        for ask in (lambda f=found: f.contains(f.estimate), lambda f=found: f.ellipse(0, 1)):
            with pytest.raises(ValueError, match="choose the split variance"):
                ask()
        assert joint_region(parts, pool, lam="raw").refusal == ""
    assert 0 < seen < 40


def test_measures_that_do_not_belong_together():
    parts, pool = prepared(*draw(11))
    other, _ = prepared(*draw(11, n=60))
    for mixed in ([parts[0], other[1]], [parts[0], prepared(*draw(11), alpha=0.05)[0][1]]):
        with pytest.raises(ValueError, match="measures on the same rows and at the same alpha"):
            joint_region(mixed, pool[:2])
    with pytest.raises(ValueError, match="for each, but got 3 and 1"):
        joint_region(parts, pool[:1])
    with pytest.raises(ValueError, match="at least one measure"):
        joint_region([], [])


# -- coverage -----------------------------------------------------------------------------------


@pytest.mark.statistical
def test_the_split_region_covers_about_as_often_as_it_promises():
    """Nominal 90 %, n = 300, N = 1000; true coverage .874 (6000 trials, standard error .004).

    Share of 700 trials outside [.80, .94] if the true coverage is .874: binom.cdf(559) +
    binom.sf(658) = 3e-8.
    """
    tail = stats.norm.pdf(stats.norm.ppf(0.2)) / 0.2
    truth = np.array([-tail, 0.0, tail])
    hits = sum(
        joint_region(*prepared(*draw(seed, 300, 1000))).contains(truth) for seed in range(700)
    )
    assert 0.80 <= hits / 700 <= 0.94
