r"""A sequential test for voters who do not vote as others did on the same pairs.

For each vote, p is the share of the pair's votes so far, its own included, at or below it (then: at
or above it). FastChat's rule multiplies 1/(2p) over a voter's votes and flags him above 1/alpha.
With three outcomes the mean of 1/(2p) can exceed 1, so the default divides 1/p by its mean over
the pair's votes so far instead: if the voter votes as the others do, the product then has mean 1,
and by Markov's inequality at most a share alpha of honest voters ends above 1/alpha on one side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from models.checks import Float, check_alpha, check_same_length
from models.ranking.battles import Bool, Index

LEAST_VOTES = 5


@dataclass(frozen=True, eq=False)
class VoterTest:
    """Evidence against each voter.

    Attributes
    ----------
    votes : int64 (voters,)
    below, above : float64 (voters,), natural logs of the two products
    flagged : bool (voters,), at least five votes and the mean of both products above 1/alpha
    """

    votes: Index
    below: Float
    above: Float
    flagged: Bool


def voter_test(
    voter: npt.ArrayLike,
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    score: npt.ArrayLike,
    *,
    alpha: float = 0.05,
    faithful: bool = False,
) -> VoterTest:
    """Run the test over votes in the order in which they were given.

    Parameters
    ----------
    voter : int (n,), codes from 0
    a, b : int (n,), the models; the order of the two does not matter
    score : float (n,) in {0, 0.5, 1}, of a
    alpha : error level
    faithful : FastChat's rule, which flags a voter when either product exceeds 1/alpha; the default
        takes the mean of both, which keeps the level

    Raises
    ------
    ValueError
        If lengths differ or the level is outside (0, 1).
    """
    who = np.asarray(voter, dtype=np.int64)
    first, second = np.asarray(a, dtype=np.int64), np.asarray(b, dtype=np.int64)
    y = np.rint(2 * np.asarray(score, dtype=np.float64)).astype(np.int64)
    for other, name in ((first, "a"), (second, "b"), (y, "score")):
        check_same_length(who, other, ("voter", name))
    bar = -np.log(check_alpha(alpha))
    y = np.where(first < second, y, 2 - y)
    low, high = np.minimum(first, second), np.maximum(first, second)
    bags = _bags(low * (int(high.max(initial=0)) + 1) + high, y)
    voters = int(who.max(initial=-1)) + 1
    votes = np.bincount(who, minlength=voters).astype(np.int64)
    below = _sums(who, _log_evidence(bags, y, faithful), voters)
    above = _sums(who, _log_evidence(bags[:, ::-1], 2 - y, faithful), voters)
    joint = np.maximum(below, above) if faithful else np.logaddexp(below, above) - np.log(2)
    return VoterTest(votes, below, above, (votes >= LEAST_VOTES) & (joint > bar))


def _sums(who: Index, values: Float, voters: int) -> Float:
    return np.bincount(who, values, voters).astype(np.float64)


def _bags(pair: Index, y: Index) -> Float:
    """Votes 0, 1 and 2 on a vote's pair up to and including it; float64 (n, 3)."""
    order = np.argsort(pair, kind="stable")
    running = np.cumsum(np.eye(3)[y[order]], axis=0)
    starts = np.flatnonzero(np.diff(pair[order], prepend=-1))
    before = np.zeros((starts.size, 3))
    before[1:] = running[starts[1:] - 1]
    sizes = np.diff(np.append(starts, pair.size))
    bags = np.empty_like(running)
    bags[order] = running - np.repeat(before, sizes, axis=0)
    return bags


def _log_evidence(bags: Float, y: Index, faithful: bool) -> Float:
    total = bags.sum(axis=1)
    at_or_below = np.cumsum(bags, axis=1)
    # A category that nobody has chosen yet is not the voter's own, so it carries no weight.
    inverse = np.divide(total[:, None], at_or_below, out=np.zeros_like(bags), where=at_or_below > 0)
    own = inverse[np.arange(y.size), y]
    mean = 2.0 if faithful else (bags * inverse).sum(axis=1) / total
    return np.asarray(np.log(own / mean))
