"""aLTT's sentences and take-away say the numbers of the run."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from models.altt.config import Config
from models.altt.race import Race
from models.altt.table import read_losses
from models.catalog import by_slug
from pages.altt import compute, feed, figures, repeat, takeaway, texts, yourdata
from pages.altt.compute import Run
from pages.altt.settings import Settings
from tests.unit.altt.test_page_figures import LOOK, run, settings

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def mixed() -> Run:
    return run("mixed20", budget=2000)


def test_what_you_see_counts_the_certified_and_compares_with_ltt(mixed: Run) -> None:
    said = " ".join(texts.what_you_see(mixed))
    assert mixed.flat is not None
    goal = int(mixed.flat.right[-1])
    at = mixed.trace.rounds_to(goal)
    assert at is not None
    assert f"After 2,000 tests (the budget is spent) {int(mixed.certified.sum())} of the 20" in said
    assert f"ends with {goal} after 2,000 tests; aLTT had as many after {at:,}" in said
    assert f"{2000 / at:.1f} times fewer" in said
    assert "In truth 5 of all are reliable" in said
    assert texts.saved(mixed)[1] == f"{at:,} of 2,000 tests"


def test_rounds_to_is_the_first_test_with_so_many(mixed: Run) -> None:
    at = mixed.trace.rounds_to(2)
    assert at is not None
    assert mixed.trace.right[at] >= 2 > mixed.trace.right[at - 1]
    assert mixed.trace.rounds_to(21) is None
    assert mixed.trace.rounds_to(0) == 0


def test_a_goal_that_is_not_reached_is_said() -> None:
    found = run("mixed20", budget=2000)
    assert found.flat is not None
    short = replace(found, trace=replace(found.trace, right=np.zeros_like(found.trace.right)))
    assert texts.saved(short)[1] == "not reached"
    assert "this run did not reach that" in " ".join(texts.what_you_see(short))


def test_nothing_to_find_is_said() -> None:
    found = run("null10", budget=300)
    assert texts.saved(found)[0] == "Nothing to find"
    assert "In truth none is reliable" in texts.what_you_see(found)[-1]


def test_peeking_voids_every_promise() -> None:
    found = run("null10", budget=600, released=True)
    assert "nothing is promised" in texts.what_you_see(found)[-1]
    assert texts.promise(found).startswith("None")
    assert texts.checklist(found, own=False)[0][0] is False
    if found.certified.any():
        assert "Nothing is promised about it" in texts.pick(found)


def test_the_zeros_needed_are_said_before_the_run() -> None:
    assert "needs 31 tests" in texts.needed(run("mixed20", budget=100))
    assert "no number of perfect losses" in texts.needed(run(bet="fixed", amount=0.0, budget=100))


def test_the_table_holds_one_row_a_candidate_and_marks_the_untested() -> None:
    race = Race(Config(3), np.random.default_rng(0))
    race.feed_batch(0, [0.0] * 40)
    race.feed_batch(1, [1.0] * 40)
    found = compute.described(race, ("A", "B", "C"))
    table = texts.table(found)
    assert table["verdict"].tolist() == ["certified", "hopeless", "untested"]
    assert table["tests"].tolist() == [40, 40, 0]
    assert table["anytime_p"][2] == 1.0
    assert math.isnan(table["mean_loss"][2])
    assert "**A** has the lowest mean loss" in texts.pick(found)


def test_the_pick_among_digits_names_the_widest() -> None:
    found = run("digits", alpha=0.05, budget=3000)
    assert found.coverage is not None
    ids = np.flatnonzero(found.certified)
    widest = found.names[ids[np.argmax(found.coverage[ids])]]
    assert f"**{widest}** answers most: {found.coverage[ids].max():.1%}" in texts.pick(found)


def test_a_single_pick_is_not_covered_under_false_discovery_control() -> None:
    assert "about the set, not about one pick" in texts.pick(run(control="fdr", budget=1000))


def test_many_runs_are_said_with_their_rate() -> None:
    environment = compute.world(settings())
    assert environment is not None
    methods = next(repeat.blocks(settings().config(10), environment, seed=0))
    said = texts.repeated(methods, fdr=False, delta=0.1)
    assert f"Over {repeat.BLOCK} runs" in said
    assert f"{methods[0].wrong.mean():.1%}" in said
    assert f"aLTT ends with {methods[0].found[:, -1].mean():.0%}" in said


def test_a_share_of_nothing_is_a_dash() -> None:
    environment = compute.world(settings("null10"))
    assert environment is not None
    methods = next(repeat.blocks(settings("null10", budget=60).config(10), environment, seed=0))
    assert "(–)" in texts.repeated(methods, fdr=False, delta=0.1)


def test_a_world_at_another_target_says_so() -> None:
    assert "made for a target of 0.57" in texts.hint("hard20", 0.2, 0.57)
    assert texts.hint("hard20", 0.57, 0.57) == ""
    assert texts.hint("custom", 0.2, None) == ""


@pytest.mark.parametrize(
    ("text", "problem"),
    [("", "no numbers"), ("0.1 x", "'x' is not a number"), ("a" * 99, f"'{'a' * 20}' is not")],
)
def test_typed_numbers_name_what_is_wrong(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        compute.numbers(text)


def test_typed_numbers_may_be_separated_in_any_usual_way() -> None:
    assert compute.numbers("0.1, 0.2;0.3\n1") == [0.1, 0.2, 0.3, 1.0]


def test_names_are_split_and_must_differ() -> None:
    assert feed.split("A, B ;C") == ("A", "B", "C")
    with pytest.raises(ValueError, match="name 'A' stands twice"):
        feed.split("A,A")
    with pytest.raises(ValueError, match="no candidates"):
        feed.split(" , ")


def test_the_lines_that_read_a_file_read_it() -> None:
    code = yourdata.code("x.csv", True, (0.0, 100.0))
    assert code.splitlines() == [
        "with open('x.csv', 'rb') as file:",
        "    table = read_losses(file.read(), rewards=True, bounds=(0.0, 100.0))",
    ]
    assert "pd.read_parquet('x.parquet')" in yourdata.code("x.parquet", False, None)


def test_the_sample_is_a_table_of_losses_to_certify_some_of() -> None:
    table = read_losses(yourdata.sample_bytes())
    assert len(table.names) == 8
    race, found = compute.from_table(settings("yours", budget=2000), table)
    assert 1 <= int(found.certified.sum()) < 8
    assert found.risks is None
    assert "In truth" not in " ".join(texts.what_you_see(found))
    assert len(race.log) == found.trace.spent


def reported(chosen: Settings) -> takeaway.Report:
    found = compute.simulate(chosen)
    said = texts.what_you_see(found)
    still = figures.race(found, LOOK, play=False)
    return takeaway.build(by_slug("altt"), chosen, found, said, still, None)


def test_the_report_holds_the_run_and_its_promise() -> None:
    report = reported(settings())
    found = run()
    assert report.result["tests_used"] == found.trace.spent
    assert report.result["certified"] == [found.names[i] for i in np.flatnonzero(found.certified)]
    assert report.sentences[-1].startswith("With probability at least 0.9")
    assert report.settings["kind"] == "bernoulli"
    assert "names" not in report.settings


@pytest.mark.parametrize("source", ["easy10", "digits", "cartpole", "custom"])
def test_the_lines_of_python_run_to_the_same_end(
    source: str, capsys: pytest.CaptureFixture[str]
) -> None:
    more = {} if source == "easy10" else {"bet": "ons", "control": "fdr", "truncation": 0.5}
    chosen = settings(source, risks="0.05 0.3", budget=200, **more)
    report = reported(chosen)
    exec(report.snippet, {})
    printed = capsys.readouterr().out.split()
    assert float(printed[0]) == report.result["largest_log_wealth"]
    assert int(printed[1]) == report.result["tests_used"]
    assert [int(x) for x in printed[2:]] == report.result["certified_numbers"].tolist()
