"""Real populations: complete, out of sample, unchanged, and drawn without overlap."""

from __future__ import annotations

import hashlib
import re

import numpy as np
import pytest

from models.quest.data import FOLDER, SOURCES, load_population

ORIGINS = FOLDER.parent / "ORIGINS.md"

# Rows, share of rows at the highest gold value, and the correlation with each judge, as measured
# by scripts/build_quest_data.py and printed in ORIGINS.md.
FACTS = {
    "net_assets": (7275, 0.000, {"prediction": 0.395, "prediction_accounts": 0.454}),
    "polling": (694, 0.039, {"prediction": 0.686}),
    "earnings": (12000, 0.261, {"prediction": 0.693}),
    "words": (6006, 0.000, {"judge_model": 0.678, "judge_rater": 0.836}),
}


@pytest.mark.unit
@pytest.mark.parametrize("name", SOURCES)
def test_population_is_as_described(name: str) -> None:
    population = load_population(name)
    rows, at_maximum, correlations = FACTS[name]
    gold = population.gold
    assert gold.shape == population.ids.shape == population.group.shape == (rows,)
    assert gold.dtype == np.float64
    assert np.isfinite(gold).all()
    assert len(set(population.ids.tolist())) == rows
    assert float(np.mean(gold == gold.max())) == pytest.approx(at_maximum, abs=6e-4)
    assert list(population.predictions) == list(correlations)
    for judge, expected in correlations.items():
        predictions = population.predictions[judge]
        assert predictions.shape == (rows,)
        assert np.isfinite(predictions).all()
        assert np.corrcoef(gold, predictions)[0, 1] == pytest.approx(expected, abs=6e-4)


@pytest.mark.unit
@pytest.mark.parametrize(
    ("name", "source_rows", "trained_on"),
    [("net_assets", 9275, 2000), ("polling", 944, 250), ("earnings", 15992, 3992)],
)
def test_rows_of_the_training_set_are_not_shipped(
    name: str, source_rows: int, trained_on: int
) -> None:
    ids = load_population(name).ids
    assert ids.min() >= 1
    assert ids.max() <= source_rows
    assert ids.size + trained_on == source_rows


@pytest.mark.unit
@pytest.mark.parametrize(
    ("name", "groups"),
    [
        ("net_assets", {"eligible": 2829, "not eligible": 4446}),
        ("polling", {"Democrat": 276, "Independent": 174, "Republican": 244}),
        ("earnings", {"no": 3528, "yes": 8472}),
        ("words", {"emoticon or code": 242, "word": 5764}),
    ],
)
def test_groups_have_their_sizes(name: str, groups: dict[str, int]) -> None:
    labels, counts = np.unique(load_population(name).group, return_counts=True)
    assert dict(zip(labels.tolist(), counts.tolist(), strict=True)) == groups


@pytest.mark.unit
def test_gold_word_ratings_are_means_of_nine_whole_ratings() -> None:
    words = load_population("words")
    sums = 9 * words.gold
    assert np.abs(sums - np.rint(sums)).max() < 9 * 5.1e-5  # four decimals are kept
    assert set(words.predictions["judge_rater"].tolist()) <= set(range(-4, 5))


@pytest.mark.unit
def test_earnings_end_at_the_cap_of_the_survey() -> None:
    earnings = load_population("earnings")
    assert earnings.gold.max() == 25564.7
    assert earnings.gold.min() == 0.0
    assert np.quantile(earnings.gold, 0.8) == earnings.gold.max()


@pytest.mark.unit
def test_polling_answers_are_whole_points_from_1_to_7() -> None:
    assert sorted(set(load_population("polling").gold.tolist())) == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.unit
def test_shared_arrays_cannot_be_written_to() -> None:
    population = load_population("polling")
    assert population is load_population("polling")
    for array in (population.gold, population.predictions["prediction"], population.ids):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.unit
def test_unknown_population_lists_the_names() -> None:
    with pytest.raises(ValueError, match=r"'income' is unknown; .*net_assets, polling, earnings"):
        load_population("income")


@pytest.mark.unit
def test_files_are_small_and_their_digests_are_the_published_ones() -> None:
    published = dict(
        re.findall(r"\| `quest/(\w+\.csv)` \|.*`([0-9a-f]{64})`", ORIGINS.read_text("utf-8"))
    )
    found = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in FOLDER.glob("*.csv")
    }
    assert found == published
    assert set(found) == {f"{name}.csv" for name in SOURCES}
    assert all(path.stat().st_size < 400_000 for path in FOLDER.glob("*.csv"))
