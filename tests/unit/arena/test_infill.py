"""Prompts and post-processing: the released server's outputs, and the repair of its defects."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.arena.infill import EXAMPLES, START_TAGS, STOP_TOKENS, context, pieces, prompt
from models.arena.postprocess import faithful, longest_common_end, longest_overlap
from models.arena.strict import strict, well_formed
from tests.unit.arena.tables import golden

WANT = golden("fim_postprocess")
CASES = {case["name"]: case for case in WANT["cases"]}


@pytest.mark.golden
@pytest.mark.parametrize("name", CASES)
def test_faithful_mode_gives_the_released_outputs(name):
    case = CASES[name]
    options = {
        "max_lines": case["max_lines"],
        "start_tags": case["start_phrases"],
        "stop_tokens": case["stop_tokens"],
    }
    text = (case["raw"], case["prefix"], case["suffix"])
    assert faithful(*text, **options) == case["expected_overlap_mode"]
    assert faithful(*text, overlap=False, **options) == case["expected_plain_mode"]


@pytest.mark.golden
def test_overlaps_have_the_released_lengths():
    for case in WANT["longest_suffix_prefix"]:
        want = case["expected_start_in_a_start_in_b_length"][2]
        assert longest_overlap(case["a"], case["b"]) == want
    for case in WANT["longest_suffix_suffix"]:
        assert longest_common_end(case["a"], case["b"]) == case["expected"][2]


words = st.text(alphabet="ab\n", max_size=12)


@pytest.mark.unit
@settings(max_examples=200)
@given(words, words)
def test_overlaps_are_the_longest(a, b):
    sizes = range(min(len(a), len(b)), -1, -1)
    assert longest_overlap(a, b) == next(k for k in sizes if a.endswith(b[:k]))
    assert longest_common_end(a, b) == next(k for k in sizes if a[len(a) - k :] == b[len(b) - k :])


@pytest.mark.unit
@pytest.mark.parametrize(
    ("name", "want"),
    [
        ("snip_mid_line", " ** 2"),
        ("snip_block", "        total += x\n"),
        ("closing_bracket_repeated", "values)"),
        ("reindented_last_line", " = a + 1\n        return b"),
        ("start_and_fence", "return x * x"),
        ("backslash_n_in_string", '"a\\nb"'),
        ("too_long_output", "a0 = 0\na1 = 1\na2 = 2\na3 = 3\na4 = 4"),
        ("crlf", "2"),
        ("suffix_common_tail", "bar()"),
        ("empty_completion", ""),
        ("unicode", 'f"Grüße, {name}"'),
    ],
)
def test_strict_mode_on_the_same_answers(name, want):
    case = CASES[name]
    got = strict(case["raw"], case["prefix"], case["suffix"])
    assert got == want
    if name != "empty_completion":
        assert well_formed(case["prefix"], got, case["suffix"])


@pytest.mark.unit
@pytest.mark.parametrize(
    ("prefix", "suffix", "raw", "want"),
    [
        # One coincidental character at the cursor stays.
        ("x = s", "\n", "sum(values)", "sum(values)"),
        ("x = ", "\n", "= 3", "= 3"),
        # A bracket of the answer's own stays, one of the suffix's goes.
        ("print(", ")\n", "sum(x)", "sum(x)"),
        ("print(", ")\n", "print(sum(x))", "sum(x)"),
        # A repeated line without its indentation, or with blanks behind, is known.
        ("def f():\n    total = 0\n", "", "total = 0  \nreturn total", "    return total"),
        ("def f():\n    if x", ":\n        pass\n", "    if x > 0:\n        pass", " > 0"),
        # Several lines repeated on both sides.
        ("a = 1\nb = 2\n", "d = 4\ne = 5\n", "a = 1\nb = 2\nc = 3\nd = 4\ne = 5", "c = 3\n"),
        # Part of a line, at least three characters, at a token's boundary.
        ("total = base + price", "\n", "price * n", " * n"),
        ("total = base + pri", "\n", "price * n", "price * n"),
        # A rest of the line that the model repeats.
        ("for x in ", " if x.ok:\n", "items if x.ok:", "items"),
        # Text without tags, and nothing at all.
        ("a = ", "\n", "a = 1</CODE> I hope this helps", "1"),
        ("a = ", "\n", "   \n", ""),
        # Blank current line: the indentation that stands there already is not repeated.
        ("def f():\n    ", "\n", "    a = 1\n    return a", "a = 1\n    return a"),
        ("def f():\n    ", "\n", "a = 1\nreturn a", "a = 1\n    return a"),
        ("def f():\n    ", "\n", "a = 1\n    return a", "a = 1\n    return a"),
    ],
)
def test_strict_mode_takes_whole_lines_and_nothing_by_coincidence(prefix, suffix, raw, want):
    assert strict(f"<CODE>{raw}</CODE>" if "</CODE>" not in raw else raw, prefix, suffix) == want


@pytest.mark.unit
@pytest.mark.parametrize("name", ["closing_bracket_repeated", "backslash_n_in_string"])
def test_the_defects_break_code_in_faithful_mode_only(name):
    case = CASES[name]
    text = (case["raw"], case["prefix"], case["suffix"])
    assert not well_formed(case["prefix"], faithful(*text), case["suffix"])
    assert well_formed(case["prefix"], strict(*text), case["suffix"])


CODE = """\
import math


