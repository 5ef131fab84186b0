"""Widgets whose key carries the page's slug and whose value lives in the URL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import streamlit as st
from streamlit.errors import StreamlitAPIException

Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class Controls:
    """Factory for a page's bound widgets: the key is ``<slug>_<name>`` and is the URL parameter.

    Each widget is given its default, so that a default value stays out of the URL; presets and
    tours write the key before the widget is drawn, and what they write wins.
    """

    slug: str

    def key(self, name: str) -> str:
        """Return the widget key and URL parameter of a control."""
        return f"{self.slug}_{name}"

    def slider(
        self,
        name: str,
        label: str,
        low: Number,
        high: Number,
        default: Number,
        step: Number,
        help: str,
    ) -> Number:
        """Return a bound slider's value."""
        return st.slider(
            label, low, high, default, step=step, help=help, **self._bound(name, default)
        )

    def span(
        self, name: str, label: str, default: tuple[float, float], help: str
    ) -> tuple[float, float]:
        """Return the two ends of a bound range slider on [0, 1] in hundredths."""
        bound = self._bound(name, default, lambda ends: [str(end) for end in ends])
        low, high = st.slider(label, 0.0, 1.0, default, step=0.01, help=help, **bound)
        return float(low), float(high)

    def choice(
        self, name: str, label: str, options: Mapping[str, str], default: str, help: str
    ) -> str:
        """Return the chosen key of a bound select box whose options map keys to labels."""

        def shown(option: str) -> str:
            return options.get(option, option)

        return str(
            st.selectbox(
                label,
                list(options),
                list(options).index(default),
                format_func=shown,
                help=help,
                **self._bound(name, default, shown),
            )
        )

    def several(self, name: str, label: str, options: Mapping[str, str], help: str) -> list[str]:
        """Return the chosen keys of bound pills; none is the default."""
        bound = self._bound(name, [], lambda chosen: [options[option] for option in chosen])
        chosen = st.pills(
            label,
            list(options),
            format_func=options.__getitem__,
            selection_mode="multi",
            help=help,
            **bound,
        )
        return list(chosen or [])

    def segments(
        self, name: str, label: str, options: Sequence[Number], default: Number, help: str
    ) -> Number:
        """Return the chosen one of a few numbers drawn side by side."""
        chosen = st.segmented_control(
            label,
            options,
            default=default,
            help=help,
            required=True,
            **self._bound(name, default),
        )
        return default if chosen is None else chosen  # an empty value in a link leaves none chosen

    def toggle(self, name: str, label: str, default: bool, help: str) -> bool:
        """Return a bound switch."""
        bound = self._bound(name, default, lambda on: str(on).lower())
        return st.toggle(label, default, help=help, **bound)

    def text(self, name: str, label: str, default: str, help: str) -> str:
        """Return a bound line of text."""
        bound = self._bound(name, default)
        return st.text_input(label, default, help=help, max_chars=400, **bound)

    def number(self, name: str, label: str, low: int, high: int, default: int, help: str) -> int:
        """Return a bound whole number."""
        # As floats, because Streamlit cannot make the infinity of a mangled link a whole number.
        limits = float(low), float(high), float(default)
        bound = self._bound(name, default)
        return int(st.number_input(label, *limits, 1.0, "%d", help=help, **bound))

    def write(self, values: Mapping[str, Any]) -> None:
        """Set controls by name; valid in a callback or before the widgets are drawn."""
        for name, value in values.items():
            st.session_state[self.key(name)] = value

    def matches(self, values: Mapping[str, Any]) -> bool:
        """Whether the controls stand at these values."""
        return all(st.session_state.get(self.key(name)) == value for name, value in values.items())

    def _bound(
        self, name: str, default: Any, shown: Callable[[Any], str | list[str]] = str
    ) -> dict[str, Any]:
        """Return a widget's key and binding, and put what a preset wrote for it into the URL.

        Streamlit does that itself only for a widget that was drawn in the run before.
        """
        key = self.key(name)
        value = st.session_state.get(key, default)
        if value != default and key not in st.query_params:
            with suppress(StreamlitAPIException):  # it was drawn before: Streamlit sees to it
                st.query_params[key] = shown(value)
        return {"key": key, "bind": "query-params"}
