"""Write the README's table of papers from the catalogue and the ledger."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from models.catalog import Demo, Paper, working  # noqa: E402
from models.claims import Claim, claims_of, read_ledger  # noqa: E402

OPEN, CLOSE = "<!-- papers:", "<!-- /papers -->"


def own_claim(demo: Demo, paper: Paper) -> Claim | None:
    """Return the headline for a page's first paper, and another one's first claim by its source."""
    claims = claims_of(demo.slug)
    if paper is demo.papers[0]:
        return next((claim for claim in claims if claim.headline), None)
    author = paper.authors.split(",")[0]
    return next((claim for claim in claims if claim.source.startswith(author)), None)


def table() -> str:
    """Return the table in Markdown, one row a working paper."""
    ledger = read_ledger()
    lines = [
        "| paper | claim | reported | measured here | verdict |",
        "|---|---|---|---|---|",
    ]
    for demo in working():
        for paper in demo.papers:
            claim = own_claim(demo, paper)
            entry = claim and ledger.get(f"{demo.slug}/{claim.id}")
            measured, verdict = "not measured yet", ""
            if entry:
                m = entry.measurement
                measured = f"{m.value:.3g} {entry.unit} ({m.low:.3g} to {m.high:.3g})"
                verdict = m.verdict
            lines.append(
                f"| [{demo.title}](pages/{demo.slug}/): {paper.title} ({paper.venue}) | "
                f"{paper.claim} | {paper.reported or 'no single number'} | {measured} | {verdict} |"
            )
    return "\n".join(lines)


def main() -> None:
    """Replace what stands between the two markers."""
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    head, rest = text.split(OPEN, 1)
    marker, rest = rest.split("\n", 1)
    _, tail = rest.split(CLOSE, 1)
    body = f"{head}{OPEN}{marker}\n{table()}\n{CLOSE}{tail}"
    readme.write_text(body, encoding="utf-8")


if __name__ == "__main__":
    main()
