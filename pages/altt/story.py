"""aLTT's presets, tour and texts, as data."""

from __future__ import annotations

from ui.anatomy import Preset, Step, Story

SOURCES = {
    "mixed20": "Simulated: five good among twenty",
    "easy10": "Simulated: clear winners",
    "hard20": "Simulated: small margins",
    "null10": "Simulated: nothing to find",
    "custom": "Simulated: my own risks",
    "digits": "Real: when may the classifier answer?",
    "cartpole": "Real: which policy balances the pole?",
    "yours": "Your file of losses",
    "feed": "Feed losses as you test",
}

CONTROLS = {
    "fwer": "No false certificate (Bonferroni)",
    "holm": "No false certificate (Holm)",
    "fdr": "Few false certificates (e-BH)",
}

ACQUISITIONS = {
    "eps-greedy": "Bet on the leader (eps-greedy)",
    "uniform": "In turn (no adaptivity)",
    "random": "At random",
    "ucb": "Most promising (UCB)",
    "all": "All uncertified, on one sample",
}

BETS = {
    "agrapa": "AGRAPA (the paper's)",
    "lbow": "LBOW",
    "ons": "ONS (online Newton step)",
    "max": "MAX",
    "unit": "UNIT",
    "fixed": "Fixed",
}

KINDS = {"bernoulli": "0 or 1", "beta": "Between 0 and 1"}

_HONEST = {
    "delta": 0.1,
    "control": "fwer",
    "acquisition": "eps-greedy",
    "epsilon": 0.25,
    "bet": "agrapa",
    "truncation": 0.75,
    "stop": 0,
    "released": False,
}
_SIMULATED = _HONEST | {"kind": "bernoulli"}

PRESETS = (
    Preset(
        "Five among twenty",
        "Five settings with risk 0.05 among fifteen that miss the target of 0.2 by a hair: here "
        "adaptivity shines.",
        _SIMULATED | {"source": "mixed20", "alpha": 0.2, "budget": 2000},
    ),
    Preset(
        "Clear winners",
        "Ten settings with risks from 0.02 to 0.6 around a target of 0.2.",
        _SIMULATED | {"source": "easy10", "alpha": 0.2, "budget": 2000},
    ),
    Preset(
        "Paper's setting",
        "The paper's target 0.57, 5,000 tests and 25 % exploring, on twenty simulated settings "
        "with small margins: the paper's own losses are not published.",
        _SIMULATED | {"source": "hard20", "alpha": 0.57, "budget": 5000},
    ),
    Preset(
        "Nothing to find",
        "Every setting misses the target by a hair: each certificate would be false.",
        _SIMULATED | {"source": "null10", "alpha": 0.2, "budget": 2000},
    ),
    Preset(
        "Digit classifier",
        "A classifier may abstain. From which confidence on may it answer, if at most 3 % of its "
        "answers may be wrong?",
        _HONEST | {"source": "digits", "alpha": 0.03, "budget": 5000},
    ),
    Preset(
        "Cart-pole",
        "Twenty controllers of a cart that balances a pole; the loss of an episode is the share "
        "of its time that is lost.",
        _HONEST | {"source": "cartpole", "alpha": 0.2, "budget": 1000},
    ),
    Preset(
        "Your data",
        "Races your own file of losses; drop it in further down, or try the sample there.",
        {"source": "yours", "released": False},
    ),
)

_START = _SIMULATED | {"source": "mixed20", "alpha": 0.2, "budget": 2000}

