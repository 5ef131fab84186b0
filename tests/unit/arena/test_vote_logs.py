"""Import and export of vote logs: layouts, broken records, hostile files."""

from __future__ import annotations

import csv
import gzip
import io
import json
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.arena import streams
from models.arena.exporters import safe_cell, to_csv, to_json, to_jsonl
from models.arena.importers import read_votes
from models.arena.votelog import A_WON, B_WON, BOTH_BAD, TIE
from tests.unit.arena.tables import SHARED

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = "prefix,suffix,model_a,model_b,acceptedIndex,completion_a,completion_b"
WINNERS = "model_a,model_b,winner"


def read(text: str, **options):
    return read_votes(text.encode(), **options)


@pytest.mark.unit
def test_lmarena_preferences_with_all_their_words():
    log = read(
        f"question_id,{WINNERS},judge,turn,anony,language,tstamp\n"
        "q1,b,a,model_a,u1,1,True,English,1700000000.5\n"
        "q2,a,b,model_b,u2,1,True,German,1700000001\n"
        "q3,a,b,tie,u1,1,True,,\n"
        "q4,a,c,tie (bothbad),u1,1,True,English,2023-11-14T22:13:20Z\n"
        "q5,a,c,both_bad,,1,True,English,1700000000500\n"
    )
    assert log.models == ("a", "b", "c")
    assert log.groups == ("English", "German")
    assert list(log.outcome) == [A_WON, B_WON, TIE, BOTH_BAD, BOTH_BAD]
    assert list(log.score) == [1, 0, 0.5, 0.5, 0.5]
    assert list(log.a) == [1, 0, 0, 0, 0]
    assert list(log.voter) == [0, 1, 0, 0, -1]
    assert list(log.group) == [0, 1, -1, 0, 0]
    want = [1700000000.5, 1700000001, np.nan, 1700000000, 1700000000.5]
    assert log.seconds == pytest.approx(want, nan_ok=True)
    assert log.battles().n == 5
    assert {name: part.n for name, part in log.battles_by_group().items()} == {
        "English": 3,
        "German": 1,
    }
    assert log.summary == "Read 5 votes on 3 models."


@pytest.mark.unit
def test_the_released_csv_breaks_a_record_and_the_whole_ones_are_kept():
    """One record ends after its first field; its rest stands in the next, with an empty prefix."""
    text = (
        f'{EXAMPLES}\r\n"def f():\r\n  x = 1\n  y\r",\n,m1,m2,0.0,a,b\r\n'.replace(",\n,", ',"",')
        + '"import os'
        + '\n"\n'
        + ',"tail",m2,m3,1.0,"c\r\nd",e\r\n'
        + '"p",,m3,m1,0.0,"=f()",h\r\n'
    )
    log = read(text)
    assert (log.n, log.records) == (3, 4)
    assert list(log.outcome) == [A_WON, B_WON, A_WON]
    (broken,) = log.skipped
    # The first record spans the lines 2 to 5, for a lone \r ends a line as well.
    assert (broken.record, broken.line) == (2, 6)
    assert "has 1 field instead of 7" in str(broken)
    assert "its rest seems to stand in the next record" in log.summary
    assert "1 of 4 records was left out. Record 2" in log.summary


@pytest.mark.golden
@pytest.mark.skipif(not SHARED.is_dir(), reason="the released votes are not part of the project")
def test_the_released_votes_without_code():
    log = read_votes((SHARED / "copilot_arena_v1_votes.csv").read_bytes())
    assert (log.n, len(log.models), log.skipped) == (112, 11, ())
    assert int((log.outcome == A_WON).sum()) == 92


