"""The published table re-fitted, and every claim measured once with few trials."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy import stats

from models import claims
from models.arena.claims import CLAIMS
from models.arena.published import MEDIAN_AWARE, published
from models.arena.study import refit_trial, rigging_trial, samplers
from tests.unit.arena.tables import golden


@pytest.mark.golden
def test_the_published_win_rates_lead_back_to_the_scores():
    want, board = golden("published_leaderboard_2024_11"), published()
    assert list(board.models) == want["models"]
    scores = board.refit()
    assert scores == pytest.approx(want["bt_shifted_to_published_mean"], abs=2e-3)
    gap = np.abs(scores - board.score).max()
    assert gap == pytest.approx(want["max_abs_diff_elo"], abs=2e-3)
    pearson = np.corrcoef(scores, board.score)[0, 1]
    assert pearson == pytest.approx(want["pearson_bt_vs_published"], abs=1e-4)
    assert stats.spearmanr(scores, board.score).statistic == pytest.approx(
        want["spearman_bt_vs_published"], abs=1e-9
    )


@pytest.mark.golden
def test_the_shipped_numbers_are_the_published_ones():
    want, board = golden("published_leaderboard_2024_11"), published()
    for i, model in enumerate(board.models):
        figures = want["published"][model]
        assert board.score[i] == figures["arena_score"]
        assert (board.plus[i], board.minus[i]) == (figures["ci_plus"], figures["ci_minus"])
        assert board.medians[i] == figures["median_latency_s"]
    fractions = np.array(want["win_fraction_row_beats_column"], dtype=float)
    assert np.array_equal(board.wins, fractions, equal_nan=True)
    votes = golden("copilot_arena_v1_bt")
    assert (board.votes, board.top_accepted) == (votes["n"], votes["top_accepted"])
    with pytest.raises(ValueError, match="read-only"):
        board.score[0] = 0


@pytest.mark.unit
def test_the_temperature_of_the_claim_gives_the_reported_median():
    tau, even, aware = samplers()
    assert aware.median_wait == pytest.approx(MEDIAN_AWARE)
    assert tau == pytest.approx(golden("latency_sampler")["tau_for_target_median"], abs=1e-4)
    assert even.median_wait == pytest.approx(
        golden("latency_sampler")["uniform"]["median_s"], abs=1e-4
    )


@pytest.mark.unit
def test_rounding_and_counts_move_the_refit_little():
    found = np.array([refit_trial(np.random.default_rng(k)) for k in range(20)])
    assert (found[:, 0] > 0.9).all()
    assert (found[:, 0] < 1).all()


@pytest.mark.unit
def test_a_rigging_trial_counts_battles_and_votes():
    battles, votes, waiting, cast = rigging_trial(np.random.default_rng(1), 10, 3000, 2, 2000)
    assert battles == votes
    assert 0 < cast < waiting


@pytest.mark.unit
def test_one_claim_is_the_headline_and_what_is_ours_says_so():
    assert [claim.id for claim in CLAIMS if claim.headline] == ["wait"]
    ours = {claim.id for claim in CLAIMS if claim.kind == "our reading"}
    assert {"price", "refit", "position", "recovery", "sandwich", "bootstrap"} <= ours
    assert all(not claim.reported for claim in CLAIMS if claim.kind == "our reading")
    assert [claim.id for claim in CLAIMS if claim.measure is None] == ["votes"]


@pytest.mark.statistical
@pytest.mark.parametrize("claim", [c for c in CLAIMS if c.measure], ids=lambda c: c.id)
def test_each_claim_measures_and_judges(claim, monkeypatch):
    """With ten trials, which at this seed contradict nothing."""
    run = partial(claims.run_trials, workers=1)
    monkeypatch.setattr(claims, "run_trials", lambda trial, count, seed: run(trial, 10, seed))
    news = []
    found = claim.measure("quick", 1, lambda *args: news.append(args))
    assert news[-1] == (found.trials, found.trials, 0.0, found)
    assert found.trials == (112 if claim.id == "top" else 10)
    assert found.low <= found.value <= found.high
    assert found.note
    assert found.verdict != "contradicted"
