"""The package against stored reference values (tests/golden/quest)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from models.quest import measures
from models.quest.baselines import ppi, ppi_plus_plus
from models.quest.estimate import labels_only, predictions_only, prepare, quest
from models.quest.influence import sparsity
from models.quest.joint import joint_region, unlabelled_influence
from models.quest.measures import Measure, Quantile
from models.quest.opt import bins, quest_opt

pytestmark = pytest.mark.golden

FOLDER = Path(__file__).resolve().parents[2] / "golden" / "quest"
LAM = {"adaptive_clipped": "clip", "adaptive_raw": "raw", "lam0": 0.0, "lam1": 1.0}


def cases(name: str) -> list[dict]:
    return json.loads((FOLDER / f"{name}.json").read_text())["cases"]


def measure_of(kind: str, params) -> Measure:
    if kind == "step":
        return measures.steps(params["edges"], params["weights"])
    build = {"var": measures.Quantile}.get(kind) or getattr(measures, kind)
    return build(*params)


def close(value: float):
    return pytest.approx(value, rel=1e-8, abs=1e-10)


def samples_of(case: dict) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return tuple(np.array(case[key], dtype=float) for key in ("Y", "Yhat", "Yhat_unlabeled"))


UNIVARIATE = [
    pytest.param(case, name, id=f"{case['id']}-{name}")
    for case in cases("quest_univariate")
    for name in case["expected"]
]


@pytest.mark.parametrize(("case", "name"), UNIVARIATE)
def test_every_intermediate_and_interval_of_a_single_measure(case, name):
    expected = dict(case["expected"][name])
    y, yhat, pool = samples_of(case)
    measure = measure_of(expected.pop("measure"), expected.pop("params"))
    parts = prepare(y, yhat, pool, measure, alpha=case["alpha"])
    assert set(expected) == set(LAM)
    for mode, want in expected.items():
        lam = parts.choose_lam(LAM[mode])
        assert parts.labels.value == pytest.approx(want["q_obs"], rel=1e-9)
        assert parts.labelled.value == pytest.approx(want["q_imp_lab"], rel=1e-9)
        assert parts.unlabelled.value == pytest.approx(want["q_imp_unl"], rel=1e-9)
        assert parts.labels.variance == close(want["sigma2_F"])
        assert parts.unlabelled.variance == close(want["sigma2_Ft"])
        assert parts.eta == close(want["eta"])
        assert parts.lam_raw == close(want["lam_raw"])
        assert lam == close(want["lam"])
        assert parts.rho2(lam, "plug-in") == close(want["rho2"])
        assert parts.rho2(lam, "split") == close(want["rho2_split"])
        if isinstance(measure, Quantile):
            slopes = [sparsity(np.sort(x), measure.level, case["alpha"]) for x in (y, pool)]
            assert slopes == close([want["sparsity_Y"], want["sparsity_Yt"]])
        for variance, suffix in (("plug-in", ""), ("split", "_split")):
            found = quest(parts, lam=LAM[mode], variance=variance)
            assert found.estimate == close(want["est"])
            assert found.lam == close(want["lam"])
            no_interval = want["sigma2_F"] == 0 or want[f"rho2{suffix}"] <= 0
            assert bool(found.refusal) is no_interval
            if no_interval:
                assert np.isnan([found.low, found.high, found.se]).all()
            else:
                assert found.se == close(want[f"se{suffix}"])
                assert found.low == close(want[f"lo{suffix}"])
                assert found.high == close(want[f"hi{suffix}"])


def test_reference_has_both_refusals_and_intervals():
    """So that neither branch of the comparison above is vacuous."""
    spread = [
        case["expected"][name]["lam0"]["sigma2_F"] > 0
        for case in cases("quest_univariate")
        for name in case["expected"]
    ]
    assert 0 < sum(spread) < len(spread)


@pytest.mark.parametrize("case", cases("quest_multivariate"), ids=lambda case: case["id"])
def test_joint_covariance_region_and_box(case):
    want = case["expected"]
    y, yhat, pool = samples_of(case)
    asked = [measure_of(kind, params) for kind, *params in case["measures"]]
    columns = range(len(asked))
    parts = [
        prepare(y[:, k], yhat[:, k], pool[:, k], asked[k], alpha=case["alpha"]) for k in columns
    ]
    influence = [unlabelled_influence(pool[:, k], [asked[k]], case["alpha"])[0] for k in columns]
    for variance, suffix in (("plug-in", ""), ("split", "_split")):
        region = joint_region(parts, influence, variance=variance)
        assert region.estimate == close(want["est"])
        assert region.lam == close(want["lam"])
        assert region.covariance * len(y) == close(np.array(want[f"V{suffix}"]))
        assert region.radius2 == close(want["chi2_quantile"])
        assert region.volume == close(want[f"ellipsoid_volume{suffix}"])
        assert region.refusal == ""
    assert region.box_volume == close(want["bonferroni_box_volume_split"])


OPT = [
    pytest.param(case, name, id=f"{case['id']}-{name}")
    for case in cases("quest_opt")
    for name in case["expected"]
]


@pytest.mark.parametrize(("case", "name"), OPT)
def test_free_weights_and_their_interval(case, name):
    want = case["expected"][name]
    y, yhat, pool = samples_of(case)
    parts = prepare(y, yhat, pool, measure_of(want["measure"], want["params"]), alpha=case["alpha"])
    basis = bins(want["K"])
    plug_in = quest_opt(parts, yhat, pool, basis, reg=want["reg"], variance="plug-in")
    split = quest_opt(parts, yhat, pool, basis, reg=want["reg"], variance="split")
    assert plug_in.xi == close(want["xi"])
    assert (plug_in.rho2, split.rho2) == close((want["rho2"], want["rho2_split"]))
    for found, suffix in ((plug_in, ""), (split, "_split")):
        assert found.interval.estimate == close(want["est"])
        if want[f"rho2{suffix}"] < 0:
            assert "plug-in variance is negative" in found.interval.refusal
        else:
            assert found.interval.low == close(want[f"lo{suffix}"])
            assert found.interval.high == close(want[f"hi{suffix}"])
            assert found.interval.se == close(want[f"se{suffix}"])


PPI = cases("ppi_mean_quantile")


@pytest.mark.parametrize("case", PPI, ids=lambda case: case["id"])
def test_mean_agrees_with_the_reference_library(case):
    """Weights 0 and 1 are labels only and PPI; None is PPI++'s tuned weight."""
    y, yhat, pool = samples_of(case)
    parts = prepare(y, yhat, pool, measures.mean(), alpha=case["alpha"])
    want = case["expected"]["mean"]
    found = {
        "None": ppi_plus_plus(parts, y, yhat, pool),
        "0": labels_only(parts),
        "1": ppi(parts, y, yhat, pool),
    }
    for key, interval in found.items():
        assert interval.estimate == pytest.approx(want[key]["point"], rel=1e-9)
        assert [interval.low, interval.high] == pytest.approx(want[key]["ci"], rel=1e-9)


