"""Claims: honest verdicts, intervals that agree with other routes to them, a ledger that lasts."""

from __future__ import annotations

import dataclasses
import json
import logging
import math
import subprocess
import sys
from contextlib import closing
from operator import methodcaller
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from models import claims, claims_cli
from models.claims import (
    Claim,
    Entry,
    Measurement,
    all_claims,
    claims_of,
    measure_all,
    read_ledger,
    record,
    write_ledger,
)
from models.intervals import mean_interval, ratio_interval, share_interval, verdict
from models.trials import run_trials

FINITE = st.floats(-1e6, 1e6)
COUNT = {"quick": 40, "full": 90}


def measure_mean(scale, seed, progress):
    trial = methodcaller("normal", 2.0, 1.0)
    with closing(run_trials(trial, COUNT[scale], seed, workers=1, chunk=10)) as states:
        for state in states:
            value, low, high = mean_interval(state.results[:, 0])
            judged = verdict(low, high, 1.0, "higher")
            measurement = Measurement(value, low, high, state.done, judged)
            progress(state.done, state.total, state.seconds_left, measurement)
    return measurement


def fail(scale, seed, progress):
    raise ValueError("n is 3, but must be at least 4.")


def claim(claim_id="mean", measure=measure_mean, **changes):
    reason = "" if measure else "It needs a graphics card."
    return Claim(
        claim_id,
        "The mean exceeds 1.",
        "Table 1",
        "2.0",
        measure,
        **{"why_not": reason, "kind": "paper says", **changes},
    )


@pytest.fixture
def paper(monkeypatch):
    """Install a paper's claims as models.<slug>.claims."""

    def install(*content, slug="sample"):
        module = ModuleType(f"models.{slug}.claims")
        module.CLAIMS = content
        monkeypatch.setitem(sys.modules, module.__name__, module)
        return module

    return install


@pytest.fixture
def catalogue(monkeypatch):
    """Let the catalogue consist of the given papers."""

    def working(*slugs):
        demos = tuple(SimpleNamespace(slug=slug) for slug in slugs)
        monkeypatch.setattr(claims.catalog, "working", lambda: demos)

    return working


# -- claims ---------------------------------------------------------------------------------


def test_a_paper_has_the_claims_of_its_module(paper):
    one, two = claim("one"), claim("two", None)
    paper(one, two)
    assert claims_of("sample") == (one, two)


@pytest.mark.parametrize("slug", ["no_such_paper", "", "..", "checks"])
def test_a_paper_without_claims_is_named(slug):
    with pytest.raises(ValueError, match=f"^No paper '{slug}' has claims"):
        claims_of(slug)


