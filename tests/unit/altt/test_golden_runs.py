"""Whole deterministic runs against golden: picks and certificates exactly, wealth at 1e-9."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from models.altt.config import Config
from models.altt.race import Race
from models.betting import Bet

GOLDEN = Path(__file__).parents[2] / "golden" / "altt"
FILE = json.loads((GOLDEN / "altt_runs.json").read_text())
CASES = FILE["cases"]
MATRICES = FILE["meta"]["matrices"]


def config_of(case):
    return Config(
        n_candidates=len(MATRICES[case["matrix"]]["losses"]),
        alpha=case["alpha"],
        delta=case["delta"],
        control=case["control"].lower(),
        acquisition={"UNIFORM": "uniform", "GREEDY_E": "eps-greedy"}[case["policy"]],
        epsilon=0.0,
        bet=Bet(case["bet"].lower(), case.get("truncation_c") or 0.75),
        budget=case["T"],
        stop_at=case.get("stop_when_certified"),
        released=case["timing"] == "released",
    )


def replay(case):
    """Feed the golden losses to a race; return it and its states."""
    race = Race(config_of(case), np.random.default_rng(0))
    losses, states = MATRICES[case["matrix"]]["losses"], [race.state()]
    while (picks := race.suggest()).size:
        pick = int(picks[0])
        race.feed([pick], [losses[pick][states[-1].tests[pick]]])
        states.append(race.state())
    return race, states


def label(case):
    return f"{case['matrix']}-{case['control']}-{case['policy']}-{case['bet']}-{case['timing']}"


@pytest.mark.golden
@pytest.mark.parametrize("case", [c for c in CASES if c["timing"] == "predictable"], ids=label)
def test_predictable_run_equals_golden(case):
    race, states = replay(case)
    assert [entry.candidate for entry in race.log] == case["picks"]
    assert [entry.losses[0] for entry in race.log] == case["losses_seen"]
    np.testing.assert_allclose([e.bets[0] for e in race.log], case["bets"], rtol=1e-9)
    changes = []
    for state in states[1:]:
        if not changes or changes[-1][1] != list(state.certified_ids):
            changes.append([state.round, list(state.certified_ids)])
    assert changes == case["certified_changes"]
    assert list(states[-1].certified_ids) == case["certified_final"]
    assert states[-1].round == case["rounds_used"]
    assert (states[-1].stopped != "budget") == case["stopped_early"]
    check_wealth(states, case)


@pytest.mark.golden
@pytest.mark.parametrize("case", [c for c in CASES if c["timing"] == "released"], ids=label)
def test_released_run_equals_golden_under_the_switch(case):
    race, states = replay(case)
    assert [entry.candidate for entry in race.log] == case["picks"]
    assert list(states[-2].certified_ids) == case["certified_before_last_round"]
    check_wealth(states, case)


def check_wealth(states, case):
    # Peeking bankrupts some candidates: exp(-inf) is then the golden 0.
    np.testing.assert_allclose(np.exp(states[-1].log_wealth), case["wealth_final"], rtol=1e-9)
    every = [np.exp(state.log_wealth) for state in states[20::20]]
    np.testing.assert_allclose(every, case["wealth_every_20"], rtol=1e-9)
    assert states[-1].tests.tolist() == case["n_evals"]


def test_both_kinds_are_there():
    assert sum(c["timing"] == "predictable" for c in CASES) == 64
    assert sum(c["timing"] == "released" for c in CASES) == 16
