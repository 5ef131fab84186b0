"""A button that runs something long: progress, a stop that keeps what is done, and the result."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, closing, nullcontext
from typing import Any

import streamlit as st

from ui.upload import plain

WAITING = "Waiting for a free worker: someone else's run is going on."
STALE = "What follows was made with earlier settings; run it again to update."

Turn = Callable[[Callable[[], object]], AbstractContextManager[None]]


def _at_once(waiting: Callable[[], object]) -> AbstractContextManager[None]:
    return nullcontext()


def live(
    key: str,
    label: str,
    made_with: object,
    items: Callable[[], Generator[Any, None, None]],
    told: Callable[[Any], tuple[float, str]],
    *,
    show: Callable[[Any], None] | None = None,
    turn: Turn = _at_once,
    starting: str = "Starting",
    stale: str = STALE,
) -> Any:
    """Draw the button, run on a click, and return the latest result, or None.

    Parameters
    ----------
    key, label : of the button; the result is kept under ``<key>_result``
    made_with : the settings, compared with those of the result that is kept
    items : starts a generator of results, each of which replaces the one before
    told : share done and a few words on it
    show : draws a result while the run goes on, into a place of its own
    turn : holds what the run needs, such as a worker; calls its argument while it waits for that
    starting, stale : said before the first result, and above one of earlier settings
    """
    store = st.session_state
    run = st.button(label, key=f"{key}_run", type="primary")
    running = st.empty()
    if run:
        with running.container():
            bar = st.progress(0.0, starting)
            st.button("Stop and keep what is done", key=f"{key}_stop")
            place = st.empty()
        try:
            with turn(lambda: bar.progress(0.0, WAITING)), closing(items()) as results:
                for result in results:
                    # Stored first: drawing is where a click on "Stop" ends this run.
                    store[f"{key}_result"] = (made_with, result)
                    share, words = told(result)
                    bar.progress(max(0.0, min(1.0, share)), words)
                    if show is not None:
                        with place.container():
                            show(result)
        except ValueError as error:
            st.error(plain(str(error)))
        running.empty()
    before, latest = store.get(f"{key}_result", (made_with, None))
    if before != made_with:
        st.caption(stale)
    return latest