def test_a_fault_inside_a_claims_module_is_not_taken_for_a_missing_one(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    monkeypatch.setattr(claims.importlib, "import_module", missing)
    with pytest.raises(ModuleNotFoundError, match="torch"):
        claims_of("sample")


@pytest.mark.parametrize("content", [None, [], (1,)])
def test_claims_must_be_a_tuple_of_claims(paper, content):
    paper().CLAIMS = content
    with pytest.raises(ValueError, match="must define CLAIMS, a tuple of Claim"):
        claims_of("sample")


def test_two_claims_may_not_share_an_id(paper):
    paper(claim("one"), claim("two"), claim("one"))
    with pytest.raises(ValueError, match="has 2 claims with the id 'one'"):
        claims_of("sample")


def test_a_claim_needs_a_measure_or_a_reason():
    with pytest.raises(ValueError, match="'mean' needs either a measure or why_not"):
        claim(measure=None, why_not="")
    with pytest.raises(ValueError, match="'mean' needs either a measure or why_not"):
        claim(why_not="It is too dear.")
    with pytest.raises(ValueError, match="kind of claim 'mean' is 'hearsay', but must be one of"):
        claim(kind="hearsay")


def test_a_measurement_has_one_of_three_verdicts():
    with pytest.raises(ValueError, match="verdict is 'maybe', but must be one of"):
        Measurement(1.0, 0.0, 2.0, 5, "maybe")


def test_all_claims_follow_the_catalogue(paper, catalogue):
    paper(claim("b"), slug="second")
    paper(claim("a"), slug="first")
    catalogue("second", "first")
    assert [(slug, found[0].id) for slug, found in all_claims().items()] == [
        ("second", "b"),
        ("first", "a"),
    ]


# -- measuring ------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", ["quick", "full"])
def test_entries_say_how_to_repeat_the_measurement(paper, catalogue, scale):
    paper(claim(), claim("dear", None))
    catalogue("sample")
    (entry,) = measure_all(scale, 3)
    assert (entry.key, entry.scale, entry.seed) == ("sample/mean", scale, 3)
    assert entry.measurement == measure_mean(scale, 3, lambda *news: None)
    assert entry.measurement.trials == COUNT[scale]
    assert entry.measurement.verdict == "holds"
    assert entry.versions["numpy"] == np.__version__
    assert sorted(entry.versions) == ["numpy", "python", "scipy"]


def test_progress_brings_partial_measurements(paper):
    news = []
    paper(claim())
    list(measure_all("quick", 0, ["sample"], lambda key: lambda *args: news.append((key, *args))))
    assert [(key, done, total) for key, done, total, *_ in news] == [
        ("sample/mean", done, 40) for done in (10, 20, 30, 40)
    ]
    assert [partial.trials for *_, partial in news] == [10, 20, 30, 40]
    assert news[-1][3] == 0.0


def test_a_callback_that_raises_stops_the_measurement():
    kept = []

    class Stopped(Exception):
        pass

    def stop_at_twenty(done, total, seconds_left, partial):
        kept.append(partial)
        if done >= 20:
            raise Stopped

    with pytest.raises(Stopped):
        measure_mean("quick", 0, stop_at_twenty)
    assert [partial.trials for partial in kept] == [10, 20]
    assert kept[-1].value == pytest.approx(2.0, abs=1.5)  # 6.7 standard errors


def test_one_claim_that_fails_does_not_cost_the_others(paper):
    paper(claim("first", fail), claim("second"))
    found = []
    with pytest.raises(ExceptionGroup) as caught:
        found.extend(measure_all("quick", 0, ["sample"]))
    assert caught.group_contains(ValueError, match="n is 3")
    assert caught.value.exceptions[0].__notes__ == ["in sample/first"]
    # extend keeps what the generator gave before it raised
    assert [entry.key for entry in found] == ["sample/second"]


# -- the ledger -----------------------------------------------------------------------------


def entry(slug="sample", claim_id="mean", value=0.5, low=0.25, high=0.75, note="a ± b"):
    measured = Measurement(value, low, high, 40, "not shown", note)
    return Entry(slug, claim_id, measured, "quick", 0, {"numpy": "2.4.6"}, "2026-01-02")


def ledger_of(*entries):
    return {one.key: one for one in entries}


def test_a_ledger_reads_back_as_it_was_written(tmp_path):
    ledger = ledger_of(entry("b"), entry("a"), entry("a", "other", value=1 / 3))
    write_ledger(ledger, tmp_path / "new" / "ledger.json")
    again = read_ledger(tmp_path / "new" / "ledger.json")
    assert again == ledger
    assert list(again) == ["a/mean", "a/other", "b/mean"]


@given(figures=st.tuples(*[st.floats(allow_nan=False, allow_infinity=False)] * 3), note=st.text())
@settings(deadline=None)
def test_every_finite_figure_survives_the_ledger(tmp_path_factory, figures, note):
    path = tmp_path_factory.getbasetemp() / "figures.json"
    ledger = ledger_of(entry("s", "c", *figures, note))
    write_ledger(ledger, path)
    assert read_ledger(path) == ledger


def test_figures_that_are_not_finite_become_null_and_read_as_nan(tmp_path):
    path = tmp_path / "ledger.json"
    write_ledger(ledger_of(entry(value=math.nan, low=-math.inf, high=math.inf)), path)
    (stored,) = json.loads(path.read_text(encoding="utf-8"))
    assert [stored["measurement"][name] for name in ("value", "low", "high")] == [None] * 3
    found = read_ledger(path)["sample/mean"].measurement
    assert all(math.isnan(figure) for figure in (found.value, found.low, found.high))
    assert (found.trials, found.verdict) == (40, "not shown")


def test_the_file_does_not_depend_on_the_order_of_measuring(tmp_path):
    one, two = entry("a"), entry("b", value=np.float64(0.5))
    write_ledger(ledger_of(one, two), tmp_path / "1")
    write_ledger(ledger_of(two, one), tmp_path / "2")
    text = (tmp_path / "1").read_text(encoding="utf-8")
    assert text == (tmp_path / "2").read_text(encoding="utf-8")
    assert text.endswith("]\n")
    assert "a ± b" in text


def test_a_write_that_fails_leaves_the_old_ledger(tmp_path, monkeypatch):
    path = tmp_path / "ledger.json"
    write_ledger(ledger_of(entry("old")), path)

    def full(self, target):
        raise OSError("No space left on device")

    monkeypatch.setattr(type(path), "replace", full)
    with pytest.raises(OSError, match="No space"):
        write_ledger(ledger_of(entry("new")), path)
    assert list(read_ledger(path)) == ["old/mean"]


GOOD = dataclasses.asdict(entry())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "7",
        '"text"',
        "[1]",
        "[{}]",
        "[" * 100_000,
        "\udcff",
        json.dumps([GOOD | {"measurement": None}]),
        json.dumps([GOOD | {"unknown": 1}]),
        json.dumps([GOOD | {"measurement": GOOD["measurement"] | {"value": "high"}}]),
        json.dumps([GOOD | {"measurement": GOOD["measurement"] | {"verdict": "maybe"}}]),
        json.dumps([GOOD | {"measurement": GOOD["measurement"] | {"trials": 1e999}}]),
    ],
)
def test_a_damaged_ledger_counts_as_empty_and_is_logged(tmp_path, caplog, text):
    path = tmp_path / "ledger.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with caplog.at_level(logging.WARNING):
        assert read_ledger(path) == {}
    assert "The ledger ledger.json is not used" in caplog.text


