"""Make the pictures of the home page's cards: `python -m scripts.thumbnails [slug …]`.

Each is a page's own default picture, light and dark, as the browser draws it. The dashboard only
reads the files.
"""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from models.catalog import working
from scripts.visitor import ROOT, Look, Visitor, launched, served

FOLDER = ROOT / "assets" / "thumbnails"
LARGEST = 60_000  # bytes
LOOKS = (Look(1440, 900, "light"), Look(1440, 900, "dark"))


def picture(browser: Browser, url: str, look: Look) -> bytes:
    """The first chart of a page, in its page's colours."""
    with look.context(browser) as context:
        visitor = Visitor(context.new_page())
        visitor.open(url)
        chart = visitor.page.locator('[data-testid="stPlotlyChart"]').first
        return chart.screenshot(animations="disabled")


def main(slugs: list[str]) -> None:
    """Write the pictures of these pages, or of all."""
    FOLDER.mkdir(exist_ok=True)
    with served() as server, sync_playwright() as playwright:
        browser = launched(playwright)
        for slug in slugs or [demo.slug for demo in working()]:
            for look in LOOKS:
                file: Path = FOLDER / f"{slug}_{look.scheme}.png"
                file.write_bytes(picture(browser, f"{server.url}/{slug}", look))
                if file.stat().st_size > LARGEST:
                    raise SystemExit(f"{file.name} is too large: {file.stat().st_size:,} bytes.")
                print(f"{file.relative_to(ROOT)}: {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
