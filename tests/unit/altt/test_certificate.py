"""Certificates: what was issued verifies, and whatever is changed is noticed."""

from __future__ import annotations

import json
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from models.altt.__main__ import main
from models.altt.certificate import _checksum, guarantee, issue, verify
from models.altt.config import Config
from models.altt.environments import Stream, preset
from models.altt.log import settings
from models.altt.race import Race, play
from models.altt.sheet import certificate_html
from models.altt.table import LossTable
from models.betting import Bet

pytestmark = pytest.mark.unit

WORLD, ALPHA = preset("easy10")
ROOT = Path(__file__).parents[3]


def issued(**options):
    config = Config(10, ALPHA, budget=120, **options)
    race = Race(config, np.random.default_rng(7))
    for _ in play(race, Stream(WORLD, np.random.default_rng([7, 1]))):
        pass
    return issue(race, WORLD.names, 7, by_rule=True)


@pytest.fixture(scope="module")
def pair():
    certificate, log = issued()
    assert json.loads(certificate)["certified"]
    return certificate, log


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"control": "fdr", "acquisition": "all", "bet": Bet("fixed", 0.75, 0.5)},
        {"control": "holm", "acquisition": "random", "bet": Bet("ons"), "stop_at": 1},
        {"acquisition": "ucb", "bet": Bet("max", 1.0)},
        {"released": True, "acquisition": "uniform"},
    ],
    ids=["default", "fdr-all", "holm-random", "bankrupt", "released"],
)
def test_an_issued_certificate_verifies(options):
    certificate, log = issued(**options)
    assert verify(certificate.encode(), log.encode()) == []


def test_a_run_fed_by_hand_verifies_and_claims_no_rule():
    race = Race(Config(10, ALPHA, budget=300), np.random.default_rng(7))
    race.feed_batch(4, np.zeros(40))
    race.feed([9], [1.0])
    certificate, log = issue(race, WORLD.names, 7, by_rule=False)
    assert verify(certificate.encode(), log.encode()) == []
    claimed, log = issue(race, WORLD.names, 7, by_rule=True)
    assert verify(claimed.encode(), log.encode()) == [
        "Round 1 did not test what the rule and seed choose."
    ]


def test_a_run_on_a_table_that_ran_out_verifies():
    rows = np.random.default_rng(0).random((3, 20))
    table = LossTable(("a", "b", "c"), (rows[0], rows[1, :3], rows[2, :9]))
    race = Race(Config(3, 0.6, epsilon=0.5), np.random.default_rng(2))
    for _ in play(race, table.source()):
        pass
    certificate, log = issue(race, table.names, 2, by_rule=True, available=table.available)
    assert json.loads(certificate)["stopped"] == "out of data"
    assert verify(certificate.encode(), log.encode()) == []