def test_a_missing_ledger_counts_as_empty_and_is_logged(tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        assert read_ledger(tmp_path / "none.json") == {}
    assert "FileNotFoundError" in caplog.text


def test_a_partial_measurement_can_be_recorded():
    measured = Measurement(1.0, 0.5, 1.5, 7, "not shown")
    one = record("sample", claim(), measured, "full", 2)
    assert one.key == "sample/mean"
    assert one.measurement is measured
    assert len(one.date) == len("2026-01-02")


# -- verdicts and intervals -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "if_lower_is_better"),
    [
        (0.2, 0.9, "holds"),
        (1.1, 1.2, "contradicted"),
        (0.9, 1.1, "not shown"),
        (0.9, 1.0, "not shown"),
        (1.0, 1.1, "not shown"),
        (1.0, 1.0, "not shown"),
        (-math.inf, 0.9, "holds"),
        (-math.inf, math.inf, "not shown"),
        (math.nan, 0.9, "not shown"),
        (1.1, math.nan, "not shown"),
        (math.nan, math.nan, "not shown"),
    ],
)
def test_a_verdict_needs_the_whole_interval_on_one_side_of_one(low, high, if_lower_is_better):
    mirrored = {"holds": "contradicted", "contradicted": "holds"}
    assert verdict(low, high, 1.0) == if_lower_is_better
    assert verdict(low, high, 1.0, "higher") == mirrored.get(if_lower_is_better, "not shown")


@given(ends=st.tuples(FINITE, FINITE).map(sorted), threshold=FINITE)
@settings(deadline=None)
def test_verdicts_mirror_when_the_axis_is_turned(ends, threshold):
    low, high = ends
    assert verdict(low, high, threshold, "lower") == verdict(-high, -low, -threshold, "higher")