@pytest.mark.unit
def test_outcomes_with_completion_items_as_jsonl_and_json():
    rows = [
        {
            "pairId": f"p{k}",
            "userId": "u",
            "acceptedIndex": k % 2,
            "completionItems": [{"model": "x", "prompt": '{[,"}'}, {"model": "y"}],
            "timestamp": 1_700_000_000_000 + k,
            "fileType": "py",
        }
        for k in range(5)
    ]
    lines = read("\n".join(map(json.dumps, rows)) + "\n\n")
    array = read(json.dumps(rows, indent=2))
    pretty = read("  \n" + json.dumps(rows))
    for log in (lines, array, pretty):
        assert list(log.outcome) == [A_WON, B_WON, A_WON, B_WON, A_WON]
        assert (log.models, log.groups) == (("x", "y"), ("py",))
        assert log.seconds[1] == pytest.approx(1_700_000_000.001)


@pytest.mark.unit
@pytest.mark.parametrize(
    ("said", "outcome"),
    [("0", A_WON), ("1", B_WON), ("0.0", A_WON), ("1.0", B_WON), ("True", B_WON), ("false", A_WON)],
)
def test_an_accepted_index_may_be_spelt_in_several_ways(said, outcome):
    assert list(read(f"model_a,model_b,acceptedIndex\na,b,{said}\n").outcome) == [outcome]


@pytest.mark.unit
@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("a,a,tie", "names 'a' on both sides"),
        (" a,a ,tie", "names 'a' on both sides"),
        (",b,tie", "names no model on one side"),
        ("a,b,draw", "winner 'draw', which is none of"),
        ("a,b,", "winner '', which is none of"),
        ("a,b", "has 2 fields instead of 3"),
        ("a,b,tie,x", "has 4 fields instead of 3"),
        ("a\0,b,tie", "control or invisible characters"),
        ("a\u202e,b,tie", "control or invisible characters"),
        ("a\u200b,b,tie", "control or invisible characters"),
        ("x" * 201 + ",b,tie", "more than 200 characters"),
    ],
)
def test_a_bad_record_is_named_and_the_others_kept(row, reason):
    log = read(f"{WINNERS}\na,b,model_a\n{row}\nb,c,model_b\n")
    assert (log.n, log.records) == (2, 3)
    assert (log.skipped[0].record, log.skipped[0].line) == (2, 3)
    assert reason in log.skipped[0].reason
    assert sum(log.reasons.values()) == 1


@pytest.mark.unit
@pytest.mark.parametrize("said", ["nan", "NaN", "2", "0.5", "", "inf", "yes"])
def test_an_index_that_is_neither_0_nor_1_is_left_out(said):
    log = read(f"model_a,model_b,acceptedIndex\na,b,{said}\na,b,0\n")
    assert log.n == 1
    assert "neither 0 nor 1" in log.skipped[0].reason
    objects = f'{{"model_a":"a","model_b":"b","acceptedIndex":{said or "null"}}}'
    rest = '\n{"model_a":"a","model_b":"b","acceptedIndex":false}\n'
    assert read(objects + rest).n == 1


@pytest.mark.unit
def test_repeated_identifiers_count_once():
    log = read(
        "pairId,userId,model_a,model_b,acceptedIndex\n"
        "p1,u1,a,b,0\np1,u2,a,b,0\np1,u1,a,b,1\n,u1,a,b,1\n,u1,a,b,1\n"
    )
    assert list(log.outcome) == [A_WON, A_WON, B_WON, B_WON]
    assert (log.skipped[0].record, log.skipped[0].line) == (3, 4)
    assert "repeats an identifier" in log.summary


@pytest.mark.unit
@pytest.mark.parametrize("delimiter", list(",;\t|"))
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_delimiters_line_ends_and_a_byte_order_mark(delimiter, end, bom):
    rows = ["Model_A,model_b , Winner", "a,b,model_a", "b,c,tie,", ""]
    log = read(bom + end.join(rows).replace(",", delimiter))
    assert (log.n, log.models) == (2, ("a", "b", "c"))


