"""A visitor without a browser: opens a page in the shell's frame and works every control on it."""

from __future__ import annotations

import importlib
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import (
    ButtonGroup,
    Checkbox,
    Multiselect,
    NumberInput,
    Radio,
    Selectbox,
    Slider,
    TextInput,
    Toggle,
    Widget,
)

from models.catalog import working
from ui.anatomy import Story

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 120.0  # seconds after which a run counts as hung
SLUGS = tuple(demo.slug for demo in working())
PAGES = ("home", "claims", *SLUGS)

SHARED_KEYS = {"tour", "present"}  # of the frame around every page

Params = Mapping[str, str | list[str]]


class Downloads(dict[str, Any]):
    """What stands behind each download button drawn last, by the button's key."""

    def bytes(self, key: str) -> bytes:
        """What a click on the button would save."""
        data = self[key]
        made = data() if callable(data) else data
        return made.encode() if isinstance(made, str) else bytes(made)


def visit(page: str, params: Params | None = None) -> AppTest:
    """Open a page by its address with these parameters, in a session of its own."""
    at = AppTest.from_file(str(ROOT / "ui" / "shell.py"), default_timeout=PATIENCE)
    if page == "home":
        at.query_params.update(params or {})
        return sound(at.run(), "home")
    at.run()
    at.query_params.update(params or {})
    doing = f"opening {page} with {dict(params or {})}"
    return sound(at.switch_page(script(page)).run(), textwrap.shorten(doing, 300))


def sampled(slug: str) -> AppTest:
    """Open a page and show the sample of "Your data" in its picture."""
    at = visit(slug)
    sound(at.button(key=f"{slug}_upload_try").click().run(), "trying the sample")
    assert [error.value for error in at.error] == []
    own = [preset.title for preset in story(slug).presets].index("Your data")
    sound(at.button(key=f"{slug}_preset_{own}").click().run(), "showing the sample")
    assert [error.value for error in at.error] == []
    return at


def script(page: str) -> str:
    """A page's file as the shell sees it."""
    return f"../pages/{page}/page.py" if page in SLUGS else f"../pages/{page}.py"


def story(slug: str) -> Story:
    """The page's presets, tour and texts."""
    found: Story = importlib.import_module(f"pages.{slug}.story").STORY
    return found


def sound(at: AppTest, doing: str) -> AppTest:
    """The page, if it shows no exception."""
    for item in at.exception:
        pytest.fail(f"{doing}: {item.message}\n" + "\n".join(item.stack_trace))
    return at


def controls(at: AppTest) -> dict[str, Widget]:
    """Every enabled widget that holds a value, by key, in the page's order."""
    kinds = (Slider, Selectbox, Radio, ButtonGroup, Multiselect, Toggle, Checkbox)
    return {
        str(node.key): node
        for node in at.main
        if isinstance(node, (*kinds, NumberInput, TextInput)) and not node.disabled
    }


def ends(control: Widget) -> Iterator[Any]:
    """The values at the ends of what a visitor can set, the present one left out."""
    values: list[Any]
    match control:
        case Slider() | NumberInput():
            low, high = (_alike(control, bound) for bound in (control.min, control.max))
            values = [(low, high), (low, low), (high, high)] if _is_range(control) else [low, high]
        case Toggle() | Checkbox():
            values = [not control.value]
        case Multiselect() | ButtonGroup() if isinstance(control.value, list):
            values = [[], control.options]
        case TextInput():
            values = ["", "no such thing", "1e400 nan", "<script>", "9" * 400]
        case _:
            values = [option for option in control.options if option not in _chosen(control)]
    yield from (value for value in values if value != control.value)


def another(control: Widget) -> Any:
    """A usable value other than the present one."""
    match control:
        case Slider() if _is_range(control):
            low, high = control.value
            up = round(low + control.step, 9)
            return (_alike(control, up if up <= high else control.min), high)
        case Slider() | NumberInput():
            up = round(control.value + control.step, 9)
            down = round(control.value - control.step, 9)
            return _alike(control, up if up <= control.max else down)
        case TextInput():
            return f"{control.value} 1".strip()
    return next(ends(control))


def put(at: AppTest, values: Mapping[str, Any]) -> AppTest:
    """Set controls and rerun, as a visitor's clicks would; labels stand for options."""
    widgets = controls(at)
    for key, value in values.items():
        widgets[key].set_value(value)
    return sound(at.run(), textwrap.shorten(f"setting {dict(values)}", 300))


def address(value: Any) -> str | list[str]:
    """What the browser writes into the URL for a value, options by their labels."""
    if isinstance(value, tuple | list):
        return [str(item) for item in value]
    return str(value).lower() if isinstance(value, bool) else str(value)


def charts(at: AppTest) -> list[Any]:
    """The page's Plotly charts, as they are sent to the browser."""
    return [node.proto for node in at.get("plotly_chart")]


def tabs(at: AppTest) -> Iterator[tuple[str, str]]:
    """Key and label of every tab whose choice lives in the URL."""
    for node in at.get("tab_container"):
        if key := node.proto.tab_container.query_param_key:
            yield from ((key, tab.label) for tab in node.children.values())


def _is_range(control: Widget) -> bool:
    return isinstance(control.value, tuple | list)


def _alike(control: Widget, number: float) -> Any:
    """A bound or a step, which arrive as floats, in the type of the control's value."""
    value = control.value[0] if _is_range(control) else control.value
    return type(value)(number)


def _chosen(control: Widget) -> list[str]:
    places = control.indices if isinstance(control, ButtonGroup) else [control.index]
    return [control.options[place] for place in places if place is not None]
