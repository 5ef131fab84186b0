"""Numbers that describe a small grey image, with 1 for full ink and 0 for none.

Images come as (k, 1, h, w) in [-1, 1], where 1 is ink; what lies outside is cut off first, so that
no reward grows without bound by leaving the range of images.
"""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from PIL import Image
from scipy import ndimage

from models.checks import Float
from models.torchrun import torch

Statistic = Callable[[torch.Tensor], torch.Tensor]

_ZOOM = 4  # of the pixels, before a stroke is measured
_INKED = 0.5


def ink(images: torch.Tensor) -> torch.Tensor:
    """Return the images in [0, 1], (k, h, w)."""
    return (images.clamp(-1, 1).squeeze(1) + 1) / 2


def mean(images: torch.Tensor) -> torch.Tensor:
    """Mean ink, (k,)."""
    return ink(images).mean((1, 2))


def contrast(images: torch.Tensor) -> torch.Tensor:
    """Return the standard deviation of the ink over the pixels, (k,)."""
    return ink(images).flatten(1).var(1, unbiased=False).clamp_min(1e-12).sqrt()


def left_right(images: torch.Tensor) -> torch.Tensor:
    """Mean squared difference from the image mirrored left to right, (k,)."""
    x = ink(images)
    return (x - x.flip(2)).square().mean((1, 2))


def up_down(images: torch.Tensor) -> torch.Tensor:
    """Mean squared difference from the image mirrored upside down, (k,)."""
    x = ink(images)
    return (x - x.flip(1)).square().mean((1, 2))


def _part(rows: slice, columns: slice) -> Statistic:
    def share(images: torch.Tensor) -> torch.Tensor:
        return ink(images)[:, rows, columns].mean((1, 2))

    return share


def _quarter(images: torch.Tensor) -> torch.Tensor:
    x = ink(images)
    h, w = x.shape[1] // 4, x.shape[2] // 4
    return x[:, h:-h, w:-w].mean((1, 2))


def _half(side: str) -> Statistic:
    def share(images: torch.Tensor) -> torch.Tensor:
        h, w = images.shape[2] // 2, images.shape[3] // 2
        cut = {
            "left": (slice(None), slice(None, w)),
            "right": (slice(None), slice(-w, None)),
            "top": (slice(None, h), slice(None)),
            "bottom": (slice(-h, None), slice(None)),
        }[side]
        return _part(*cut)(images)

    return share


def thickness(images: torch.Tensor) -> torch.Tensor:
    """Mean distance of inked points from the stroke's edge, in pixels, (k,); 0 without ink.

    The image is enlarged four times first; where half the ink is reached, a point is inked.
    """
    return _each(images, _thickness)


def _thickness(x: Float) -> float:
    inked = ndimage.zoom(np.pad(x, 1), _ZOOM, order=1) > _INKED
    depth = ndimage.distance_transform_edt(inked)
    return float(depth[inked].mean()) / _ZOOM if inked.any() else 0.0


def png_bytes(images: torch.Tensor) -> torch.Tensor:
    """Return the size of each image as a grey PNG file, in bytes, (k,)."""
    return _each(images, _png_bytes)


def _png_bytes(x: Float) -> float:
    file = io.BytesIO()
    Image.fromarray(np.round(255 * x).astype(np.uint8)).save(file, "PNG", optimize=True)
    return float(file.tell())


def _each(images: torch.Tensor, of: Callable[[Float], float]) -> torch.Tensor:
    pictures: npt.NDArray[np.float64] = ink(images).detach().double().cpu().numpy()
    return torch.tensor([of(picture) for picture in pictures], dtype=torch.float64)


STATISTICS: dict[str, Statistic] = {
    "mean": mean,
    "contrast": contrast,
    "darkest": lambda images: ink(images).amin((1, 2)),
    "brightest": lambda images: ink(images).amax((1, 2)),
    "left": _half("left"),
    "right": _half("right"),
    "top": _half("top"),
    "bottom": _half("bottom"),
    "centre": _quarter,
    "asymmetry": left_right,
    "upside_down": up_down,
    "thickness": thickness,
    "png_bytes": png_bytes,
}
