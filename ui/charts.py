"""How every chart looks: one colour, dash and marker per role, fixed heights, alt texts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

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
    paper : colour of the page
    """

    palette: tuple[str, ...]
    ink: str
    faint: str
    line: str
    font_size: int = 14
    paper: str = "#ffffff"

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
    size = 18 if large else 14
    return Look(
        tuple(colours), ink, fade(ink, 0.72), option("borderColor"), size, option("backgroundColor")
    )


class Sketch:
    """A figure of a fixed height in the house style, with one or more panels side by side.

    It is kept as plain dictionaries and made a Plotly figure once, unchecked: Plotly's own builders
    check every property at every step, which took ten times as long as all else in a redraw. The
    tests run the checks on every figure.
    """

    def __init__(
        self, look: Look, height: int, *, panels: Sequence[str] = ("",), gap: float = 0.07
    ) -> None:
        self.look = look
        self.traces: list[dict[str, Any]] = []
        self.frames: list[dict[str, Any]] = []
        font = {"size": look.font_size, "color": look.ink}
        self.layout: dict[str, Any] = {
            "height": round(height * look.font_size / 14),  # taller where the type is larger
            "margin": {"l": 8, "r": 8, "t": 28, "b": 8},
            "font": font,
            "showlegend": False,
            "uirevision": "keep",
            "hovermode": "closest",
            "legend": {"orientation": "h", "y": 1.06, "yanchor": "bottom", "x": 0},
            "shapes": [],
            "annotations": [],
        }
        width = (1 - gap * (len(panels) - 1)) / len(panels)
        for number, title in enumerate(panels):
            start = number * (width + gap)
            suffix = self._suffix(number)
            for side, other in (("x", "y"), ("y", "x")):
                self.layout[f"{side}axis{suffix}"] = {
                    "gridcolor": look.line,
                    "zeroline": False,
                    "automargin": True,
                    "anchor": f"{other}{suffix}",
                    "tickfont": {"size": look.font_size - 1, "color": look.faint},
                }
            self.layout[f"xaxis{suffix}"]["domain"] = [start, min(1.0, start + width)]
            if title:
                self.note(
                    title,
                    x=start + width / 2,
                    y=1.0,
                    paper=True,
                    yanchor="bottom",
                    xanchor="center",
                )

    @staticmethod
    def _suffix(panel: int) -> str:
        return str(panel + 1) if panel else ""

    def axis(
        self, side: Literal["x", "y"], panel: int = 0, *, title: str = "", **more: Any
    ) -> None:
        """Set properties of a panel's axis."""
        axis = self.layout[f"{side}axis{self._suffix(panel)}"]
        axis.update(more)
        if title:
            font = {"size": self.look.font_size, "color": self.look.faint}
            axis["title"] = {"text": title, "font": font}

    def add(
        self, kind: Literal["scatter", "bar", "heatmap", "contour"], panel: int = 0, **trace: Any
    ) -> None:
        """Add a trace to a panel."""
        suffix = self._suffix(panel)
        self.traces.append({"type": kind, "xaxis": f"x{suffix}", "yaxis": f"y{suffix}", **trace})

    def rule(
        self, panel: int = 0, *, x: float | None = None, y: float | None = None, **line: Any
    ) -> None:
        """Add a line across a panel at ``x`` or at ``y``."""
        suffix = self._suffix(panel)
        shape: dict[str, Any] = {"type": "line", "layer": "above", "line": line}
        if x is not None:
            shape |= {"xref": f"x{suffix}", "yref": f"y{suffix} domain", "x0": x, "x1": x}
            shape |= {"y0": 0, "y1": 1}
        else:
            shape |= {"xref": f"x{suffix} domain", "yref": f"y{suffix}", "x0": 0, "x1": 1}
            shape |= {"y0": y, "y1": y}
        self.layout["shapes"].append(shape)

    def shade(self, start: float, stop: float, colour: str, opacity: float) -> None:
        """Shade the first panel between two positions on its x axis."""
        self.layout["shapes"].append(
            {
                "type": "rect",
                "xref": "x",
                "yref": "y domain",
                "x0": start,
                "x1": stop,
                "y0": 0,
                "y1": 1,
                "fillcolor": colour,
                "opacity": opacity,
                "line": {"width": 0},
                "layer": "below",
            }
        )

    def note(self, text: str, *, x: Any, y: Any, paper: bool = False, **more: Any) -> None:
        """Add a text without an arrow; ``paper`` counts x and y as shares of the drawing area."""
        where = {"xref": "paper", "yref": "paper"} if paper else {}
        self.layout["annotations"].append(
            {"text": text, "x": x, "y": y, "showarrow": False, **where, **more}
        )

    def play(self, frames: Sequence[dict[str, Any]], *, unit: str, milliseconds: int) -> None:
        """Let the browser play frames without the server: a button and a slider under the chart.

        Parameters
        ----------
        frames : Plotly frames with different names, the last of which is the figure as it stands
        unit : what the slider counts, written before a frame's name
        milliseconds : time each frame is shown
        """
        self.frames = list(frames)
        step = {"mode": "immediate", "transition": {"duration": 0}}
        go_on = {"frame": {"duration": milliseconds, "redraw": True}, **step}
        jump = {"frame": {"duration": 0, "redraw": True}, **step}
        small = {"size": self.look.font_size - 2, "color": self.look.ink}
        buttons = [
            {"method": "animate", "label": "\u25b6", "args": [None, go_on]},
            {"method": "animate", "label": "\u275a\u275a", "args": [[None], jump]},
        ]
        self.layout["updatemenus"] = [
            {
                "type": "buttons",
                "showactive": False,
                "direction": "left",
                "buttons": buttons,
                "x": 0,
                "xanchor": "left",
                "y": 0,
                "yanchor": "top",
                "pad": {"t": 52, "r": 8},
                "bgcolor": self.look.paper,
                "bordercolor": self.look.line,
                "font": small,
            }
        ]
        self.layout["sliders"] = [
            {
                "active": len(self.frames) - 1,
                "x": 0.18,
                "len": 0.82,
                "y": 0,
                "pad": {"t": 40, "b": 0},
                "ticklen": 0,
                "minorticklen": 0,
                "bgcolor": self.look.line,
                "bordercolor": self.look.line,
                "currentvalue": {"prefix": f"{unit} ", "font": small, "xanchor": "right"},
                "font": {"size": 1, "color": "rgba(0,0,0,0)"},
                "steps": [
                    {"method": "animate", "label": frame["name"], "args": [[frame["name"]], jump]}
                    for frame in self.frames
                ],
            }
        ]

    def figure(self) -> go.Figure:
        """Return the Plotly figure."""
        made = {"data": self.traces, "layout": self.layout}
        if self.frames:
            return _Played(made, self.frames)
        return go.Figure(made, _validate=False)


