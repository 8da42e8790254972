"""`ClusterCoordinator`: functions run on free workers, no update is lost, errors and lost tasks are reported."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np
import pytest

import unisono
from tests.parameter_servers._cluster import Cluster, cluster
from unisono._src import parameter_servers
from unisono._src.core import OutOfRangeError
from unisono._src.parameter_servers import (
    ClosureCancelledError,
    ClosureFailedError,
    ClusterCoordinator,
    ParameterServerStrategy,
    PerWorkerValues,
    RemoteValue,
    Server,
    get_current_worker_index,
)
from unisono._src.parameter_servers._closure_queue import ClosureQueue
from unisono._src.parameter_servers._closure_runner import ClosureRunner
from unisono._src.parameter_servers._variable_store import VariableStore
from unisono._src.parameter_servers._worker_thread import WorkerThread
from unisono.data import Dataset
from unisono_launch.cluster import ClusterSpec, SimpleClusterResolver
from unisono_launch.connection import PeerLostError, _frames


@pytest.fixture(scope="module")
def shared() -> Iterator[Cluster]:
    with cluster() as made:
        yield made


def _run_many(coordinator: ClusterCoordinator, function: Any, *args: Any) -> None:
    for _ in range(20):
        coordinator.schedule(function, args=args)
        coordinator.join()


def test_no_addition_is_lost(shared: Cluster) -> None:
    with shared.strategy.scope():
        total, vector = keras.Variable(0, dtype="int32"), keras.Variable(np.zeros(3, "float32"))

    @unisono.function
    def add(amount: Any) -> Any:
        total.assign_add(1)
        vector.assign_add(amount)
        return amount[0] * 2

    results = [shared.coordinator.schedule(add, args=(np.float32([1, 2, 3]),)) for _ in range(40)]
    assert all(isinstance(result, RemoteValue) for result in results)
    shared.coordinator.join()
    assert shared.coordinator.done()
    assert int(total) == 40
    assert vector.numpy().tolist() == [40.0, 80.0, 120.0]
    assert shared.coordinator.fetch({"all": results})["all"] == [2.0] * 40
    assert results[0].get() == 2.0


def test_the_chief_reads_and_writes_what_the_servers_hold(shared: Cluster) -> None:
    with shared.strategy.scope():
        variables = [keras.Variable(np.float32([index])) for index in range(4)]
    assert [variable.device for variable in variables] == [variable.device for variable in variables[2:] * 2]
    assert len({variable.device for variable in variables}) == 2
    step = unisono.function(lambda: [variable.assign(variable * 2) for variable in variables] and None)
    variables[3].assign([10.0])
    assert shared.coordinator.schedule(step).fetch() is None
    assert [float(variable[0]) for variable in variables] == [0.0, 2.0, 4.0, 20.0]
    variables[0].assign_add([1.0])
    shared.coordinator.schedule(step)
    shared.coordinator.join()
    assert [float(variable[0]) for variable in variables] == [2.0, 4.0, 8.0, 40.0]


def test_a_function_returns_nests_and_takes_python_values_and_remote_values(shared: Cluster) -> None:
    @unisono.function
    def both(x: Any, *, scale: int) -> Any:
        return {"scaled": x * scale, "text": "as it is", "none": None}

    first = shared.coordinator.schedule(both, args=(np.arange(3),), kwargs={"scale": 2})
    second = shared.coordinator.schedule(lambda found: found["scaled"] + 1, args=(first,))
    assert second.fetch().tolist() == [1, 3, 5]
    assert first.fetch()["text"] == "as it is"
    assert first.fetch()["none"] is None


def test_each_worker_has_a_dataset_and_a_value(shared: Cluster) -> None:
    def make() -> Dataset:
        index = get_current_worker_index()
        return Dataset.range(100).map(lambda number: number + 1000 * index)

    iterator = iter(shared.coordinator.create_per_worker_dataset(make))
    value = PerWorkerValues([np.int32(0), np.int32(1)])

    @unisono.function
    def step(iterator: Any, value: Any) -> Any:
        return next(iterator), value, get_current_worker_index()

    results = [shared.coordinator.schedule(step, args=(iterator, value)).fetch() for _ in range(12)]
    for worker in (0, 1):
        own = [int(number) for number, value, index in results if index == worker]
        assert own == [1000 * worker + count for count in range(len(own))]
    assert all(int(number) // 1000 == value == index for number, value, index in results)
    with pytest.raises(RuntimeError, match="outside a scheduled function"):
        next(iterator)
    with pytest.raises(RuntimeError, match="outside functions that run for a worker"):
        get_current_worker_index()


def test_batches_of_another_size_are_traced_again(shared: Cluster) -> None:
    with shared.strategy.scope():
        rows = keras.Variable(0.0)
    dataset = Dataset.from_tensor_slices({"x": np.ones((5, 2), "float32")}).batch(3).repeat()
    iterator = iter(shared.coordinator.create_per_worker_dataset(dataset))

    @unisono.function
    def count(iterator: Any) -> Any:
        for _ in range(2):  # one epoch: 3 rows and 2
            rows.assign_add(keras.ops.sum(next(iterator)["x"]) / 2)

    for _ in range(6):
        shared.coordinator.schedule(count, args=(iterator,))
    shared.coordinator.join()
    assert float(rows) == 30.0


def test_the_end_of_the_data_is_an_error_of_the_function(shared: Cluster) -> None:
    iterator = iter(shared.coordinator.create_per_worker_dataset(Dataset.range(1)))
    step = unisono.function(lambda iterator: next(iterator))
    for _ in range(2):  # at most one for each worker
        with contextlib.suppress(OutOfRangeError):
            shared.coordinator.schedule(step, args=(iterator,)).fetch()
    with pytest.raises(OutOfRangeError, match="The dataset of worker"):
        _run_many(shared.coordinator, step, iterator)


def test_an_error_of_the_python_code_is_raised_where_it_is_scheduled(shared: Cluster) -> None:
    iterator = iter(shared.coordinator.create_per_worker_dataset(Dataset.range(3)))

    def step(iterator: Any, fails: bool) -> Any:
        found = next(iterator)
        if fails:
            raise KeyError("no such thing")
        return found

    with pytest.raises(KeyError, match="no such thing"):
        shared.coordinator.schedule(step, args=(iterator, True))
    shared.coordinator.join()
    found = [int(shared.coordinator.schedule(step, args=(iterator, False)).fetch()) for _ in range(2)]
    assert sorted(found) in ([0, 0], [0, 1])  # the element of the function that failed was put back


def test_a_function_that_fails_on_a_worker_says_where(shared: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(self: Any, message: Any, arrays: Any) -> Any:
        raise FloatingPointError("the program failed")

    step = unisono.function(lambda x: x + 1)
    with monkeypatch.context() as patched:
        patched.setattr(ClosureRunner, "_run", run)
        failed = [shared.coordinator.schedule(step, args=(np.float32(1),)) for _ in range(1)]
        with pytest.raises(ClosureFailedError, match=r"failed on worker \d \(localhost.*\n.*the program failed"):
            shared.coordinator.join()
        with pytest.raises(ClosureFailedError):
            failed[0].fetch()
    assert shared.coordinator.schedule(step, args=(np.float32(1),)).fetch() == 2.0


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="Linux has it")
def test_a_server_can_send_while_a_worker_waits_for_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a limit of half a second instead of two minutes, and a server that needs longer to answer."""
    monkeypatch.setattr(_frames, "_UNACKNOWLEDGED_MILLISECONDS", 500)
    read = VariableStore._read

    def read_slowly(self: Any, numbers: Any, known: Any) -> Any:
        answer, values = read(self, numbers, known)
        if [value.size for value in values] == [1]:
            time.sleep(1.5)
        return answer, values

    with cluster(1, 2) as made:
        with made.strategy.scope():
            small = keras.Variable([2.0])
            large = keras.Variable(np.ones(1 << 24, "float32"))  # more than the buffers of a connection hold
        monkeypatch.setattr(VariableStore, "_read", read_slowly)
        step = unisono.function(lambda: small[0] + large[-1])
        assert made.coordinator.schedule(step).fetch() == 3.0


