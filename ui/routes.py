"""HTTP routes that the launcher adds to Streamlit's own."""

from __future__ import annotations

import mimetypes
import os
from pathlib import Path
from typing import Any

from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

ASSETS = Path(__file__).resolve().parent.parent / "assets"
MONTH = "public, max-age=2592000"  # checked again by ETag after thirty days


class LastingFiles(StaticFiles):
    """Files of one folder, with leave for the browser to keep them."""

    def file_response(self, full_path: str | os.PathLike[str], *rest: Any, **more: Any) -> Response:
        response = super().file_response(full_path, *rest, **more)
        response.headers["Cache-Control"] = MONTH
        return response


async def favicon(_: object) -> FileResponse:
    """Our icon where Streamlit's page asks for its own, until the shell sets the page's."""
    return FileResponse(ASSETS / "icon.png", headers={"Cache-Control": MONTH})


def routes(base: str = "") -> list[BaseRoute]:
    """Every route of ours.

    `base` is `server.baseUrlPath`, the path below which a proxy shows the dashboard. The theme
    names its fonts relative to the page, so that one configuration serves both cases.
    """
    # Python 3.11 does not know the type, and not every machine has a table that does.
    mimetypes.add_type("font/woff2", ".woff2")
    prefix = f"/{base.strip('/')}" if base.strip("/") else ""
    return [
        Mount(f"{prefix}/fonts", LastingFiles(directory=ASSETS / "fonts"), name="fonts"),
        Route(f"{prefix}/favicon.png", favicon, name="favicon"),
    ]
