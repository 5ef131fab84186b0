"""Write the README's table of papers from the catalogue and the ledger."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from models.catalog import working  # noqa: E402
from models.claims import claims_of, read_ledger  # noqa: E402

OPEN, CLOSE = "<!-- papers:", "<!-- /papers -->"


def table() -> str:
    """Return the table in Markdown, one row a working paper."""
    ledger = read_ledger()
    lines = [
        "| paper | claim | reported | measured here | verdict |",
        "|---|---|---|---|---|",
    ]
    for demo in working():
        claims = claims_of(demo.slug)
        for number, paper in enumerate(demo.papers):
            # The headline is the first paper's; another one's first claim names it as its source.
            wanted = [claim.headline and not number for claim in claims]
            if number:
                name = paper.authors.split(",")[0]
                wanted = [claim.source.startswith(name) for claim in claims]
            chosen = next((c for c, yes in zip(claims, wanted, strict=True) if yes), None)
            entry = None if chosen is None else ledger.get(f"{demo.slug}/{chosen.id}")
            measured, verdict = "not measured yet", ""
            if entry is not None:
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
