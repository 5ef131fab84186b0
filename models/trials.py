"""Monte-Carlo trials, spread over local processes or a Dask cluster, as a stream of states.

A trial is a function of one random generator. Trial ``i`` of seed ``s`` always receives
``default_rng(SeedSequence(s, spawn_key=(i,)))`` and one BLAS thread, and a state always holds the
first trials by number. So neither the number of workers, nor the size of the chunks, nor the
machines change a bit of the results, and a partial result does not favour trials that end early.

With ``workers=1`` trials run in this process, with ``workers=n`` in n local ones (loky's pool,
kept alive from call to call). By default they go to the Dask scheduler that
``LIVEPROOF_DASK=tcp://host:port`` names; without it, to ``LIVEPROOF_WORKERS`` local processes;
without that, to one a CPU. Dask's scheduler and workers need this repository on their
``PYTHONPATH`` and the package versions used here, and the workers one thread each.
"""

from __future__ import annotations

import math
import operator
import os
import site
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, SupportsIndex
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

Float = npt.NDArray[np.float64]
Trial = Callable[[np.random.Generator], npt.ArrayLike]

_CHUNK_SECONDS = 0.25
_CONNECT_SECONDS = 10.0
_IDLE_SECONDS = 300  # then local workers end and give their memory back
_ROOT = str(Path(__file__).resolve().parents[1])
# Read by BLAS, OpenMP and torch as a worker imports them, so that no idle threads are started.
_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"), "1"
)
# A limit on BLAS threads is process-wide: two visitors' threads that both ran trials in this
# process would undo each other's. Re-entrant, as a trial may itself run trials.
_ONE_CHUNK_AT_A_TIME = threading.RLock()


@dataclass(frozen=True)
class TrialState:
    """The first trials' results so far.

    Attributes
    ----------
    results : float64, shape (done, k), read-only; row i is trial i
    total : the number of trials asked for
    seconds_left : estimated time to the last trial; None while there is no rate to judge by
    """

    results: Float
    total: int
    seconds_left: float | None

    @property
    def done(self) -> int:
        """The number of trials done."""
        return len(self.results)


class _Pool(NamedTuple):
    submit: Callable[..., Any]  # (function, *arguments) -> a future with result() and done()
    cancel: Callable[[list[Any]], object]
    slots: int  # chunks to keep in flight: two a worker, so that none waits while a page draws


def run_trials(
    trial: Trial, count: int, seed: int, *, workers: int | None = None, chunk: int | None = None
) -> Generator[TrialState, None, None]:
    """Run ``count`` independent trials, yielding a state about as often as a page can draw one.

    Stop by closing the generator (see ``contextlib.closing``): what waits is dropped, and chunks
    that already run in local processes are awaited, so that nothing is left running.

    Parameters
    ----------
    trial : picklable, ``trial(rng)`` -> k >= 1 floats, the same k each time; usually a
        ``functools.partial`` of a module's function
    count, seed : int, count >= 1 and seed >= 0
    workers : int >= 1, optional; see the top of this module
    chunk : int >= 1, optional, trials sent at a time; by default a quarter of a second's worth

    Raises
    ------
    ValueError
        If an argument or variable is out of range, no scheduler answers, a trial returns another
        number of values than the first one, or a trial itself raises ValueError.
    RuntimeError
        If a trial raises anything else, or a worker is lost.
    """
    count, seed = _check_integer(count, 1, "count"), _check_integer(seed, 0, "seed")
    if chunk is not None:
        chunk = _check_integer(chunk, 1, "chunk")
    address = ""
    if workers is not None:
        workers = _check_integer(workers, 1, "workers")
    elif not (address := os.environ.get("LIVEPROOF_DASK", "")):
        wanted = os.environ.get("LIVEPROOF_WORKERS", "")
        workers = _check_integer(wanted, 1, "LIVEPROOF_WORKERS") if wanted else None
    return _states(trial, count, seed, workers, chunk, address)


def _states(
    trial: Trial, count: int, seed: int, workers: int | None, chunk: int | None, address: str
) -> Generator[TrialState, None, None]:
    done, sent, size, seconds_each = 0, 0, 0, math.inf
    results = np.empty((count, 0))
    first_done, first_time = 0, 0.0  # at the first state, from which the rate counts
    flying: deque[tuple[int, int, Any]] = deque()  # (first trial, behind the last one, future)
    with _cluster(address) if address else _local(workers) as pool:
        try:
            while done < count:
                while sent < count and len(flying) < pool.slots:
                    size = chunk or _next_size(count - sent, size, seconds_each, pool.slots)
                    stop = min(sent + size, count)
                    flying.append((sent, stop, _send(pool, trial, seed, sent, stop)))
                    sent = stop
                arrived = False
                while flying and (not arrived or flying[0][2].done()):
                    start, stop, future = flying[0]
                    block, seconds = _outcome(future, start, stop, seed)
                    flying.popleft()
                    if not done:
                        results = np.empty((count, block.shape[1]))
                    _check_shape(block.shape[1:], results.shape[1], start, seed)
                    results[start:stop] = block
                    done, arrived, seconds_each = stop, True, seconds / (stop - start)
                now = time.perf_counter()
                if not first_done:
                    first_done, first_time = done, now
                left = None if done < count else 0.0
                if done > first_done and now - first_time > 2 * _CHUNK_SECONDS:
                    left = (now - first_time) / (done - first_done) * (count - done)
                view = results[:done]
                view.flags.writeable = False
                yield TrialState(view, count, left)
        finally:
            pool.cancel([future for _, _, future in flying])


