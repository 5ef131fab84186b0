"""The shipped table of completions: whole, real where that can be checked, and within its rules."""

from __future__ import annotations

import ast
import json

import numpy as np
import pytest

from models.arena.completions import (
    CONTESTANTS,
    FILE,
    completion,
    infill_rates,
    latencies,
    pairs_for,
    samples,
    table,
)
from models.arena.contestants import roster
from models.arena.infill import START_TAGS, STOP_TOKENS
from models.arena.latency import fit_latencies
from models.arena.postprocess import MAX_LINES
from models.arena.tasks import TASKS

pytestmark = pytest.mark.unit

NAMES = [one.name for one in CONTESTANTS]
DRAWING = [one.name for one in CONTESTANTS if "temperature" in one.settings]
TASK = {one.id: one for one in TASKS}


def test_every_task_has_every_contestant():
    want = {
        (task.id, name, sample)
        for task in TASKS
        for name in NAMES
        for sample in range(2 if name in DRAWING else 1)
    }
    assert set(table()) == want
    lines = FILE.read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(want)
    assert all(isinstance(json.loads(line), dict) for line in lines)


@pytest.mark.parametrize("name", NAMES)
def test_lines_are_whole(name):
    one_of = roster.contestant(name)
    for (task_id, who, _), made in table().items():
        if who != name:
            continue
        task = TASK[task_id]
        assert made.latency_ms > 0
        assert dict(made.settings) == dict(one_of.settings)
        assert made.versions["python"].startswith("3.11")
        assert made.text == roster.finished(name, made.raw, task.prefix, task.suffix)
        assert len(made.text.split("\n")) <= MAX_LINES
        assert made.text == "" or made.text.strip()
        assert not any(mark in made.text for mark in (*START_TAGS, *STOP_TOKENS, "<|im_", "```"))
        if task.language == "Python":
            try:
                ast.parse(task.prefix + made.text + task.suffix)
            except (SyntaxError, ValueError):
                assert made.parses is False
            else:
                assert made.parses is True
        else:
            assert made.parses is None


@pytest.mark.parametrize("name", DRAWING)
def test_draws_have_seeds_of_their_own(name):
    seeds = [made.seed for (_, who, _), made in table().items() if who == name]
    assert len(set(seeds)) == len(seeds)


@pytest.mark.parametrize("name", ["N-gram back-off", "Retrieval"])
def test_counts_and_retrieval_write_the_same_again(name):
    for task in TASKS:
        made = completion(task.id, name)
        fresh = roster.answer(name, task.prefix, task.suffix, task.language, made.seed)
        assert (fresh.raw, fresh.text) == (made.raw, made.text)


def test_jedi_completes_names_of_python_only():
    for task in TASKS:
        text = completion(task.id, "Jedi").text
        assert text == "" if task.language != "Python" else text == "" or text.isidentifier()


def test_nobody_is_silent_and_every_task_can_be_voted_on():
    for task in TASKS:
        assert len(pairs_for(task.id)) >= 5
        assert set(pairs_for(task.id)) <= set(NAMES)
        assert len({completion(task.id, name).text for name in pairs_for(task.id)}) >= 4


def test_the_anchor_is_worse_where_that_can_be_counted():
    def share(name):
        python = [m for (_, who, _), m in table().items() if who == name and m.parses is not None]
        return np.mean([m.parses for m in python])

    assert share("SmolLM2 hot") < share("SmolLM2 raw, cool")


def test_one_sample_answers_for_every_number():
    task = TASKS[0].id
    assert completion(task, "Retrieval", 5) == completion(task, "Retrieval")
    assert completion(task, "SmolLM2 raw, warm", 1).sample == 1
    assert samples(task, "SmolLM2 raw, warm") == 2
    assert samples(task, "Jedi") == 1
    assert completion("nope", "Jedi") is None
    assert completion(task, "nobody") is None


def test_latencies_feed_the_sampler():
    measured = latencies()
    assert list(measured) == NAMES
    fitted = fit_latencies({name: values / 1000 for name, values in measured.items()})
    median = dict(zip(fitted.models, fitted.medians, strict=True))
    assert median["N-gram back-off"] < median["Jedi"] < median["SmolLM2 raw, cool"]
    with pytest.raises(ValueError, match="read-only"):
        measured["Jedi"][0] = 1


def test_the_rates_are_shares_of_what_was_counted():
    rates = infill_rates()
    assert rates["label"] == "measured here"
    assert len(rates["rows"]) == 3 * 2 * 3
    for row in rates["rows"]:
        assert 0 <= row["well_formed_not_empty"] <= row["well_formed"] <= row["n"]
    assert {row["order"] for row in rates["rows"]} == {"PSM", "SPM", "mask"}
    assert [row["contestant"] for row in rates["contestants"]] == NAMES
    for row in rates["contestants"]:
        made = [
            m
            for (_, who, _), m in table().items()
            if who == row["contestant"] and m.parses is not None
        ]
        assert row["n"] == len(made)
        assert row["parses_strict"] == sum(m.parses for m in made)
        assert row["not_empty"] == sum(bool(m.text) for m in made)
