"""Write the README's table of papers from the catalogue and the ledger."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from models.catalog import working  # noqa: E402
from models.claims import read_ledger  # noqa: E402

OPEN, CLOSE = "<!-- papers:", "<!-- /papers -->"


def table() -> str:
    """Return the table in Markdown, one row a working paper."""
    ledger = read_ledger()
    lines = [
        "| paper | claim | reported | measured here | verdict |",
        "|---|---|---|---|---|",
    ]
    for demo in working():
        entry = next((e for e in ledger.values() if e.slug == demo.slug and e.headline), None)
        measured, verdict = "not measured yet", ""
        if entry is not None:
            m = entry.measurement
            measured = f"{m.value:.3g} {entry.unit} ({m.low:.3g} to {m.high:.3g})"
            verdict = m.verdict
        for paper in demo.papers:
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