def _next_size(left: int, last: int, seconds_each: float, slots: int) -> int:
    """Trials in the next chunk: a quarter of a second's worth, within what is prudent."""
    worth = int(_CHUNK_SECONDS / max(seconds_each, 1e-9))
    growth = 4 * last  # the first timings include imports, or are too short to believe
    share = max(math.ceil(left / slots), worth // 8)  # so that all workers end about together
    return max(1, min(worth, growth, share))


def _send(pool: _Pool, *work: Any) -> Any:
    try:
        return pool.submit(_run_chunk, *work)
    except Exception as error:  # reported in its turn, behind what earlier chunks yield
        refused: Future[Any] = Future()
        refused.set_exception(error)
        return refused


def _run_chunk(trial: Trial, seed: int, start: int, stop: int) -> tuple[Float, float]:
    """Run the trials start..stop-1; returns shape (stop - start, k), and seconds."""
    rows: list[Float] = []
    with _ONE_CHUNK_AT_A_TIME, threadpool_limits(1):
        began = time.perf_counter()
        for i in range(start, stop):
            rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(i,)))
            try:
                rows.append(np.array(trial(rng), dtype=np.float64, ndmin=1))
            except Exception as error:
                kind = ValueError if isinstance(error, ValueError) else RuntimeError
                raise kind(
                    f"Trial {i} of seed {seed} raised {type(error).__name__}: {error}"
                ) from error
            _check_shape(rows[-1].shape, rows[0].shape[-1], i, seed)
        return np.stack(rows), time.perf_counter() - began


def _outcome(future: Any, start: int, stop: int, seed: int) -> tuple[Float, float]:
    try:
        return future.result()  # type: ignore[no-any-return]
    except Exception as error:
        if str(error).startswith("Trial "):  # from _run_chunk; all else is the pool's
            raise
        raise RuntimeError(
            f"A worker was lost, or could not be sent its work, at trials {start} to {stop - 1} of "
            f"seed {seed}: {type(error).__name__}: {error}"
        ) from error


@contextmanager
def _local(workers: int | None) -> Iterator[_Pool]:
    # Imported here: a page that only shows stored results need not wait for it.
    import joblib
    from joblib.externals.loky import get_reusable_executor

    workers = workers or joblib.cpu_count()
    if workers == 1:
        yield _Pool(_run_here, lambda futures: None, 1)
        return
    # loky leaves __main__ alone, which inside a Streamlit run is a page script, and sends
    # functions defined there by value. Its workers get this process's sys.path, whose relative
    # entries may lead elsewhere: addsitedir makes sure of `models`.
    start_up = {"initializer": site.addsitedir, "initargs": (_ROOT,), "env": _ONE_THREAD}
    executor = get_reusable_executor(workers, timeout=_IDLE_SECONDS, **start_up)
    yield _Pool(executor.submit, _drop, 2 * workers)


def _run_here(function: Callable[..., Any], *arguments: Any) -> Future[Any]:
    future: Future[Any] = Future()
    future.set_result(function(*arguments))
    return future


def _drop(futures: list[Future[Any]]) -> None:
    wait([future for future in futures if not future.cancel()])


@contextmanager
def _cluster(address: str) -> Iterator[_Pool]:
    try:
        import distributed

        place = urlsplit(address)
        if place.scheme != "tcp":
            raise ValueError("no tcp address")
        # Asked first, as a Dask client that finds nobody is slow to say so, and noisy.
        socket.create_connection((place.hostname, place.port), _CONNECT_SECONDS).close()
        connect: Any = distributed.Client  # its signature has no types
        client = connect(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (ImportError, OSError, ValueError) as error:
        raise ValueError(
            f"LIVEPROOF_DASK is {address!r}, but must be the address of a running Dask scheduler, "
            f"such as tcp://localhost:8786, or unset ({error})."
        ) from error
    with client:
        if not (slots := 2 * sum(client.nthreads().values())):
            raise ValueError(f"The Dask scheduler at {address} has no workers: start one.")
        # Closing the client makes the scheduler drop its tasks.
        yield _Pool(partial(client.submit, pure=False), lambda futures: None, slots)


def _check_shape(shape: tuple[int, ...], width: int, i: int, seed: int) -> None:
    if shape != (width,) or not width:
        raise ValueError(
            f"Trial {i} of seed {seed} returned an array of shape {shape}, but every trial must "
            f"return as many numbers as the first did, at least one, in a row (here {width})."
        )


def _check_integer(value: SupportsIndex | str, least: int, name: str) -> int:
    try:
        number = int(value) if isinstance(value, str) else operator.index(value)
    except (TypeError, ValueError):
        number = least - 1
    if number < least:
        raise ValueError(f"{name} is {value!r}, but must be a whole number of at least {least}.")
    return number
