"""What the drawing pad lets through from the browser."""

from __future__ import annotations

import pytest

from ui.drawing import LEVELS, read_cells

pytestmark = pytest.mark.unit


def test_cells_become_shares_of_full_ink_row_by_row():
    found = read_cells([0, LEVELS, 1, 2], 2)
    assert found is not None
    assert found.tolist() == [[0.0, 1.0], [0.25, 0.5]]


@pytest.mark.parametrize(
    "value",
    [
        None, [], [0, 0, 0, 0], [1, 1, 1], [1] * 5, "1111", {"0": 1}, [1, 1, 1, 5], [1, 1, 1, -1],
        [1, 1, 1, 1.5], [1, 1, 1, True], [1, 1, 1, None], [[1, 1], [1, 1]], [1, 1, 1, "1"],
    ],
)  # fmt: skip
def test_anything_else_is_no_picture(value):
    assert read_cells(value, 2) is None
