"""The certificate as one page of HTML that opens offline and prints on one sheet."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from typing import Any

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;width:100%}td,th{padding:.25rem .5rem;text-align:left;"
    "border-bottom:1px solid #bbb}code{overflow-wrap:anywhere}.void{color:#a00}"
    "@media(prefers-color-scheme:dark){body{background:#111;color:#eee}.void{color:#f88}}"
)


def certificate_html(certificate: str) -> str:
    """Return a self-contained page that shows a certificate.

    Parameters
    ----------
    certificate : the JSON text that ``issue`` returned
    """
    data: dict[str, Any] = json.loads(certificate)
    certified = set(data["certified"])
    rows = zip(data["names"], data["tests"], data["log10_wealth"], strict=True)
    table = "".join(
        _row((name, _verdict(name in certified, tests), tests, _power(wealth)))
        for name, tests, wealth in rows
    )
    facts = {
        "Rounds used": data["rounds"],
        "Losses used": f"{data['losses']} of {data['settings']['budget']}",
        "Stopped": data["stopped"],
        **{key: value for key, value in data["settings"].items() if value is not None},
        "SHA-256 of the log": data["log_sha256"],
        "Checksum of this certificate": data["checksum"],
        "Versions": ", ".join(f"{name} {number}" for name, number in data["versions"].items()),
    }
    void = ' class="void"' if data["settings"]["released"] else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>aLTT certificate</title><style>{_STYLE}</style></head><body><main>"
        f"<h1>{len(certified)} of {len(data['names'])} candidates certified</h1>"
        f"<p{void}><strong>Guarantee.</strong> {escape(data['guarantee'])}</p>"
        f"<table><thead>{_row(('Candidate', 'Verdict', 'Losses', 'Wealth'), 'th')}</thead>"
        f"<tbody>{table}</tbody></table><h2>How</h2><table><tbody>"
        + "".join(_row(item) for item in facts.items())
        + "</tbody></table><p>Recompute it from the log: "
        "<code>python -m models.altt verify certificate.json log.csv</code></p>"
        "</main></body></html>"
    )


def _row(cells: Iterable[object], tag: str = "td") -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(str(cell))}</{tag}>' for cell in cells)}</tr>"


def _verdict(certified: bool, tests: int) -> str:
    if certified:
        return "certified"
    return "not certified" if tests else "untested"


def _power(log10: float | None) -> str:
    if log10 is None:
        return "0 (bankrupt)"
    return f"{10.0**log10:.3g}" if abs(log10) < 6 else f"10^{log10:.1f}"
