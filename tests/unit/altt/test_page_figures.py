"""aLTT's pictures: valid figures that show the numbers they were given."""

from __future__ import annotations

import math

import numpy as np
import plotly.graph_objects as go
import pytest

from models.altt.config import Config
from models.altt.environments import preset
from models.altt.race import Race
from models.betting import Bet
from pages.altt import compute, figures, repeat, views
from pages.altt.compute import Run
from pages.altt.settings import Settings
from pages.altt.trace import levels, traced
from ui.charts import Look

pytestmark = pytest.mark.unit

LOOK = Look(tuple(f"#{k}{k}{k}{k}{k}{k}" for k in range(10)), "#101010", "#606060", "#d0d0d0")
USUAL = {
    "kind": "bernoulli", "risks": "", "names": "", "alpha": 0.2, "delta": 0.1, "control": "fwer",
    "acquisition": "eps-greedy", "epsilon": 0.25, "budget": 600, "bet": "agrapa",
    "truncation": 0.75, "amount": 0.5, "stop": 0, "seed": 0,
}  # fmt: skip


def settings(source: str = "easy10", **more: object) -> Settings:
    return Settings(source=source, **(USUAL | more))  # type: ignore[arg-type]


def run(source: str = "easy10", **more: object) -> Run:
    return compute.simulate(settings(source, **more))


def valid(picture: figures.Picture) -> go.Figure:
    figure, alt = picture
    assert len(alt) > 40
    assert alt.endswith(".")
    go.Figure(figure.to_plotly_json())  # raises if Plotly would not accept it
    return figure


@pytest.mark.parametrize("control", ["fwer", "holm", "fdr"])
@pytest.mark.parametrize("acquisition", ["eps-greedy", "uniform", "all"])
def test_a_trace_ends_where_the_race_does(control: str, acquisition: str) -> None:
    race = compute.race_of(settings(control=control, acquisition=acquisition))
    state, trace = race.state(), traced(race)
    assert trace.spent == state.spent
    assert trace.count[-1] == state.certified.sum()
    assert trace.count[0] == 0
    if control != "fdr":
        assert set(np.flatnonzero(trace.first)) == set(state.certified_ids)
        assert (np.diff(trace.count) >= 0).all()


def test_a_trace_in_blocks_is_a_trace_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    race = compute.race_of(settings(control="fdr"))
    whole = traced(race)
    monkeypatch.setattr("pages.altt.trace._CELLS", 70)
    parts = traced(race)
    for name in ("candidate", "log_wealth", "count", "right", "first"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(parts, name))


def test_levels_hold_what_was_last_seen() -> None:
    held = levels(np.array([1, 0, 1]), np.array([0.5, -1.0, 2.0]), np.array([0.0, 0.0, 7.0]))
    assert held.tolist() == [[0.0, 0.5, 7.0], [-1.0, 0.5, 7.0], [-1.0, 2.0, 7.0]]


def test_testing_in_turn_treats_all_alike_and_spends_the_budget() -> None:
    environment, alpha = preset("easy10")
    race = compute.spread(Config(10, alpha, budget=205), compute.stream(environment, 0), 0)
    assert [entry.candidate for entry in race.log] == [t % 10 for t in range(205)]


def test_the_race_draws_each_candidate_to_its_last_wealth() -> None:
    found = run()
    figure = valid(figures.race(found, LOOK))
    lines = {trace.name: trace for trace in figure.data if trace.name in found.names}
    assert set(lines) == set(found.names)
    floor, top = figures.LOWEST, math.log10(10 / 0.1) + 1
    for name, log_wealth in zip(found.names, found.log_wealth, strict=True):
        expected = min(max(log_wealth / math.log(10), floor), top)
        assert lines[name].y[-1] == pytest.approx(expected, abs=1e-3)
    bar = next(trace for trace in figure.data if trace.name == "certified from here")
    assert bar.y[-1] == pytest.approx(2.0)
    assert bar.x[-1] == 600


