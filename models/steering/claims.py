"""The claims of both papers, measured again on the plane and on the small digit network.

Importing this module draws in no torch, so that a list of claims opens at once: the trials import
what they need when they run. The papers measured text-to-image and text models; the reported
figures that stand here were read off published figures or quoted by others, as each says.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from models.checks import Float
from models.claims import Claim, Measure, Measurement, by_trials
from models.intervals import mean_interval, verdict

FK = "Singhal et al. 2025"
DNO = "Tang et al. 2025"


def trial(rng: np.random.Generator, name: str, arguments: tuple[object, ...]) -> Float:
    """Run one trial of :mod:`models.steering.study` by name."""
    from models.steering import study

    result: Float = getattr(study, name)(rng, *arguments)
    return result


def _gain(
    results: Float, *, first: int = 0, second: int = 1, names: tuple[str, str]
) -> Measurement:
    """Mean of one column minus another over paired trials; holds if surely above 0."""
    a, b = results[:, first], results[:, second]
    gain = mean_interval(a - b)
    note = f"{names[0].capitalize()} {a.mean():.3g}, {names[1]} {b.mean():.3g}."
    return Measurement(
        gain.value, gain.low, gain.high, len(a), verdict(gain.low, gain.high, 0.0, "higher"), note
    )


def _correlation(results: Float) -> Measurement:
    """Rank correlation after step 39 minus that after step 9."""
    gain = mean_interval(results[:, -1] - results[:, 0])
    means = ", ".join(f"{r:.2f}" for r in results.mean(axis=0))
    return Measurement(
        gain.value,
        gain.low,
        gain.high,
        len(results),
        verdict(gain.low, gain.high, 0.0, "higher"),
        f"Rank correlation with the final reward after steps 9, 19, 29 and 39: {means}.",
    )


def _kept(results: Float) -> Measurement:
    """Mean log density with regularisation minus that without it."""
    free, held = results[:, :3].mean(axis=0), results[:, 3:].mean(axis=0)
    gain = mean_interval(results[:, 4] - results[:, 1])
    return Measurement(
        gain.value,
        gain.low,
        gain.high,
        len(results),
        verdict(gain.low, gain.high, 0.0, "higher"),
        f"Without: reward {free[0]:.2f}, log p {free[1]:.1f}, P(z) {free[2]:.2g}; with: reward "
        f"{held[0]:.2f}, log p {held[1]:.1f}, P(z) {held[2]:.2g}.",
    )


def _least_gain(results: Float) -> Measurement:
    """Hybrid 2 minus the better of the other two estimators."""
    means = results.mean(axis=0)
    other = 1 if means[1] >= means[2] else 2
    gain = mean_interval(results[:, 0] - results[:, other])
    return Measurement(
        gain.value,
        gain.low,
        gain.high,
        len(results),
        verdict(gain.low, gain.high, 0.0, "higher"),
        f"Hybrid 2 {means[0]:.2f}, hybrid 1 {means[1]:.2f}, zeroth order {means[2]:.2f}. In the "
        "plane a perturbed sample is a sample still, which is hybrid 1's best case.",
    )


def _paired(
    name: str,
    arguments: tuple[object, ...],
    names: tuple[str, str],
    columns: tuple[int, int] = (0, 1),
    *,
    quick: int,
    full: int,
) -> Measure:
    judge = partial(_gain, first=columns[0], second=columns[1], names=names)
    return by_trials(partial(trial, name=name, arguments=arguments), judge, quick=quick, full=full)


_RACE = ("steering", "best of n")
_NO_FIGURE = "stated without a figure that we could read"

CLAIMS = (
    Claim(
        "best-of-n",
        "At equal network calls the best of 16 steered particles beats the best of 16 samples.",
        FK,
        "ImageReward 0.90 steered, 0.74 best of 4, Stable Diffusion 1.5",
        _paired("plane_race", (16, 3.0, 0.2), _RACE, quick=200, full=2000),
        unit="more reward",
        kind="reported about",
        headline=True,
    ),
    Claim(
        "best-of-n-digits",
        "With four particles each, steering beats the best of n at drawing a three.",
        FK,
        "ImageReward 0.90 steered, 0.74 best of 4, Stable Diffusion 1.5",
        _paired("digit_race", (4, 2.0, 3), _RACE, quick=12, full=300),
        unit="log probability",
        kind="reported about",
    ),
    Claim(
        "rarity",
        "The lead over best of n is larger where what is wanted is rare (5 % instead of 60 %).",
        FK,
        _NO_FIGURE,
        _paired("plane_rarity", (64, 3.0, 0.05, 0.6), ("rare", "common"), quick=100, full=1000),
        unit="reward",
        kind="our reading",
    ),
    Claim(
        "particles",
        "More particles find a higher reward: 16 against 4.",
        f"{FK}, read off the figure",
        "GenEval 0.55 with 4 and 0.61 with 16 particles, Stable Diffusion 1.5",
        _paired("plane_sizes", ((16, 4), 3.0), ("16", "4"), quick=200, full=2000),
        unit="reward",
        kind="paper says",
    ),
    Claim(
        "few-particles",
        "Four steered particles already beat the plain model clearly.",
        FK,
        "ImageReward 0.90 with 4 particles, 0.19 without, Stable Diffusion 1.5",
        _paired("digit_race", (4, 2.0, 3), ("steering", "one sample"), (0, 2), quick=12, full=300),
        unit="log probability",
        kind="reported about",
    ),
    Claim(
        "max-reward",
        "The max potential finds a higher best reward than the difference potential.",
        FK,
        _NO_FIGURE,
        _paired("plane_potentials", (16, 1.0), ("max", "difference"), (0, 3), quick=300, full=3000),
        unit="reward",
        kind="our reading",
    ),
    Claim(
        "difference-diversity",
        "The difference potential keeps particles further apart than max.",
        FK,
        _NO_FIGURE,
        _paired("plane_potentials", (16, 1.0), ("difference", "max"), (4, 1), quick=200, full=2000),
        unit="distance",
        kind="our reading",
    ),
    Claim(
        "strength-diversity",
        "A stronger tilt costs diversity: lambda 1 against 10.",
        FK,
        "CLIP diversity 0.35 without steering, 0.09 at lambda 10, Stable Diffusion 1.4",
        _paired(
            "plane_strengths", (16, (1.0, 10.0)), ("lambda 1", "lambda 10"), quick=200, full=2000
        ),
        unit="distance",
        kind="reported about",
    ),
    Claim(
        "no-gradient",
        "Rewards without a gradient can be steered by: digits of thinner strokes.",
        f"{FK}, Table 5",
        "toxic texts 22 % with 4 particles, 2 % with best of 4 (a text model)",
        _paired(
            "digit_unsmooth",
            ("thin strokes", 4, 3.0),
            ("steering", "the model"),
            quick=12,
            full=300,
        ),
        unit="tenth of a pixel",
        kind="paper says",
    ),
    Claim(
        "no-gradient-compressible",
        "The same for digits that compress to fewer bytes, the reward that was tried first.",
        f"{FK}, Table 5",
        "",
        _paired(
            "digit_unsmooth",
            ("compressible", 4, 8.0),
            ("steering", "the model"),
            quick=12,
            full=300,
        ),
        unit="ten bytes",
        kind="our reading",
    ),
    Claim(
        "discrete",
        "Discrete text diffusion can be steered in the same way.",
        f"{FK}, Table 5",
        "toxic texts 0.3 % without steering, 22 % with 4 particles",
        None,
        why_not="This page has no discrete diffusion model to steer.",
        kind="paper says",
    ),
    Claim(
        "intermediate",
        "Intermediate rewards tell the final one ever better as the noise goes.",
        FK,
        _NO_FIGURE,
        by_trials(
            partial(trial, name="plane_correlations", arguments=(64,)),
            _correlation,
            quick=100,
            full=1000,
        ),
        unit="rank correlation",
        kind="our reading",
    ),
    Claim(
        "truth",
        "With 16 particles steering is nearer to the exact target than importance sampling.",
        "Our exact playground",
        "",
        _paired("plane_truth", (16, 3.0), ("importance", "steering"), (1, 0), quick=150, full=1500),
        unit="squared MMD",
        kind="our reading",
    ),
    Claim(
        "dno-best-of-n",
        "Optimised noise reaches a higher reward than best of n at equal network calls.",
        DNO,
        _NO_FIGURE,
        _paired("dno_against_best", (4, 60, 0.0), ("optimised", "best of n"), quick=8, full=100),
        unit="reward",
        kind="our reading",
    ),
    Claim(
        "dno-regularised-best-of-n",
        "It does so with the regularisation too.",
        DNO,
        _NO_FIGURE,
        _paired("dno_against_best", (4, 60, 1.0), ("optimised", "best of n"), quick=8, full=100),
        unit="reward",
        kind="our reading",
    ),
    Claim(
        "dno-all-noises",
        "Optimising all noises (eta = 1) gains more in as many steps than the start alone (eta 0).",
        DNO,
        _NO_FIGURE,
        _paired("dno_noises", (8, 50), ("all noises", "start alone"), quick=8, full=100),
        unit="reward",
        kind="reported about",
    ),
    Claim(
        "dno-plausible",
        "Without regularisation samples leave the data; with it they stay near.",
        DNO,
        _NO_FIGURE,
        by_trials(
            partial(trial, name="dno_regularised", arguments=(4, 60)), _kept, quick=6, full=60
        ),
        unit="log density",
        kind="reported about",
    ),
    Claim(
        "dno-hybrid",
        "For rewards without a gradient hybrid 2 beats hybrid 1 and zeroth order at equal calls.",
        DNO,
        _NO_FIGURE,
        by_trials(
            partial(trial, name="dno_estimators", arguments=(4, 105)),
            _least_gain,
            quick=6,
            full=60,
        ),
        unit="reward",
        kind="reported about",
    ),
)
