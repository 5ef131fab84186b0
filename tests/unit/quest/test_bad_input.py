"""Every way in which a visitor's data or settings can be wrong, and the sentence that says so."""

from __future__ import annotations

import math

import numpy as np
import pytest

from models.checks import check_alpha, check_sample
from models.quest import measures
from models.quest.baselines import bootstrap
from models.quest.calibrated import calibrated
from models.quest.estimate import estimate, labels_only, prepare, quest
from models.quest.intake import Advice, Samples, advise, from_arrays, from_columns
from models.quest.joint import joint_region
from models.quest.measures import ExponentialWeight, Measure, Quantile
from models.quest.opt import bins, quest_opt
from models.quest.study import Question, analyse

pytestmark = pytest.mark.unit

NAN = math.nan
MEAN = measures.mean()


def column(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)


def noisy(n: int = 100, n_unlabelled: int = 400, seed: int = 0):
    r = np.random.default_rng(seed)
    z = r.normal(size=n + n_unlabelled)
    yhat = 0.2 + 0.8 * z + 0.4 * r.normal(size=z.size)
    return z[:n], yhat[:n], yhat[n:]


def advice_on(y, yhat, pool, measure: Measure = MEAN, **options) -> tuple[Advice, ...]:
    parts = prepare(y, yhat, pool, measure)
    return advise(Samples(y, yhat, pool), parts, quest(parts, **options).lam)


def told(advice: tuple[Advice, ...], text: str, *, serious: bool) -> bool:
    return any(text in each.text and each.serious is serious for each in advice)


def test_a_good_sample_earns_no_advice():
    """So that the warnings below are not simply always there."""
    assert advice_on(*noisy()) == ()


# -- what is missing ----------------------------------------------------------------------------


def test_no_rows():
    with pytest.raises(ValueError, match="The table has no rows"):
        from_columns(column(), column())


def test_no_labels():
    with pytest.raises(ValueError, match="The label column is blank in every row"):
        from_columns(column(NAN, NAN), column(1, 2))


def test_no_unlabelled_rows():
    with pytest.raises(ValueError, match="No row has a prediction without a label"):
        from_columns(column(1, 2, NAN), column(1, 2, NAN))


def test_one_label():
    with pytest.raises(ValueError, match="At least 2 labels are needed, but there are only 1"):
        from_columns(column(1, NAN, NAN), column(1, 2, 3))


def test_one_unlabelled_prediction():
    with pytest.raises(ValueError, match=r"At least 2 unlabelled predictions .* only 1 usable"):
        from_columns(column(1, 2, NAN), column(1, 2, 3))


@pytest.mark.parametrize("short", ["labels", "predictions_unlabelled"])
def test_the_core_names_the_sample_that_is_too_short(short):
    samples = {"labels": [1.0, 2.0], "predictions": [1.0, 2.0], "predictions_unlabelled": [1.0] * 2}
    samples[short] = samples[short][:1]
    with pytest.raises(ValueError, match=f"{short} has 1 values, but at least 2 are needed"):
        prepare(**samples, measure=MEAN)


# -- values -------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", ["1,234", "12%", "abc"])
def test_text_among_numbers_is_quoted_with_its_position(bad):
    with pytest.raises(ValueError, match=f"labels holds '{bad}' at position 1, which is not a"):
        prepare([1.0, bad], [1.0, 2.0], [1.0, 2.0], MEAN)


def test_a_table_instead_of_a_column():
    with pytest.raises(ValueError, match=r"labels has shape \(2, 2\), but must be one-dimensional"):
        prepare(np.ones((2, 2)), np.ones(2), np.ones(2), MEAN)
    with pytest.raises(ValueError, match=r"labels holds \[1, 2\] at position 0, which is not a"):
        check_sample([[1, 2], [3]], "labels")


@pytest.mark.parametrize("bad", [NAN, math.inf, -math.inf])
def test_the_core_names_the_position_of_a_value_that_is_not_finite(bad):
    with pytest.raises(ValueError, match=f"predictions holds {bad} at position 1; all values"):
        prepare([1.0, 2.0], [1.0, bad], [1.0, 2.0], MEAN)


def test_an_infinite_label_is_named_by_its_row():
    with pytest.raises(ValueError, match="The label in data row 3 is infinite"):
        from_columns(column(1, 2, math.inf, NAN), column(1, 2, 3, 4))


@pytest.mark.parametrize("bad", [NAN, math.inf])
def test_labelled_rows_without_a_usable_prediction_are_dropped_with_their_count(bad):
    found = from_columns(column(1, 2, 3, 4, NAN, NAN), column(1, bad, 3, 4, 5, 6))
    assert found.labels.tolist() == [1, 3, 4]
    assert found.predictions.tolist() == [1, 3, 4]
    assert found.notes[0].startswith("1 labelled row without a finite prediction left out")


