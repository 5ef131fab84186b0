"""Rewards of small grey images (k, 1, h, w) in [-1, 1], by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from models.checks import check_choice
from models.steering import statistics
from models.steering.classifiers import load_classifiers, log_probabilities
from models.steering.digits import CLASSES
from models.steering.expression import Expression
from models.torchrun import torch

RewardName = Literal[
    "digit", "ink", "little ink", "contrast", "left-right symmetry", "up-down symmetry",
    "thick strokes", "thin strokes", "compressible", "like a drawing", "expression",
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class ImageReward:
    """A reward of images, and whether it has a gradient."""

    name: str
    differentiable: bool
    function: Callable[[torch.Tensor], Any]

    def __call__(self, images: torch.Tensor) -> Any:
        """Return the rewards (k,) of images (k, 1, h, w)."""
        return self.function(images)


_PLAIN: dict[str, ImageReward] = {
    reward.name: reward
    for reward in (
        ImageReward("ink", True, lambda x: 10 * statistics.mean(x)),
        ImageReward("little ink", True, lambda x: -10 * statistics.mean(x)),
        ImageReward("contrast", True, lambda x: 10 * statistics.contrast(x)),
        ImageReward("left-right symmetry", True, lambda x: -10 * statistics.left_right(x)),
        ImageReward("up-down symmetry", True, lambda x: -10 * statistics.up_down(x)),
        ImageReward("thick strokes", False, lambda x: 10 * statistics.thickness(x)),
        ImageReward("thin strokes", False, lambda x: -10 * statistics.thickness(x)),
        ImageReward("compressible", False, lambda x: -0.1 * statistics.png_bytes(x)),
    )
}


def image_reward(
    name: RewardName,
    *,
    digit: int = 3,
    drawing: torch.Tensor | None = None,
    expression: str = "",
) -> ImageReward:
    """Return a reward by name.

    Parameters
    ----------
    name : "digit" is the log probability of a digit by the reward classifier
    digit : int, 0 to 9
    drawing : (h, w) in [-1, 1], which "like a drawing" compares with
    expression : what "expression" evaluates, see :mod:`models.steering.expression`

    Raises
    ------
    ValueError
        If the name is unknown, or what it needs is missing or wrong.
    """
    check_choice(name, RewardName, "reward")
    if name == "digit":
        if not 0 <= digit < CLASSES:
            raise ValueError(f"The digit is {digit}, but must be 0 to {CLASSES - 1}.")
        chosen = load_classifiers()[0]
        return ImageReward(name, True, lambda x: log_probabilities(chosen, x)[:, digit])
    if name == "like a drawing":
        return _like(drawing)
    if name == "expression":
        return ImageReward(name, False, Expression(expression))
    return _PLAIN[name]


def _like(drawing: torch.Tensor | None) -> ImageReward:
    if drawing is None or drawing.ndim != 2 or not bool(torch.isfinite(drawing).all()):
        raise ValueError("Draw something first: the reward compares each image with a drawing.")
    goal = drawing.float().clamp(-1, 1)

    def near(x: torch.Tensor) -> torch.Tensor:
        if x.shape[2:] != goal.shape:
            raise ValueError(
                f"The drawing has {tuple(goal.shape)} pixels, but the images {tuple(x.shape[2:])}."
            )
        return -10 * (x.float().clamp(-1, 1).squeeze(1) - goal.to(x.device)).square().mean((1, 2))

    return ImageReward("like a drawing", True, near)


def judged(images: torch.Tensor, digit: int | None) -> torch.Tensor:
    """Return log P(digit), None: of the likeliest, by a judge that no reward knows, shape (k,)."""
    with torch.no_grad():
        log_p = log_probabilities(load_classifiers()[1], images)
    return log_p.amax(1) if digit is None else log_p[:, digit]


def nearest(images: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
    """Return the distance of each image to the nearest of others, both (., 1, h, w), shape (k,)."""
    flat = (images.flatten(1).float(), others.flatten(1).float())
    return torch.cdist(*flat).amin(1)