class _Played(go.Figure):
    """A figure whose frames are handed on as they are: Plotly checks frames even when told not to,
    which cost eight times as long as all else in the figure."""

    def __init__(self, made: dict[str, Any], frames: list[dict[str, Any]]) -> None:
        super().__init__(made, _validate=False)
        self._frames_as_made = frames

    def to_dict(self) -> dict[str, Any]:
        """Return the figure as plain data, with its frames."""
        made: dict[str, Any] = super().to_dict()
        return made | {"frames": self._frames_as_made}


def number(value: float) -> str:
    """Write a number with four significant digits at least, all digits before the point, commas."""
    if not math.isfinite(value):
        return "none"
    if value and not 1e-4 <= abs(value) < 1e9:
        return f"{value:.3e}"
    digits = max(0, 3 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:,.{digits}f}"


def padded(values: Sequence[float], share: float = 0.06) -> tuple[float, float]:
    """Axis range around finite values with a margin on both sides."""
    low, high = min(values), max(values)
    pad = share * (high - low) or share * abs(high) or 1.0
    return low - pad, high + pad


def show(figure: go.Figure, *, key: str, alt: str) -> None:
    """Draw a figure with its key and alt text."""
    st.plotly_chart(figure, key=key, alt=alt, config=CONFIG, width="stretch")