def test_more_than_half_of_the_labelled_rows_without_prediction_are_too_many():
    with pytest.raises(ValueError, match="3 of 5 labelled rows have no finite prediction"):
        from_columns(column(1, 2, 3, 4, 5, NAN, NAN), column(1, 2, NAN, NAN, NAN, 6, 7))
    half = from_columns(column(1, 2, 3, 4, NAN, NAN), column(1, 2, NAN, NAN, 6, 7))
    assert half.labels.size == 2


def test_rows_with_a_blank_label_are_the_unlabelled_ones_and_are_counted():
    found = from_columns(column(1, NAN, 3, NAN, NAN), column(1, 2, 3, 4, 5))
    assert found.pool.tolist() == [2, 4, 5]
    assert found.notes == (
        "2 labelled rows and 3 unlabelled rows (a blank label marks an unlabelled row).",
    )


def test_rows_without_both_are_dropped_with_their_count():
    found = from_columns(column(1, 2, NAN, NAN, NAN, NAN), column(1, 2, 3, 4, NAN, math.inf))
    assert found.pool.tolist() == [3, 4]
    assert found.notes[0].startswith("2 rows with neither a label nor a finite prediction")


# -- two files ----------------------------------------------------------------------------------


def test_labels_and_predictions_of_different_length_name_both_lengths():
    for build in (
        lambda: from_arrays(np.ones(3), np.ones(2), np.ones(5)),
        lambda: prepare(np.ones(3), np.ones(2), np.ones(5), MEAN),
        lambda: from_columns(np.ones(3), np.ones(2)),
    ):
        with pytest.raises(ValueError, match="must pair up row by row, but have 3 and 2 values"):
            build()


def test_arrays_from_two_files_must_be_finite():
    with pytest.raises(ValueError, match="unlabelled predictions holds nan at position 1"):
        from_arrays(column(1, 2), column(1, 2), column(1, NAN, 3))


# -- alpha --------------------------------------------------------------------------------------

MEANT = [
    (95, "alpha is 95, .* did you mean 0.05"),
    (5, "alpha is 5, .* did you mean 0.05"),
    (90.0, "alpha is 90.0, .* did you mean 0.1"),
    ("5%", "alpha is 5%, .* did you mean 0.05"),
    ("0.5%", "alpha is 0.5%, .* did you mean 0.005"),
    ("95 %", "alpha is 95 %, .* did you mean 0.05"),
    (0, "alpha is 0, but must lie strictly between 0 and 1: did you mean 0.05"),
    (1, "alpha is 1, .* did you mean 0.0"),
    (-0.1, "alpha is -0.1, .* did you mean 0.05"),
    ("-5%", "alpha is -5%, .* did you mean 0.05"),
    ("150%", "alpha is 150%, .* did you mean 0.05"),
    ("0%", "alpha is 0%, .* did you mean 0.05"),
    (200, "alpha is 200, .* did you mean 0.05"),
    (NAN, "alpha is nan, .* did you mean 0.05"),
    (math.inf, "alpha is inf, .* did you mean 0.05"),
    ("five", "alpha is 'five', but must be a number strictly between 0 and 1, such as 0.05"),
    ("", "alpha is '', but must be a number"),
    (None, "alpha is 'None', but must be a number"),
    (True, "alpha is 'True', but must be a number"),
]


@pytest.mark.parametrize(("alpha", "sentence"), MEANT, ids=[repr(alpha) for alpha, _ in MEANT])
def test_a_level_that_is_none_is_answered_with_what_was_meant(alpha, sentence):
    with pytest.raises(ValueError, match=sentence):
        prepare(*noisy(), MEAN, alpha=alpha)


def test_levels_are_accepted_as_they_are_written():
    for level in (0.05, "0.05", " 0.05 ", np.float64(0.05), np.float32(0.05)):
        assert check_alpha(level) == 0.05


# -- the measure --------------------------------------------------------------------------------


@pytest.mark.parametrize("b", [0, 1, -0.2, 1.2, 95, NAN])
@pytest.mark.parametrize("build", [measures.cvar_upper, measures.cvar_lower, Quantile])
def test_a_tail_level_outside_zero_and_one(build, b):
    with pytest.raises(ValueError, match=f"level is {b:g}, but must lie strictly between 0 and 1"):
        build(b)


def test_a_tail_level_that_is_no_number():
    with pytest.raises(ValueError, match="The CVaR level is '5%', but must be a number strictly"):
        measures.cvar_upper("5%")