class _Servers:
    def closures_started(self, number: int) -> None: ...
    def closure_ended(self) -> None: ...


def test_waiting_functions_are_cancelled_by_an_error() -> None:
    queue = ClosureQueue(_Servers(), 1)  # type: ignore[arg-type]
    first, second = queue.put(None, (), {}), queue.put(None, (), {})
    running = queue.take()
    assert running is not None
    assert not queue.is_done()
    queue.fail(running, ZeroDivisionError("no"))
    with pytest.raises(ClosureCancelledError, match="did not run"):
        second.fetch()
    with pytest.raises(ZeroDivisionError):
        first.fetch()
    with pytest.raises(ZeroDivisionError):
        queue.put(None, (), {})
    queue.join()  # raised once
    assert queue.is_done()


@pytest.mark.parametrize(
    ("attempt", "error", "text"),
    [
        (lambda c: c.coordinator.schedule(3), TypeError, "expected a function, got int"),
        (lambda c: c.coordinator.create_per_worker_dataset([1]), TypeError, "got list"),
        (lambda c: c.coordinator.create_per_worker_dataset(lambda: 1), TypeError, "the function returned int"),
        (lambda c: ClusterCoordinator(unisono.OneDeviceStrategy("cpu:0")), ValueError, "got OneDeviceStrategy"),
        (lambda c: Server(c.spec, "worker", 7), ValueError, "no task of the cluster"),
        (lambda c: Server({"chief": ["localhost:1"]}), ValueError, "runs no server"),
        (lambda c: ParameterServerStrategy(SimpleClusterResolver(ClusterSpec({}))), ValueError, "has no tasks"),
        (lambda c: _strategy_of(c, worker=[]), ValueError, r"has the jobs \['ps'\]"),
        (lambda c: _strategy_of(c, worker=["node1"]), ValueError, "worker 0 of the cluster has the address 'node1'"),
        (lambda c: _strategy_of(c, worker=["a:1", "b:22 "]), ValueError, r"worker 1 .* 'b:22 '.\nExpected is"),
        (lambda c: _strategy_of(c, worker=[" a:1"]), ValueError, "worker 0 .* ' a:1'"),
        (lambda c: _strategy_of(c, worker=["a..b:1"]), ValueError, "worker 0 .* 'a..b:1'"),
        (lambda c: _strategy_of(c, worker={1: "a:1"}), ValueError, "worker 0 .* None"),
        (lambda c: _strategy_of(c, ps=["node1"]), ValueError, "ps 0 of the cluster has the address 'node1'"),
        (
            lambda c: ParameterServerStrategy(SimpleClusterResolver(c.spec, task_type="ps", task_id=0)),
            ValueError,
            "this process is 'ps'",
        ),
    ],
)
def test_mistakes_are_explained(shared: Cluster, attempt: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        attempt(shared)


def _strategy_of(made: Cluster, **jobs: Any) -> ParameterServerStrategy:
    return ParameterServerStrategy(SimpleClusterResolver(ClusterSpec(made.spec.as_dict() | jobs)))


def test_text_and_loops_over_elements_are_refused(shared: Cluster) -> None:
    words = iter(shared.coordinator.create_per_worker_dataset(Dataset.from_tensor_slices(["a", "b"])))
    with pytest.raises(TypeError, match="workers cannot compute with"):
        shared.coordinator.schedule(unisono.function(lambda words: next(words)), args=(words,))
    numbers = iter(shared.coordinator.create_per_worker_dataset(Dataset.range(9)))

    def loop(numbers: Any) -> Any:
        return keras.ops.fori_loop(0, 3, lambda _, total: total + next(numbers), 0)

    with pytest.raises(RuntimeError, match="use a Python loop"):
        shared.coordinator.schedule(unisono.function(loop), args=(numbers,))


def test_one_coordinator_for_a_strategy(shared: Cluster) -> None:
    assert ClusterCoordinator(shared.strategy) is shared.coordinator
    assert shared.coordinator.strategy is shared.strategy
    assert repr(shared.strategy) == "ParameterServerStrategy(2 workers, 2 parameter servers)"
    assert shared.strategy.num_replicas_in_sync == 1


def test_what_a_lost_worker_was_doing_runs_on_another(capfd: pytest.CaptureFixture[str]) -> None:
    with cluster(2, 1) as made:
        with made.strategy.scope():
            total = keras.Variable(0, dtype="int32")
        add = unisono.function(lambda: total.assign_add(1))
        for number in range(60):
            made.coordinator.schedule(add)
            if number == 30:
                made.workers[0].stop()
        made.coordinator.join()
        assert int(total) == 60
        # It starts again, at the same address.
        deadline = time.monotonic() + 20
        while "has connected again" not in capfd.readouterr().err:
            made.workers[0] = _start_again(made.workers[0])
            assert time.monotonic() < deadline
            time.sleep(0.1)
        made.workers[1].stop()
        for _ in range(5):
            made.coordinator.schedule(add)
        made.coordinator.join()
        assert int(total) == 65


def _start_again(server: Server) -> Server:
    definition = server.server_def
    try:
        return Server(definition["cluster"], definition["job_name"], definition["task_index"])
    except OSError:  # the old one still listens
        return server


def test_an_update_that_was_applied_is_not_applied_again(shared: Cluster) -> None:
    """A worker that is lost after it has sent its updates, and before it has answered."""
    with shared.strategy.scope():
        total = keras.Variable(0, dtype="int32")
    add = unisono.function(lambda: total.assign_add(1))
    shared.coordinator.schedule(add).fetch()
    original, failures = ClosureRunner._send_updates, [True]

    def send(self: Any, *args: Any) -> None:
        original(self, *args)
        if failures:
            failures.pop()
            for server in shared.workers:
                for frames in tuple(server._open):
                    frames.shut_down()

    ClosureRunner._send_updates = send  # type: ignore[method-assign]
    try:
        shared.coordinator.schedule(add)
        shared.coordinator.join()
    finally:
        ClosureRunner._send_updates = original  # type: ignore[method-assign]
    assert not failures
    assert int(total) == 2


def test_a_lost_parameter_server_ends_the_job() -> None:
    with cluster(1, 2) as made:
        with made.strategy.scope():
            variables = [keras.Variable(0.0) for _ in range(2)]
        add = unisono.function(lambda: [variable.assign_add(1.0) for variable in variables] and None)
        made.coordinator.schedule(add)
        made.coordinator.join()
        made.ps[1].stop()
        with pytest.raises(ConnectionError, match=r"Parameter server 1 \(localhost.*\n?.*job has ended"):
            _run_many(made.coordinator, add)
        with pytest.raises(ConnectionError, match="Parameter server 1"):
            made.coordinator.join()


def test_a_job_without_workers_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unisono._src.parameter_servers._coordinator._NO_WORKER_SECONDS", 0.5)
    with cluster(1, 1) as made:
        made.coordinator.schedule(unisono.function(lambda: np.float32(1))).fetch()
        made.workers[0].stop()
        with pytest.raises(ConnectionError, match=r"No worker could be reached.*\n.*worker 0 \(localhost"):
            made.coordinator.schedule(unisono.function(lambda: np.float32(2))).fetch()


def _within_seconds(function: Callable[[], Any]) -> Any:
    """What the function returns; raises its error, or one if it waits for ever."""
    outcome: list[Any] = []

    def call() -> None:
        try:
            outcome.append((function(), None))
        except BaseException as error:
            outcome.append((None, error))

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(10)
    assert outcome, "it waits for ever"
    value, error = outcome[0]
    if error is not None:
        raise error
    return value


@pytest.mark.parametrize("where", ["_connect", "_lose"])
def test_an_error_in_the_thread_of_a_worker_ends_the_job(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a function runs, and while the chief reports that the worker that ran it was lost."""

    def fail(*args: Any) -> Any:
        raise OSError("cannot write to standard error")

    def lose_connection(*args: Any) -> Any:
        raise PeerLostError("the connection was closed")

    monkeypatch.setattr(threading, "excepthook", lambda args: None)
    monkeypatch.setattr(WorkerThread, where, fail)
    monkeypatch.setattr(WorkerThread, "_execute", lose_connection)
    with cluster(1, 1) as made:
        with contextlib.suppress(OSError):
            made.coordinator.schedule(lambda: np.float32(1))
        with pytest.raises(OSError, match="cannot write"):
            _within_seconds(made.coordinator.join)
        with pytest.raises(OSError, match="cannot write"):
            _within_seconds(lambda: made.coordinator.schedule(lambda: np.float32(1)))


def test_no_connection_to_a_worker_that_refuses_requests_is_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be a ResourceWarning, which fails tests."""

    def refuse(self: Any, message: Any, arrays: Any, data: Any) -> Any:
        raise KeyError(message["type"])

    monkeypatch.setattr(ClosureRunner, "handle", refuse)
    with cluster(1, 1) as made:
        [thread] = made.coordinator._threads
        deadline = time.monotonic() + 10
        while "KeyError" not in thread.reason and time.monotonic() < deadline:
            time.sleep(0.01)
        assert "KeyError" in thread.reason


def test_after_close_nothing_waits_for_workers() -> None:
    queue = ClosureQueue(_Servers(), 1)  # type: ignore[arg-type]
    first, second = queue.put(None, (), {}), queue.put(None, (), {})
    running = queue.take()
    assert running is not None
    queue.close()
    queue.put_back(running)
    for value in (first, second):
        with pytest.raises(ClosureCancelledError, match="the strategy was closed"):
            _within_seconds(value.fetch)
    _within_seconds(queue.join)
    assert queue.is_done()
    with pytest.raises(RuntimeError, match="was closed"):
        _within_seconds(lambda: queue.put(None, (), {}))


def test_close_wakes_a_script_that_waits_to_schedule() -> None:
    queue = ClosureQueue(_Servers(), 1)  # type: ignore[arg-type]
    queue._max_waiting = 0
    closing = threading.Timer(0.1, queue.close)
    closing.start()
    with pytest.raises(RuntimeError, match="was closed"):
        _within_seconds(lambda: queue.put(None, (), {}))
    closing.join()


def test_a_function_that_runs_while_the_strategy_is_closed_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    starts, may_end = threading.Event(), threading.Event()

    def run(self: Any, message: Any, arrays: Any) -> Any:
        starts.set()
        may_end.wait(20)
        return []

    monkeypatch.setattr(ClosureRunner, "_run", run)
    with cluster(1, 1) as made:
        try:
            with made.strategy.scope():
                variable = keras.Variable(0.0)
            step = unisono.function(lambda: None)
            result = made.coordinator.schedule(step)
            assert starts.wait(10)
            made.strategy.close()
            with pytest.raises(ClosureCancelledError, match="the strategy was closed"):
                _within_seconds(result.fetch)
            _within_seconds(made.coordinator.join)
            with pytest.raises(RuntimeError, match="The strategy was closed"):
                _within_seconds(lambda: made.coordinator.schedule(step))
            with pytest.raises(RuntimeError, match="The strategy was closed"):
                variable.numpy()
        finally:
            may_end.set()


def test_an_answer_to_a_function_that_failed_is_not_taken_for_that_to_the_next_one() -> None:
    with cluster(1, 2) as made:
        with made.strategy.scope():
            lost, left, other = (keras.Variable(np.float32(value)) for value in (1, 2, 3))
            right = keras.Variable(np.float32(4))
        assert left.device == right.device != lost.device
        servers = made.coordinator._servers
        both, one = unisono.function(lambda: lost + left), unisono.function(lambda: right + 0)
        assert made.coordinator.schedule(both).fetch() == 3.0
        left.assign(5.0)
        storage = lost.__dict__["_storage"]
        servers.request(storage.server, {"type": "forget", "variables": [storage.number]})
        with pytest.raises(ClosureFailedError, match="KeyError"):
            made.coordinator.schedule(both).fetch()
        with pytest.raises(ClosureFailedError, match="KeyError"):
            made.coordinator.join()
        assert made.coordinator.schedule(one).fetch() == 4.0
        assert float(other) == 3.0


def test_the_public_module_has_what_the_package_has() -> None:
    assert unisono.parameter_servers.Server is parameter_servers.Server
    assert unisono.ParameterServerStrategy is ParameterServerStrategy
