"""The claims page: every claim of every working paper as measured here, contradictions too."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from models.catalog import by_slug
from models.claims import all_claims
from ui import ledger

st.title("Claims, measured again", anchor=False)
st.markdown(
    "What the papers say, what was measured here, and whether the two agree. A claim **holds** "
    "only if the whole 95 % interval of the measurement lies on its good side; it is "
    "**contradicted** if the whole interval lies on the other side; otherwise it **does not show "
    "at this scale**."
)

claims = all_claims()
rows = []
for slug, group in claims.items():
    for claim in group:
        entry = ledger.latest(slug, claim)
        rows.append(
            {
                "verdict": ledger.BADGES[entry.measurement.verdict][0] if entry else "not measured",
                "paper": by_slug(slug).title,
                "claim": claim.statement,
                "measured here": (
                    ledger.figure(entry.measurement, claim.unit)
                    if entry
                    else (f"not measured: {claim.why_not}" if claim.why_not else "not measured yet")
                ),
                "reported": claim.reported,
                "whose figure": claim.kind,
                "trials": entry.measurement.trials if entry else None,
                "measured on": entry.date if entry else "",
            }
        )
st.dataframe(
    pd.DataFrame(rows),
    hide_index=True,
    key="claims_table",
    alt="Every claim with its figure and verdict",
    height="content",
    column_config={
        "verdict": st.column_config.TextColumn(width=170),
        "paper": st.column_config.TextColumn(width=80),
        "claim": st.column_config.TextColumn(width=470),
        "measured here": st.column_config.TextColumn(width=250),
    },
)

own = ledger.visitor()
if own:
    st.caption(f"{len(own)} of these figures were measured by you in this visit.")

st.header("Measure one again", divider="gray", anchor=False)
for slug, group in claims.items():
    with st.expander(f"{by_slug(slug).title}: {len(group)} claims", expanded=len(claims) == 1):
        ledger.check(slug)