@pytest.mark.unit
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "The file is empty"),
        (b"\xef\xbb\xbf", "first line must name the columns"),
        (b"\n\n", "first line must name the columns"),
        (b"a,b,c\n1,2,3\n", "first line must name the columns .* but holds: a, b, c"),
        (b"model_a,model_b\nx,y\n", "either acceptedIndex or winner"),
        (b"model_a,model_b,winner\n", "no usable vote"),
        (b"model_a,model_b,winner\na,a,tie\n", "no usable vote. Record 1 .line 2. was left out"),
        ("model_a,model_b,winner\na,b,tie\n".encode("utf-16"), "in UTF-16"),
        (b"model_a,model_b,winner\n\xff\xfe,b,tie\n", "not UTF-8 text .it holds the byte 0xff"),
        (b"PK\x03\x04rest", "zip archive"),
        (b"\x1f\x8bnonsense", "gzip file is damaged"),
        (gzip.compress(b"model_a,model_b,winner\na,b,tie\n" * 999)[:-20], "gzip file is damaged"),
        (b"[", "Record 1 of the JSON array is broken or cut short"),
        (b"[]", "no usable vote"),
        (b"[1, 2]", "Record 1 of the JSON array is not an object"),
        (b'[{"model_a": "a"}, {"model_a": ]', "Record 2 of the JSON array is broken"),
        (b"{\n", "no usable vote. Record 1 .line 1. was left out: it is not JSON"),
        (b'{"a":' * 50_000, "no usable vote"),
        (b'[{"a":' + b"[" * 200_000, "Record 1 of the JSON array is broken"),
        (b'{"completionItems": [1, 2], "acceptedIndex": 0}', "two completionItems"),
    ],
)
def test_hostile_files_are_refused_in_one_sentence(data, message):
    with pytest.raises(ValueError, match=message) as caught:
        read_votes(data)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.unit
def test_a_trailing_comma_and_a_broken_line_cost_nothing_else():
    vote = '{"model_a": "a", "model_b": "b", "winner": "tie"}'
    assert read(f"[{vote},\n{vote},\n]").n == 2
    log = read(f"{vote}\n{vote[:-5]}\n[1]\n{vote}\n")
    assert log.n == 2
    assert [skip.line for skip in log.skipped] == [2, 3]


@pytest.mark.unit
def test_records_cut_by_every_piece_of_the_stream_are_put_together(monkeypatch):
    monkeypatch.setattr(streams, "chunks", lambda text: iter(lambda: text.read(7), ""))
    vote = {"model_a": 'a[]{}\\"', "model_b": "ü", "winner": "tie", "n": 12.5}
    assert read(json.dumps([vote] * 20)).n == 20


@pytest.mark.unit
def test_a_gzip_bomb_is_stopped_at_the_bound():
    head = b"model_a,model_b,winner\n"
    bomb = gzip.compress(head + b"a,b,tie\n" * 2_000_000)
    assert len(bomb) < 100_000
    with pytest.raises(ValueError, match="larger than 1 MB when unpacked"):
        read_votes(bomb, most_bytes=1 << 20)
    with pytest.raises(ValueError, match="larger than 1 MB"):
        read_votes(head + b"a,b,tie\n" * 200_000, most_bytes=1 << 20)
    assert read_votes(gzip.compress(head + b"a,b,tie\n" * 5)).n == 5


@pytest.mark.unit
def test_lines_of_a_megabyte_pass_and_endless_ones_do_not(monkeypatch):
    long = "x" * 1_000_000
    log = read(f'{EXAMPLES}\n"{long}",,a,b,0.0,{long},y\n')
    assert log.n == 1
    monkeypatch.setattr(streams, "MOST_CHARACTERS", 200_000)
    monkeypatch.setattr(csv, "field_size_limit", lambda *_: 200_000)
    with pytest.raises(ValueError, match="Line 2 is longer than 200,000 characters"):
        read(f'{EXAMPLES}\n"{long}",,a,b,0.0,x,y\n')
    with pytest.raises(ValueError, match="longer than 200,000 characters"):
        read('[{"prompt": "' + long)


