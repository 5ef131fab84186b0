"""The house style of charts: roles, numbers in text, and figures that Plotly accepts."""

from __future__ import annotations

import math

import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.charts import ROLES, Look, Sketch, fade, number, padded

pytestmark = pytest.mark.unit

LOOK = Look(tuple(f"#{k}{k}{k}{k}{k}{k}" for k in range(10)), "#101010", "#606060", "#d0d0d0")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (25564.7, "25,565"),
        (-0.0741512, "-0.07415"),
        (3.8424, "3.842"),
        (1234567.8, "1,234,568"),
        (0.00012345, "0.0001234"),
        (1e-7, "1.000e-07"),
        (math.nan, "none"),
    ],
)
def test_numbers_have_four_digits_and_no_needless_exponent(value: float, text: str) -> None:
    assert number(value) == text


@given(st.floats(1e-4, 1e8) | st.floats(-1e8, -1e-4))
def test_a_written_number_is_within_half_a_unit_of_its_fourth_digit(value: float) -> None:
    written = float(number(value).replace(",", ""))
    assert written == pytest.approx(value, rel=0.5001e-3)


def test_roles_differ_in_colour_dash_and_marker() -> None:
    slots, _, markers = zip(*ROLES.values(), strict=True)
    assert len(set(slots)) == len(set(markers)) == len(ROLES)


def test_fade_keeps_the_colour() -> None:
    assert fade("#0a64ff", 0.25) == "rgba(10,100,255,0.25)"


def test_padding_is_never_empty() -> None:
    assert padded([2.0, 4.0], 0.1) == pytest.approx((1.8, 4.2))
    low, high = padded([0.0, 0.0])
    assert low < 0 < high


def test_a_sketch_with_panels_is_a_valid_figure_with_traces_in_their_panels() -> None:
    sketch = Sketch(LOOK, 300, panels=("left", "middle", "right"))
    for panel in range(3):
        sketch.add("scatter", panel, x=[1, 2], y=[3, 4])
        sketch.axis("x", panel, title=f"axis {panel}", range=[0, 5])
    sketch.rule(1, x=2.0, color="#123456")
    sketch.rule(2, y=3.5, color="#123456")
    sketch.shade(0.2, 0.4, "#123456", 0.3)
    sketch.note("here", x=1, y=2)
    figure = go.Figure(sketch.figure().to_plotly_json())
    assert [trace.xaxis for trace in figure.data] == ["x", "x2", "x3"]
    assert figure.layout.xaxis3.domain[1] <= 1.0
    assert figure.layout.xaxis2.title.text == "axis 1"
    assert [note.text for note in figure.layout.annotations] == ["left", "middle", "right", "here"]
    assert [shape.xref for shape in figure.layout.shapes] == ["x2", "x3 domain", "x"]
    assert figure.layout.height == 300