QUANTILES = [
    pytest.param(case, level, id=f"{case['id']}-{level}")
    for case in PPI
    for level in (0.25, 0.5, 0.9)
]


@pytest.mark.parametrize(("case", "level"), QUANTILES)
def test_quantile_agrees_with_the_reference_library(case, level):
    y, yhat, pool = samples_of(case)
    parts = prepare(y, yhat, pool, Quantile(level), alpha=case["alpha"])
    found = ppi(parts, y, yhat, pool)
    exact = case["expected"]["quantile"][f"q={level},exact_grid=True"]
    assert found.estimate == pytest.approx(exact["point"], rel=1e-9)
    if exact["ci"] is None or exact["ci"][0] == exact["ci"][1]:
        assert found.refusal
        assert np.isnan(found.width)
        return
    assert [found.low, found.high] == pytest.approx(exact["ci"], rel=1e-9)
    # The library's default lays 5000 equal steps; G is constant between data points, so what it
    # accepts lies between our lowest point and the data point after our highest.
    coarse = case["expected"]["quantile"][f"q={level},exact_grid=False"]
    data = np.unique(np.concatenate([y, yhat, pool]))
    step = (data[-1] - data[0]) / 4999
    beyond = data[np.searchsorted(data, found.high) + 1]
    assert found.low - step <= coarse["ci"][0] <= found.low + step
    assert found.high - step <= coarse["ci"][1] <= beyond + step


def test_by_hand_in_five_rows():
    """The first reference case, worked out with pencil: the mean of Y is 5, its variance 13.2."""
    case = cases("quest_univariate")[0]
    y, yhat, pool = samples_of(case)
    parts = prepare(y, yhat, pool, measures.mean())
    assert (y.size, pool.size) == (5, 10)
    lam = 10.8 / (1.5 * 15.04)
    assert parts.choose_lam("clip") == pytest.approx(lam, rel=1e-12)
    found = quest(parts)
    assert found.estimate == pytest.approx(5 + lam * (5.6 - 4.8), rel=1e-12)
    residual = np.mean((y - 5 - lam * (yhat - 4.8)) ** 2) + lam**2 / 2 * 15.04
    half = stats.norm.ppf(0.95) * np.sqrt(residual / 5)
    assert (found.low, found.high) == pytest.approx(
        (found.estimate - half, found.estimate + half), rel=1e-12
    )
    assert predictions_only(parts).estimate == pytest.approx(5.6, rel=1e-12)
