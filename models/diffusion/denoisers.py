"""One interface to what denoises: an exact mixture, a diffusers network, a diffusers pipeline.

A denoiser reads x_t and says both what noise and what clean point it sees there:
x_t = sqrt(alpha_bar) x_0 + sqrt(1 - alpha_bar) eps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, get_args

from models.checks import check_choice
from models.diffusion.mixtures import Mixture, Noised
from models.diffusion.schedules import Betas, NoiseSchedule
from models.torchrun import torch

Target = Literal["epsilon", "v_prediction", "sample"]


class Prediction(NamedTuple):
    """The noise and the clean point seen in x_t, each of the shape of x_t."""

    eps: torch.Tensor
    clean: torch.Tensor


class Denoiser(Protocol):
    """What a sampler needs of a model."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one particle."""
        ...

    @property
    def dtype(self) -> torch.dtype:
        """Type of its numbers."""
        ...

    def __call__(self, x: torch.Tensor, timestep: int, alpha_bar: float) -> Prediction:
        """Look at particles (k, *shape)."""
        ...

    def decode(self, clean: torch.Tensor) -> torch.Tensor:
        """Turn clean particles into what rewards judge, such as images."""
        ...


@dataclass(frozen=True, eq=False)
class MixtureDenoiser:
    """The exact denoiser of a Gaussian mixture."""

    mixture: Mixture
    _seen: dict[float, Noised] = field(default_factory=dict, repr=False)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one particle, (d,)."""
        return (self.mixture.dimension,)

    @property
    def dtype(self) -> torch.dtype:
        """Always float64."""
        return torch.float64

    def at(self, alpha_bar: float) -> Noised:
        """Return the mixture noised to ``alpha_bar``, made once for each step of a grid."""
        if alpha_bar not in self._seen:
            self._seen[alpha_bar] = self.mixture.noised(alpha_bar)
        return self._seen[alpha_bar]

    def __call__(self, x: torch.Tensor, timestep: int, alpha_bar: float) -> Prediction:
        """Look at particles (k, d); the training step does not matter."""
        eps = -math.sqrt(1 - alpha_bar) * self.at(alpha_bar).score(x)
        return Prediction(eps, (x - math.sqrt(1 - alpha_bar) * eps) / math.sqrt(alpha_bar))

    def decode(self, clean: torch.Tensor) -> torch.Tensor:
        """Return the points as they are."""
        return clean


def read_output(
    output: torch.Tensor, x: torch.Tensor, alpha_bar: float, target: Target, clip: float | None
) -> Prediction:
    """Turn a network's output into noise and clean point, as diffusers' DDIMScheduler does.

    ``clip`` bounds the clean point alone; the noise stays as the network saw it.
    """
    signal, spread = math.sqrt(alpha_bar), math.sqrt(1 - alpha_bar)
    if target == "epsilon":
        eps, clean = output, (x - spread * output) / signal
    elif target == "sample":
        eps, clean = (x - signal * output) / spread, output
    else:
        eps, clean = signal * output + spread * x, signal * x - spread * output
    return Prediction(eps, clean if clip is None else clean.clamp(-clip, clip))


@dataclass(frozen=True, eq=False)
class NetworkDenoiser:
    """A network that was trained to predict noise, "v", or the clean sample.

    Attributes
    ----------
    network : callable (x, timesteps) -> output of the same shape
    shape : of one particle
    target, clip : what it predicts, and the bound on the clean point (None: none)
    decoder : what turns clean particles into images; by default nothing
    """

    network: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
    shape: tuple[int, ...]
    target: Target = "epsilon"
    clip: float | None = 1.0
    decoder: Callable[[torch.Tensor], torch.Tensor] | None = None
    dtype: torch.dtype = torch.float32

    def __post_init__(self) -> None:
        """Raise ValueError if the target is unknown."""
        check_choice(self.target, Target, "prediction type")

    def __call__(self, x: torch.Tensor, timestep: int, alpha_bar: float) -> Prediction:
        """Look at particles (k, *shape)."""
        times = torch.full((len(x),), timestep, dtype=torch.long, device=x.device)
        return read_output(self.network(x, times), x, alpha_bar, self.target, self.clip)

    def decode(self, clean: torch.Tensor) -> torch.Tensor:
        """Return images of clean particles."""
        return clean if self.decoder is None else self.decoder(clean)


def unet_denoiser(unet: Any, label: int | None = None, *, clip: float | None = 1.0) -> Denoiser:
    """Wrap a ``UNet2DModel``, for one class if it was trained with classes."""
    size = unet.config.sample_size
    sides = (size, size) if isinstance(size, int) else tuple(size)

    def network(x: torch.Tensor, times: torch.Tensor) -> torch.Tensor:
        if label is None:
            output: torch.Tensor = unet(x, times).sample
        else:
            output = unet(x, times, class_labels=torch.full_like(times, label)).sample
        return output

    return NetworkDenoiser(network, (unet.config.in_channels, *sides), clip=clip, dtype=unet.dtype)


def pipeline_denoiser(
    pipeline: Any, prompt: str = "", guidance: float = 7.5
) -> tuple[Denoiser, NoiseSchedule]:
    """Wrap a loaded diffusers pipeline: unconditional, or text to image with a VAE.

    Parameters
    ----------
    pipeline : has ``unet`` and ``scheduler``; with ``vae`` and ``encode_prompt`` it is taken to be
        of the Stable Diffusion family
    prompt, guidance : the text, and the scale of classifier-free guidance (1: none)

    Raises
    ------
    ValueError
        If its scheduler's noise schedule is none that can be sampled here.
    """
    settings = pipeline.scheduler.config
    schedule = schedule_of(settings)
    target = settings.get("prediction_type", "epsilon")
    clip = float(settings.get("clip_sample_range", 1.0)) if settings.get("clip_sample") else None
    unet = pipeline.unet
    size = unet.config.sample_size
    sides = (size, size) if isinstance(size, int) else tuple(size)
    shape = (unet.config.in_channels, *sides)
    if getattr(pipeline, "vae", None) is None:
        return NetworkDenoiser(
            lambda x, times: unet(x, times).sample, shape, target, clip, dtype=unet.dtype
        ), schedule
    wanted, empty = pipeline.encode_prompt(prompt, unet.device, 1, guidance != 1.0, "")[:2]

    def network(x: torch.Tensor, times: torch.Tensor) -> torch.Tensor:
        def ask(words: torch.Tensor) -> torch.Tensor:
            states = words.expand(len(x), *words.shape[1:])
            output: torch.Tensor = unet(x, times, encoder_hidden_states=states).sample
            return output

        if guidance == 1.0:
            return ask(wanted)
        base = ask(empty)
        return base + guidance * (ask(wanted) - base)

    def decoder(latents: torch.Tensor) -> torch.Tensor:
        image: torch.Tensor = pipeline.vae.decode(
            latents / pipeline.vae.config.scaling_factor
        ).sample
        return image

    return NetworkDenoiser(network, shape, target, clip, decoder, unet.dtype), schedule


def schedule_of(settings: Any) -> NoiseSchedule:
    """Read the noise schedule off a diffusers scheduler's configuration.

    Raises
    ------
    ValueError
        If its betas were given one by one, were rescaled, or follow an unknown curve.
    """
    if settings.get("trained_betas") is not None or settings.get("rescale_betas_zero_snr"):
        raise ValueError(
            "The pipeline's scheduler has betas of its own, but only those with a beta_schedule "
            f"of {get_args(Betas)} can be sampled here."
        )
    return NoiseSchedule(
        settings["beta_schedule"],
        int(settings["num_train_timesteps"]),
        float(settings["beta_start"]),
        float(settings["beta_end"]),
    )
