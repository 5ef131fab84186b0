"""QuEst's pictures and sentences: valid figures that show the numbers they were given."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import pytest

from models.quest import measures
from models.quest.draws import Draw
from models.quest.estimate import prepare
from models.quest.joint import joint_region, unlabelled_influence
from models.quest.leaderboard import CANDIDATES, METHODS, rank_candidates, simulate_board
from models.quest.measures import Quantile
from models.quest.study import Analysis, Question, analyse, summarise_trials, trial
from pages.quest import figures, texts
from ui.charts import Look

pytestmark = pytest.mark.unit

LOOK = Look(tuple(f"#{k}{k}{k}{k}{k}{k}" for k in range(10)), "#101010", "#606060", "#d0d0d0")
DRAW = Draw("net_assets", 100, 1000)
SAMPLES = DRAW(np.random.default_rng(0))
MIDDLE = measures.interval(0.33, 0.67)


def analysed(measure: measures.Measure = MIDDLE) -> Analysis:
    return analyse(SAMPLES, Question(measure), np.random.default_rng(1))


def valid(picture: figures.Picture) -> go.Figure:
    figure, alt = picture
    assert len(alt) > 40
    go.Figure(figure.to_plotly_json())  # raises if Plotly would not accept it
    return figure


def summary(seeds: int = 12, draw: Draw = DRAW) -> tuple:
    rows = [trial(np.random.default_rng(s), draw, Question(MIDDLE)) for s in range(seeds)]
    return summarise_trials(np.stack(rows), draw.truth(MIDDLE))


@pytest.mark.parametrize(
    "measure",
    [MIDDLE, measures.mean(), Quantile(0.5), measures.steps((0, 0.2, 0.8, 1), (1, 0, -2))],
    ids=["segment", "mean", "median", "signed"],
)
def test_every_method_stands_in_the_picture_at_its_estimate(measure: measures.Measure) -> None:
    found = analysed(measure)
    figure = valid(figures.intervals(found.intervals, LOOK, unit="dollars", span=None, truth=3.0))
    points = {trace.y[0]: trace.x[0] for trace in figure.data if trace.mode == "markers"}
    assert points == {name: answer.estimate for name, answer in found.intervals.items()}
    assert figure.layout.shapes[0].x0 == 3.0
    low, high = figure.layout.xaxis.range
    assert low < min(points.values()) <= max(points.values()) < high
    valid(figures.quantile_curves(SAMPLES, measure, LOOK, "dollars"))


def test_a_refused_interval_is_a_point_with_words() -> None:
    flat = replace(SAMPLES, labels=np.full(100, 7.0))
    found = analyse(flat, Question(measures.mean()), np.random.default_rng(0))
    figure, alt = figures.intervals(found.intervals, LOOK, unit="", span=(0, 9), truth=None)
    assert any("no interval" in note.text for note in figure.layout.annotations)
    assert "QuEst: 7.000." in alt
    said = texts.what_you_see(found, truth=None)
    assert said[0].startswith("QuEst estimates 7.000 but gives no interval. The labels show no")
    assert texts.worth(found)[1] == "no interval"


def test_the_shaded_runs_are_where_the_measure_weighs() -> None:
    figure = valid(figures.quantile_curves(SAMPLES, measures.interval(0.25, 0.5), LOOK, ""))
    (shape,) = figure.layout.shapes
    assert (shape.x0, shape.x1) == pytest.approx((0.25, 0.5))


def test_the_variance_curve_touches_its_marks() -> None:
    found = analysed()
    figure = valid(figures.variance_curve(found.parts, found.quest.lam, "split", LOOK))
    marks = {trace.text[0]: (trace.x[0], trace.y[0]) for trace in figure.data if trace.text}
    assert marks["labels only"] == (0.0, pytest.approx(1.0))
    assert marks["chosen"][1] == pytest.approx(
        float(found.parts.rho2(found.quest.lam)) / found.parts.labels.variance
    )


def test_repeated_draws_are_drawn_and_said_with_their_numbers() -> None:
    rows = summary()
    figure = valid(figures.repeated(rows, 0.1, LOOK))
    ours = next(row for row in rows if row.method == "QuEst")
    labels = next(row for row in rows if row.method == "Labels only")
    assert figure.data[0].x[0] == ours.coverage
    said = texts.repeated(rows, 0.1)
    assert f"Over 12 draws QuEst covered the truth in {ours.coverage:.1%}" in said
    assert f"{abs(1 - ours.error / labels.error):.0%} " in said


def test_the_calibrated_coverage_is_said_where_it_was_measured() -> None:
    rows = [trial(np.random.default_rng(s), DRAW, Question(MIDDLE), calibrate=True) for s in (0, 1)]
    found = summarise_trials(np.stack(rows), DRAW.truth(MIDDLE))
    coverage = next(row for row in found if row.method == "QuEst, calibrated").coverage
    assert f"The calibrated interval covered {coverage:.1%}." in texts.repeated(found, 0.1)
    assert "calibrated" not in texts.repeated(summary(4), 0.1)


def test_error_and_width_against_n_hold_one_point_a_size() -> None:
    table = [summary(8, replace(DRAW, n=n)) for n in (50, 100)]
    figure = valid(figures.against_n([50, 100], table, LOOK, "dollars"))
    assert all(len(trace.x) == 2 for trace in figure.data)


def test_ellipses_lie_around_the_estimate() -> None:
    three = [measures.cvar_lower(0.2), measures.interval(0.25, 0.75), measures.cvar_upper(0.8)]
    parts = [prepare(SAMPLES.labels, SAMPLES.predictions, SAMPLES.pool, m) for m in three]
    region = joint_region(parts, unlabelled_influence(SAMPLES.pool, three, 0.1))
    base = joint_region(parts, unlabelled_influence(SAMPLES.pool, three, 0.1), lam=None)
    picture = figures.ellipses(
        ((region, "ours"), (base, "classical")), ["a", "b", "c"], region.estimate, LOOK
    )
    figure = valid(picture)
    outline = figure.data[0]
    assert min(outline.x) < region.estimate[0] < max(outline.x)
    assert f"{region.volume / region.box_volume:.0%} of the volume" in picture[1]


def test_the_leaderboard_is_sorted_by_quest() -> None:
    worst = measures.cvar_upper(0.75)
    board = simulate_board(0)
    answers = rank_candidates(board, worst, 100, 1000, 0.1, np.random.default_rng(0))
    figure = valid(figures.leaderboard(answers, CANDIDATES, METHODS, board.truth(worst), LOOK))
    assert list(figure.data[0].y) == sorted(answer["QuEst"].estimate for answer in answers)
    names = figure.layout.xaxis.ticktext
    truth = dict(zip(CANDIDATES, board.truth(worst), strict=True))
    assert list(figure.data[-1].y) == [truth[name] for name in names]


def test_what_you_see_counts_the_labels_saved_and_says_whether_the_truth_is_hit() -> None:
    found = analysed()
    said = " ".join(texts.what_you_see(found, truth=found.quest.estimate))
    assert f"as precise as {found.labels_worth:,.0f} labels, and you have 100" in said
    assert f"{1 - found.quest.width / found.labels.width:.0%} narrower" in said
    assert "QuEst's interval covers it" in said
    far = texts.what_you_see(found, truth=found.quest.high + 1)
    assert "QuEst's interval misses it" in far[-1]


def test_a_fixed_bad_weight_is_called_out() -> None:
    found = analyse(SAMPLES, Question(MIDDLE, lam=2.0), np.random.default_rng(0))
    assert (
        "wider than the labels-only one: at weight 2.00" in texts.what_you_see(found, truth=None)[0]
    )


def test_a_small_population_is_said_to_be_small() -> None:
    assert texts.shortfall(Draw("polling", 100, 594), 7000).startswith(
        "This population has 694 rows in all, so 594 predictions"
    )
    assert texts.shortfall(DRAW, 1000) == ""


def test_numbers_without_an_interval_do_not_reach_the_card() -> None:
    title, value, text = texts.worth(analysed())
    assert title == "As precise as"
    assert value.endswith("labels")
    assert "you have 100" in text
    assert not math.isnan(float(value.split()[0].replace(",", "")))
