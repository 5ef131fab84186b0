"""The claims about Copilot Arena, and how each is measured again here.

The votes themselves are not public. What is measured is the published table, the latency model with
the published medians, and simulated voters whose true strengths are known.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from models.arena.published import SPREAD, published
from models.arena.study import (
    coverage_trial,
    position_trial,
    price_trial,
    recovery_trial,
    refit_trial,
    rigging_trial,
    samplers,
    wait_trial,
)
from models.checks import Float
from models.claims import Claim, Measurement, Progress, Scale, by_trials
from models.intervals import mean_interval, ratio_interval, share_interval, verdict

TABLE = 10_000  # votes, the size of the published table
LIKING = 1.52  # gamma with which 82 % accept the top one of two equals

_RIGGING = partial(rigging_trial, models=20, count=TABLE, ranks=5, most=5000)
_COVERAGE = partial(coverage_trial, models=10, count=2000, ties=0.08)


def _wait(results: Float) -> Measurement:
    """Per cent by which the median wait falls."""
    ratio = ratio_interval(results[:, 0], results[:, 1])
    tau, even, aware = samplers()
    value, low, high = 100 * (1 - ratio.value), 100 * (1 - ratio.high), 100 * (1 - ratio.low)
    return Measurement(
        value,
        low,
        high,
        len(results),
        verdict(low, high, 25.0, "higher"),
        f"Predicted {even.median_wait:.2f} → {aware.median_wait:.2f} s from nine public medians "
        f"(spread of the logs {SPREAD:g}, our assumption). The temperature, {tau:.3f} s, is chosen "
        f"to give the reported 1.07 s; {aware.coverage:.0%} of the greatest entropy is left.",
    )


def _price(results: Float) -> Measurement:
    """How much wider the scores' intervals are at the same number of battles."""
    ratio = ratio_interval(results[:, 0], results[:, 1])
    rarest = samplers()[2].p.min()
    return Measurement(
        ratio.value,
        ratio.low,
        ratio.high,
        len(results),
        verdict(ratio.low, ratio.high, 1.0, "higher"),
        f"Mean standard errors of the scores after {TABLE:,} battles. The slowest pair is dealt "
        f"once in {1 / rarest:,.0f}.",
    )


def _refit(results: Float) -> Measurement:
    """Correlation of refitted and published scores."""
    pearson = mean_interval(results[:, 0])
    board = published()
    plain = board.refit()
    exact = float(np.corrcoef(plain, board.score)[0, 1])
    gap = float(np.abs(plain - board.score).max())
    return Measurement(
        pearson.value,
        pearson.low,
        pearson.high,
        len(results),
        verdict(pearson.low, pearson.high, 0.95, "higher"),
        f"{exact:.3f} with equal counts for all pairs, largest gap {gap:.1f} points; the counts "
        "are unpublished, so they vary here, and the win rates within their rounding.",
    )


def _top(scale: Scale, seed: int, progress: Progress) -> Measurement:
    """Share of the released examples in which the top one was accepted; nothing is random."""
    board = published()
    share = share_interval(board.top_accepted, board.votes)
    low, high = 100 * share.low, 100 * share.high
    measured = Measurement(
        100 * share.value,
        low,
        high,
        board.votes,
        verdict(low, high, 50.0, "higher"),
        f"{board.top_accepted} of the {board.votes} whole records of the released examples.",
    )
    progress(board.votes, board.votes, 0.0, measured)
    return measured


def _position(results: Float) -> Measurement:
    """Slope of the strengths on the truth when the top place's advantage is ignored."""
    slope = mean_interval(results[:, 1])
    mean = results.mean(axis=0)
    return Measurement(
        slope.value,
        slope.low,
        slope.high,
        len(results),
        verdict(slope.low, slope.high, 0.9, "lower"),
        f"With the advantage in the model {mean[3]:.2f}; rank correlation with the truth "
        f"{mean[0]:.2f} without and {mean[2]:.2f} with it ({TABLE:,} votes).",
    )


def _recovery(results: Float) -> Measurement:
    """Root mean squared error of the strengths."""
    error = mean_interval(results[:, 0])
    return Measurement(
        error.value,
        error.low,
        error.high,
        len(results),
        verdict(error.low, error.high, 0.1, "lower"),
        f"Holds if surely below 0.1. Mean rank correlation {results[:, 1].mean():.3f}.",
    )


def _covered(results: Float, *, column: int, least: float) -> Measurement:
    """Per cent of the models' intervals that cover; the models of one table count as one trial."""
    share = mean_interval(100 * results[:, column])
    return Measurement(
        share.value,
        share.low,
        share.high,
        len(results),
        verdict(share.low, share.high, least, "higher"),
        f"Holds if surely above {least:g} %. Ten models, 2,000 votes, 8 % ties.",
    )


