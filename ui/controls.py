"""Widgets whose key carries the page's slug and whose value lives in the URL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import streamlit as st

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
            label,
            low,
            high,
            default,
            step=step,
            key=self.key(name),
            help=help,
            bind="query-params",
        )

    def span(
        self, name: str, label: str, default: tuple[float, float], help: str
    ) -> tuple[float, float]:
        """Return the two ends of a bound range slider on [0, 1] in hundredths."""
        low, high = st.slider(
            label,
            0.0,
            1.0,
            default,
            step=0.01,
            key=self.key(name),
            help=help,
            bind="query-params",
        )
        return float(low), float(high)

    def choice(
        self, name: str, label: str, options: Mapping[str, str], default: str, help: str
    ) -> str:
        """Return the chosen key of a bound select box whose options map keys to labels."""
        return str(
            st.selectbox(
                label,
                list(options),
                list(options).index(default),
                format_func=lambda option: options.get(option, option),
                key=self.key(name),
                help=help,
                bind="query-params",
            )
        )

    def segments(
        self, name: str, label: str, options: Sequence[Number], default: Number, help: str
    ) -> Number:
        """Return the chosen one of a few numbers drawn side by side."""
        return st.segmented_control(
            label,
            options,
            default=default,
            key=self.key(name),
            help=help,
            required=True,
            bind="query-params",
        )

    def toggle(self, name: str, label: str, default: bool, help: str) -> bool:
        """Return a bound switch."""
        return st.toggle(label, default, key=self.key(name), help=help, bind="query-params")

    def text(self, name: str, label: str, default: str, help: str) -> str:
        """Return a bound line of text."""
        return st.text_input(
            label, default, key=self.key(name), help=help, bind="query-params", max_chars=400
        )

    def number(self, name: str, label: str, low: int, high: int, default: int, help: str) -> int:
        """Return a bound whole number."""
        return int(
            st.number_input(
                label, low, high, default, key=self.key(name), help=help, bind="query-params"
            )
        )

    def write(self, values: Mapping[str, Any]) -> None:
        """Set controls by name; valid in a callback or before the widgets are drawn."""
        for name, value in values.items():
            st.session_state[self.key(name)] = value

    def setter(self, values: Mapping[str, Any]) -> Callable[[], None]:
        """Return a callback that sets controls by name."""
        return lambda: self.write(values)

    def matches(self, values: Mapping[str, Any]) -> bool:
        """Whether the controls stand at these values."""
        return all(st.session_state.get(self.key(name)) == value for name, value in values.items())