def test_the_race_plays_from_the_first_test_to_the_picture_as_it_stands() -> None:
    found = run()
    figure = go.Figure(valid(figures.race(found, LOOK)).to_plotly_json())
    assert 20 <= len(figure.frames) <= figures.FRAMES + 1
    last = figure.frames[-1].data[0]
    assert list(last.y) == list(figure.data[-1].y)
    assert not figure.frames[-1].layout.shapes
    curtain = figure.frames[1].layout.shapes[0]
    assert curtain.x0 == round(found.trace.spent / figures.FRAMES) + 0.01 * found.config.budget
    still = valid(figures.race(found, LOOK, play=False))
    assert not still.frames
    assert still.layout.sliders == ()


def test_the_bar_of_false_discovery_control_falls_with_each_certificate() -> None:
    found = run(control="fdr", budget=1000)
    bar = next(t for t in figures.race(found, LOOK)[0].data if t.name == "certified from here")
    certified = int(found.certified.sum())
    assert certified > 1
    assert bar.y[0] == pytest.approx(2.0)
    assert bar.y[-1] == pytest.approx(math.log10(100 / certified))


def test_a_race_without_a_test_can_be_drawn() -> None:
    race = Race(Config(3), np.random.default_rng(0))
    found = compute.described(race, ("A", "B", "C"))
    valid(figures.race(found, LOOK, until=50))
    valid(views.against(found, LOOK))
    valid(views.allocation(found, LOOK))


def test_a_bankrupt_line_stays_at_the_floor() -> None:
    race = Race(Config(2, bet=Bet(truncation=1.0)), np.random.default_rng(0))
    race.feed_batch(0, [0.0, 0.0, 1.0])
    found = compute.described(race, ("A", "B"))
    figure = valid(figures.race(found, LOOK))
    line = next(trace for trace in figure.data if trace.name == "A")
    assert np.isfinite(np.asarray(line.y, dtype=float)).all()
    assert figures.wealth_text(-math.inf) == "0"


def test_the_certified_are_counted_at_the_ends_of_the_lines() -> None:
    found = run("mixed20", budget=2000)
    assert found.flat is not None
    figure = valid(views.against(found, LOOK))
    ends = {trace.name: trace.y[-1] for trace in figure.data}
    assert ends["aLTT"] == found.certified.sum()
    assert ends["LTT, as in the paper's experiments"] == found.flat.count[-1]
    for name, mask in found.ltt.items():
        assert ends[f"LTT, {name} p-values"] == mask.sum()


def test_every_test_is_in_the_heat_strip() -> None:
    found = run()
    figure = valid(views.allocation(found, LOOK))
    strip, bars = figure.data
    width = found.trace.spent / len(strip.x)
    np.testing.assert_allclose(np.asarray(strip.z).sum(axis=1) * width, found.tests, atol=2)
    assert list(bars.x) == found.tests.tolist()


def test_many_runs_draw_their_means_and_rates() -> None:
    config = settings(budget=400).config(10)
    environment, _ = preset("easy10")
    methods = next(repeat.blocks(config, environment, seed=1))
    assert {m.runs for m in methods} == {repeat.BLOCK}
    figure = valid(views.power(methods, LOOK, 400))
    drawn = {trace.name: trace for trace in figure.data if trace.name}
    assert set(drawn) == {method.name for method in methods}
    for method in methods:
        assert drawn[method.name].y[-1] == pytest.approx(method.found[:, -1].mean())
    rates = valid(views.validity(methods, 0.1, LOOK, fdr=False))
    assert [trace.x[0] for trace in rates.data] == [m.wrong.mean() for m in methods]


def test_blocks_add_up() -> None:
    environment, _ = preset("easy10")
    states = repeat.blocks(settings(budget=50).config(10), environment, seed=1)
    first, second = next(states), next(states)
    assert second[0].runs == 2 * repeat.BLOCK
    np.testing.assert_array_equal(second[0].found[: repeat.BLOCK], first[0].found)


def test_peeking_errs_more_than_promised_and_honest_bets_do_not() -> None:
    # Honest: at most 0.1 of 200, so above 0.2 with probability below 1e-4; the seed is fixed.
    honest, peek = repeat.peeking(settings().config(10))
    assert honest.wrong.mean() < 0.2 < peek.wrong.mean()
