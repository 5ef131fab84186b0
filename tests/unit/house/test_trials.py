"""Trials: the same bits wherever they run, states in order, faults in one sentence."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from operator import methodcaller
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib.externals.loky import get_reusable_executor
from streamlit.testing.v1 import AppTest
from threadpoolctl import threadpool_info

from models import trials
from models.trials import run_trials

PAIR = methodcaller("normal", 1.0, 2.0, 2)


def by_hand(count: int, seed: int) -> np.ndarray:
    children = np.random.SeedSequence(seed).spawn(count)
    return np.array([PAIR(np.random.default_rng(child)) for child in children])


def last(*arguments, **options) -> np.ndarray:
    *_, state = run_trials(*arguments, **options)
    return state.results


@pytest.fixture(autouse=True)
def no_variables(monkeypatch):
    monkeypatch.delenv("LIVEPROOF_DASK", raising=False)
    monkeypatch.delenv("LIVEPROOF_WORKERS", raising=False)


@pytest.fixture
def fresh_pool():
    get_reusable_executor().shutdown(wait=True)


# -- the same bits --------------------------------------------------------------------------


@settings(deadline=None)
@given(
    count=st.integers(1, 40),
    seed=st.integers(0, 2**70),
    chunk=st.none() | st.integers(1, 50),
)
def test_trial_i_has_the_ith_spawned_generator(count, seed, chunk):
    np.testing.assert_array_equal(
        last(PAIR, count, seed, workers=1, chunk=chunk), by_hand(count, seed)
    )


@pytest.mark.parametrize("workers", [2, 3])
@pytest.mark.parametrize("chunk", [None, 1, 7, 1000])
def test_results_do_not_depend_on_workers_or_chunks(workers, chunk):
    results = last(PAIR, 100, 4, workers=workers, chunk=chunk)
    np.testing.assert_array_equal(results, by_hand(100, 4))


def test_a_longer_run_begins_with_the_shorter_one():
    np.testing.assert_array_equal(last(PAIR, 90, 2, workers=1)[:30], last(PAIR, 30, 2, workers=1))


def test_linear_algebra_gives_the_same_bits_here_and_in_workers():
    def products(rng):
        x = rng.normal(size=160_000)  # long enough for BLAS to split among its threads
        square = x.reshape(400, 400)
        return [x[::2] @ x[1::2], (square @ square).sum()]

    np.testing.assert_array_equal(
        last(products, 12, 0, workers=1), last(products, 12, 0, workers=2)
    )


@pytest.mark.parametrize("workers", [1, 2])
def test_blas_has_one_thread_during_a_trial(workers):
    def threads(rng):
        return max(pool["num_threads"] for pool in threadpool_info())

    assert last(threads, 6, 0, workers=workers).max() == 1


def test_blas_threads_are_as_before_after_the_run():
    before = threadpool_info()
    last(PAIR, 3, 0, workers=1)
    assert threadpool_info() == before


def test_a_buffer_that_a_trial_uses_again_does_not_spoil_earlier_rows():
    buffer = np.empty(2)

    def reusing(rng):
        buffer[:] = PAIR(rng)
        return buffer

    np.testing.assert_array_equal(last(reusing, 20, 6, workers=1), by_hand(20, 6))


# -- states ---------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2])
def test_every_state_holds_the_first_trials_in_order(workers):
    states = list(run_trials(PAIR, 200, 9, workers=workers, chunk=9))
    whole = by_hand(200, 9)
    done = [state.done for state in states]
    assert done == sorted(set(done))
    assert done[-1] == 200
    for state in states:
        assert state.total == 200
        np.testing.assert_array_equal(state.results, whole[: state.done])


def test_time_left_ends_at_zero_and_is_never_negative():
    states = list(run_trials(PAIR, 50, 0, workers=1, chunk=5))
    assert len(states) == 10
    assert states[0].seconds_left is None
    assert states[-1].seconds_left == 0.0
    assert all(state.seconds_left is None or state.seconds_left >= 0 for state in states)


def test_time_left_is_the_rate_since_the_first_state_times_what_is_left(monkeypatch):
    now = iter(range(0, 1000, 2))  # a chunk asks at its start and end, the run once after it
    monkeypatch.setattr(trials.time, "perf_counter", lambda: float(next(now)))
    states = list(run_trials(PAIR, 10, 0, workers=1, chunk=2))
    # 2 trials each 6 seconds after the first state: 3 seconds a trial.
    assert [state.seconds_left for state in states] == [None, 18.0, 12.0, 6.0, 0.0]


def test_a_state_cannot_be_written_to():
    state = next(run_trials(PAIR, 5, 0, workers=1))
    with pytest.raises(ValueError, match="read-only"):
        state.results[0, 0] = 1.0


@settings(deadline=None)
@given(
    left=st.integers(1, 10**6),
    previous=st.integers(0, 10**6),
    seconds=st.floats(0, math.inf),
    slots=st.integers(1, 256),
)
def test_a_chunk_is_at_least_one_trial_and_never_more_than_a_quarter_second(
    left, previous, seconds, slots
):
    size = trials._next_size(left, previous, seconds, slots)
    assert 1 <= size <= max(1, 4 * previous)
    assert size == 1 or size * seconds <= 0.25 * (1 + 1e-9)


def test_chunks_grow_with_cheap_trials_and_share_the_rest_at_the_end():
    assert trials._next_size(10**6, 8, 1e-3, 4) == 32  # four times the last
    assert trials._next_size(10**6, 100, 1e-3, 4) == 250  # a quarter of a second
    assert trials._next_size(400, 250, 1e-3, 4) == 100  # a fourth of what is left
    assert trials._next_size(40, 250, 1e-3, 4) == 31  # but no crumbs
    assert trials._next_size(40, 250, 9.0, 4) == 1  # dear trials go one by one


# -- stopping -------------------------------------------------------------------------------


def test_a_closed_run_keeps_what_is_done_and_leaves_no_work_behind(tmp_path):
    def marking(rng):
        (tmp_path / f"{rng.integers(2**62)}").touch()
        return 1.0

    with closing(run_trials(marking, 10_000, 0, workers=2, chunk=5)) as states:
        state = next(states)
    begun = len(list(tmp_path.iterdir()))
    assert state.done <= begun <= 20  # four chunks are in flight
    last(PAIR, 50, 0, workers=2, chunk=1)  # passes behind anything still queued
    assert len(list(tmp_path.iterdir())) == begun


def test_two_runs_share_the_pool_without_mixing():
    pairs = zip(
        run_trials(PAIR, 60, 1, workers=2, chunk=10),
        run_trials(PAIR, 60, 2, workers=2, chunk=10),
        strict=False,
    )
    for one, two in pairs:
        np.testing.assert_array_equal(one.results, by_hand(60, 1)[: one.done])
        np.testing.assert_array_equal(two.results, by_hand(60, 2)[: two.done])


def test_workers_live_on_from_call_to_call():
    def process(rng):
        return float(os.getpid())

    seen = [set(last(process, 20, 0, workers=2, chunk=1).ravel()) for _ in range(4)]
    assert os.getpid() not in set.union(*seen)
    assert len(set.union(*seen)) <= 2


def test_one_worker_is_this_process(monkeypatch):
    def process(rng):
        return float(os.getpid())

    assert set(last(process, 5, 0, workers=1).ravel()) == {os.getpid()}
    monkeypatch.setenv("LIVEPROOF_WORKERS", "1")
    assert set(last(process, 5, 0).ravel()) == {os.getpid()}


# -- faults ---------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("raised", "expected"), [(KeyError, RuntimeError), (ValueError, ValueError)]
)
def test_the_first_trial_that_fails_is_named(workers, raised, expected):
    def picky(rng):
        if rng.random() > 0.95:
            raise raised("too large")
        return 0.0

    draws = [
        np.random.default_rng(np.random.SeedSequence(3, spawn_key=(i,))).random() for i in range(99)
    ]
    index = int(np.argmax(np.array(draws) > 0.95))
    assert index > 0
    message = f"^Trial {index} of seed 3 raised {raised.__name__}: '?too large'?$"
    with pytest.raises(expected, match=message) as caught:
        last(picky, 99, 3, workers=workers)
    assert raised.__name__ in str(caught.value.__cause__) or workers == 1
    assert last(PAIR, 4, 0, workers=workers).shape == (4, 2)


def test_a_fault_here_keeps_its_cause():
    def broken(rng):
        return 1 / 0

    with pytest.raises(RuntimeError, match="ZeroDivisionError") as caught:
        last(broken, 3, 0, workers=1)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_lost_worker_is_reported_and_replaced():
    def dies(rng):
        os._exit(1)

    with pytest.raises(RuntimeError, match=r"A worker was lost.* trials 0 to 0 of seed 8"):
        last(dies, 6, 8, workers=2)
    np.testing.assert_array_equal(last(PAIR, 6, 8, workers=2), by_hand(6, 8))


def test_a_pool_that_refuses_work_is_reported_after_what_it_did(monkeypatch):
    @contextmanager
    def refusing(workers):
        yield trials._Pool(submit, lambda futures: None, 2)

    def submit(function, trial, seed, start, stop):
        if start >= 4:
            raise RuntimeError("the pool is shut down")
        return trials._run_here(function, trial, seed, start, stop)

    monkeypatch.setattr(trials, "_local", refusing)
    states = run_trials(PAIR, 10, 0, workers=2, chunk=2)
    assert next(states).done == 4
    with pytest.raises(RuntimeError, match=r"A worker was lost, .* trials 4 to 5 .*is shut down"):
        next(states)


def test_a_trial_that_cannot_be_sent_is_reported():
    handle = sys.stderr.buffer

    def holds_a_file(rng):
        return handle.fileno()

    with pytest.raises(RuntimeError, match="could not be sent its work, at trials 0 to 0"):
        last(holds_a_file, 6, 0, workers=2)


@pytest.mark.parametrize("chunk", [1, 100])
def test_trials_must_return_as_many_numbers_each(chunk):
    def uneven(rng):
        return rng.random(2 + (rng.random() > 0.9))

    with pytest.raises(ValueError, match=r"returned an array of shape \(3,\).*\(here 2\)"):
        last(uneven, 100, 1, workers=1, chunk=chunk)


@pytest.mark.parametrize("shape", [(2, 2), (0,)])
def test_a_trial_must_return_a_row_of_numbers(shape):
    with pytest.raises(ValueError, match="Trial 0 of seed 0 returned an array of shape"):
        last(methodcaller("random", shape), 3, 0, workers=1)


def test_a_single_number_is_a_row_of_one():
    assert last(methodcaller("random"), 3, 0, workers=1).shape == (3, 1)


@pytest.mark.parametrize("wrong", [0, -1, 2.5, None, "many"])
@pytest.mark.parametrize("name", ["count", "seed", "workers", "chunk"])
def test_arguments_out_of_range_are_refused_before_anything_runs(name, wrong):
    if (name == "seed" and wrong == 0) or (name in ("workers", "chunk") and wrong is None):
        return
    arguments = {"count": 3, "seed": 0, "workers": 1, "chunk": 1} | {name: wrong}
    with pytest.raises(ValueError, match=f"^{name} is .*whole number of at least [01]"):
        run_trials(PAIR, **arguments)


@pytest.mark.parametrize("wrong", ["0", "two", "1.5"])
def test_a_wrong_number_of_workers_in_the_environment_is_named(monkeypatch, wrong):
    monkeypatch.setenv("LIVEPROOF_WORKERS", wrong)
    with pytest.raises(ValueError, match=f"LIVEPROOF_WORKERS is '{wrong}'"):
        run_trials(PAIR, 3, 0)


# -- surroundings ---------------------------------------------------------------------------


def test_workers_find_the_models_from_anywhere(fresh_pool, monkeypatch, tmp_path):
    root = Path(trials.__file__).resolve().parents[1]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [place for place in sys.path if Path(place).resolve() != root])

    def imports(rng):
        from models.checks import check_alpha

        return check_alpha(0.25)

    assert last(imports, 4, 0, workers=2).tolist() == [[0.25]] * 4


PAGE = """
import sys
from functools import partial
from operator import methodcaller
import streamlit as st
from models.trials import run_trials