def test_a_wrong_question_to_the_verdict_is_refused():
    with pytest.raises(ValueError, match="low end 2 exceeds its high end 1"):
        verdict(2.0, 1.0, 0.0)
    with pytest.raises(ValueError, match="better is 'left', but must be one of"):
        verdict(1.0, 2.0, 0.0, "left")


def test_mean_interval_of_a_known_sample():
    # Mean 3, variance 2.5, so the standard error is sqrt(0.5).
    value, low, high = mean_interval([1.0, 2.0, 3.0, 4.0, 5.0])
    reach = 1.959963984540054 * math.sqrt(0.5)
    assert (value, low, high) == pytest.approx((3.0, 3.0 - reach, 3.0 + reach), rel=1e-14)


@given(x=st.lists(FINITE, min_size=2, max_size=30), level=st.floats(0.01, 0.999))
@settings(deadline=None)
def test_mean_interval_is_the_normal_one(x, level):
    error = stats.sem(x) + 1e-300  # scipy has no interval without width
    expected = stats.norm.interval(level, np.mean(x), error)
    assert mean_interval(x, level)[1:] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_one_trial_bounds_nothing():
    assert mean_interval([2.0]) == (2.0, -math.inf, math.inf)
    assert ratio_interval([2.0], [4.0]) == (0.5, -math.inf, math.inf)


def test_a_ratio_over_a_mean_of_zero_is_unknown():
    value, low, high = ratio_interval([1.0, 2.0], [-1.0, 1.0])
    assert math.isnan(value)
    assert (low, high) == (-math.inf, math.inf)


def test_ratio_interval_of_a_known_sample():
    # Means 2 and 4, variances 1 and 4, covariance 1, n = 3, so
    # n b^2 var(R) = var(a) - 2 R cov + R^2 var(b) = 1 - 1 + 1 = 1.
    value, low, high = ratio_interval([1.0, 2.0, 3.0], [4.0, 2.0, 6.0])
    reach = 1.959963984540054 * math.sqrt(1 / 3) / 4
    assert (value, low, high) == pytest.approx((0.5, 0.5 - reach, 0.5 + reach), rel=1e-14)


def test_a_constant_ratio_has_no_width():
    a = np.array([1.0, 3.0, 8.0])
    assert ratio_interval(a, 4 * a) == (0.25, 0.25, 0.25)


@given(pairs=st.lists(st.tuples(FINITE, st.floats(1.0, 100.0)), min_size=2, max_size=20))
@settings(deadline=None)
def test_ratio_to_ones_is_the_mean(pairs):
    a, _ = np.array(pairs).T
    assert ratio_interval(a, np.ones_like(a)) == pytest.approx(mean_interval(a), rel=1e-9, abs=1e-6)


def test_ratio_interval_agrees_with_resampling():
    rng = np.random.default_rng(5)
    b = rng.normal(5.0, 1.0, 400)
    a = 0.6 * b + rng.normal(0.0, 0.5, 400)
    draws = rng.integers(400, size=(4000, 400))
    ratios = a[draws].mean(axis=1) / b[draws].mean(axis=1)
    value, low, high = ratio_interval(a, b, 0.9)
    # The quantiles of 4000 resamples err by 3.4 % of their standard deviation; 8 of those.
    assert (low, high) == pytest.approx(np.quantile(ratios, [0.05, 0.95]), abs=0.27 * ratios.std())
    assert value == pytest.approx(ratios.mean(), abs=0.15 * ratios.std())


@given(k=st.integers(0, 60), more=st.integers(0, 60), level=st.floats(0.5, 0.999))
@settings(deadline=None)
def test_share_interval_is_the_exact_binomial_one(k, more, level):
    n = max(k + more, 1)
    expected = stats.binomtest(k, n).proportion_ci(level, method="exact")
    assert share_interval(k, n, level) == pytest.approx((k / n, *expected), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5, 0.95])
def test_share_interval_covers_at_least_its_level(share):
    k = np.arange(41)
    covered = [low <= share <= high for _, low, high in (share_interval(i, 40, 0.9) for i in k)]
    assert stats.binom.pmf(k, 40, share)[covered].sum() >= 0.9


