"""aLTT's claims: what a block of runs returns, and how its figures are judged."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from models.altt import claims
from models.altt.claims import BLOCK, CLAIMS, GRID
from models.claims import Measurement

pytestmark = pytest.mark.unit


def rows(ours: list[float], theirs: float, runs: int = BLOCK) -> np.ndarray:
    """Blocks of equal runs: a curve on the grid, then where LTT ends."""
    curve = np.interp(np.arange(GRID + 1), np.linspace(0, GRID, len(ours)), ours)
    return np.tile(np.append(curve, theirs), runs).reshape(runs // BLOCK, -1)


def test_there_is_one_headline_and_every_claim_has_a_measure_or_a_reason() -> None:
    assert sum(claim.headline for claim in CLAIMS) == 1
    assert len({claim.id for claim in CLAIMS}) == len(CLAIMS)
    assert {claim.id for claim in CLAIMS if claim.measure is None} == {"policies", "prompts"}


def test_figures_of_the_paper_stand_only_where_they_are_the_papers() -> None:
    for claim in CLAIMS:
        assert (claim.kind == "our reading") == (claim.reported == ""), claim.id


def test_a_block_of_runs_holds_two_curves() -> None:
    config = claims._config("easy10", 400)
    block = claims.finding_trial(np.random.default_rng(0), "easy10", config, "e")
    table = block.reshape(BLOCK, 2 * (GRID + 1))
    assert (table[:, 0] == 0).all()
    assert (np.diff(table[:, : GRID + 1], axis=1) >= 0).all()
    assert ((table >= 0) & (table <= 1)).all()
    proper = claims.finding_trial(np.random.default_rng(0), "easy10", config, "hb")
    assert proper.shape == (BLOCK * (GRID + 2),)


def test_the_rounds_are_where_the_mean_curve_meets_ltt() -> None:
    found = claims._rounds(rows([0.0, 0.5, 1.0], 0.25, 80), budget=4000)
    assert (found.value, found.low, found.high) == (25.0, 25.0, 25.0)
    assert found.trials == 80
    assert found.verdict == "holds"
    assert "1,000 of 4,000 rounds" in found.note


def test_a_level_that_is_never_met_does_not_hold() -> None:
    found = claims._rounds(rows([0.0, 0.2], 0.9), budget=4000)
    assert found.value == 200.0
    assert found.verdict == "contradicted"


def test_what_is_found_is_read_at_the_budget() -> None:
    both = rows([0.0, 1.0], 0.0)
    double = np.tile(
        np.concatenate([np.linspace(0, 1, GRID + 1), np.zeros(GRID + 1)]), BLOCK
    ).reshape(1, -1)
    found = claims._found(double, budget=2000, at=500, least=20.0)
    assert found.value == pytest.approx(25.0)
    assert "Equal testing: 0 %" in found.note
    ahead = claims._ahead(both, other="x")
    assert ahead.value == pytest.approx(-100.0)
    assert ahead.verdict == "contradicted"


@pytest.mark.parametrize(
    ("wrong", "verdict"), [(0, "holds"), (100, "holds"), (138, "not shown"), (200, "contradicted")]
)
def test_a_rate_at_its_bound_is_judged_with_slack(wrong: int, verdict: str) -> None:
    table = np.zeros((1200, 2))
    table[:wrong] = 1.0
    found = claims._family_wise(table.reshape(-1, 2 * BLOCK), bound=10.0)
    assert found.value == pytest.approx(wrong / 12)
    assert found.verdict == verdict


def test_peeking_holds_if_the_rate_is_surely_too_large() -> None:
    table = np.zeros((400, 2))
    table[:200] = 1.0
    assert claims._peeks(table.reshape(-1, 2 * BLOCK), bound=10.0).verdict == "holds"
    table[:] = 0.0
    assert claims._peeks(table.reshape(-1, 2 * BLOCK), bound=10.0).verdict == "contradicted"


def test_false_discoveries_are_a_mean_share() -> None:
    table = np.zeros((400, 2))
    table[:, 1] = 0.05
    table[:100, 0] = 1.0
    found = claims._false_discoveries(table.reshape(-1, 2 * BLOCK), bound=10.0)
    assert found.value == pytest.approx(5.0)
    assert "25% of the runs held a false one" in found.note


def test_empty_sets_are_compared_run_by_run() -> None:
    block = claims.empty_trial(np.random.default_rng(0), "hard20", claims._config("hard20", 200))
    assert block.shape == (2 * BLOCK,)
    table = np.tile([0.0, 1.0], 2 * BLOCK).reshape(2, -1)
    assert claims._emptier(table).value == pytest.approx(100.0)


def test_progress_counts_runs_not_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIVEPROOF_WORKERS", "1")
    config = claims._config("null10", 20)
    measure = claims.by_runs(
        partial(claims.error_trial, world="null10", config=config),
        partial(claims._family_wise, bound=10.0),
        quick=2 * BLOCK,
        full=4 * BLOCK,
    )
    seen: list[tuple[int, int]] = []

    def progress(done: int, total: int, left: float | None, partial: Measurement) -> None:
        seen.append((done, total))

    assert measure("quick", 0, progress).trials == 2 * BLOCK
    assert seen[-1] == (2 * BLOCK, 2 * BLOCK)