class Circle:
    def __init__(self, radius):
        self.radius = radius

    def area(self):
        if self.radius < 0:
            raise ValueError("negative")
        return math.pi * self.radius ** 2

    def scaled(self, factor):
        return Circle(self.radius * factor)


print(Circle(2).area())
"""


@pytest.mark.unit
@pytest.mark.parametrize("lines", [1, 2, 3])
def test_an_obedient_model_is_inserted_exactly(lines):
    """The answer repeats the line before the hole and the line after it, as the prompt asks."""
    source = CODE.split("\n")
    for start in range(1, len(source) - lines - 1):
        hole = source[start : start + lines]
        before, after = source[:start], source[start + lines :]
        if not (before[-1].strip() and after[0].strip() and hole[0].strip()):
            continue
        prefix, suffix = "\n".join([*before, ""]), "\n".join(after)
        raw = "<CODE>" + "\n".join([before[-1], *hole, after[0]]) + "</CODE>"
        got = strict(raw, prefix, suffix)
        assert prefix + got + suffix == CODE


@pytest.mark.unit
@settings(max_examples=150, deadline=None)
@given(st.text(max_size=60), st.text(max_size=40), st.text(max_size=40))
def test_any_answer_is_survived_and_stays_within_its_lines(raw, prefix, suffix):
    for mode in (faithful, strict):
        got = mode(raw, prefix, suffix)
        assert isinstance(got, str)
        well_formed(prefix, got, suffix)
    assert strict(raw, prefix, suffix).count("\n") < 5
    tagged = f"<CODE>{raw}</CODE>" if "<" not in raw else raw
    assert "</CODE>" not in strict(tagged, prefix, suffix)


@pytest.mark.unit
def test_a_huge_answer_takes_time_in_proportion():
    line = "a" * 1_000_000
    assert faithful(line, "a" * 1000, "a" * 1000) is not None
    assert strict(line, "x = 1\n", "\n") == line
    assert strict("b" + line, "b" + line, line) == ""
    assert strict("c" + line, "b" + line, line).startswith("c")
    many = "a = 1\n" * 100_000
    assert strict(many, many, many).count("\n") < 5


@pytest.mark.unit
def test_well_formed_wants_code_that_parses_and_repeats_nothing():
    assert well_formed("a = 1\n", "b = 2\n", "c = 3\n")
    assert not well_formed("a = 1\n", "a = 1\nb = 2\n", "c = 3\n")
    assert not well_formed("a = 1\n", "b = 2\nc = 3", "\nc = 3\n")
    assert not well_formed("a = (", "1", "\n")
    assert not well_formed("a = ", "'\0'", "\n")
    assert well_formed("f(\n    1,\n    )\nx = [\n    ", "1\n    ", "]\n")


@pytest.mark.unit
@pytest.mark.parametrize("order", ["PSM", "SPM", "mask"])
def test_the_prompt_shows_two_examples_and_the_code_in_its_order(order):
    found = prompt("x = ", "\ny = 2", order)
    assert found.user.count("<CODE>") == 2
    assert found.user.count("</CODE>") == 2
    if order == "mask":
        assert found.user.endswith("x = <MASK>\ny = 2")
    else:
        tail = found.user.rpartition("</CODE>")[2]
        assert (tail.index("<PREFIX>x") < tail.index("<SUFFIX>\ny")) == (order == "PSM")
    assert START_TAGS[1] in found.system
    assert STOP_TOKENS[0] in found.system
    with pytest.raises(ValueError, match="order is 'MPS'"):
        prompt("", "", "MPS")


@pytest.mark.unit
def test_the_prompts_own_examples_pass_the_postprocessing():
    for before, after, answer in EXAMPLES:
        got = strict(f"<CODE>\n{answer}\n</CODE>", before, after)
        assert got
        assert got in answer
        assert (before + got + after).count(before.split("\n")[-1].strip()) == 1


@pytest.mark.unit
@settings(max_examples=50)
@given(st.text(max_size=200), st.text(max_size=200))
def test_the_context_is_what_stands_nearest_to_the_cursor(prefix, suffix):
    assert "".join(pieces(prefix)) == prefix
    before, after = context(prefix, suffix, prefix_tokens=30, suffix_tokens=10)
    assert prefix.endswith(before)
    assert suffix.startswith(after)
    if len(pieces(prefix)) + len(pieces(suffix)) <= 40:
        assert (before, after) == (prefix, suffix)
    else:
        assert len(pieces(before)) <= 30
        assert len(pieces(after)) <= 10