with open({log!r}, "a") as log:
    log.write("run\\n")

def shifted(rng, by):
    return methodcaller("normal", 1.0, 2.0, 2)(rng) + by

for state in run_trials(partial(shifted, by=0.0), 40, 11, workers=2, chunk=3):
    st.session_state["done"] = state.done
st.session_state["results"] = state.results
st.session_state["main"] = sys.modules["__main__"].__dict__ is globals()
"""


def test_a_streamlit_page_can_run_its_own_trials_in_workers(fresh_pool, tmp_path):
    log = tmp_path / "log"
    page = AppTest.from_string(PAGE.format(log=str(log)), default_timeout=120).run()
    assert not page.exception
    assert page.session_state["main"]  # the script did stand in for __main__
    np.testing.assert_array_equal(page.session_state["results"], by_hand(40, 11))
    assert log.read_text() == "run\n"  # and no worker ran the script again


# -- Dask -----------------------------------------------------------------------------------


@contextmanager
def dask_cluster(workers: int) -> Iterator[str]:
    from distributed import LocalCluster

    with pytest.MonkeyPatch.context() as patch:
        # Dask's workers import __main__, and AppTest leaves a page script there.
        patch.setitem(sys.modules, "__main__", ModuleType("__main__"))
        with LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # or else 0.0.0.0:8787
        ) as cluster:
            yield cluster.scheduler_address


@pytest.fixture(scope="module")
def scheduler():
    with dask_cluster(2) as address:
        yield address


@pytest.mark.parametrize("chunk", [None, 7])
def test_a_dask_cluster_gives_the_same_bits(scheduler, monkeypatch, chunk):
    monkeypatch.setenv("LIVEPROOF_DASK", scheduler)
    states = list(run_trials(PAIR, 100, 4, chunk=chunk))
    np.testing.assert_array_equal(states[-1].results, by_hand(100, 4))
    np.testing.assert_array_equal(states[0].results, by_hand(100, 4)[: states[0].done])


def test_trials_run_on_the_cluster_only_without_a_number_of_workers(scheduler, monkeypatch):
    from distributed import get_worker

    def address(rng):
        return float(get_worker().address.rpartition(":")[2])

    monkeypatch.setenv("LIVEPROOF_DASK", scheduler)
    assert 1 <= len(set(last(address, 20, 0, chunk=1).ravel())) <= 2
    with pytest.raises(ValueError, match="No worker found"):
        last(address, 1, 0, workers=1)


def test_a_run_closed_on_a_cluster_leaves_it_free(scheduler, monkeypatch):
    monkeypatch.setenv("LIVEPROOF_DASK", scheduler)
    with closing(run_trials(PAIR, 10**6, 4, chunk=5)) as states:
        assert next(states).done <= 20
    np.testing.assert_array_equal(last(PAIR, 9, 1), by_hand(9, 1))


def test_a_trial_that_fails_on_a_cluster_is_named(scheduler, monkeypatch):
    def broken(rng):
        return 1 / 0

    monkeypatch.setenv("LIVEPROOF_DASK", scheduler)
    with pytest.raises(RuntimeError, match=r"^Trial 0 of seed 5 raised ZeroDivisionError"):
        last(broken, 1, 5)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "http://127.0.0.1:1", "here", "tcp://"])
def test_a_scheduler_that_does_not_answer_is_named(monkeypatch, address):
    monkeypatch.setenv("LIVEPROOF_DASK", address)
    with pytest.raises(ValueError, match=f"^LIVEPROOF_DASK is '{address}', but must be"):
        last(PAIR, 3, 0)


def test_a_cluster_without_workers_is_refused(monkeypatch):
    with dask_cluster(0) as address:
        monkeypatch.setenv("LIVEPROOF_DASK", address)
        with pytest.raises(ValueError, match="has no workers"):
            last(PAIR, 3, 0)
