"""The catalogue: every paper, in the order and the sections of the menu.

Plain data that imports nothing heavy. The menu, the home page, the claims page and the tests read
``DEMOS``; a slug names the folder in ``pages/``, the package in ``models/``, the folder in
``tests/unit/``, the address of the page and the prefix of its widgets' keys.

``reported`` is a figure only where the paper, or its authors' own code or page, is known to give
it; one known at second hand says so, and where neither is the case it is empty.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["works", "making"]
Grade = Literal["A", "A/B", "B", "A/C", "C"]

ICML = "ICML 2025"


@dataclass(frozen=True)
class Paper:
    """A paper as its page introduces it.

    Attributes
    ----------
    title, venue : in full
    authors : surnames, separated by commas; "et al." if not all are known to us, "" if none is
    arxiv : the identifier without version, such as "2507.05220", or "" where it is not known
    claim : the central claim, in one plain sentence of at most 160 characters
    reported : the paper's headline figure in at most 90 characters, or ""
    """

    title: str
    authors: str
    venue: str
    arxiv: str
    claim: str
    reported: str


@dataclass(frozen=True)
class Demo:
    """A page, which shows one paper or two.

    Attributes
    ----------
    slug : a Python identifier
    title : the page's short name in menus, at most 28 characters
    section : the heading in the menu
    icon : a Material symbol in Streamlit's notation, such as ":material/percent:"
    papers : at least one
    status : "works" if the page can be opened, "making" if it is only planned
    grade : "A" live and faithful, "B" faithful at reduced size, "C" only in part or simulated
    needs : import names of the heavy libraries without which the page cannot run
    """

    slug: str
    title: str
    section: str
    icon: str
    papers: tuple[Paper, ...]
    status: Status
    grade: Grade
    needs: tuple[str, ...]


DEMOS: tuple[Demo, ...] = (
    # -- Diffusion and generation ------------------------------------------------------------------
    Demo(
        slug="steering",
        title="Diffusion steering",
        section="Diffusion and generation",
        icon=":material/alt_route:",
        papers=(
            Paper(
                title=(
                    "A General Framework for Inference-time Scaling and Steering of Diffusion "
                    "Models"
                ),
                authors="Singhal, Horvitz, Teehan, Ren, Yu, McKeown, Ranganath",
                venue=ICML,
                arxiv="2501.06848",
                claim=(
                    "Running several samples side by side and copying the promising ones steers a "
                    "diffusion model towards any goal, without training it."
                ),
                reported="a steered 0.8B model beats a 2.6B model on prompt fidelity",
            ),
            Paper(
                title="Inference-Time Alignment of Diffusion Models with Direct Noise Optimization",
                authors="Tang, Peng, Tang, Hong, Wang, Chang",
                venue=ICML,
                arxiv="2405.18881",
                claim=(
                    "Optimising the noise that a finished diffusion model draws makes its samples "
                    "score high on a chosen goal, without training it."
                ),
                reported="",
            ),
        ),
        status="works",
        grade="A/B",
        needs=("torch", "diffusers"),
    ),
    Demo(
        slug="s4s",
        title="S4S",
        section="Diffusion and generation",
        icon=":material/fast_forward:",
        papers=(
            Paper(
                title="S4S: Solving for a Fast Diffusion Model Solver",
                authors="Frankel, Chen, Li, Koh, Ratliff, Oh",
                venue=ICML,
                arxiv="2502.17423",
                claim=(
                    "Learning the solver's coefficients lets a diffusion model make good samples "
                    "in very few steps, without changing the model."
                ),
                reported="FID 3.73 on CIFAR-10 and 13.26 on MS-COCO with 5 network calls",
            ),
        ),
        status="making",
        grade="A",
        needs=("torch",),
    ),
    Demo(
        slug="duo",
        title="Duo",
        section="Diffusion and generation",
        icon=":material/join_inner:",
        papers=(
            Paper(
                title="The Diffusion Duality",
                authors="Sahoo, Deschenaux, Gokaslan, Wang, Chiu, Kuleshov",
                venue=ICML,
                arxiv="2506.10892",
                claim=(
                    "Text diffusion that swaps symbols at random hides a Gaussian diffusion, whose "
                    "tricks make it train faster and write in few steps."
                ),
                reported="training twice as fast, sampling faster by two orders of magnitude",
            ),
        ),
        status="making",
        grade="B",
        needs=("torch",),
    ),
    Demo(
        slug="expert_race",
        title="Expert Race",
        section="Diffusion and generation",
        icon=":material/sports_score:",
        papers=(
            Paper(
                title=(
                    "Expert Race: A Flexible Routing Strategy for Scaling Diffusion Transformer "
                    "with Mixture of Experts"
                ),
                authors="Yuan, Wang, Huang, Zhu, Zhou, Yu, Min",
                venue=ICML,
                arxiv="2503.16057",
                claim=(
                    "Letting all parts of all images compete for all experts spends a diffusion "
                    "model's computation where it matters most."
                ),
                reported="7.2 times fewer iterations to equal loss (reported about, second-hand)",
            ),
        ),
        status="making",
        grade="B",
        needs=("torch",),
    ),
    Demo(
        slug="inverse_generative",
        title="Inverse generation",
        section="Diffusion and generation",
        icon=":material/image_search:",
        papers=(
            Paper(
                title="Compositional Scene Understanding through Inverse Generative Modeling",
                authors="Wang, Dauwels, Du",
                venue=ICML,
                arxiv="2505.21780",
                claim=(
                    "Asking which scene would best explain a picture finds its objects, even when "
                    "there are more of them than in training."
                ),
                reported=(
                    "perception rate 85.3 %, next best 59.0 %, on 6–8 objects (reported about, "
                    "second-hand)"
                ),
            ),
        ),
        status="making",
        grade="B",
        needs=("torch",),
    ),
    Demo(
        slug="pullback_geometry",
        title="Pullback geometry",
        section="Diffusion and generation",
        icon=":material/route:",
        papers=(
            Paper(
                title=(
                    "Score-based Pullback Riemannian Geometry: Extracting the Data Manifold "
                    "Geometry using Anisotropic Flows"
                ),
                authors="Diepeveen, Batzolis, Shumaylov, Schönlieb",
                venue=ICML,
                arxiv="2410.01950",
                claim=(
                    "A curved geometry learnt from data gives shortest paths that stay among the "
                    "data, and the data's true number of dimensions."
                ),
                reported=(
                    "exactly 5 of 20 directions kept for a 5-dimensional hemisphere (authors' page)"
                ),
            ),
        ),
        status="making",
        grade="A",
        needs=("torch",),
    ),
    Demo(
        slug="tabcutmix",
        title="TabCutMix",
        section="Diffusion and generation",
        icon=":material/content_cut:",
        papers=(
            Paper(
                title=(
                    "Understanding and Mitigating Memorization in Diffusion Models for Tabular Data"
                ),
                authors="Fang, Jiang, Chen, Li, Li",
                venue=ICML,
                arxiv="2412.11044",
                claim=(
                    "Diffusion models for tables copy training rows, and mixing rows of the same "
                    "class during training makes them copy less."
                ),
                reported="memorised rows on Magic: 80.01 % → 52.06 % (authors' plotting script)",
            ),
        ),
        status="making",
        grade="B",
        needs=("torch",),
    ),
    # -- Statistics you can trust ------------------------------------------------------------------
    Demo(
        slug="quest",
        title="QuEst",
        section="Statistics you can trust",
        icon=":material/percent:",
        papers=(
            Paper(
                title=(
                    "QuEst: Enhancing Estimates of Quantile-Based Distributional Measures Using "
                    "Model Predictions"
                ),
                authors="Deng, Zollo, Eyre, Inamdar, Madras, Zemel",
                venue=ICML,
                arxiv="2507.05220",
                claim=(
                    "A few true labels plus many model predictions estimate tails and segments of "
                    "a population better than the labels alone."
                ),
                reported="31 % lower error at n = 100 (read off a figure)",
            ),
        ),
        status="works",
        grade="A",
        needs=(),
    ),
    Demo(
        slug="altt",
        title="aLTT",
        section="Statistics you can trust",
        icon=":material/rule:",
        papers=(
            Paper(
                title=(
                    "Adaptive Learn-then-Test: Statistically Valid and Efficient Hyperparameter "
                    "Selection"
                ),
                authors="M. Zecchin, S. Park, O. Simeone",
                venue=ICML,
                arxiv="2409.15844",
                claim=(
                    "Testing settings one at a time and stopping early finds the safe ones with a "
                    "fraction of the tests, and keeps the promised error rate."
                ),
                reported=(
                    "LTT's final rate after about 730 of 5,000 rounds (15 %, read off a figure)"
                ),
            ),
        ),
        status="works",
        grade="A",
        needs=(),
    ),
    Demo(
        slug="kqe",
        title="Kernel quantiles",
        section="Statistics you can trust",
        icon=":material/stacked_line_chart:",
        papers=(
            Paper(
                title="Kernel Quantile Embeddings and Associated Probability Metrics",
                authors="Naslidnyk, Chau, Briol, Muandet",
                venue=ICML,
                arxiv="2505.20433",
                claim=(
                    "Comparing quantiles along random directions tells two samples apart where "
                    "comparing averages is blind, at nearly linear cost."
                ),
                reported=(
                    "power 0.92 against 0.05 for MMD (Laplace or Gaussian, cubic kernel, n = 2,000)"
                ),
            ),
        ),
        status="making",
        grade="A",
        needs=(),
    ),
    Demo(
        slug="rare_logistic",
        title="Rare classes",
        section="Statistics you can trust",
        icon=":material/category:",
        papers=(
            Paper(
                title=(
                    "Pairwise Maximum Likelihood For Multi-Class Logistic Regression Model With "
                    "Multiple Rare Classes"
                ),
                authors="Li, Huang, Wang",
                venue=ICML,
                arxiv="",
                claim=(
                    "Beside one large class, each rare class can be fitted by itself: as accurate "
                    "in large samples as a joint fit, and cheaper."
                ),
                reported="",
            ),
        ),
        status="making",
        grade="A",
        needs=(),
    ),
    Demo(
        slug="residual_tpp",
        title="Residual TPP",
        section="Statistics you can trust",
        icon=":material/timeline:",
        papers=(
            Paper(
                title="Residual TPP: A Unified Lightweight Approach for Event Stream Data Analysis",
                authors="Yuan, Fang",
                venue=ICML,
                arxiv="",
                claim=(
                    "A simple model for most events of a stream and a neural one for the rest fit "
                    "better together than either, at lower cost."
                ),
                reported="log-likelihood per event on MIMIC-II: Hawkes −2.839, Residual TPP −2.045",
            ),
        ),
        status="making",
        grade="A/B",
        needs=("torch",),
    ),
    Demo(
        slug="local_stability",
        title="Local stability",
        section="Statistics you can trust",
        icon=":material/balance:",
        papers=(
            Paper(
                title=(
                    "Quantifying Prediction Consistency Under Fine-tuning Multiplicity in Tabular "
                    "LLMs"
                ),
                authors="Hamman, Dissanayake, Mishra, Lecue, Dutta",
                venue=ICML,
                arxiv="2407.04173",
                claim=(
                    "How steady a model's answer is around an input foretells whether retrained "
                    "versions of the model will agree on that input."
                ),
                reported="",
            ),
        ),
        status="making",
        grade="A",
        needs=("torch",),
    ),
    Demo(
        slug="controllable_learning",
        title="Controllable learning",
        section="Statistics you can trust",
        icon=":material/tune:",
        papers=(
            Paper(
                title="Generalization Analysis for Controllable Learning",
                authors="Zhang, Zhang, Zhang",
                venue=ICML,
                arxiv="",
                claim=(
                    "The guaranteed error of a model that is given new goals at test time hardly "
                    "grows with the number of goals."
                ),
                reported="",
            ),
        ),
        status="making",
        grade="C",
        needs=("torch",),
    ),
    # -- Preferences and people --------------------------------------------------------------------
    Demo(
        slug="arena",
        title="Copilot Arena",
        section="Preferences and people",
        icon=":material/how_to_vote:",
        papers=(
            Paper(
                title="Copilot Arena: A Platform for Code LLM Evaluation in the Wild",
                authors=(
                    "Chi, Chen, Angelopoulos, Chiang, Mittal, Jain, Zhang, Stoica, Donahue, "
                    "Talwalkar"
                ),
                venue=ICML,
                arxiv="2502.09328",
                claim=(
                    "Developers' choices between two code completions, made while they work, rank "
                    "models differently from existing tests."
                ),
                reported="over 4.5 million suggestions from 10 models, over 11,000 votes",
            ),
        ),
        status="making",
        grade="A",
        needs=(),
    ),
    Demo(
        slug="rcdb",
        title="Robust duels (RCDB)",
        section="Preferences and people",
        icon=":material/swords:",
        papers=(
            Paper(
                title=(
                    "Nearly Optimal Algorithms for Contextual Dueling Bandits from Adversarial "
                    "Feedback"
                ),
                authors="Q. Di, J. He, Q. Gu",
                venue=ICML,
                arxiv="2404.10776",
                claim=(
                    "Trusting uncertain comparisons less keeps learning from preferences nearly "
                    "optimal even when an adversary flips some answers."
                ),
                reported="regret at most Õ(d√T/κ + dC/κ) with C flipped answers in T rounds",
            ),
        ),
        status="making",
        grade="A",
        needs=(),
    ),
    Demo(
        slug="kabb",
        title="KABB",
        section="Preferences and people",
        icon=":material/groups:",
        papers=(
            Paper(
                title=(
                    "KABB: Knowledge-Aware Bayesian Bandits for Dynamic Expert Coordination in "
                    "Multi-Agent Systems"
                ),
                authors="J. Zhang et al.",
                venue=ICML,
                arxiv="2502.07350",
                claim=(
                    "Choosing for each task the few language models that know its subject keeps a "
                    "team's answers good and its cost low."
                ),
                reported=(
                    "AlpacaEval 2.0: 77.9 % against 68.1 % for MoA (reported about, second-hand)"
                ),
            ),
        ),
        status="making",
        grade="B",
        needs=(),
    ),
    Demo(
        slug="rlthf",
        title="Targeted feedback (RLTHF)",
        section="Preferences and people",
        icon=":material/person_check:",
        papers=(
            Paper(
                title="RLTHF: Targeted Human Feedback for LLM Alignment",
                authors=(
                    "Xu, Chakraborty, Kiciman, Aryal, Rodrigues, Sharma, Estevao, Balaguer, Wolk, "
                    "Padilha, Nunes, Balakrishnan, Lu, Chandra"
                ),
                venue=ICML,
                arxiv="2502.13417",
                claim=(
                    "Asking people only about the examples that an AI labeller probably got wrong "
                    "reaches full human quality with little human work."
                ),
                reported="full human quality with 6–7 % of the human annotation effort",
            ),
        ),
        status="making",
        grade="A",
        needs=("torch",),
    ),
    Demo(
        slug="larpo",
        title="LarPO",
        section="Preferences and people",
        icon=":material/manage_search:",
        papers=(
            Paper(
                title=(
                    "LLM Alignment as Retriever Optimization: An Information Retrieval Perspective"
                ),
                authors="Jin, Yoon, Qin, Wang, Xiong, Meng, Han, Arik",
                venue=ICML,
                arxiv="2502.03699",
                claim=(
                    "Treating a language model as a search engine that ranks its own answers "
                    "brings it closer to what people prefer."
                ),
                reported="+38.9 % on AlpacaEval2 and +13.7 % on MixEval-Hard, on average",
            ),
        ),
        status="making",
        grade="B",
        needs=("torch",),
    ),
    Demo(
        slug="flaw_report",
        title="AI flaw reports",
        section="Preferences and people",
        icon=":material/bug_report:",
        papers=(
            Paper(
                title=(
                    "In-House Evaluation Is Not Enough: Towards Robust Third-Party Flaw Disclosure "
                    "for General-Purpose AI"
                ),
                authors="Longpre et al.",
                venue=ICML,
                arxiv="2503.16861",
                claim=(
                    "Standard reports, legal protection for outside testers and shared "
                    "coordination would make general-purpose AI safer."
                ),
                reported="",
            ),
        ),
        status="making",
        grade="A",
        needs=(),
    ),
    # -- Language models ---------------------------------------------------------------------------
    Demo(
        slug="rsd",
        title="Reward-guided decoding (RSD)",
        section="Language models",
        icon=":material/speed:",
        papers=(
            Paper(
                title="Reward-Guided Speculative Decoding for Efficient LLM Reasoning",
                authors="Liao, Xu, Dong, Li, Monz, Savarese, Sahoo, Xiong",
                venue=ICML,
                arxiv="2501.19324",
                claim=(
                    "A small model reasons and a large one steps in only where a judge finds a "
                    "step poor, saving computation without losing accuracy."
                ),
                reported="up to 4.4 times fewer FLOPs; accuracy up to +3.5 over parallel decoding",
            ),
        ),
        status="making",
        grade="A/C",
        needs=("torch",),
    ),
    Demo(
        slug="polybasic",
        title="Polybasic decoding",
        section="Language models",
        icon=":material/keyboard_double_arrow_right:",
        papers=(
            Paper(
                title="Polybasic Speculative Decoding Through a Theoretical Perspective",
                authors="Wang, Li, Ma, Zheng, Chao, Xiao, Ji",
                venue=ICML,
                arxiv="2510.26527",
                claim=(
                    "A chain of several models, each checking a smaller one's draft, writes faster "
                    "without changing the odds of any text."
                ),
                reported="3.31 to 4.01 times faster (LLaMA2-Chat 7B), up to 4.43 times (Vicuna-7B)",
            ),
        ),
        status="making",
        grade="A",
        needs=("torch",),
    ),
    Demo(
        slug="memory_layers",
        title="Memory layers",
        section="Language models",
        icon=":material/memory:",
        papers=(
            Paper(
                title="Memory Layers at Scale",
                authors="Berges, Oguz, Haziza, Yih, Zettlemoyer, Ghosh",
                venue=ICML,
                arxiv="2412.09764",
                claim=(
                    "A huge look-up table inside a language model stores facts at little "
                    "computation and beats models that compute far more."
                ),
                reported="beats dense models with more than twice the computation budget",
            ),
        ),
        status="making",
        grade="A",
        needs=("torch",),
    ),
    Demo(
        slug="wegeft",
        title="WeGeFT",
        section="Language models",
        icon=":material/model_training:",
        papers=(
            Paper(
                title=(
                    "WeGeFT: Weight-Generative Fine-Tuning for Multi-Faceted Efficient Adaptation "
                    "of Large Models"
                ),
                authors="Savadikar, Song, Wu",
                venue=ICML,
                arxiv="2312.00700",
                claim=(
                    "Generating a model's fine-tuning changes from its own weights does as well as "
                    "LoRA or better, with fewer numbers to train."
                ),
                reported="+5.7 points with 14 times fewer parameters than LoRA (preprint abstract)",
            ),
        ),
        status="making",
        grade="B",
        needs=("torch",),
    ),
    Demo(
        slug="skim",
        title="SKIM",
        section="Language models",
        icon=":material/compress:",
        papers=(
            Paper(
                title="SKIM: Any-bit Quantization Pushing The Limits of Post-Training Quantization",
                authors="Bai, Liu, Liu",
                venue=ICML,
                arxiv="2412.04180",
                claim=(
                    "Giving each row of weights its own number of bits, and rescaling columns, "
                    "shrinks a language model to any size with less loss."
                ),
                reported=(
                    "perplexity gap to full precision narrowed by around 14 % on average (LLaMA)"
                ),
            ),
        ),
        status="making",
        grade="A",
        needs=("torch",),
    ),
    Demo(
        slug="model_swarms",
        title="Model Swarms",
        section="Language models",
        icon=":material/hive:",
        papers=(
            Paper(
                title=(
                    "Model Swarms: Collaborative Search to Adapt LLM Experts via Swarm Intelligence"
                ),
                authors="Feng et al.",
                venue=ICML,
                arxiv="2410.11163",
                claim=(
                    "Expert models that move through weight space like a swarm adapt to a new task "
                    "better than other ways of combining them."
                ),
                reported="up to 21.0 % better than 12 model composition baselines",
            ),
        ),
        status="making",
        grade="B",
        needs=("torch",),
    ),
    Demo(
        slug="ibcircuit",
        title="IBCircuit",
        section="Language models",
        icon=":material/schema:",
        papers=(
            Paper(
                title="IBCircuit: Towards Holistic Circuit Discovery with Information Bottleneck",
                authors="Bian et al.",
                venue=ICML,
                arxiv="2602.22581",
                claim=(
                    "Adding noise to all parts of a language model at once, and seeing which must "
                    "stay clean, finds the parts that do a task."
                ),
                reported="",
            ),
        ),
        status="making",
        grade="B",
        needs=("torch",),
    ),
    Demo(
        slug="tree_bp",
        title="Transformers on trees",
        section="Language models",
        icon=":material/account_tree:",
        papers=(
            Paper(
                title=(
                    "How Transformers Learn Structured Data: Insights From Hierarchical Filtering"
                ),
                authors="Garnier-Brun, Mezard, Moscato, Saglietti",
                venue=ICML,
                arxiv="2408.15138",
                claim=(
                    "A transformer trained on sequences with a hidden tree comes close to exact "
                    "inference, adding longer ranges step by step."
                ),
                reported="",
            ),
        ),
        status="making",
        grade="A/B",
        needs=("torch",),
    ),
    Demo(
        slug="wikibigedit",
        title="WikiBigEdit",
        section="Language models",
        icon=":material/edit_note:",
        papers=(
            Paper(
                title="WikiBigEdit: Understanding the Limits of Lifelong Knowledge Editing in LLMs",
                authors="Thede et al.",
                venue=ICML,
                arxiv="2503.05683",
                claim=(
                    "Methods that edit facts in a language model must be tested on very many real "
                    "changes, beside retrieval and retraining."
                ),
                reported="over 500,000 question-answer pairs from real Wikidata edits",
            ),
        ),
        status="making",
        grade="C",
        needs=("torch",),
    ),
    Demo(
        slug="optmath",
        title="OptMATH",
        section="Language models",
        icon=":material/calculate:",
        papers=(
            Paper(
                title=(
                    "OptMATH: A Scalable Bidirectional Data Synthesis Framework for Optimization "
                    "Modeling"
                ),
                authors="Lu et al.",
                venue=ICML,
                arxiv="2502.11102",
                claim=(
                    "Problems written backwards, from the mathematics to a story, teach language "
                    "models to turn text into optimisation models."
                ),
                reported="average score of Qwen2.5-7B: 40.0 → 55.8 after training on OptMATH",
            ),
        ),
        status="making",
        grade="A/C",
        needs=(),
    ),
    # -- Vision and networks -----------------------------------------------------------------------
    Demo(
        slug="pathconv",
        title="Path convolution",
        section="Vision and networks",
        icon=":material/gesture:",
        papers=(
            Paper(
                title="One-dimensional Path Convolution",
                authors="Luo, Werner",
                venue=ICML,
                arxiv="",
                claim=(
                    "Reading an image along three winding paths lets a network of one-dimensional "
                    "steps match ResNet with far fewer parameters."
                ),
                reported="ResNet-level accuracy using one third of the parameters",
            ),
        ),
        status="making",
        grade="A/B",
        needs=("torch",),
    ),
    Demo(
        slug="metakan",
        title="MetaKAN",
        section="Vision and networks",
        icon=":material/ssid_chart:",
        papers=(
            Paper(
                title="Improving Memory Efficiency for Training KANs via Meta Learning",
                authors="Zhao, Shu, Meng, Xu",
                venue=ICML,
                arxiv="2506.07549",
                claim=(
                    "A small network that generates the weights of a KAN makes it as good as a "
                    "full one with far fewer numbers to train."
                ),
                reported="",
            ),
        ),
        status="making",
        grade="A/B",
        needs=("torch",),
    ),
    Demo(
        slug="cuter",
        title="CUTER",
        section="Vision and networks",
        icon=":material/crop:",
        papers=(
            Paper(
                title=(
                    "Cut out and Replay: A Simple yet Versatile Strategy for Multi-Label Online "
                    "Continual Learning"
                ),
                authors="Wang et al.",
                venue=ICML,
                arxiv="2505.19680",
                claim=(
                    "Cutting out labelled objects and replaying them helps a model that sees each "
                    "image once to forget less and miss fewer labels."
                ),
                reported="",
            ),
        ),
        status="making",
        grade="A/B",
        needs=("torch",),
    ),
    Demo(
        slug="genzsl",
        title="GenZSL",
        section="Vision and networks",
        icon=":material/pets:",
        papers=(
            Paper(
                title="GenZSL: Generative Zero-Shot Learning Via Inductive Variational Autoencoder",
                authors="Chen, Fu, S. Khan, F. S. Khan",
                venue=ICML,
                arxiv="2505.11882",
                claim=(
                    "Imagining a class never seen from similar seen ones, guided by its name "
                    "alone, beats imagining it from scratch."
                ),
                reported="24.7 % better and over 60 times faster training than f-VAEGAN (AWA2)",
            ),
        ),
        status="making",
        grade="B",
        needs=("torch",),
    ),
    Demo(
        slug="she_hashing",
        title="Streaming hashing (SHE)",
        section="Vision and networks",
        icon=":material/fingerprint:",
        papers=(
            Paper(
                title="SHE: Streaming-media Hashing Retrieval",
                authors="Pu, Qin, Song, Peng, Ren, Sun",
                venue=ICML,
                arxiv="",
                claim=(
                    "Each new kind of data, such as sound after images, can be made searchable "
                    "with the old ones without retraining on them."
                ),
                reported="",
            ),
        ),
        status="making",
        grade="C",
        needs=("torch",),
    ),
    Demo(
        slug="ta2net",
        title="Action Dubber",
        section="Vision and networks",
        icon=":material/music_note:",
        papers=(
            Paper(
                title="Action Dubber: Timing Audible Actions via Inflectional Flow",
                authors="Wan et al.",
                venue=ICML,
                arxiv="2506.13320",
                claim=(
                    "The moments at which a movement makes a sound can be found in silent video "
                    "from abrupt changes of motion."
                ),
                reported="",
            ),
        ),
        status="making",
        grade="C",
        needs=("cv2", "torch"),
    ),
    Demo(
        slug="rz_nas",
        title="RZ-NAS",
        section="Vision and networks",
        icon=":material/architecture:",
        papers=(
            Paper(
                title=(
                    "RZ-NAS: Enhancing LLM-guided Neural Architecture Search via Reflective "
                    "Zero-Cost Strategy"
                ),
                authors="Ji et al.",
                venue=ICML,
                arxiv="",
                claim=(
                    "A language model that reflects on scores computed without any training finds "
                    "good network designs at little cost."
                ),
                reported="",
            ),
        ),
        status="making",
        grade="C",
        needs=("torch",),
    ),
    # -- Physics and engineering -------------------------------------------------------------------
    Demo(
        slug="phy_ssm",
        title="Phy-SSM",
        section="Physics and engineering",
        icon=":material/trending_up:",
        papers=(
            Paper(
                title=(
                    "A Generalizable Physics-Enhanced State Space Model for Long-Term Dynamics "
                    "Forecasting in Complex Environments"
                ),
                authors="Wang et al.",
                venue=ICML,
                arxiv="2507.10792",
                claim=(
                    "Building the known part of the physics into a sequence model improves its "
                    "long-range forecasts from noisy, irregular data."
                ),
                reported="",
            ),
        ),
        status="making",
        grade="B",
        needs=("torch",),
    ),
    Demo(
        slug="nips_pde",
        title="Neural Interpretable PDEs",
        section="Physics and engineering",
        icon=":material/waves:",
        papers=(
            Paper(
                title=(
                    "Neural Interpretable PDEs: Harmonizing Fourier Insights with Attention for "
                    "Scalable and Interpretable Physics Discovery"
                ),
                authors="Liu, Yu",
                venue=ICML,
                arxiv="2505.23106",
                claim=(
                    "Attention combined with Fourier filters learns hidden physical laws from "
                    "examples better and more cheaply than attention alone."
                ),
                reported="",
            ),
        ),
        status="making",
        grade="B",
        needs=("torch",),
    ),
    Demo(
        slug="transolver_pp",
        title="Transolver++",
        section="Physics and engineering",
        icon=":material/flight:",
        papers=(
            Paper(
                title=(
                    "Transolver++: An Accurate Neural Solver for PDEs on Million-Scale Geometries"
                ),
                authors="Luo et al.",
                venue=ICML,
                arxiv="2502.02414",
                claim=(
                    "Grouping mesh points by their physical state lets a neural solver handle "
                    "shapes of a million points accurately."
                ),
                reported="13 % better on six benchmarks, over 20 % in million-point simulations",
            ),
        ),
        status="making",
        grade="B",
        needs=("torch",),
    ),
    Demo(
        slug="ssde",
        title="SSDE",
        section="Physics and engineering",
        icon=":material/function:",
        papers=(
            Paper(
                title="Closed-form Solutions: A New Perspective on Solving Differential Equations",
                authors="Wei et al.",
                venue=ICML,
                arxiv="2405.14620",
                claim=(
                    "Reinforcement learning finds formulas that solve differential equations, more "
                    "accurately and faster than earlier learners."
                ),
                reported="",
            ),
        ),
        status="making",
        grade="B",
        needs=("torch", "sympy"),
    ),
    Demo(
        slug="neural_heaviside",
        title="Topology optimisation",
        section="Physics and engineering",
        icon=":material/construction:",
        papers=(
            Paper(
                title=(
                    "Feature-Mapping Topology Optimization with Neural Heaviside Signed Distance "
                    "Functions"
                ),
                authors="",
                venue=ICML,
                arxiv="",
                claim=(
                    "Cutting holes of learnt, manufacturable forms designs parts that are stiff "
                    "and need little clean-up before they are made."
                ),
                reported="",
            ),
        ),
        status="making",
        grade="B",
        needs=("torch",),
    ),
    Demo(
        slug="bnn_opf",
        title="Power-flow proxies",
        section="Physics and engineering",
        icon=":material/electric_bolt:",
        papers=(
            Paper(
                title=(
                    "Optimization Proxies using Limited Labeled Data and Training Time – A "
                    "Semi-Supervised Bayesian Neural Network Approach"
                ),
                authors="Pareek, Jayakumar, Sundar, Misra, Deka",
                venue=ICML,
                arxiv="2410.03085",
                claim=(
                    "Alternating between a few solved cases and the physical rules trains a "
                    "Bayesian network that breaks a grid's limits less."
                ),
                reported="equality gap up to ten times smaller, inequality gaps halved",
            ),
        ),
        status="making",
        grade="B",
        needs=("torch", "pandapower"),
    ),
    Demo(
        slug="spectral_filtering",
        title="Spectral filtering",
        section="Physics and engineering",
        icon=":material/equalizer:",
        papers=(
            Paper(
                title=(
                    "Provable Length Generalization in Sequence Prediction via Spectral Filtering"
                ),
                authors="Marsden, Dogariu, Agarwal, Chen, Suo, Hazan",
                venue=ICML,
                arxiv="2411.01035",
                claim=(
                    "With filters fixed in advance, a predictor that learns from a short past "
                    "competes with ones that see the whole past."
                ),
                reported="",
            ),
        ),
        status="making",
        grade="A",
        needs=(),
    ),
    # -- Optimisation and graphs -------------------------------------------------------------------
    Demo(
        slug="pfev",
        title="Pareto entropy search",
        section="Optimisation and graphs",
        icon=":material/scatter_plot:",
        papers=(
            Paper(
                title="Pareto-frontier Entropy Search with Variational Lower Bound Maximization",
                authors="Ishikura, Karasuyama",
                venue=ICML,
                arxiv="2501.19073",
                claim=(
                    "Balancing a too strict and a too loose guess of the best trade-offs picks "
                    "better experiments, above all for many objectives."
                ),
                reported="",
            ),
        ),
        status="making",
        grade="A",
        needs=("torch", "botorch"),
    ),
    Demo(
        slug="po_combinatorial",
        title="Preference optimisation",
        section="Optimisation and graphs",
        icon=":material/compare:",
        papers=(
            Paper(
                title="Preference Optimization for Combinatorial Optimization Problems",
                authors="Pan, Lin, Luo, Zhu, Dai, Sun, Yuan",
                venue=ICML,
                arxiv="2505.08735",
                claim=(
                    "Learning from which of two solutions is better, not from their scores, trains "
                    "route planners faster and to shorter routes."
                ),
                reported="gap to the optimum on TSP-100: 0.15 % → 0.07 % (POMO)",
            ),
        ),
        status="making",
        grade="A/B",
        needs=("torch",),
    ),
    Demo(
        slug="mixed_curvature_vrp",
        title="Mixed-curvature routing",
        section="Optimisation and graphs",
        icon=":material/local_shipping:",
        papers=(
            Paper(
                title=(
                    "A Mixed-Curvature based Pre-training Paradigm for Multi-Task Vehicle Routing "
                    "Solver"
                ),
                authors="Liu, Cao, Feng, Ong",
                venue=ICML,
                arxiv="",
                claim=(
                    "Representing delivery problems in curved as well as flat space helps one "
                    "network to solve many kinds of them better."
                ),
                reported="average gap on Solomon's instances: 21.38 % → 17.84 %",
            ),
        ),
        status="making",
        grade="A/C",
        needs=("torch",),
    ),
    Demo(
        slug="sorted_reachability",
        title="Sort before you prune",
        section="Optimisation and graphs",
        icon=":material/sort:",
        papers=(
            Paper(
                title=(
                    "Sort Before You Prune: Improved Worst-Case Guarantees of the DiskANN Family "
                    "of Graphs"
                ),
                authors="Gollapudi, Krishnaswamy, Shiragur, Wardhan",
                venue=ICML,
                arxiv="",
                claim=(
                    "Sorting candidates before pruning gives nearest-neighbour search on graphs a "
                    "provably better worst-case guarantee."
                ),
                reported=(
                    "error factor α/(α − 1) instead of (α + 1)/(α − 1) for Euclidean distances"
                ),
            ),
        ),
        status="making",
        grade="A",
        needs=(),
    ),
    Demo(
        slug="ganm",
        title="Graphon change points",
        section="Optimisation and graphs",
        icon=":material/hub:",
        papers=(
            Paper(
                title="Learning Changes in Graphon Attachment Network Models",
                authors="Fan, Li, Leng, Wu",
                venue=ICML,
                arxiv="",
                claim=(
                    "Counting small patterns such as triangles and stars shows when the rule by "
                    "which a growing network links has changed."
                ),
                reported="",
            ),
        ),
        status="making",
        grade="B",
        needs=(),
    ),
    Demo(
        slug="edge_gnn",
        title="Edge embeddings",
        section="Optimisation and graphs",
        icon=":material/share:",
        papers=(
            Paper(
                title=(
                    "Towards characterizing the value of edge embeddings in Graph Neural Networks"
                ),
                authors="Rohatgi, Marwah, Lipton, Lu, Moitra, Risteski",
                venue=ICML,
                arxiv="2410.09867",
                claim=(
                    "Graph networks that keep a state on every edge nearly always beat those with "
                    "states on nodes only, above all around hubs."
                ),
                reported="",
            ),
        ),
        status="making",
        grade="A",
        needs=("torch",),
    ),
    Demo(
        slug="spectral_gnn",
        title="Spectral GNNs",
        section="Optimisation and graphs",
        icon=":material/graph_3:",
        papers=(
            Paper(
                title="Position: Spectral GNNs Rely Less on Graph Fourier Basis than Conceived",
                authors="Guo, Tang, Ma, Xu, Wei",
                venue=ICML,
                arxiv="",
                claim=(
                    "Spectral graph networks owe their success less to the graph's Fourier basis "
                    "than is commonly thought."
                ),
                reported="",
            ),
        ),
        status="making",
        grade="A",
        needs=(),
    ),
    Demo(
        slug="pdudt",
        title="Decentralised unlearning",
        section="Optimisation and graphs",
        icon=":material/group_remove:",
        papers=(
            Paper(
                title="PDUDT: Provable Decentralized Unlearning under Dynamic Topologies",
                authors="Qiao, Liu, Chen, Li, Yuan, Zhang, Yu",
                venue=ICML,
                arxiv="",
                claim=(
                    "Clients that learn together can forget one of them without retraining or "
                    "extra messages, as if retrained with added noise."
                ),
                reported="over 99 % of the unlearning time saved against retraining",
            ),
        ),
        status="making",
        grade="C",
        needs=(),
    ),
    # -- Control and robots ------------------------------------------------------------------------
    Demo(
        slug="telograf",
        title="TeLoGraF",
        section="Control and robots",
        icon=":material/conversion_path:",
        papers=(
            Paper(
                title="TeLoGraF: Temporal Logic Planning via Graph-encoded Flow Matching",
                authors="Meng, Fan",
                venue=ICML,
                arxiv="2505.00562",
                claim=(
                    "A network that reads a timed task as a graph plans paths that satisfy it, "
                    "much faster than classical planners."
                ),
                reported="10 to 100 times faster than classical planning",
            ),
        ),
        status="making",
        grade="A/B",
        needs=("torch",),
    ),
    Demo(
        slug="arsq",
        title="ARSQ",
        section="Control and robots",
        icon=":material/stairs:",
        papers=(
            Paper(
                title=(
                    "Learning from Suboptimal Data in Continuous Control via Auto-Regressive Soft "
                    "Q-Network"
                ),
                authors="Liu et al.",
                venue=ICML,
                arxiv="2502.00288",
                claim=(
                    "Choosing the parts of an action one after another, each knowing the earlier "
                    "ones, learns better from imperfect examples."
                ),
                reported="1.62 times the best value-based baseline on D4RL, on average",
            ),
        ),
        status="making",
        grade="A/B",
        needs=("torch",),
    ),
    Demo(
        slug="dexscale",
        title="Why randomise and adapt?",
        section="Control and robots",
        icon=":material/precision_manufacturing:",
        papers=(
            Paper(
                title="DexScale: Automating Data Scaling for Sim2Real Generalizable Robot Control",
                authors="Liu, Deng, Zhao, Zhou, Chen, Chen, Xu, Tai, Jia",
                venue=ICML,
                arxiv="",
                claim=(
                    "Varying simulated robot skills automatically, with real data mixed in, lets "
                    "policies work on real robots straight away."
                ),
                reported="",
            ),
        ),
        status="making",
        grade="C",
        needs=("torch",),
    ),
    Demo(
        slug="safety_certificate",
        title="Safety certificates",
        section="Control and robots",
        icon=":material/health_and_safety:",
        papers=(
            Paper(
                title=(
                    "Safety Certificate against Latent Variables with Partially Unidentifiable "
                    "Dynamics"
                ),
                authors="Jing, Nakahira",
                venue=ICML,
                arxiv="2506.17927",
                claim=(
                    "Even when part of a system stays hidden, actions can be chosen so that "
                    "long-term risk stays within a set tolerance."
                ),
                reported="",
            ),
        ),
        status="making",
        grade="A",
        needs=(),
    ),
)


def by_slug(slug: str) -> Demo:
    """Return the demo with this slug.

    Raises
    ------
    ValueError
        If no demo has it.

    Examples
    --------
    >>> by_slug("quest").title
    'QuEst'
    """
    for demo in DEMOS:
        if demo.slug == slug:
            return demo
    raise ValueError(
        f"No demo has the slug {slug!r}; it must be one of the {len(DEMOS)} slugs in "
        "models/catalog.py."
    )


def sections() -> dict[str, tuple[Demo, ...]]:
    """Return the demos of each section, sections and demos in the catalogue's order."""
    names = dict.fromkeys(demo.section for demo in DEMOS)
    return {name: tuple(demo for demo in DEMOS if demo.section == name) for name in names}


def working() -> tuple[Demo, ...]:
    """Return the demos whose pages can be opened, in the catalogue's order."""
    return tuple(demo for demo in DEMOS if demo.status == "works")
