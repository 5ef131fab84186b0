"""A visitor's CSV: what is read, and one sentence for each thing that cannot be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models.altt.cells import parse
from models.altt.config import Config, advice
from models.altt.race import run
from models.altt.table import read_losses

pytestmark = pytest.mark.unit

WIDE = "a,b\n0,1\n0.5,0.25\n1,0\n"


def columns(table):
    return {name: x.tolist() for name, x in zip(table.names, table.losses, strict=True)}


EXPECTED = {"a": [0.0, 0.5, 1.0], "b": [1.0, 0.25, 0.0]}


@pytest.mark.parametrize(
    "data",
    [
        WIDE,
        WIDE.encode(),
        "\ufeff".encode() + WIDE.encode(),
        "\ufeff" + WIDE,
        WIDE.replace("\n", "\r\n"),
        WIDE.replace(",", ";").replace(".", ","),
        WIDE.replace(",", "\t").replace(".", ","),
        WIDE.replace(",", ", "),
        "\n" + WIDE.replace("0.5", "\n0.5") + "\n\n",
        'a,b\n0,1\n"0,5","0,25"\n1,0',
        "a,b,,\n0,1,,\n0.5,0.25,,\n1,0,,\n",
    ],
    ids=[
        "text",
        "bytes",
        "bom",
        "bom-text",
        "crlf",
        "semicolon",
        "tab",
        "spaces",
        "blank-lines",
        "quoted-decimal-comma",
        "spare-separators",
    ],
)
def test_the_usual_dialects_read_alike(data):
    table = read_losses(data)
    assert columns(table) == EXPECTED
    assert table.notes == ()


def test_long_form_with_and_without_an_order():
    plain = "candidate,loss\na,0\nb,1\na,0.5\nb,0.25\na,1\nb,0\n"
    assert columns(read_losses(plain)) == EXPECTED
    ordered = "Round;Loss;Candidate\n3;1;a\n1;0;a\n2;0,5;a\n1;1;b\n2;0,25;b\n3;0;b\n"
    assert columns(read_losses(ordered)) == EXPECTED
    with_order = "order,candidate,loss\n20,a,0.5\n10,a,0\n10,b,1\n30,a,1\n15,b,0.25\n40,b,0\n"
    assert columns(read_losses(with_order)) == EXPECTED


def test_long_form_counts_an_empty_loss_as_no_test_and_says_so():
    table = read_losses("candidate,loss,comment\na,0\nb,\na,1,x\nc,\n")
    assert columns(table) == {"a": [0.0, 1.0], "b": [], "c": []}
    assert any("2 lines have no loss" in note for note in table.notes)
    assert any("Not used: column comment" in note for note in table.notes)


def test_a_column_may_end_early_and_that_is_said():
    table = read_losses("a,b,c\n0,1,0\n0,,1\n1\n")
    assert columns(table) == {"a": [0.0, 0.0, 1.0], "b": [1.0], "c": [0.0, 1.0]}
    assert table.available == (3, 1, 2)
    assert any("between 1 and 3 losses; 'b' has the fewest" in note for note in table.notes)


def test_rewards_and_stated_bounds_become_losses():
    assert columns(read_losses("a\n0.2\n1\n", rewards=True)) == {"a": [0.8, 0.0]}
    percent = read_losses("a\n20\n100\n", bounds=(0, 100))
    assert columns(percent) == {"a": [0.2, 1.0]}
    signed = read_losses("a\n-2\n2\n0\n", bounds=(-2, 2), rewards=True)
    assert columns(signed) == {"a": [1.0, 0.0, 0.5]}


def test_constant_columns_and_numeric_names_are_pointed_out():
    notes = read_losses("0.3,0.4\n1,0\n1,1\n1,0\n").notes
    assert any("read as names (0.3, 0.4)" in note for note in notes)
    assert any("All losses are equal for 0.3" in note for note in notes)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("", "The file is empty"),
        ("\ufeff \n\n", "The file is empty"),
        (b"PK\x03\x04\xff\xfe\x00", "not UTF-8 text"),
        ("a,b\n", "names but no losses"),
        ("a,b,a\n0,1,0\n", "The name 'a' stands on 2 columns"),
        (",b\n0,1\n", "Column 1 has no name"),
        ("a,b\n0,1\n0,1,1\n", "Line 3 of the file has 3 cells, but there are 2 names"),
        (
            "a,b\n0,good\n0,bad\n",
            r"Line 2 of the file, column 'b': 'good' is not a finite number "
            r"\(2 cells of this column are no numbers\)",
        ),
        ("a,b\n0,1\n0,nan\n", "Line 3 of the file, column 'b': 'nan' is not a finite number;"),
        ("a\n0\ninf\n", "Line 3 of the file, column 'a': 'inf' is not a finite number"),
        (
            "a\n0\n-0.5\n",
            r"Line 3 of the file, column 'a': -0.5 lies outside 0 to 1 \(1 of 2 "
            "values do\\); state the smallest and largest value possible",
        ),
        ("a\n0\n1.5\n200\n", r"1.5 lies outside 0 to 1 \(2 of 3"),
        ("a\n0\n85\n35\n", "percentages, state the bounds 0 and 100"),
        ("a,b\n0,1\n,0\n1,1\n", "Line 3 of the file has no value in column 'a', but later lines"),
        ("a,b\n0,\n1,\n", "Column 'b' has no losses"),
        ("id,a\n1,0\n2,1\n3,0\n", r"Column 'id' counts the rows \(1, 2, 3, ...\): remove it"),
        ("candidate,loss\na,0\n,1\n", "Line 3 of the file names no candidate"),
        ("candidate,loss\na,0\nb,x\n", "Line 3 of the file, column 'loss': 'x' is not"),
        ("candidate,loss\na,0\nb,2\n", "Line 3 of the file, column 'loss': 2 lies outside"),
        ("candidate,loss\na,\nb,\n", "Column 'loss' has no losses"),
        ("candidate,loss,round\na,0,one\n", "column 'round': 'one' is not a finite number"),
        ("a\n" + '"' + "x" * 200_000 + '"', "is no CSV: field larger than field limit"),
        (
            ",".join(f"c{i}" for i in range(2001)) + "\n" + "0," * 2000 + "0\n",
            "2,001 candidates, but at most 2,000",
        ),
        ("candidate,loss\n" + "".join(f"c{i},0\n" for i in range(2001)), "2,001 candidates"),
        (
            ",".join(f"c{i}" for i in range(2000)) + "\n" + ("0," * 1999 + "0\n") * 501,
            "1,002,000 cells, but at most 1,000,000",
        ),
    ],
)
def test_each_fault_has_its_sentence(data, words):
    with pytest.raises(ValueError, match=words):
        read_losses(data)


@pytest.mark.parametrize("bounds", [(1.0, 1.0), (2.0, 1.0), (0.0, np.inf), (np.nan, 1.0)])
def test_wrong_bounds_are_refused(bounds):
    with pytest.raises(ValueError, match="bounds are"):
        read_losses(WIDE, bounds=bounds)


def test_values_beyond_the_stated_bounds_are_refused():
    with pytest.raises(ValueError, match=r"150 lies outside 0 to 100.*state wider bounds"):
        read_losses("a\n150\n", bounds=(0, 100))


def test_a_form_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="needs the columns candidate and loss"):
        read_losses(WIDE, form="long")
    with pytest.raises(ValueError, match="must be auto, wide or long"):
        read_losses(WIDE, form="tall")
    assert read_losses("candidate,loss\n0,1\n", form="wide").names == ("candidate", "loss")


def test_a_million_cells_are_read_whole():
    losses = (np.random.default_rng(0).random((1000, 1000)) < 0.2).astype(int)
    header = ",".join(f"c{i}" for i in range(1000))
    body = "\n".join(",".join(map(str, row)) for row in losses.tolist())
    table = read_losses(f"{header}\n{body}")
    np.testing.assert_array_equal(np.array(table.losses).T, losses)


def test_lines_are_counted_as_an_editor_does():
    cells = parse('a,b\n\n"0\n",1\n0,1\n')
    assert cells.lines == [4, 5]


@pytest.mark.parametrize("rows", [1, 5, 30])
def test_a_short_file_is_told_that_nothing_can_be_certified(rows):
    header = ",".join(f"c{i}" for i in range(20))
    table = read_losses(header + "\n" + (",".join(["0"] * 20) + "\n") * rows)
    config = Config(20, 0.2)
    notes = advice(config, table.available)
    assert any(f"needs 31 of them, and at most {rows} are at hand" in note for note in notes)
    last = list(run(config, table.source(), np.random.default_rng(0)))[-1]
    assert last.certified_ids == ()
    assert last.stopped == "out of data"


def test_real_records_go_through_when_they_are_at_hand():
    path = Path(__file__).parents[4] / "shared/golden/altt/llm_taxonomy_animal_losses.csv"
    if not path.exists():
        pytest.skip("the records of third parties are not part of the project")
    table = read_losses(path.read_bytes())
    assert len(table.names) == 40
    assert table.available == (1000,) * 40
    config = Config(40, 0.2, 0.1, "fwer", "eps-greedy", 0.25, budget=2000)
    last = list(run(config, table.source(), np.random.default_rng(1)))[-1]
    means = np.array([x.mean() for x in table.losses])
    assert len(last.certified_ids) >= 5
    # The full columns, 1000 losses each, put the certified ones well below the target.
    assert means[list(last.certified_ids)].max() < 0.2
