"""How every chart looks: one colour, dash and marker per role, fixed heights, alt texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import plotly.graph_objects as go
import streamlit as st

Mode = Literal["light", "dark"]
Role = Literal["ours", "variant", "peer", "classical", "naive", "other"]

# Slot in the theme's palette, dash and marker: nothing is told by colour alone.
ROLES: dict[Role, tuple[int, str, str]] = {
    "ours": (0, "solid", "circle"),
    "variant": (5, "dashdot", "circle-open"),
    "peer": (3, "dash", "diamond"),
    "classical": (1, "solid", "square"),
    "naive": (2, "dot", "triangle-up"),
    "other": (4, "longdash", "x"),
}
CONFIG = {"displayModeBar": False, "scrollZoom": False}


@dataclass(frozen=True)
class Look:
    """Colours and sizes of one theme.

    Attributes
    ----------
    palette : tuple of ten hex colours, the theme's own
    ink, faint, line : text, secondary text and grid colours
    font_size : base size in pixels; larger in presenter mode
    """

    palette: tuple[str, ...]
    ink: str
    faint: str
    line: str
    font_size: int = 14

    def colour(self, role: Role) -> str:
        """Hex colour of a role."""
        return self.palette[ROLES[role][0]]

    def dash(self, role: Role) -> str:
        """Plotly dash of a role."""
        return ROLES[role][1]

    def marker(self, role: Role) -> str:
        """Plotly marker symbol of a role."""
        return ROLES[role][2]

    def band(self, role: Role, opacity: float = 0.16) -> str:
        """Translucent fill for an uncertainty band."""
        return fade(self.colour(role), opacity)


def fade(colour: str, opacity: float) -> str:
    """``#rrggbb`` with an opacity, as CSS rgba."""
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:g})"


def current_mode() -> Mode:
    """Return the visitor's theme; light until the browser has told."""
    return "dark" if st.context.theme.type == "dark" else "light"


def look(mode: Mode | None = None, *, large: bool = False) -> Look:
    """Return the look of a theme (the visitor's, unless one is named), read from the config."""
    chosen = mode or current_mode()

    def option(name: str) -> str:
        return str(st.get_option(f"theme.{chosen}.{name}"))

    colours = st.get_option(f"theme.{chosen}.chartCategoricalColors")
    ink = option("textColor")
    return Look(tuple(colours), ink, fade(ink, 0.72), option("borderColor"), 18 if large else 14)


def frame(look: Look, height: int, **layout: object) -> go.Figure:
    """Return an empty figure of a fixed height in the house style."""
    figure = go.Figure()
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 8, "t": 24, "b": 8},
        font={"size": look.font_size, "color": look.ink},
        showlegend=False,
        uirevision="keep",
        hovermode="closest",
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        **layout,
    )
    axis = {
        "gridcolor": look.line,
        "zeroline": False,
        "automargin": True,
        "tickfont": {"size": look.font_size - 1, "color": look.faint},
        "title": {"font": {"size": look.font_size, "color": look.faint}},
    }
    figure.update_xaxes(**axis)
    figure.update_yaxes(**axis)
    return figure


def padded(values: Sequence[float], share: float = 0.06) -> tuple[float, float]:
    """Axis range around finite values with a margin on both sides."""
    low, high = min(values), max(values)
    pad = share * (high - low) or share * abs(high) or 1.0
    return low - pad, high + pad


def show(figure: go.Figure, *, key: str, alt: str) -> None:
    """Draw a figure with its key and alt text."""
    st.plotly_chart(figure, key=key, alt=alt, config=CONFIG, width="stretch")