@pytest.mark.unit
def test_a_quotation_mark_that_never_closes_is_named():
    text = f'{WINNERS}\na,b,tie\n"a,b,tie\n' + "a,b,tie\n" * 3_000_000
    with pytest.raises(ValueError, match=r"begins in line 3 is longer than .* quotation mark"):
        read(text)


@pytest.mark.unit
def test_too_many_models_are_refused():
    text = WINNERS + "\n" + "".join(f"m{k},n{k},tie\n" for k in range(600))
    with pytest.raises(ValueError, match="more than 1000 models"):
        read(text)


@pytest.mark.load
def test_a_million_rows_take_bounded_memory():
    """Read in a process of its own: 1e6 rows (50 MB of text) must add less than 256 MB."""
    script = """
        import io, resource
        from models.arena.importers import read_votes

        class Rows(io.RawIOBase):
            left, data = 1_000_000, b"model_a,model_b,winner,judge,language,tstamp\\n"
            def read(self, size=-1):
                while len(self.data) < size and self.left:
                    self.left -= 1000
                    self.data += b"".join(
                        b"m%d,m%d,%s,user%d,Python,%d\\n"
                        % (k % 50, (k + 1 + k % 7) % 50, (b"model_a", b"tie")[k % 2], k, 17e8 + k)
                        for k in range(self.left, self.left + 1000)
                    )
                piece, self.data = self.data[:size], self.data[size:]
                return piece

        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        log = read_votes(Rows())
        print(log.n, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    votes, kilobytes = map(int, done.stdout.split())
    assert votes == 1_000_000
    assert kilobytes < 256 * 1024


names = (
    st.text(st.characters(categories=("L", "N", "P", "S", "Zs")), min_size=1, max_size=8)
    .map(str.strip)
    .filter(lambda name: name and name[0] not in "'")
)
votes = st.lists(
    st.tuples(
        names,
        names,
        st.sampled_from(["model_a", "model_b", "tie", "both_bad"]),
        st.sampled_from(["", "u1", "u2"]),
        st.sampled_from(["", "Python", "=SUM(1)"]),
        st.one_of(st.just(""), st.floats(1e9, 2e9)),
    ).filter(lambda row: row[0] != row[1]),
    min_size=1,
    max_size=12,
)


def log_of(rows):
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([*WINNERS.split(","), "judge", "language", "tstamp"])
    writer.writerows(rows)
    return read(text.getvalue())


def same(one, other) -> bool:
    fields = ("a", "b", "outcome", "voter", "group")
    return (
        one.models == other.models
        and all((getattr(one, f) == getattr(other, f)).all() for f in fields)
        and np.array_equal(one.seconds, other.seconds, equal_nan=True)
    )


@pytest.mark.unit
@settings(max_examples=60, deadline=None)
@given(votes)
def test_what_is_exported_is_read_back(rows):
    log = log_of(rows)
    assert log.n == len(rows)
    for export in (to_csv, to_jsonl, to_json):
        again = read("".join(export(log)))
        assert same(again, log)
    if not any(row[2] in ("tie", "both_bad") for row in rows):
        for export in (to_csv, to_jsonl, to_json):
            assert same(read("".join(export(log, "copilot"))), log)


@pytest.mark.unit
def test_ties_have_no_word_in_copilots_layout():
    log = log_of([("a", "b", "tie", "", "", "")])
    for export in (to_csv, to_jsonl, to_json):
        with pytest.raises(ValueError, match="1 votes are ties"):
            "".join(export(log, "copilot"))
    with pytest.raises(ValueError, match="layout is 'magic'"):
        "".join(to_csv(log, "magic"))


@pytest.mark.unit
@pytest.mark.parametrize("name", ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)"])
def test_no_exported_cell_is_a_formula(name):
    log = log_of([(name, "b", "tie", "", "", "")])
    rows = list(csv.reader(io.StringIO("".join(to_csv(log)), newline="")))
    assert rows[1][0] == "'" + name
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)
    assert safe_cell("\tx") == "'\tx"
    assert same(read("".join(to_csv(log))), log)
