"""aLTT in plain Python, one round after another, written from the paper's formulas alone.

A second witness for the engine: linear wealth, the whole history kept, mean and variance computed
anew each round, no shared code. Slow on purpose.
"""

from __future__ import annotations

import math


def next_bet(rule, history, alpha, c, amount=0.0):
    cap = c / (1 - alpha)
    if rule == "max":
        return min(1 / alpha, cap)
    if rule == "unit":
        return min(1 / (2 * alpha), cap)
    if rule == "fixed":
        return min(amount, cap)
    if rule == "ons":
        nu, a = min(1.0, cap), 1.0
        for loss in history:
            y = loss - alpha
            z = y / (1 - y * nu + 1e-10)
            a += z * z
            nu = min(max(nu - 2 / (2 - math.log(3)) * z / a, 0.0), cap)
        return nu
    if not history:
        return min(1.0, cap)
    n = len(history)
    m = sum(history) / n
    v = sum((x - m) ** 2 for x in history) / n
    bottom = v + (m - alpha) ** 2
    if bottom < 1e-12:
        return min(0.1, cap)
    if rule == "lbow":
        bottom += (1 - alpha if m > alpha else alpha) * abs(m - alpha)
    return min(max((alpha - m) / bottom, 0.1), cap)


def certified(control, wealth, peak, delta):
    n = len(wealth)
    if control == "fwer":
        return {i for i in range(n) if peak[i] >= n / delta}
    if control == "holm":
        done = set()
        for rank, i in enumerate(sorted(range(n), key=lambda i: -peak[i])):
            if 1 / peak[i] > delta / (n - rank):
                break
            done.add(i)
        return done
    order = sorted(range(n), key=lambda i: -wealth[i])
    best = 0
    for k in range(1, n + 1):
        if wealth[order[k - 1]] >= n / (delta * k):
            best = k
    return set(order[:best])


def run(
    losses,
    draws,
    *,
    alpha,
    delta,
    control,
    acquisition,
    epsilon,
    rule,
    c,
    amount,
    budget,
    stop_at=None,
):
    """losses[i][k] is the k-th loss of candidate i; returns picks, wealths and sets by round."""
    n = len(losses)
    history = [[] for _ in range(n)]
    wealth, peak, done = [1.0] * n, [1.0] * n, set()
    picks, wealths, sets = [], [], []
    for t in range(budget):
        untested = [i for i in range(n) if not history[i]]
        if acquisition == "uniform":
            pick = t % n
        elif acquisition == "random":
            pick = int(draws[t][1] * n)
        elif untested:
            pick = untested[0]
        elif acquisition == "ucb":

            def score(i):
                k = len(history[i])
                return alpha - sum(history[i]) / k + math.sqrt(-math.log(0.05) / (2 * k))

            pick = max((i for i in range(n) if i not in done), key=lambda i: (score(i), -i))
        else:
            open_ = [i for i in range(n) if i not in done]
            if draws[t][0] < epsilon:
                pick = open_[int(draws[t][1] * len(open_))]
            else:
                pick = max(open_, key=lambda i: (wealth[i], -i))
        loss = losses[pick][len(history[pick])]
        wealth[pick] *= 1 + next_bet(rule, history[pick], alpha, c, amount) * (alpha - loss)
        peak[pick] = max(peak[pick], wealth[pick])
        history[pick].append(loss)
        done = certified(control, wealth, peak, delta)
        picks.append(pick)
        wealths.append(list(wealth))
        sets.append(tuple(sorted(done)))
        if len(done) == n or (stop_at is not None and len(done) >= stop_at):
            break
    return picks, wealths, sets
