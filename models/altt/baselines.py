"""Learn-then-test with a budget fixed in advance: test all alike, look once.

Two readings of LTT are kept apart. aLTT's own experiments give LTT the wealth of equal allocation
at the horizon: ``"anytime"``, one over its running maximum (policy selection, there set equal to
non-adaptive aLTT), or ``"e"``, one over its last value (prompt engineering, and both under FDR).
The others are p-values as the LTT paper has them (Angelopoulos and others 2021, arXiv 2110.01052):
stronger at the horizon, and mute before it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from models import multiple_testing
from models.altt.certificates import anytime_p
from models.altt.config import Config
from models.altt.ensemble import Ensemble
from models.altt.environments import Environment, reliable
from models.betting import Bet
from models.eprocess import Wealth
from models.pvalues import binomial_p, hoeffding_bentkus_p, wsr_p

Float = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]

#: "hb": Hoeffding-Bentkus; "binomial": exact, for 0/1 losses only; "wsr": betting with n fixed.
P_VALUES = ("e", "anytime", "hb", "binomial", "wsr")
#: The rule that keeps each error rate of ``Config.control``; under "fwer" also "fixed_sequence".
RULES = {"fwer": "bonferroni", "holm": "holm", "fdr": "bh"}


def shares(budget: int, n_candidates: int) -> npt.NDArray[np.int64]:
    """Return how many of ``budget`` losses each candidate gets in equal allocation, shape (N,)."""
    base, rest = divmod(budget, n_candidates)
    return base + (np.arange(n_candidates) < rest).astype(np.int64)


def p_value(losses: npt.ArrayLike, alpha: float, kind: str, delta: float, bet: Bet) -> Float:
    """Return the p-values for "the risk exceeds alpha", shape (...); 1 without losses.

    Parameters
    ----------
    losses : float64 in [0, 1], shape (..., n)
    kind : one of ``P_VALUES``
    delta : float in (0, 1), tunes "wsr"
    bet : the rule that "e" and "anytime" play
    """
    x = np.asarray(losses, dtype=np.float64)
    n = x.shape[-1]
    if kind not in P_VALUES:
        raise ValueError(f"The p-value is {kind!r}, but must be one of {', '.join(P_VALUES)}.")
    if n == 0:
        return np.ones(x.shape[:-1])
    if kind == "hb":
        return hoeffding_bentkus_p(x.mean(axis=-1), n, alpha)
    if kind == "wsr":
        return wsr_p(x, alpha, delta)
    if kind == "binomial":
        if not ((x == 0.0) | (x == 1.0)).all():
            raise ValueError("The exact binomial p-value needs losses of 0 and 1 only.")
        return binomial_p(x.mean(axis=-1), n, alpha)
    wealth = Wealth(x.shape[:-1], alpha, bet)
    peak = np.zeros(x.shape[:-1])
    for k in range(n):
        wealth.feed(..., x[..., k])
        np.maximum(peak, wealth.log_wealth, out=peak)
    return anytime_p(peak if kind == "anytime" else wealth.log_wealth)


def ltt(losses: Sequence[Float], config: Config, kind: str = "hb", rule: str | None = None) -> Bool:
    """Certify once, at the budget, from the first losses of each candidate.

    Parameters
    ----------
    losses : one array a candidate, shape (n_i,) or (n_i, J); a shorter one is used whole
    config : targets, delta, control, budget and bet are used
    kind : one of ``P_VALUES``
    rule : a rule of ``models.multiple_testing``; by default that of the error rate

    Returns
    -------
    bool, shape (N,)
    """
    p = np.ones(config.n_candidates)
    for i, count in enumerate(shares(config.budget, config.n_candidates)):
        table = np.asarray(losses[i], dtype=np.float64).reshape(-1, config.targets.size)[:count]
        p[i] = _worst_p(table[None, None], config, kind)[0, 0]
    return _rejected(p, config, rule)


def ltt_many(
    config: Config,
    environment: Environment,
    repeats: int,
    rng: np.random.Generator,
    *,
    at: Sequence[int] | None = None,
    kind: str = "hb",
    rule: str | None = None,
) -> Ensemble:
    """Run LTT ``repeats`` times at each horizon of ``at``, as if each were its only look.

    Parameters
    ----------
    config : targets, delta, control and bet are used; its budget is the only horizon by default
    environment : a world with as many candidates and risks
    at : int >= 1, ascending
    kind, rule : as in ``ltt``
    """
    horizons = np.asarray([config.budget] if at is None else at, dtype=np.int64)
    n, risks = environment.risks.shape
    # Every loss on a sample of its own: a run for the world is one candidate of a run here.
    cell = np.arange(repeats * n)
    depth = int(shares(int(horizons[-1]), n).max())
    losses = np.empty((repeats, n, depth, risks))
    for k in range(depth):
        losses[:, :, k] = environment.draw(rng, cell.size, cell, cell % n).reshape(
            repeats, n, risks
        )
    good = reliable(environment, tuple(config.targets))
    hits = np.zeros((repeats, horizons.size), dtype=np.int16)
    errors = np.zeros_like(hits)
    for column, horizon in enumerate(horizons):
        counts = shares(int(horizon), n)
        p = np.ones((repeats, n))
        for count in np.unique(counts):
            same = counts == count
            p[:, same] = _worst_p(losses[:, same, :count], config, kind)
        mask = _rejected(p, config, rule)
        hits[:, column] = mask[:, good].sum(axis=1)
        errors[:, column] = mask[:, ~good].sum(axis=1)
    tests = np.broadcast_to(counts.astype(np.float64), (repeats, n)).copy()
    spent = np.full(repeats, horizons[-1])
    return Ensemble(horizons, hits, errors, int(good.sum()), spent, tests, errors[:, -1] > 0)


def _worst_p(losses: Float, config: Config, kind: str) -> Float:
    """Return the largest p-value over the risks of losses (R, N, n, J): all must be met."""
    each = [
        p_value(losses[..., j], float(target), kind, config.delta, config.bet)
        for j, target in enumerate(config.targets)
    ]
    return np.asarray(np.max(each, axis=0), dtype=np.float64)


def _rejected(p: Float, config: Config, rule: str | None) -> Bool:
    name = rule or RULES[config.control]
    if name == "fixed_sequence":
        rows = [multiple_testing.fixed_sequence(row, config.delta) for row in np.atleast_2d(p)]
        return np.asarray(rows, dtype=np.bool_).reshape(p.shape)
    if name not in ("bonferroni", "holm", "bh", "by"):
        raise ValueError(
            f"The rule is {name!r}, but must be bonferroni, holm, bh, by or fixed_sequence."
        )
    mask: Bool = getattr(multiple_testing, name)(p, config.delta)
    return mask
