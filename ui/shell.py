"""The frame around every page: configuration, menu, presenter mode; run by ``app.py``."""

from __future__ import annotations

import sys
from pathlib import Path

import streamlit as st

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from models.catalog import sections  # noqa: E402
from ui import anatomy  # noqa: E402

PAGES = ROOT / "pages"


def menu() -> dict[str, list[st.Page]]:
    """Build the navigation from the catalogue: home and claims, then the papers that work."""
    entries = {
        "": [
            st.Page(PAGES / "home.py", title="Papers", icon=":material/grid_view:", default=True),
            st.Page(
                PAGES / "claims.py",
                title="Claims",
                icon=":material/fact_check:",
                url_path="claims",
            ),
        ]
    }
    for section, demos in sections().items():
        pages = [
            st.Page(
                PAGES / demo.slug / "page.py",
                title=demo.title,
                icon=demo.icon,
                url_path=demo.slug,
                help=demo.papers[0].title,
            )
            for demo in demos
            if demo.status == "works"
        ]
        if pages:
            entries[section] = pages
    return entries


def main() -> None:
    """Draw the frame and run the chosen page inside it."""
    icon = ROOT / "assets" / "icon.png"
    st.set_page_config(page_title="Liveproof", page_icon=str(icon), layout="wide")
    page = st.navigation(
        menu(), position="hidden" if anatomy.presenting() else "sidebar", expanded=True
    )
    st.logo(str(ROOT / "assets" / "logo.svg"), size="large")
    page.run()


main()
