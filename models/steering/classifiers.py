"""Two small classifiers of the digits: one gives the reward, the other judges what came out.

The first, a softmax regression, knows only the first half of the training digits; the judge, a
small convolutional network, only the second. So a sample that pleases the first by a trick of its
own is found out by the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np

from models.steering.digits import ASSETS, CLASSES, Digits
from models.torchrun import torch

WEIGHTS = ASSETS / "digits_classifiers.safetensors"
ABOUT = ASSETS / "digits_classifiers.json"
_PIXELS = 64


def softmax_regression() -> torch.nn.Module:
    """Return an untrained softmax regression of images (k, 1, 8, 8)."""
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(_PIXELS, CLASSES))


def judge_network() -> torch.nn.Module:
    """Return an untrained judge of images (k, 1, 8, 8)."""
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 16, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.Conv2d(16, 32, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(512, CLASSES),
    )


def log_probabilities(classifier: torch.nn.Module, images: torch.Tensor) -> torch.Tensor:
    """Return log P(class | image), (k, 10), of images (k, 1, 8, 8), which are cut to [-1, 1]."""
    place = next(classifier.parameters()).device
    logits: torch.Tensor = classifier(images.to(place).float().clamp(-1, 1))
    return torch.log_softmax(logits, dim=1)


def train_classifier(
    make: Callable[[], torch.nn.Module], data: Digits, steps: int, decay: float, seed: int
) -> Iterator[torch.nn.Module]:
    """Train a classifier on digits with a little noise, yielding it after every step.

    Parameters
    ----------
    make : callable that returns the untrained classifier
    data : images and digits
    steps, decay : optimiser steps on batches of 64, and AdamW's weight decay
    seed : of the first weights, the batches and the noise
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        classifier = make()
    rng = np.random.default_rng(seed)
    optimiser = torch.optim.AdamW(classifier.parameters(), lr=3e-3, weight_decay=decay)
    for _ in range(steps):
        rows = torch.from_numpy(rng.integers(len(data), size=64))
        noise = torch.from_numpy(rng.standard_normal((64, 1, 8, 8), dtype=np.float32))
        logits = classifier(data.images[rows] + 0.1 * noise)
        loss = torch.nn.functional.cross_entropy(logits, data.digit[rows])
        optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        yield classifier


def accuracy(classifier: torch.nn.Module, data: Digits) -> float:
    """Return the share of digits that the classifier recognises."""
    with torch.no_grad():
        found = log_probabilities(classifier, data.images).argmax(1)
    return float((found == data.digit).double().mean())


@lru_cache(maxsize=1)
def load_classifiers() -> tuple[torch.nn.Module, torch.nn.Module]:
    """Return the shipped reward classifier and judge.

    Raises
    ------
    ValueError
        If their file is missing.
    """
    from safetensors.torch import load_file

    if not WEIGHTS.exists():
        raise ValueError(
            f"The classifiers' file {WEIGHTS.name} is missing: run "
            "scripts/train_digit_classifiers.py."
        )
    stored = load_file(WEIGHTS)
    pair = (softmax_regression(), judge_network())
    for name, classifier in zip(("reward", "judge"), pair, strict=True):
        prefix = f"{name}."
        part = {k.removeprefix(prefix): v for k, v in stored.items() if k.startswith(prefix)}
        classifier.load_state_dict(part)
        classifier.eval().requires_grad_(False)
    return pair
