"""Feeding losses by hand on the aLTT page: one at a time or in batches, with a log to resume."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from models.altt.config import Config
from models.altt.log import Line, read_csv, resume, resume_json, write_csv, write_json
from models.altt.race import Race
from pages.altt import texts
from pages.altt.compute import Run, numbers
from pages.altt.settings import Settings
from ui.controls import Controls
from ui.upload import plain


@dataclass
class Feed:
    """A run in progress: the race, the names of its candidates, and the seed."""

    race: Race
    names: tuple[str, ...]
    seed: int


def current(controls: Controls, settings: Settings) -> Feed:
    """Return the visitor's run; its settings follow the controls until the first loss.

    After that they stay, as a promise must not change with what was seen; only a larger budget is
    taken over.

    Raises
    ------
    ValueError
        One sentence on why the settings cannot be used.
    """
    key = controls.key("feed")
    feed: Feed | None = st.session_state.get(key)
    if feed is None or not feed.race.log:
        names = split(settings.names)
        config = settings.config(len(names))
        feed = Feed(Race(config, np.random.default_rng(settings.seed)), names, settings.seed)
    elif settings.budget > feed.race.config.budget:
        longer = replace(feed.race.config, budget=settings.budget)
        lines = [Line(entry.round, entry.candidate, entry.losses) for entry in feed.race.log]
        race = resume(longer, lines, np.random.default_rng(feed.seed))
        feed = Feed(race, feed.names, feed.seed)
    st.session_state[key] = feed
    return feed


def reach(run: Run) -> int:
    """Return where the picture of a run in progress ends: a little ahead, in steps of 50 tests."""
    return min(run.config.budget, 50 * (run.trace.spent // 50 + 1))


def split(text: str) -> tuple[str, ...]:
    """Return names separated by commas or semicolons.

    Raises
    ------
    ValueError
        If there is none, or one stands twice.
    """
    names = tuple(name.strip() for name in text.replace(";", ",").split(",") if name.strip())
    if not names:
        raise ValueError("There are no candidates; give names separated by commas, such as A, B.")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"The name {twice[:40]!r} stands twice; each candidate needs its own.")
    return names


def draw(controls: Controls, settings: Settings, feed: Feed, run: Run) -> None:
    """Draw what to test next, the box for losses, the exports and the way back in."""
    race, names = feed.race, feed.names
    with st.container(border=True):
        _next(run, feed)
        who, what, add = st.columns([0.25, 0.5, 0.25], vertical_alignment="bottom")
        suggested = race.suggest()
        chosen = int(suggested[0]) if suggested.size else 0
        place = who.selectbox(
            "Candidate",
            range(len(names)),
            chosen,
            format_func=lambda i: names[i],
            key=controls.key(f"feed_who_{len(race.log)}"),
            help="The suggested one, or any other: the promise holds for every choice.",
        )
        what.text_area(
            "Its new losses, in the order in which they came",
            key=controls.key("feed_losses"),
            height=80,
            placeholder="0.25 or 0 1 0 0",
            help="Numbers from 0 to 1, separated by spaces, commas or lines.",
        )
        add.button(
            "Add",
            key=controls.key("feed_add"),
            type="primary",
            width="stretch",
            on_click=_add,
            args=(controls, feed, place),
        )
        if error := st.session_state.get(controls.key("feed_error")):
            st.error(plain(error))
        if race.log and _differs(settings, race.config):
            st.caption(
                "The promise was fixed with the first loss: "
                f"alpha {race.config.targets[0]:g}, delta {race.config.delta:g}, "
                f"{len(names)} candidates. The controls take effect after a reset."
            )
        _exports(controls, feed)


def _next(run: Run, feed: Feed) -> None:
    race, names = feed.race, feed.names
    suggested = [plain(names[i]) for i in race.suggest()]
    found = int(run.certified.sum())
    if race.config.released:
        safe = "Nothing is promised, whenever you stop: the bets peek"
    else:
        safe = f"Safe to stop now, with {found} certified: the promise holds at this moment"
    if suggested:
        st.markdown(f"**Test next: {', '.join(suggested[:8])}.** {safe}, and at any later one.")
    else:
        why = texts.WORDS.get(race.stopped() or "", "the run is over")
        st.markdown(f"**Nothing to test next: {why}.** {safe}.")


def _exports(controls: Controls, feed: Feed) -> None:
    race, names = feed.race, feed.names
    with st.container(horizontal=True):
        for label, name, data in (
            ("Log (CSV)", "log.csv", lambda: write_csv(race, names)),
            ("Whole run (JSON)", "run.json", lambda: write_json(race, names, feed.seed)),
        ):
            st.download_button(
                label, data, f"altt_{name}", key=controls.key(f"feed_{name[-4:].strip('.')}"),
                icon=":material/download:", on_click="ignore",
            )  # fmt: skip
        st.button(
            "Reset: forget every loss",
            key=controls.key("feed_reset"),
            icon=":material/restart_alt:",
            on_click=_reset,
            args=(controls,),
        )
    st.file_uploader(
        "Resume from an exported run (JSON), or from a log (CSV) under the settings above",
        type=["json", "csv"],
        key=controls.key("feed_resume"),
        on_change=_resume,
        args=(controls, feed),
    )
    st.caption(
        "There is no undo: leaving out a loss after seeing it would break the promise. A reset "
        "starts another run, whose promise is its own."
    )


def _add(controls: Controls, feed: Feed, place: int) -> None:
    store = st.session_state
    store.pop(controls.key("feed_error"), None)
    try:
        feed.race.feed_batch(place, numbers(store[controls.key("feed_losses")]))
    except ValueError as error:
        store[controls.key("feed_error")] = str(error)
    else:
        store[controls.key("feed_losses")] = ""
    store[controls.key("feed")] = feed


def _reset(controls: Controls) -> None:
    for part in ("feed", "feed_error"):
        st.session_state.pop(controls.key(part), None)


def _resume(controls: Controls, feed: Feed) -> None:
    store = st.session_state
    file = store[controls.key("feed_resume")]
    store.pop(controls.key("feed_error"), None)
    if file is None:
        return
    try:
        text = file.getvalue().decode("utf-8-sig")
        if file.name.lower().endswith(".json"):
            found = Feed(*resume_json(text))
        else:
            lines = read_csv(text, feed.names, 1)
            rng = np.random.default_rng(feed.seed)
            found = Feed(resume(feed.race.config, lines, rng), feed.names, feed.seed)
    except UnicodeDecodeError:
        store[controls.key("feed_error")] = "The file is not UTF-8 text: export the run again."
    except ValueError as error:
        store[controls.key("feed_error")] = str(error)
    else:
        store[controls.key("feed")] = found


def _differs(settings: Settings, config: Config) -> bool:
    try:
        return settings.config(config.n_candidates) != config
    except ValueError:
        return True