@pytest.mark.parametrize(("b1", "b2"), [(0.7, 0.3), (0.5, 0.5), (-0.1, 0.5), (0.5, 1.1), (NAN, 1)])
def test_a_reversed_empty_or_overhanging_segment(b1, b2):
    with pytest.raises(ValueError, match=f"The segment runs from {b1:g} to {b2:g}, but must"):
        measures.interval(b1, b2)


def test_a_measure_that_rests_on_less_than_one_label_names_the_smallest_number():
    y, yhat, pool = noisy(30)
    for measure, smallest in (
        (measures.cvar_upper(0.98), 50),
        (measures.cvar_lower(0.03), 34),
        (Quantile(0.99), 100),
        (measures.interval(0.5, 0.51), 100),
    ):
        with pytest.raises(ValueError, match=f"of 30 labels; at least {smallest} labels"):
            estimate(y, yhat, pool, measure)
        with pytest.raises(ValueError, match=f"of 30 labels; at least {smallest} labels"):
            analyse(Samples(y, yhat, pool), Question(measure), np.random.default_rng(0))


def test_exactly_one_label_in_the_tail_is_enough():
    y, yhat, pool = noisy(50)
    for level in (0.98, 0.02):
        assert math.isfinite(estimate(y, yhat, pool, Quantile(level)).estimate)


@pytest.mark.parametrize(
    ("edges", "heights", "sentence"),
    [
        ((0, 1), (1, 2), "2 step weights need 3 edges, but 2 were given"),
        ((0, NAN, 1), (1, 2), "must all be finite"),
        ((0, 0.5, 1.5), (1, 2), "run from 0 to 1.5, but must stay between 0 and 1"),
        ((0, 0.6, 0.4), (1, 2), "must increase, but 0.6 is followed by 0.4"),
        ((0, 0.5, 1), (1, -1), "integrate to 0, so they describe no average"),
    ],
)
def test_step_weights_that_describe_no_average(edges, heights, sentence):
    with pytest.raises(ValueError, match=sentence):
        measures.steps(edges, heights)


@pytest.mark.parametrize("rate", [0, 51, -60, NAN])
def test_a_spectral_rate_out_of_range(rate):
    with pytest.raises(ValueError, match=rf"The spectral rate is {rate:g}, but must lie in \[-50"):
        ExponentialWeight(rate)


# -- options ------------------------------------------------------------------------------------


@pytest.mark.parametrize("lam", ["auto", NAN, math.inf])
def test_an_unknown_weight(lam):
    with pytest.raises(ValueError, match='must be "clip", "raw" or a finite number'):
        quest(prepare(*noisy(), MEAN), lam=lam)


def test_an_unknown_variance_is_named_everywhere():
    y, yhat, pool = noisy()
    parts = prepare(y, yhat, pool, MEAN)
    for ask in (
        lambda: quest(parts, variance="paper"),
        lambda: joint_region([parts], [parts.unlabelled.influence], variance="paper"),
        lambda: quest_opt(parts, yhat, pool, bins(), variance="paper"),
    ):
        with pytest.raises(ValueError, match="variance is 'paper', but must be \"split\" or"):
            ask()


@pytest.mark.parametrize("reg", [0, -1, NAN, math.inf])
def test_a_ridge_that_is_not_positive(reg):
    y, yhat, pool = noisy()
    with pytest.raises(ValueError, match=f"The ridge is {reg:g}, but must be a positive number"):
        quest_opt(prepare(y, yhat, pool, MEAN), yhat, pool, bins(), reg=reg)


def test_no_bins():
    with pytest.raises(ValueError, match="needs at least 1 bin, but got 0"):
        bins(0)


# -- samples that carry no interval -------------------------------------------------------------


def test_constant_labels_keep_the_estimate_and_lose_the_interval():
    _, yhat, pool = noisy()
    for measure in (MEAN, measures.cvar_upper(0.8), Quantile(0.5)):
        y = np.full(100, 0.1)
        answers = analyse(
            Samples(y, yhat, pool), Question(measure, lam=1.0), np.random.default_rng(0)
        ).intervals
        for method in answers.keys() - {"Predictions only"}:
            assert math.isfinite(answers[method].estimate)
            assert answers[method].refusal
            assert math.isnan(answers[method].low)
        for method in ("QuEst", "Labels only"):
            assert "labels show no spread" in answers[method].refusal
        assert answers["Labels only"].estimate == pytest.approx(0.1)
        found = bootstrap(prepare(y, yhat, pool, measure), y, np.random.default_rng(0))
        assert "All resamples give the same value" in found.refusal
        assert found.method == "Bootstrap (labels)"


def test_a_negative_plug_in_variance_names_the_way_out():
    for seed in range(200):
        r = np.random.default_rng(seed)
        z = np.exp(r.normal(size=1050))
        w = z * np.exp(0.1 * r.normal(size=1050))
        parts = prepare(z[:50], w[:50], w[50:], measures.cvar_upper(0.8))
        if parts.rho2(parts.lam_raw, "plug-in") < 0:
            found = quest(parts, lam="raw", variance="plug-in")
            assert "plug-in variance is negative" in found.refusal
            assert "choose the split variance" in found.refusal
            return
    pytest.fail("no draw with a negative plug-in variance")