TOUR = (
    Step(
        "A race of twenty settings",
        "Each line is a bet that one setting's risk is at most 0.2. It climbs with each small "
        "loss and falls with each large one. A line that reaches the dotted bar is certified. "
        "Press ▶ under the picture.",
        _START,
    ),
    Step(
        "Testing all alike",
        "Now the settings are tested in turn, as the classical method must. Good lines and "
        "hopeless ones get the same number of tests, and the first certificate comes later.",
        _START | {"acquisition": "uniform"},
    ),
    Step(
        "Allow a few mistakes",
        "Instead of no false certificate at all, at most a tenth of the certified may be false on "
        "average. The dotted bar now drops with each certificate.",
        _START | {"control": "fdr"},
    ),
    Step(
        "Nothing to find",
        "Every setting here misses the target by a hair. The promise: in at most one run of ten "
        "does any line ever reach the bar. Try other seeds under “More settings”.",
        _START | {"source": "null10"},
    ),
    Step(
        "Peek, and the promise breaks",
        "The bets now see the loss that they are placed on, as the authors' released script does. "
        "Scroll to “When it fails”, where the false certificates are counted.",
        _START | {"source": "null10", "released": True},
    ),
)

HOW = r"""
1. **Fix the candidates, the target $\alpha$ and the error level $\delta$** before the first loss.
   Candidate $i$ is reliable if its expected loss is $R_i\le\alpha$.
2. **Bet against each** (eq. 11–14): its wealth starts at $E_i=1$ and becomes
   $E_i\,(1+\mu_i(\alpha-L))$ with each loss $L\in[0,1]$. The bet
   $0\le\mu_i\le 1/(1-\alpha)$ may depend on past losses only. If $R_i>\alpha$ no bet can win in
   the long run: $E_i$ ever reaches $1/p$ with probability at most $p$ (Ville).
3. **Choose whom to test next** (Algorithm 1): with probability $\epsilon$ a random uncertified
   candidate, else the wealthiest one. The first $N$ tests go through all of them.
4. **Certify after every test** (Algorithm 1). No false certificate: all whose largest wealth so
   far is at least $N/\delta$, or Holm's rule on the inverse. Few false ones: e-BH on the current
   wealth, the $k$ largest if the $k$-th is at least $N/(\delta k)$.
5. **Stop whenever you like**: at the budget, at enough certificates, or because you must. The
   promise holds at that moment.
6. **AGRAPA**, the default bet, is $(\alpha-m)/(v+(m-\alpha)^2)$ from mean $m$ and variance $v$ of
   the past losses, kept between 0.1 and $c/(1-\alpha)$.
"""

LIMITS = """
- Each loss must be **fresh**: drawn anew, independently, from the same source all along. A
  re-shuffled file counts as fresh only once.
- LTT with proper p-values, looked at once **at its full budget**, can find more than aLTT; on the
  small margins under false discovery control it does (see “Check the claim”). aLTT's gain is in
  the certificates before that, and in the freedom to stop.
- Under false discovery control the promise is about **the set at the moment of stopping**, on
  average. A single pick from it is not covered, and on the way the set may hold more false ones.
- The mean loss of a certified setting looks better than it is, because it was picked for it.
- “In turn” goes round, as the released code does, where the paper's text draws at random (that is
  “At random”); the first round through all candidates is also the code's, not the text's.
- The paper's losses of policies and prompts are not published: “measured here” means our
  simulations, our cart-pole and scikit-learn's digits. Their truth is the mean over a stored
  pool, from which losses are drawn with replacement.
- Several risks at once are computed by `models.altt`, but have no control on this page.
"""

REFERENCES = """
- Zecchin, Park, Simeone: *Adaptive Learn-then-Test: Statistically Valid and Efficient
  Hyperparameter Selection*, ICML 2025, arXiv 2409.15844.
- Angelopoulos, Bates, Candès, Jordan, Lei: *Learn then Test*, 2021, arXiv 2110.01052.
- Waudby-Smith, Ramdas: *Estimating means of bounded random variables by betting*, JRSS B 2024.
- Wang, Ramdas: *False discovery rate control with e-values*, JRSS B 2022.
"""

STORY = Story(
    question="Which settings are safe, and how few tests will do?",
    lead=(
        "aLTT tests many settings one at a time, says at any moment *which are certified*, and "
        "may stop whenever you like."
    ),
    scaled_down="here: our simulations and models, not the paper's losses",
    presets=PRESETS,
    tour=TOUR,
    how=HOW,
    limits=LIMITS,
    references=REFERENCES,
)
