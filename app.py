"""The launcher: `make demo`, `python app.py` and `streamlit run app.py` all start the dashboard.

The main script is ui/shell.py and not this file: beside a folder named pages/ Streamlit would
put its automatic menu in place of ours on the first deep link after a start.
"""

from __future__ import annotations

import gc
import importlib
import sys
import threading
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st
from streamlit.web import cli

from ui.routes import routes

ROOT = Path(__file__).resolve().parent
EVERY_PAGE_NEEDS = ("numpy", "scipy.stats", "pandas", "plotly.graph_objects")


def warm_up() -> None:
    """Import what every page needs, then take it out of the garbage collector's sight.

    Streamlit runs a full collection after every rerun, which costs the more the more objects
    live; those made by imports live as long as the process and need not be visited.
    """
    for name in EVERY_PAGE_NEEDS:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()


def address() -> str:
    """The address that a browser on this machine can open."""
    host = st.get_option("browser.serverAddress")
    if host in (None, "", "localhost"):
        host = st.get_option("server.address")
    if host in (None, "", "0.0.0.0", "::"):
        host = "localhost"
    host = f"[{host}]" if ":" in host else host
    scheme = "https" if st.get_option("server.sslCertFile") else "http"
    base = st.get_option("server.baseUrlPath").strip("/")
    return f"{scheme}://{host}:{st.get_option('server.port')}/{base}".rstrip("/")


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Warm up, say where the dashboard is and, on a desktop, open it in a browser tab."""
    warm_up()
    # Another ASGI server (`uvicorn app:app`) chooses its own port, and says which.
    if Path(sys.argv[0]).resolve() == Path(__file__).resolve():
        print(f"\n  Liveproof is at {address()}  (Ctrl+C stops it)\n", flush=True)
        if not st.get_option("server.headless"):
            # The port listens already. A thread, because some browsers return only when closed.
            threading.Thread(target=webbrowser.open, args=(address(),), daemon=True).start()
    yield


if __name__ == "__main__":
    # The same road as `streamlit run app.py`, so that its flags and variables work here too.
    sys.exit(cli.main(["run", __file__, *sys.argv[1:]], prog_name="streamlit"))

app = st.App(
    ROOT / "ui" / "shell.py",
    routes=routes(st.get_option("server.baseUrlPath")),
    lifespan=lifespan,
)
