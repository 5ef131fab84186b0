"""QuEst's presets, tour and texts, as data."""

from __future__ import annotations

from ui.anatomy import Preset, Step, Story

KINDS = {
    "segment": "Mean of a middle segment",
    "top": "Mean of the top share",
    "lowest": "Mean of the lowest share",
    "quantile": "A single quantile",
    "mean": "Plain mean",
    "steps": "Custom step weights",
    "spectral": "Smooth spectral weight",
}

SOURCES = {
    "net_assets": "Net assets (survey)",
    "net_assets_weak": "Net assets, a weaker model",
    "polling": "Voters, left to right (survey)",
    "words_rater": "Word ratings, one cheap rater",
    "words_model": "Word ratings, a weak model",
    "earnings": "Earnings, top-coded (survey)",
    "sim_lognormal": "Simulated: lognormal",
    "sim_gaussian": "Simulated: Gaussian",
    "sim_pareto": "Simulated: Pareto tail",
    "sim_ratings": "Simulated: ratings 1 to 5",
    "yours": "Your data",
}

EXTRA = {
    "opt_bins": "QuEst-Opt, 5 bins",
    "opt_sinusoids": "QuEst-Opt, sinusoids",
    "bootstrap": "Bootstrap of the labels",
}

_HONEST = {"kept": 100, "lam_mode": "clip", "variance": "split"}

PRESETS = (
    Preset(
        "Paper's setting",
        "The paper's middle third, n = 100, N = 2,000 and 95 % intervals, on our net assets: the "
        "paper's own satellite data are not part of this product.",
        _HONEST
        | {
            "source": "net_assets",
            "kind": "segment",
            "span": (0.33, 0.66),
            "n": 100,
            "pool": 2000,
            "alpha": 0.05,
        },
    ),
    Preset(
        "Where it shines",
        "A simulated population whose model is accurate but biased: predictions alone would "
        "mislead, and the hybrid gains most.",
        _HONEST
        | {
            "source": "sim_lognormal",
            "quality": 0.95,
            "bias": 0.5,
            "kind": "segment",
            "span": (0.25, 0.75),
            "n": 100,
            "pool": 10000,
            "alpha": 0.1,
        },
    ),
    Preset(
        "Useless model",
        "All predictions are shuffled: QuEst falls back on the labels, full weight (PPI) does not.",
        _HONEST
        | {
            "source": "net_assets",
            "kind": "segment",
            "span": (0.33, 0.67),
            "n": 200,
            "pool": 7000,
            "alpha": 0.1,
            "kept": 0,
        },
    ),
    Preset(
        "Top-coded tail",
        "Earnings recorded only up to a cap: the top of the distribution is invisible, and an "
        "honest method must refuse.",
        _HONEST
        | {
            "source": "earnings",
            "kind": "top",
            "share": 0.1,
            "n": 200,
            "pool": 2000,
            "alpha": 0.1,
        },
    ),
    Preset(
        "Polling",
        "Where voters place themselves from left to right: few interviews, and a model's guess for "
        "everybody else.",
        _HONEST | {"source": "polling", "kind": "mean", "n": 100, "pool": 500, "alpha": 0.1},
    ),
    Preset(
        "Human ratings, cheap judge",
        "How positive do people find a word? Nine people are the gold standard, one is cheap.",
        _HONEST
        | {
            "source": "words_rater",
            "kind": "segment",
            "span": (0.33, 0.67),
            "n": 200,
            "pool": 5000,
            "alpha": 0.1,
        },
    ),
    Preset(
        "Your data",
        "Shows your own file in the picture; drop it in further down, or try the sample there.",
        {"source": "yours"},
    ),
)

_START = _HONEST | {
    "source": "net_assets",
    "kind": "segment",
    "span": (0.33, 0.67),
    "n": 200,
    "pool": 7000,
    "alpha": 0.1,
    "truth": False,
}