def leaves(value, path=()):
    """Every position in the certificate that holds a plain value."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        if isinstance(inner, (dict, list)) and inner:
            yield from leaves(inner, (*path, key))
        else:
            yield (*path, key)


def other(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    return "changed" if value is None or not value else value[:-1] + "~"


def test_every_single_change_to_the_certificate_is_noticed(pair):
    certificate, log = pair
    paths = list(leaves(json.loads(certificate)))
    assert len(paths) > 40
    for path in paths:
        data = json.loads(certificate)
        inner = data
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = other(inner[path[-1]])
        assert verify(json.dumps(data).encode(), log.encode()), path


@pytest.mark.parametrize(
    "key",
    [
        "kind",
        "guarantee",
        "settings",
        "by_rule",
        "available",
        "names",
        "rounds",
        "losses",
        "stopped",
        "certified",
        "tests",
        "log10_wealth",
        "log_sha256",
        "versions",
        "checksum",
    ],
)
def test_every_missing_part_is_noticed(pair, key):
    certificate, log = pair
    data = json.loads(certificate)
    del data[key]
    assert verify(json.dumps(data).encode(), log.encode())


@pytest.mark.parametrize("setting", ["alpha", "delta", "epsilon", "seed", "truncation", "budget"])
def test_a_forged_setting_with_a_fresh_checksum_is_noticed_by_recomputing(pair, setting):
    certificate, log = pair
    data = json.loads(certificate)
    change = {
        "alpha": 0.1,
        "delta": 0.01,
        "epsilon": 0.9,
        "seed": 8,
        "truncation": 0.5,
        "budget": 119,
    }
    data["settings"][setting] = change[setting]
    data["guarantee"] = guarantee(data["settings"])
    del data["checksum"]
    data["checksum"] = _checksum(data)
    faults = verify(json.dumps(data).encode(), log.encode())
    assert faults
    assert not any("checksum" in fault for fault in faults)


def test_every_single_change_to_the_log_is_noticed(pair):
    certificate, log = pair
    lines = log.splitlines(keepends=True)
    for k in range(0, len(lines), 12):
        assert verify(certificate.encode(), "".join(lines[:k] + lines[k + 1 :]).encode())
        assert verify(certificate.encode(), "".join([*lines[: k + 1], *lines[k:]]).encode())
    flipped = log.replace(",0.0,", ",1.0,", 1)
    assert verify(certificate.encode(), flipped.encode())
    assert verify(certificate.encode(), log.encode() + b" ")


@pytest.mark.parametrize("garbage", [b"", b"[]", b"null", b"\xff", b'{"kind": 3}', b"{}"])
def test_garbage_is_called_garbage(pair, garbage):
    certificate, log = pair
    assert verify(garbage, log.encode())
    assert verify(certificate.encode(), garbage)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "With probability at least 0.9, every certified candidate has a risk of at most 0.2."),
        ({"control": "fdr"}, "On average over runs, at most 0.1 of the certified"),
        ({"released": True}, "None: the run reproduces the released script"),
        ({"alpha": (0.2, 0.3)}, "a risk of at most 0.2, 0.3"),
    ],
)
def test_the_guarantee_is_what_the_settings_promise(options, words):
    config = Config(**{"n_candidates": 3, "alpha": 0.2, **options})
    assert words in guarantee(settings(config, 0))


def test_the_command_tells_by_its_exit_status(pair, tmp_path, capsys):
    certificate, log = tmp_path / "certificate.json", tmp_path / "log.csv"
    certificate.write_bytes(pair[0].encode())
    log.write_bytes(pair[1].encode())
    arguments = ["verify", str(certificate), str(log)]
    assert main(arguments) == 0
    assert "Verified" in capsys.readouterr().out
    assert main(["verify", str(certificate), str(tmp_path / "none.csv")]) == 2
    log.write_bytes(pair[1].encode()[:-40])
    assert main(arguments) == 1
    assert "not the one" in capsys.readouterr().out


def test_the_command_runs_from_a_shell(pair, tmp_path):
    certificate, log = tmp_path / "certificate.json", tmp_path / "log.csv"
    certificate.write_bytes(pair[0].encode())
    log.write_bytes(pair[1].encode())
    command = [sys.executable, "-m", "models.altt", "verify", str(certificate), str(log)]
    assert subprocess.run(command, cwd=ROOT, check=False, capture_output=True).returncode == 0
    certificate.write_bytes(pair[0].replace('"delta": 0.1', '"delta": 0.2').encode())
    assert subprocess.run(command, cwd=ROOT, check=False, capture_output=True).returncode == 1


def test_the_sheet_is_well_formed_self_contained_and_escapes_names():
    race = Race(Config(3, 0.2, budget=100), np.random.default_rng(0))
    race.feed_batch(0, np.zeros(40))
    race.feed([1], [1.0])
    certificate, _ = issue(race, ("<b>one</b>", "two", "three"), 0, by_rule=False)
    page = certificate_html(certificate)
    stack = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attributes):
            assert not {"src", "href"} & {name for name, _ in attributes}
            if tag not in ("meta",):
                stack.append(tag)

        def handle_endtag(self, tag):
            assert stack.pop() == tag

    Reader().feed(page)
    assert stack == []
    assert "&lt;b&gt;one&lt;/b&gt;" in page
    assert "<b>one" not in page
    assert "1 of 3 candidates certified" in page
    assert "<td>three</td><td>untested</td><td>0</td>" in page
    assert "<td>two</td><td>not certified</td><td>1</td>" in page
