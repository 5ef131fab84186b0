"""A button that runs something heavy: progress, a stop that keeps what is done, one worker each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import streamlit as st

from models.torchrun import worker
from ui.controls import Controls
from ui.upload import plain

WAITING = "Waiting for a free worker: someone else's run is going on."


def live(
    controls: Controls,
    name: str,
    label: str,
    made_with: object,
    items: Callable[[], Iterator[Any]],
    told: Callable[[Any], tuple[float, str]],
    show: Callable[[Any], None] | None = None,
) -> Any:
    """Draw the button, run on a click, and return the latest result, or None.

    Parameters
    ----------
    name, label : key of the control and words on the button
    made_with : the settings, compared with those of the result that is kept
    items : starts a generator of results, each of which replaces the one before
    told : share done and a few words on it
    show : draws a result while the run goes on, into a place of its own
    """
    key, store = controls.key(name), st.session_state
    start = st.button(label, key=f"{key}_run", type="primary")
    running = st.empty()
    if start:
        with running.container():
            bar = st.progress(0.0, "Starting")
            st.button("Stop and keep what is done", key=f"{key}_stop")
            place = st.empty()
        try:
            with worker(lambda: bar.progress(0.0, WAITING)):
                for item in items():
                    store[f"{key}_result"] = (made_with, item)
                    share, words = told(item)
                    bar.progress(max(0.0, min(1.0, share)), words)
                    if show is not None:
                        with place.container():
                            show(item)
        except ValueError as error:
            st.error(plain(str(error)))
        running.empty()
    before, result = store.get(f"{key}_result", (None, None))
    if result is not None and before != made_with:
        st.caption("What follows was made with earlier settings; run it again to update.")
    return result