TOUR = (
    Step(
        "A few answers, many guesses",
        "200 people told us their net assets; a model guessed them for 7,000 others. Grey is what "
        "the 200 answers say alone, blue is QuEst, which uses both. Compare the lengths.",
        _START,
    ),
    Step(
        "The truth is known here",
        "This population's answers are all known, so the dotted line is the truth. Predictions "
        "alone are narrow; look whether they hit it.",
        _START | {"truth": True},
    ),
    Step(
        "Ask about another part",
        "The same data, but now the mean of the lowest fifth: fewer answers carry it, and all "
        "intervals change their width.",
        _START | {"truth": True, "kind": "lowest", "share": 0.2},
    ),
    Step(
        "Break the model",
        "All predictions are shuffled now. QuEst notices and falls back on the labels; PPI, which "
        "must trust the predictions in full, gets wider than the labels alone.",
        _START | {"truth": True, "kept": 0},
    ),
    Step(
        "Hold it to its promise",
        "One draw proves nothing. Scroll to “Check the claim” and repeat the draw: an interval "
        "that promises 90 % must cover the truth in about nine draws of ten.",
        _START | {"truth": True, "alpha": 0.1},
    ),
)

HOW = r"""
1. **Choose a measure** (Section 2): a weight $\psi$ on the quantile function,
   $Q_\psi(F)=\int_0^1\psi(p)\,F^{-1}(p)\,dp$. The shaded part of the curves above is $\psi$.
2. **Estimate it three times**: on the labels, on the predictions for the same rows, and on the
   predictions for the unlabelled rows.
3. **Combine** (Section 3):
   $\hat Q(\lambda)=Q_\psi(F_n)+\lambda\,[Q_\psi(\tilde F^u_N)-Q_\psi(\tilde F_n)]$.
   The bracket has mean zero, so any fixed $\lambda$ is unbiased, however bad the model.
4. **Choose $\lambda$** to make the variance smallest: $\lambda^*=\eta/((1+r)\,\sigma^2(\tilde F))$,
   with $r=n/N$; clipped to $[0,1]$ by default.
5. **Interval**: $\hat Q\pm z_{1-\alpha/2}\sqrt{\rho^2/n}$. "Split" estimates $\rho^2$ by the spread
   of label minus $\lambda$ × prediction; "plug-in" is the paper's formula, which can turn negative
   in small samples.
6. **Beyond the paper**: the calibrated interval replaces $z$ by the quantile of the studentised
   error over resampled rows, because normal intervals cover too rarely when few labels sit in a
   heavy tail. For a single quantile it inverts a test and needs no density.
"""

LIMITS = """
- Labelled and unlabelled rows must come from **one population**, and the labelled ones must be
  drawn at random from it. Part 6 shows what happens otherwise.
- Intervals are **normal approximations**: with fewer than about 20 labels in the part that you ask
  about they cover less often than they promise. That holds for labels alone as well.
- Values beyond a cap are invisible; where all labels that count are equal, there is no interval.
- The paper's satellite, gene and opinion data are not shipped. "Measured here" means our data sets
  and our simulations at the paper's numbers of labels and predictions.
- Draws come from a finite population without replacement, and the formula has no finite-population
  term: with many of its rows labelled, coverage is a little higher than promised.
- The paper names no density estimator for single quantiles and no frequencies for QuEst-Opt's
  basis; ours are documented in the code. With our reading of both, QuEst-Opt's gain did not
  reproduce: see its claim above.
- Two oddities in the paper's own figures (read off Figures 2 and 6): at n = 1000 QuEst covers more
  often than promised, for which the finite pool is a partial reason; and on OpinionQA its interval
  is then wider than that of labels alone (.305 against .275), which the formula above excludes.
- Negative step weights (differences of segments) are an extension, not the paper's.
"""

REFERENCES = """
- Deng, Zollo, Eyre, Inamdar, Madras, Zemel: *QuEst: Enhancing Estimates of Quantile-Based
  Distributional Measures Using Model Predictions*, ICML 2025, arXiv 2507.05220.
- Angelopoulos, Bates, Fannjiang, Jordan, Zrnic: *Prediction-powered inference*, Science 2023;
  Angelopoulos, Duchi, Zrnic: *PPI++*, 2023.
- Hall: *On symmetric bootstrap confidence intervals*, JRSS B 1988.
"""

STORY = Story(
    question="What is true of the middle third, and how sure are we?",
    lead=(
        "A few true answers and many model guesses give one interval for *any part* of a "
        "distribution. If the model helps, it shrinks; if the model lies, it does not."
    ),
    scaled_down="here: our data and simulations, not the paper's",
    presets=PRESETS,
    tour=TOUR,
    how=HOW,
    limits=LIMITS,
    references=REFERENCES,
)
