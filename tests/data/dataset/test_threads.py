"""Functions on several threads: in order, with errors where they belong, and no thread left behind."""

from __future__ import annotations

import gc
import threading
import time
import traceback
from itertools import islice
from typing import Any

import numpy as np
import pytest

from unisono.data import AUTOTUNE, Dataset, TensorSpec


def stream(count: int) -> Dataset:
    return Dataset.from_generator(lambda: iter(range(count)), output_signature=TensorSpec((), "int64"))


def find_data_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("unisono")]


@pytest.fixture(autouse=True)
def check_no_thread_is_left() -> Any:
    yield
    deadline = time.monotonic() + 5
    while find_data_threads() and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.01)
    assert find_data_threads() == []


def slow_for_some(x: Any) -> Any:
    value = int(np.asarray(x))
    time.sleep(0.01 if value % 3 == 0 else 0)
    return np.asarray(value)


both_inputs = pytest.mark.parametrize("make", [Dataset.range, stream], ids=["rows", "stream"])


@both_inputs
@pytest.mark.parametrize("calls", [1, 2, 7, AUTOTUNE])
def test_elements_come_in_order_however_long_each_takes(make: Any, calls: int) -> None:
    assert [int(x) for x in make(20).map(slow_for_some, num_parallel_calls=calls)] == list(range(20))


@both_inputs
def test_calls_overlap_up_to_the_number_that_was_allowed(make: Any) -> None:
    running, most, lock = 0, 0, threading.Lock()

    def watch(x: Any) -> Any:
        nonlocal running, most
        value = np.asarray(x)
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.02)
        with lock:
            running -= 1
        return value

    list(make(12).map(watch, num_parallel_calls=3))
    assert most == 3


@both_inputs
@pytest.mark.parametrize("prefetch", [None, 3])
def test_without_num_parallel_calls_a_function_is_called_in_order_one_call_at_a_time(
    make: Any, prefetch: int | None
) -> None:
    order: list[int] = []
    busy = threading.Lock()

    def sequential(x: Any) -> Any:
        value = int(np.asarray(x))
        assert busy.acquire(blocking=False), "two calls at once"
        order.append(value)
        time.sleep(0.001)
        busy.release()
        return np.asarray(value)

    dataset = make(20).map(slow_for_some, num_parallel_calls=4).map(sequential).batch(2)
    assert len(list(dataset if prefetch is None else dataset.prefetch(prefetch))) == 10
    assert order == list(range(20))


@both_inputs
def test_prefetch_computes_while_the_caller_is_busy(make: Any) -> None:
    computed: list[int] = []

    def remember(x: Any) -> Any:
        computed.append(int(np.asarray(x)))
        return np.asarray(x)

    iterator = iter(make(20).map(remember).prefetch(4))
    next(iterator)
    deadline = time.monotonic() + 5
    while len(computed) < 4 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert 4 <= len(computed) <= 6
    iterator.close()


class BrokenError(Exception):
    pass


def broken_at_five(x: Any) -> Any:
    value = int(np.asarray(x))
    if value == 5:
        raise BrokenError("at five")
    return np.asarray(value)


@both_inputs
@pytest.mark.parametrize("calls", [None, 1, 4, AUTOTUNE])
@pytest.mark.parametrize("prefetch", [0, 4])
def test_an_exception_comes_where_its_element_would_have(make: Any, calls: int | None, prefetch: int) -> None:
    taken: list[int] = []
    dataset = make(20).map(broken_at_five, num_parallel_calls=calls).prefetch(prefetch)
    with pytest.raises(BrokenError, match="at five") as info:
        taken.extend(int(element) for element in dataset)
    assert taken == [0, 1, 2, 3, 4]
    frames = [frame.name for frame in traceback.extract_tb(info.value.__traceback__)]
    assert "broken_at_five" in frames
    del info


@both_inputs
@pytest.mark.parametrize("calls", [None, 4])
def test_after_an_exception_the_next_element_can_be_had(make: Any, calls: int | None) -> None:
    iterator = iter(make(8).map(broken_at_five, num_parallel_calls=calls))
    list(islice(iterator, 5))
    with pytest.raises(BrokenError):
        next(iterator)
    assert [int(x) for x in iterator] == [6, 7]


@both_inputs
def test_leaving_a_loop_ends_the_threads(make: Any) -> None:
    for element in make(1000).map(slow_for_some, num_parallel_calls=4).batch(2).prefetch(2):
        assert find_data_threads()
        if element[0] > 10:
            break


@both_inputs
@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_exception_of_the_consumer_ends_the_threads(make: Any, error: type[BaseException]) -> None:
    def consume() -> None:
        for _ in make(1000).map(slow_for_some, num_parallel_calls=4).batch(2).prefetch(2):
            raise error

    with pytest.raises(error):
        consume()


def test_the_end_of_the_data_ends_the_threads() -> None:
    iterator = iter(stream(5).map(slow_for_some, num_parallel_calls=4))
    list(iterator)
    assert find_data_threads() == []


def test_closing_waits_for_the_call_that_runs() -> None:
    running = threading.Event()
    ended: list[int] = []

    def slow(x: Any) -> Any:
        running.set()
        time.sleep(0.1)
        ended.append(int(np.asarray(x)))
        return np.asarray(x)

    with iter(stream(100).map(slow, num_parallel_calls=2)) as iterator:
        next(iterator)
    count = len(ended)
    time.sleep(0.15)
    assert len(ended) == count
    assert find_data_threads() == []


def test_restoring_stops_the_threads_of_the_previous_position() -> None:
    iterator = iter(stream(30).map(slow_for_some, num_parallel_calls=4))
    list(islice(iterator, 3))
    state = iterator.get_state()
    list(islice(iterator, 10))
    iterator.set_state(state)
    assert [int(x) for x in iterator] == list(range(3, 30))


@pytest.mark.slow
def test_a_thread_that_finds_a_forgotten_pass_does_not_wait_for_itself() -> None:
    # The garbage collector may run in any thread, also in one that it would have to join.
    def collect(x: Any) -> Any:
        gc.collect()
        return np.asarray(x)

    gc.freeze()  # what other tests left takes long to look through
    try:
        for _ in range(5):
            cycle: list[Any] = [iter(stream(50).map(collect, num_parallel_calls=2))]
            next(cycle[0])
            cycle.append(cycle)
            del cycle
        assert len(list(stream(20).map(collect, num_parallel_calls=2))) == 20
    finally:
        gc.unfreeze()


def test_a_compiled_map_needs_no_threads() -> None:
    dataset = Dataset.range(100).map(lambda x: x + 1, num_parallel_calls=AUTOTUNE).batch(10)
    iterator = iter(dataset)
    next(iterator)
    assert find_data_threads() == []
    assert "compiled" in dataset.explain()


def test_explain_says_who_computes_and_why_not_better() -> None:
    dataset = stream(4).map(slow_for_some, num_parallel_calls=2).filter(lambda x: True).map(slow_for_some).batch(2)
    lines = dataset.explain().splitlines()
    assert lines[0].startswith(str(dataset._plan.source))
    assert "host threads" in lines[1]
    assert lines[1].endswith("2 threads")
    assert "python" in lines[2]
    assert "no num_parallel_calls" in lines[3]
