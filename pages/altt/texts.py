"""Sentences computed from aLTT's results."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from models.altt.certificate import guarantee
from models.altt.certificates import pick_one
from models.altt.log import settings as plain_settings
from models.checks import Float
from pages.altt.compute import Run
from pages.altt.repeat import Method
from ui.charts import number

WORDS = {
    "budget": "the budget is spent",
    "enough certified": "enough are certified",
    "all certified": "all are certified",
    "out of data": "no losses are left",
}


def what_you_see(run: Run) -> list[str]:
    """The picture in a few sentences; every number comes from the run."""
    n, found, spent = run.config.n_candidates, int(run.certified.sum()), run.trace.spent
    why = f" ({WORDS[run.stopped]})" if run.stopped else ""
    said = [
        f"After {spent:,} {_s('test', spent)}{why} {found or 'none'} of the {n} {_s('setting', n)} "
        f"{'is' if found <= 1 else 'are'} certified{_named(run)}."
    ]
    if not spent:
        said = ["No test has been made yet."]
    if run.flat is not None:
        said.append(_compared(run))
    if run.reliable is not None and spent:
        said.append(_judged(run))
    if run.config.released:
        said.append("The bets see the losses they are placed on, so nothing is promised.")
    return said


def _named(run: Run) -> str:
    names = [run.names[i] for i in np.flatnonzero(run.certified)]
    if not names:
        return ""
    return f": {', '.join(names[:5])}" + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _compared(run: Run) -> str:
    assert run.flat is not None
    goal, end = int(run.flat.right[-1]), run.flat.spent
    proper = " and ".join(f"{int(mask.sum())} by {name}" for name, mask in run.ltt.items())
    rightly = "" if run.risks is None else "rightly "
    beside = f" With proper p-values LTT certifies {proper} there."
    if goal == 0:
        return f"Tested in turn, none is {rightly}certified after {end:,} tests.{beside}"
    at = run.trace.rounds_to(goal)
    if at is None:
        return (
            f"LTT, which tests in turn and looks once, ends with {goal} {rightly}certified after "
            f"{end:,} tests; this run did not reach that.{beside}"
        )
    return (
        f"LTT, which tests in turn and looks once, ends with {goal} after {end:,} tests; aLTT had "
        f"as many after {at:,}, {end / max(at, 1):.1f} times fewer.{beside}"
    )


def _judged(run: Run) -> str:
    good = run.reliable
    assert good is not None
    wrong, missed = int((run.certified & ~good).sum()), int((good & ~run.certified).sum())
    if not good.any():
        truth = "In truth none is reliable"
        return f"{truth}, so {'each certificate is false' if wrong else 'that is right'}."
    right = f"{wrong} of the certified {'is' if wrong == 1 else 'are'} false" if wrong else ""
    right = right or "no certificate is false"
    found = f"{missed} not found yet" if missed else "and all of them are found"
    return f"In truth {int(good.sum())} of all are reliable: {right}, {found}."


def saved(run: Run) -> tuple[str, str, str]:
    """Title, number and explanation of the third card: how early aLTT had what LTT ends with."""
    title, found = "As many as LTT, this run", int(run.certified.sum())
    if run.flat is None:
        safe = "nothing is promised" if run.config.released else "safe to stop now"
        return "Certified so far", f"{found} of {run.config.n_candidates}", safe
    if run.reliable is not None and not run.reliable.any():
        return "Nothing to find", f"{found} certified", "each certificate would be false"
    goal, end = int(run.flat.right[-1]), run.flat.spent
    if goal == 0:
        return title, "LTT finds none", f"aLTT finds {int(run.trace.right[-1])} in {end:,} tests"
    at = run.trace.rounds_to(goal)
    if at is None:
        return title, "not reached", f"LTT ends with {goal} after {end:,} tests"
    times = end / max(at, 1)
    return title, f"{at:,} of {end:,} tests", f"{times:.1f} times fewer, for {goal} certified"


def needed(run: Run) -> str:
    """What should be known before the run: how many perfect losses certify at all."""
    if run.zeros is None:
        return "With this bet no number of perfect losses certifies a setting."
    each = run.config.n_candidates * run.zeros
    return (
        f"Even a setting whose losses are all 0 needs {run.zeros:,} tests to be certified here; "
        f"for all {run.config.n_candidates} alike that is {each:,}."
    )


def promise(run: Run) -> str:
    """The guarantee in one sentence."""
    return guarantee(plain_settings(run.config, 0))


def checklist(run: Run, *, own: bool) -> list[tuple[bool | None, str]]:
    """When the promise holds: True and False are known here, None is for the visitor to say."""
    known = None if own else True
    return [
        (not run.config.released, "Each bet is fixed before the loss that it is placed on."),
        (True, "Every loss lies between 0 and 1."),
        (True, "The bar counts all candidates, tested or not."),
        (known, "Each loss is fresh: independent, and from the same source all along."),
        (known, "Candidates, loss, target and error level were fixed before the first loss."),
        (known, "No loss was dropped, and none was used twice for the same candidate."),
    ]


def verdicts(run: Run) -> list[str]:
    """One word a candidate."""
    words = []
    for done, tests, log_wealth in zip(run.certified, run.tests, run.log_wealth, strict=True):
        if done:
            words.append("certified")
        elif not tests:
            words.append("untested")
        elif log_wealth == -math.inf:
            words.append("bankrupt")
        else:
            words.append("hopeless" if log_wealth < math.log(0.01) else "open")
    return words


def table(run: Run, bounds: Float | None = None) -> pd.DataFrame:
    """The final table, one row a candidate."""
    frame = pd.DataFrame(
        {
            "candidate": run.names,
            "verdict": verdicts(run),
            "tests": run.tests,
            "mean_loss": run.mean,
            "log_wealth": np.where(np.isfinite(run.log_wealth), run.log_wealth, np.nan).round(6),
            "anytime_p": np.exp(-np.maximum(run.log_peak, 0.0)),
            "first_certified": np.where(run.trace.first > 0, run.trace.first, np.nan),
        }
    )
    if bounds is not None:
        frame["risk_at_most"] = bounds
    if run.coverage is not None:
        frame["answers_accepted"] = run.coverage
    if run.risks is not None:
        frame["true_risk"] = run.risks
    return frame


def pick(run: Run) -> str:
    """Which one to take, if only one is wanted; empty if none is certified."""
    best = pick_one(run.certified, np.where(run.certified, run.mean, 0.0))
    if best is None:
        return ""
    covered = "The promise covers any pick, by whatever rule."
    if run.config.control == "fdr":
        covered = "Under this control the promise is about the set, not about one pick."
    if run.config.released:
        covered = "Nothing is promised about it, as the bets peek."
    text = (
        f"If you need one: **{_plain(run.names[best])}** has the lowest mean loss of the certified "
        f"({number(float(run.mean[best]))}, which flatters it, as it was picked for it)."
    )
    if run.coverage is not None:
        widest = pick_one(run.certified, -run.coverage)
        assert widest is not None
        text += (
            f" **{_plain(run.names[widest])}** answers most: {run.coverage[widest]:.1%} of the "
            "digits."
        )
    return f"{text} {covered}"


def repeated(methods: Sequence[Method], *, fdr: bool, delta: float) -> str:
    """What many runs say: what is found, and how often a promise failed."""
    ours, flat = methods[0], next(m for m in methods if m.name == "aLTT, in turn")
    rate = ours.error(fdr=fdr)
    what = "the mean share of false certificates was" if fdr else "a false certificate stood in"
    text = (
        f"Over {ours.runs} runs {what} {rate.value:.1%} ({rate.low:.1%} to {rate.high:.1%}); "
        f"at most {delta:.0%} was promised."
    )
    if math.isnan(float(ours.power[0][-1])):
        return f"{text} Nothing is reliable here, so there is nothing to find (–)."
    goal = float(flat.power[0][-1])
    reached = np.flatnonzero(ours.power[0] >= goal)
    final = f"aLTT ends with {ours.power[0][-1]:.0%} of the reliable found, testing in turn with "
    final += f"{goal:.0%}"
    if goal > 0 and reached.size:
        final += f", which aLTT had after {ours.at[reached[0]]:,} of {ours.at[-1]:,} tests"
    return f"{text} {final}."


def peeked(methods: Sequence[Method], delta: float) -> str:
    """How far peeking inflates the error, where every certificate is false."""
    honest, peek = (method.error(fdr=False) for method in methods)
    return (
        f"Of {methods[0].runs} runs in which every setting misses the target by a hair, bets fixed "
        f"in advance certified one in {honest.value:.1%} ({honest.low:.1%} to {honest.high:.1%}), "
        f"peeking bets in **{peek.value:.1%}** ({peek.low:.1%} to {peek.high:.1%}). Promised: at "
        f"most {delta:.0%}."
    )


def hint(source: str, alpha: float, target: float | None) -> str:
    """Say when a world is shown at a target that it is not made for; else empty."""
    if target is None or abs(alpha - target) < 1e-9:
        return ""
    return f"This world is made for a target of {target:g}; it is shown at {alpha:g}."


def _plain(name: str) -> str:
    return name.replace("*", r"\*").replace("_", r"\_").replace("$", r"\$")


def _s(word: str, count: int) -> str:
    return word if count == 1 else word + "s"
