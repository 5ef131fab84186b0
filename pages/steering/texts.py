"""Sentences of the steering page, computed from results; pure."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from models.steering.climb import Climb
from models.steering.methods import Method
from models.steering.race import Ladder, Race
from ui.charts import number

NAMES: dict[Method, str] = {
    "steering": "FK steering",
    "importance": "Plain samples, weighted",
    "best of n": "Best of n",
    "base": "The model itself",
    "guidance": "Gradient guidance",
}


def gain(run: Race) -> tuple[str, str, str]:
    """Title, number and caption of the header's third card."""
    steered, plain = run.row("steering"), run.row("importance")
    return (
        "This run, distance to the target",
        f"{steered.mmd2:.3f} steered, {plain.mmd2:.3f} weighted",
        f"MMD² of {run.k} particles each, seed {run.seed}; one run is luck, the claims below are "
        "not",
    )


def what_you_see(run: Race) -> list[str]:
    """Two or three sentences on the picture."""
    steered, weighted, model = (run.row(m) for m in ("steering", "importance", "base"))
    truth = run.place.mean_reward
    heaviest = float(run.outcomes["importance"].weights.max())
    sentences = [
        f"The target's mean reward is {number(truth)}; the model's own samples reach "
        f"{number(model.mean)}, steered particles {number(steered.mean)}, weighted plain samples "
        f"{number(weighted.mean)}.",
    ]
    if math.isfinite(steered.mmd2) and math.isfinite(weighted.mmd2):
        closer = "closer to" if steered.mmd2 < weighted.mmd2 else "farther from"
        sentences.append(
            f"In this run steering ends {closer} the target than weighting does (squared distance "
            f"{number(steered.mmd2)} against {number(weighted.mmd2)}); one plain sample carries "
            f"{heaviest:.0%} of the weight."
        )
    sentences.append(
        f"{steered.unique} of {run.k} starting points have descendants among the steered particles."
    )
    if run.place.lam and run.place.lam <= 1.0:
        sentences.append(
            "The target is common here, so that steering can gain less than at a larger λ; "
            "“Against k” measures how much."
        )
    return sentences


def table(run: Race) -> pd.DataFrame:
    """One row a method; what a method does not have is blank."""
    return pd.DataFrame(
        [
            {
                "method": NAMES[row.method],
                "particles": row.particles,
                "best_reward": _rounded(row.best),
                "mean_reward": _rounded(row.mean),
                "standard_error": _rounded(row.error),
                "mmd2_to_target": _rounded(row.mmd2),
                "share_gap": _rounded(row.share_gap),
                "starting_points_left": row.unique,
                "network_calls": row.network_calls,
                "reward_calls": row.reward_calls,
                "seconds": round(row.seconds, 4),
            }
            for row in run.rows
        ]
    )


def _rounded(value: float) -> float:
    return round(value, 6)


def correlated(run: Race) -> str:
    """One sentence on what intermediate rewards foretell."""
    found = [way for way in run.ways if math.isfinite(way.rho)]
    if not found:
        return "No step on the way was weighed, or all rewards are alike."
    told = ", ".join(f"{way.rho:.2f} after step {way.step + 1}" for way in found)
    return (
        f"Rank correlation of a particle's reward on the way with the one at the end: {told}. "
        "Copies of one particle count once each."
    )


def sized(found: Ladder) -> str:
    """Two sentences on rewards and distances against k."""
    best = {name: values.mean(axis=0) for name, values in found.best.items()}
    far = {name: values.mean(axis=0) for name, values in found.mmd2.items()}
    k = found.sizes[-1]
    gain = float(best["steering"][-1] - best["best of n"][-1])
    ratio = float(far["steering"][-1] / far["importance"][-1])
    nearer = "nearer" if ratio < 1 else "farther"
    return (
        f"Over {found.repeats} repeats, the best of {k} steered particles scores "
        f"{number(abs(gain))} {'more' if gain >= 0 else 'less'} than the best of {k} plain samples "
        f"on average. With k = {k} steering's squared distance from the target is {ratio:.2f} "
        f"times that of weighted plain samples, that is {nearer}."
    )


def climbed(found: dict[float, Climb], network_steps: int) -> str:
    """Sentences on direct noise optimisation with and without regularisation."""
    parts = []
    for gamma, climb in found.items():
        parts.append(
            f"With γ = {gamma:g} the mean reward goes from {number(float(climb.rewards[0]))} to "
            f"{number(float(climb.rewards[-1]))} in {int(climb.steps[-1])} steps, P(z) ends at "
            f"{climb.indicator[-1]:.2g} and log p(x) at {number(float(climb.fit[-1]))}."
        )
    cost = max(climb.network_calls for climb in found.values()) // network_steps
    parts.append(f"Each optimised sample cost as many network calls as {cost} plain ones.")
    return " ".join(parts)


def result(run: Race) -> dict[str, Any]:
    """The figures that the JSON export holds."""
    steered = run.outcomes["steering"]
    return {
        "best_reward": round(float(steered.rewards.max()), 6),
        "mean_reward": round(steered.mean_reward, 6),
        "log_z": round(steered.log_z, 6),
        "true_log_z": None if run.place.log_z is None else round(run.place.log_z, 6),
        "true_mean_reward": round(run.place.mean_reward, 6),
        "mmd2_to_target": round(run.row("steering").mmd2, 6),
        "unique_starting_points": run.row("steering").unique,
        "refused": {NAMES[name]: why for name, why in run.refusals.items()},
    }
