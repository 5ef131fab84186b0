"""The steering page's presets, tour and texts, as data."""

from __future__ import annotations

from ui.anatomy import Preset, Step, Story

SOURCES = {"groups": "Three groups in the plane", "yours": "Your points"}

REWARDS = {
    "linear": "To the right and down",
    "point": "Close to one point",
    "half-plane": "Right of a line (no gradient)",
    "group": "In the last group (no gradient)",
}

POTENTIALS = {
    "difference": "Difference: what improved",
    "max": "Max: the best so far",
    "sum": "Sum: all so far",
    "current": "Current reward only",
    "none": "None: weights at the end only",
    "exact": "Exact: what is to be expected",
}

RESAMPLERS = {
    "systematic": "Systematic",
    "multinomial": "Multinomial (the paper's)",
    "stratified": "Stratified",
    "residual": "Residual",
}

WHEN = {
    "adaptive": "When the weights are uneven",
    "always": "At every weighing",
    "never": "Never",
}

INTERMEDIATES = {
    "denoised": "Of the denoised estimate",
    "next": "Of the next step's estimate",
    "many": "Average over N draws",
}

RELEASED = {
    "exact": "The paper's mathematics",
    "text_to_image": "As released, text to image",
    "discrete": "As released, text",
}

_PLAIN = {
    "source": "groups",
    "k": 16,
    "steps": 50,
    "potential": "difference",
    "eta": 1.0,
    "span": (0.2, 0.8),
    "every": 0.2,
    "resampler": "systematic",
    "when": "adaptive",
    "threshold": 0.5,
    "intermediate": "denoised",
    "released": "exact",
}

PRESETS = (
    Preset(
        "A rare target",
        "λ = 3: the target is rare among plain samples, and steering on the way pays.",
        _PLAIN | {"reward": "linear", "lam": 3.0},
    ),
    Preset(
        "A mild target",
        "λ = 1: the target is common among plain samples. Steering gains much less here, and "
        "fills the groups hardly better than weights at the end do.",
        _PLAIN | {"reward": "linear", "lam": 1.0},
    ),
    Preset(
        "Paper's launch script",
        "The published script's choices: max potential, multinomial copies at 20, 40, 60 and 80 "
        "of 100 steps. Its λ of 10 belongs to a picture reward; 3 stands here.",
        _PLAIN
        | {
            "reward": "linear", "lam": 3.0, "steps": 100, "potential": "max",
            "resampler": "multinomial", "when": "always", "k": 4,
        },
    ),
    Preset(
        "No gradient",
        "A reward that is 1 right of a line and 0 left of it: guidance has nothing to follow.",
        _PLAIN | {"reward": "half-plane", "lam": 5.0},
    ),
    Preset(
        "Frozen copies",
        "η = 0: no step adds noise, and copies of a particle end in the same point.",
        _PLAIN | {"reward": "linear", "lam": 3.0, "eta": 0.0},
    ),
    Preset(
        "Your data",
        "Fits groups to your own points and steers samples of them; drop a file in further down.",
        {"source": "yours"},
    ),
)  # fmt: skip

_START = _PLAIN | {"reward": "linear", "lam": 3.0}

TOUR = (
    Step(
        "A model and a wish",
        "The lines enclose where the target is: samples of the model, tilted towards the right and "
        "down. Left, sixteen particles are steered on their way; right, sixteen plain samples get "
        "their weights at the end. Press ▶ under the picture.",
        _START,
    ),
    Step(
        "When the target is common",
        "At λ = 1 many plain samples lie in the target already, and weights at the end bring them "
        "near to it. How much steering still gains, over many runs, is under “Against k” and "
        "“When it fails”.",
        _START | {"lam": 1.0},
    ),
    Step(
        "When it is rare",
        "At λ = 5 hardly a plain sample falls into the target, so one or two of them carry all the "
        "weight. Steering copies the promising particles while they can still move.",
        _START | {"lam": 5.0},
    ),
    Step(
        "Without a gradient",
        "This reward is 1 right of a line and 0 left of it. Gradient guidance drops out of the "
        "table; steering only needs to compare rewards.",
        _START | {"reward": "half-plane", "lam": 5.0},
    ),
    Step(
        "How it goes wrong",
        "With η = 0 no step adds noise: copies of a particle stay identical, and the picture shows "
        "fewer dots than particles. The notice under it says so.",
        _START | {"eta": 0.0},
    ),
)

HOW = r"""
**Feynman–Kac steering** (Singhal et al., Algorithm 1)

1. **Start $k$ particles** from noise and denoise them side by side.
2. **Weigh them on the way**: at scheduled steps the reward of each particle's denoised estimate
   gives a potential $G$. *Difference* is $\exp(\lambda(r_t-r_{t+1}))$, *max* and *sum* look back
   over the whole path.
3. **Copy the promising ones**: particles are drawn anew in proportion to their weights, when the
   effective sample size $1/\sum w^2$ falls below a share of $k$.
4. **Close exactly**: the last potential makes the product of all of them $\exp(\lambda r(x_0))$,
   so that the weighted particles aim at $p(x_0)\,e^{\lambda r(x_0)}/Z$, whatever the potential.

**Direct noise optimisation** (Tang et al., Algorithm 1)

1. A sampler turns its noises $z$ into a sample $x_0=M(z)$, without further chance.
2. **Climb** $r(M(z))+\gamma\,\mathrm E[\log p_1(\Pi z)+\log p_2(\Pi z)]$ by gradient steps on $z$.
3. The second term asks whether $z$ still looks like Gaussian noise: it compares the mean and the
   covariance of blocks of $z$ with what chance allows. $P(z)$ is the smallest such probability.
"""

LIMITS = """
- The plane is **a playground with a known answer**: the model is an exact mixture of Gaussians, so
  that every method can be compared with the true target. The papers steer text-to-image and text
  models; their figures cannot be measured again on a laptop.
- Equal cost means equal **network calls**. A backward pass counts as two; rewards are counted
  apart, and where rewards are dear, best of n is the cheaper one.
- Best of n shows **one** sample: it has no spread, and its reward grows with n even without any
  steering.
- *Max* and *sum* distort the particles' spread when k is small, although the weights at the end
  are exact in the limit.
- The formula of the released code differs from the paper's in details that “Weights” reproduces.
- “Measured here” figures of direct noise optimisation depend on the optimiser's settings; ours are
  those of the plane, not of pictures.
"""

REFERENCES = """
- Singhal, Horvitz, Teehan, Ren, Yu, McKeown, Ranganath: *A General Framework for Inference-time
  Scaling and Steering of Diffusion Models*, ICML 2025, arXiv 2501.06848.
- Tang, Peng, Tang, Hong, Wang, Chang: *Inference-Time Alignment of Diffusion Models with Direct
  Noise Optimization*, ICML 2025, arXiv 2405.18881.
- Del Moral: *Feynman–Kac Formulae*, Springer 2004.
"""

STORY = Story(
    question="How do you bend a finished diffusion model towards a goal?",
    lead=(
        "Copy promising samples on the way (FK steering) or climb in the noise (DNO); *the model "
        "is not trained again*."
    ),
    scaled_down="here: an exact model in the plane and a small digits network",
    presets=PRESETS,
    tour=TOUR,
    how=HOW,
    limits=LIMITS,
    references=REFERENCES,
)
