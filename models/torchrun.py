"""Torch, imported and set up in one place: threads, memory, device, and a bounded set of workers.

Modules that compute with torch write ``from models.torchrun import torch``. Importing this module
costs about a second or two; whatever must open without torch does not import it.

A small network on a busy machine runs many times slower with two threads than with one, so that
each run gets one thread, and at most ``LIVEPROOF_TORCH_SLOTS`` runs go on at a time (by default
one fewer than there are CPUs, so that the rest of the app answers). Variables read here:
``LIVEPROOF_TORCH_THREADS``, ``LIVEPROOF_TORCH_SLOTS``, ``LIVEPROOF_DEVICE``.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType

import torch

__all__ = ["device", "diffusers", "torch", "worker"]

_POLL_SECONDS = 0.2


def _whole(name: str, default: int) -> int:
    text = os.environ.get(name, "")
    if not text:
        return default
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"{name} is {text!r}, but must be a whole number of at least 1, or unset.")
    return int(text)


def _freeze() -> None:
    # Streamlit collects all garbage after each rerun: what stays for good need not be looked at.
    gc.collect()
    gc.freeze()


torch.set_num_threads(_whole("LIVEPROOF_TORCH_THREADS", 1))
_FREE = threading.BoundedSemaphore(
    _whole("LIVEPROOF_TORCH_SLOTS", max(1, (os.cpu_count() or 2) - 1))
)
_freeze()


@contextmanager
def worker(waiting: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Hold one of the bounded set of workers while a heavy computation runs.

    Parameters
    ----------
    waiting : called about five times a second while none is free; if it raises, the wait ends
    """
    while not _FREE.acquire(timeout=_POLL_SECONDS):
        waiting()
    try:
        yield
    finally:
        _FREE.release()


def device() -> torch.device:
    """Return the device that ``LIVEPROOF_DEVICE`` names, by default the CPU.

    Raises
    ------
    ValueError
        If torch knows no such device here.
    """
    name = os.environ.get("LIVEPROOF_DEVICE", "") or "cpu"
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError) as error:
        raise ValueError(
            f"LIVEPROOF_DEVICE is {name!r}, but torch has no such device here: leave it unset for "
            "the CPU, or use cuda on a machine with a GPU."
        ) from error
    return torch.device(name)


def diffusers() -> ModuleType:
    """Import diffusers, which takes seconds and so is done only where a network is wanted."""
    import diffusers as module

    # Its parts load on first use; the ones used here are drawn in now, before the freeze.
    for part in ("UNet2DModel", "DDIMScheduler"):
        getattr(module, part)
    _freeze()
    return module