def test_an_alpha_too_small_for_the_resamples_is_refused():
    y, yhat, pool = noisy()
    for alpha, given in ((0.001, False), (0.002, True)):
        parts = prepare(y, yhat, pool, MEAN, alpha=alpha)
        found = calibrated(parts, y, yhat, np.random.default_rng(0))
        assert (found.refusal == "") is given
    assert "alpha is 0.001, but 499 resamples calibrate no alpha below 0.002" in (
        calibrated(
            prepare(y, yhat, pool, MEAN, alpha=0.001), y, yhat, np.random.default_rng(0)
        ).refusal
    )


# -- samples that carry an interval, but a warning too ------------------------------------------


def test_fewer_than_thirty_labels():
    assert told(advice_on(*noisy(29)), "Only 29 labels", serious=True)
    assert not told(advice_on(*noisy(30)), "Only", serious=True)


def test_fewer_than_twenty_labels_in_the_tail():
    top = measures.cvar_upper(0.8)
    assert told(advice_on(*noisy(90), top), "About 18 labels carry this measure", serious=True)
    assert not told(advice_on(*noisy(110), top), "carry this measure", serious=True)


def test_predictions_without_information_get_no_weight_and_a_note():
    y, _, _ = noisy()
    advice = advice_on(y, np.full(100, 2.0), np.full(400, 2.0))
    assert told(advice, "carry no information here; their weight is 0.", serious=False)
    fixed = advice_on(y, np.full(100, 2.0), np.full(400, 2.0), lam=1.0)
    assert told(fixed, "carry no information here; their weight is 1.", serious=False)


def test_negatively_related_predictions_are_clipped_to_zero_and_said_so():
    y, yhat, pool = noisy()
    clipped = advice_on(y, -yhat, -pool)
    assert told(clipped, "negatively related here (best weight -0.", serious=False)
    assert told(clipped, "; the weight in use is 0.", serious=False)
    raw = quest(prepare(y, -yhat, -pool, MEAN), lam="raw")
    assert raw.lam < 0
    assert told(
        advice_on(y, -yhat, -pool, lam="raw"),
        f"; the weight in use is {raw.lam:.3g}.",
        serious=False,
    )


def test_predictions_on_another_scale_are_pointed_out_with_what_clipping_does():
    y, yhat, pool = noisy()
    large = advice_on(y, 100 * yhat, 100 * pool)
    assert told(large, "the weight rescales the predictions", serious=False)
    small = advice_on(y, yhat / 100, pool / 100)
    assert told(small, "is clipped to 1: choose the raw weight or rescale", serious=False)
    raw = advice_on(y, yhat / 100, pool / 100, lam="raw")
    assert told(raw, "the weight rescales the predictions", serious=False)
    assert not told(advice_on(y, 9 * yhat, 9 * pool), "different scales", serious=False)


def test_fewer_unlabelled_rows_than_labels():
    advice = advice_on(*noisy(100, 60))
    assert told(advice, "fewer unlabelled rows (60) than labels (100)", serious=False)


def test_a_quantile_of_few_distinct_values():
    y, yhat, pool = noisy()
    advice = advice_on(np.round(y), yhat, pool, Quantile(0.5))
    assert told(advice, "quantiles of ratings jump", serious=True)
    assert not told(advice_on(*noisy(10), Quantile(0.5)), "different values", serious=True)


def test_labelled_rows_that_differ_from_the_unlabelled_ones():
    y, yhat, pool = noisy()
    advice = advice_on(y, yhat + 1, pool)
    assert told(advice, "may not be a random sample of the same population", serious=True)


def test_rows_that_are_both_labelled_and_unlabelled():
    label, prediction = column(1, 2, NAN, NAN, NAN), column(1, 2, 1, 4, 5)
    found = from_columns(label, prediction, ["a", "b", "a", "c", "d"])
    assert "1 id found among both the labelled and the unlabelled" in found.notes[-1]
    assert "(for example a); the variance formula assumes two sets" in found.notes[-1]
    blank = from_columns(label, prediction, ["", "b", "", "c", "d"])
    assert len(blank.notes) == 1
    with pytest.raises(ValueError, match="The id column and the label column must pair up"):
        from_columns(label, prediction, ["a"])


def test_labels_only_is_what_is_left_without_predictions():
    y, yhat, pool = noisy()
    parts = prepare(y, yhat, pool, MEAN)
    assert labels_only(parts).estimate == pytest.approx(y.mean())