def _votes(results: Float) -> Measurement:
    """Votes that a rigger who knows the models needs for five ranks."""
    votes = mean_interval(results[:, 3])
    return Measurement(
        votes.value,
        votes.low,
        votes.high,
        len(results),
        verdict(votes.low, votes.high, 1000.0, "lower"),
        f"Holds if surely below 1,000. They are cast in {results[:, 2].mean():,.0f} battles, the "
        f"others abstained from; the table holds {TABLE:,} votes on 20 models.",
    )


def _everywhere(results: Float) -> Measurement:
    """Battles needed by voting in all of them, as a share of those needed by waiting."""
    ratio = ratio_interval(results[:, 0], results[:, 2])
    return Measurement(
        ratio.value,
        ratio.low,
        ratio.high,
        len(results),
        verdict(ratio.low, ratio.high, 1.0, "lower"),
        f"{results[:, 0].mean():,.0f} battles against {results[:, 2].mean():,.0f}.",
    )


CLAIMS = (
    Claim(
        "wait",
        "Choosing pairs by latency cuts the median wait by about a third.",
        "Secondary texts on the paper; the formula of the sampler is our reading",
        "1.61 → 1.07 s, a drop of 33 %",
        by_trials(partial(wait_trial, count=2000), _wait, quick=200, full=2000),
        unit="% shorter",
        kind="reported about",
        headline=True,
    ),
    Claim(
        "price",
        "The shorter wait has a price: after as many battles the intervals are wider.",
        "Not in the paper: our sampler at the same temperature, voters as the published scores say",
        "",
        by_trials(partial(price_trial, count=TABLE), _price, quick=200, full=2000),
        unit="× the width",
        kind="our reading",
    ),
    Claim(
        "refit",
        "The published win rates lead back to the published scores.",
        "The authors' post of 12 November 2024, Table 1 and Figure 2",
        "",
        by_trials(refit_trial, _refit, quick=500, full=5000),
        unit="correlation",
        kind="our reading",
    ),
    Claim(
        "top",
        "Voters mostly accept the completion that stands on top.",
        "The authors' post of 12 November 2024",
        "82 % of the accepted completions",
        _top,
        unit="% on top",
        kind="reported about",
    ),
    Claim(
        "position",
        "Ignoring that liking for the top shrinks the scores, although sides are drawn fairly.",
        "Not in the paper: simulated voters who accept the top one of two equals in 82 %",
        "",
        by_trials(
            partial(position_trial, count=TABLE, gamma=LIKING), _position, quick=200, full=2000
        ),
        unit="of the true scale",
        kind="our reading",
    ),
    Claim(
        "recovery",
        "The fit finds the strengths of 50 simulated models in 100,000 votes.",
        "Not in the paper: simulated voters with 8 % ties, corrected for",
        "",
        by_trials(
            partial(recovery_trial, models=50, count=100_000, ties=0.08),
            _recovery,
            quick=100,
            full=1000,
        ),
        unit="error (log scale)",
        kind="our reading",
    ),
    Claim(
        "sandwich",
        "The sandwich's 95 % intervals keep their promise.",
        "Not in the paper: simulated voters, the interval of the newer leaderboards",
        "",
        by_trials(_COVERAGE, partial(_covered, column=0, least=93.0), quick=500, full=5000),
        unit="% covered",
        kind="our reading",
    ),
    Claim(
        "bootstrap",
        "The bootstrap's 95 % intervals keep their promise with 100 rounds.",
        "The paper's intervals, by bootstrap; here on simulated voters",
        "",
        by_trials(_COVERAGE, partial(_covered, column=1, least=93.0), quick=500, full=5000),
        unit="% covered",
        kind="our reading",
    ),
    Claim(
        "rigging",
        "Hundreds of votes for one model lift it by five ranks.",
        "Texts on “Improving your model ranking on Chatbot Arena by vote rigging” (ICML 2025)",
        "hundreds of votes for many ranks (15 in a demonstration with about 27,000 votes)",
        by_trials(_RIGGING, _votes, quick=100, full=1000),
        unit="votes",
        kind="reported about",
    ),
    Claim(
        "omnipresent",
        "Voting in every battle needs fewer battles than voting for the target only.",
        "The same paper's two strategies, in our reading",
        "",
        by_trials(_RIGGING, _everywhere, quick=100, full=1000),
        unit="× the battles",
        kind="our reading",
    ),
    Claim(
        "votes",
        "Preferences differ between kinds of work, and hardly between programming languages.",
        "Abstract",
        "11,604 votes of 1,642 people",
        None,
        why_not="the votes are not public; the page runs the same test on any log you bring",
        kind="paper says",
    ),
)