@pytest.mark.parametrize(("k", "n"), [(-1, 5), (6, 5), (0, 0)])
def test_impossible_counts_are_refused(k, n):
    with pytest.raises(ValueError, match=f"^k = {k} of n = {n}, but"):
        share_interval(k, n)


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0, -0.1, math.nan])
def test_levels_lie_between_zero_and_one(level):
    for interval in (
        lambda: mean_interval([1.0, 2.0], level),
        lambda: ratio_interval([1.0, 2.0], [3.0, 4.0], level),
        lambda: share_interval(1, 2, level),
    ):
        with pytest.raises(ValueError, match=r"level is .* must lie strictly between 0 and 1"):
            interval()


def test_samples_must_be_finite_and_paired():
    with pytest.raises(ValueError, match="x holds nan at position 1"):
        mean_interval([1.0, math.nan])
    with pytest.raises(ValueError, match="x has 0 values"):
        mean_interval([])
    with pytest.raises(ValueError, match="a and b must pair up row by row, but have 2 and 3"):
        ratio_interval([1.0, 2.0], [1.0, 2.0, 3.0])


# -- the command ----------------------------------------------------------------------------


def test_the_command_measures_and_writes(paper, tmp_path, capsys):
    paper(claim(), claim("dear", None))
    path = tmp_path / "ledger.json"
    assert claims_cli.main(["--slug", "sample", "--seed", "3", "--to", str(path)]) == 0
    ledger = read_ledger(path)
    assert list(ledger) == ["sample/mean"]
    m = ledger["sample/mean"].measurement
    assert m == measure_mean("quick", 3, lambda *news: None)
    shown = f"{m.value:.4g} [{m.low:.4g}, {m.high:.4g}]"
    assert capsys.readouterr().out == f"sample/mean: {shown}, 40 trials: holds\n"


def test_the_command_keeps_other_papers_and_drops_claims_that_are_gone(paper, tmp_path):
    paper(claim())
    path = tmp_path / "ledger.json"
    write_ledger(ledger_of(entry("other"), entry("sample", "gone"), entry("sample", "mean")), path)
    claims_cli.main(["--slug", "sample", "--scale", "full", "--to", str(path)])
    ledger = read_ledger(path)
    assert list(ledger) == ["other/mean", "sample/mean"]
    assert ledger["other/mean"] == entry("other")
    assert ledger["sample/mean"].measurement.trials == 90


def test_the_command_for_all_papers_drops_papers_that_are_gone(paper, catalogue, tmp_path):
    paper(claim(), slug="one")
    paper(claim(), slug="two")
    catalogue("one", "two")
    path = tmp_path / "ledger.json"
    write_ledger(ledger_of(entry("gone")), path)
    assert claims_cli.main(["--to", str(path)]) == 0
    assert list(read_ledger(path)) == ["one/mean", "two/mean"]


def test_the_command_goes_on_after_a_failure_and_reports_it(paper, tmp_path, capsys):
    paper(claim("first", fail), claim("second"))
    path = tmp_path / "ledger.json"
    assert claims_cli.main(["--slug", "sample", "--to", str(path)]) == 1
    assert list(read_ledger(path)) == ["sample/second"]
    assert capsys.readouterr().err == "n is 3, but must be at least 4. (in sample/first)\n"


def test_the_command_runs_as_a_module():
    root = Path(claims.__file__).resolve().parents[1]
    call = [sys.executable, "-m", "models.claims", "--slug", "nobody"]
    found = subprocess.run(call, cwd=root, capture_output=True, text=True, check=False)
    assert found.returncode == 2
    assert "python -m models.claims: error: No paper 'nobody' has claims" in found.stderr


def test_the_command_refuses_an_unknown_paper(tmp_path, capsys):
    with pytest.raises(SystemExit, match="2"):
        claims_cli.main(["--slug", "nobody", "--to", str(tmp_path / "ledger.json")])
    assert "No paper 'nobody' has claims" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
