"""`ClusterCoordinator`: gives functions to whichever worker is free."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from typing import Any, Final

import jax

from unisono._src.parameter_servers import _per_worker_dataset as per_worker
from unisono._src.parameter_servers._closure_program import ClosureProgram, elements_key
from unisono._src.parameter_servers._closure_queue import Closure, ClosureQueue
from unisono._src.parameter_servers._errors import unavailable_error
from unisono._src.parameter_servers._remote_value import PerWorkerValues, RemoteValue
from unisono._src.parameter_servers._strategy import ParameterServerStrategy
from unisono._src.parameter_servers._worker_thread import WorkerThread
from unisono._src.replicas import context
from unisono._src.tracing.functions import Arguments, flatten_arguments

_NO_WORKER_SECONDS: Final = 600.0

NO_WORKERS = """No worker could be reached for {seconds:.0f} seconds, so the job has ended:
{workers}
Start the workers with the same cluster; their script calls
    tf.distribute.Server(cluster_spec, "worker", index).join()"""

NO_STRATEGY = "ClusterCoordinator: expected a ParameterServerStrategy, got {kind}. Other strategies run in lockstep."

IN_SCHEDULED = "`schedule` was called inside a function that runs on a worker. Call it in the chief's own code."


class ClusterCoordinator:
    """Runs functions on the workers of a strategy, each on the first that is free.

    ```python
    coordinator = unisono.parameter_servers.ClusterCoordinator(strategy)
    iterator = iter(coordinator.create_per_worker_dataset(dataset_fn))
    for _ in range(steps):
        coordinator.schedule(step_fn, args=(iterator,))
    coordinator.join()
    ```

    A strategy has one coordinator: making it again gives the same one.
    """

    def __new__(cls, strategy: ParameterServerStrategy) -> ClusterCoordinator:
        if not isinstance(strategy, ParameterServerStrategy):
            raise ValueError(NO_STRATEGY.format(kind=type(strategy).__name__))
        if strategy.coordinator is None:
            strategy.coordinator = super().__new__(cls)
            strategy.coordinator._start(strategy)
        found: ClusterCoordinator = strategy.coordinator
        return found

    def _start(self, strategy: ParameterServerStrategy) -> None:
        self._strategy, self._servers = strategy, strategy.servers
        self._queue = ClosureQueue(strategy.servers, len(strategy.worker_addresses))
        self._programs: dict[Hashable, _TracedFunction] = {}
        self._tracing = threading.RLock()
        self._threads: list[WorkerThread] = []
        for index, address in enumerate(strategy.worker_addresses):
            self._threads.append(
                WorkerThread(index, address, strategy.servers, self._queue, self._prepare, self._check_workers)
            )

    @property
    def strategy(self) -> ParameterServerStrategy:
        """The strategy."""
        return self._strategy

    def schedule(self, fn: Callable[..., Any], args: Any = None, kwargs: Any = None) -> RemoteValue:
        """Has ``fn`` run on a worker, and returns at once.

        Per-worker values among the arguments are replaced by those of the worker. The function reads the values that
        variables have when it runs. If its worker is lost, another one runs it again. If an earlier function failed,
        its error is raised here.

        Args:
            fn: the function, usually a `tf.function`. It is traced, and its program is sent.
            args: its arguments.
            kwargs: its keyword arguments.
        """
        if per_worker.element_source() is not None:
            raise RuntimeError(IN_SCHEDULED)
        if not callable(fn):
            raise TypeError(f"schedule: expected a function, got {type(fn).__name__}.")
        closure_args, closure_kwargs = tuple(args or ()), dict(kwargs or {})
        self._trace_first(fn, closure_args, closure_kwargs)
        self._servers.send_changes()
        return self._queue.put(fn, closure_args, closure_kwargs)

    def join(self) -> None:
        """Waits until all scheduled functions have run; raises the error of the first that failed.

        Those that were still waiting then are cancelled. Afterwards functions can be scheduled again.
        """
        self._queue.join()

    def done(self) -> bool:
        """Whether all scheduled functions have run; raises the error of one that failed."""
        return self._queue.is_done()

    def create_per_worker_dataset(self, dataset_fn: Any) -> per_worker.PerWorkerDataset:
        """A dataset for each worker.

        Args:
            dataset_fn: a function without arguments that returns a dataset, called once for each worker; or a dataset,
                which every worker iterates over by itself.
        """
        with context.enter_strategy(self._strategy):
            return per_worker.make_per_worker_dataset(dataset_fn, len(self._strategy.worker_addresses))

    def fetch(self, val: Any) -> Any:
        """Waits for all remote values in a nested structure, and returns it with their values."""
        return jax.tree.map(
            lambda leaf: leaf.fetch() if isinstance(leaf, RemoteValue) else leaf,
            val,
            is_leaf=lambda leaf: isinstance(leaf, RemoteValue),
        )

    def _prepare(self, closure: Closure, worker: int) -> tuple[ClosureProgram, Arguments]:
        """The program of a closure for the worker that will run it, whose elements are taken now."""
        arguments = _arguments_of(closure.args, closure.kwargs, worker)
        with self._tracing:
            traced = self._traced_function(closure.function, arguments)
        if closure.elements is None and traced.iterators is not None:
            closure.elements = [iterator._take(worker) for iterator in traced.iterators]
        with self._tracing:
            if closure.elements is None:
                closure.elements = []
                return traced.trace(closure.elements, worker), arguments
            program = traced.programs.get(elements_key(closure.elements))
            return program or traced.trace(closure.elements, worker), arguments

    def close(self) -> None:
        """Ends the threads and the connections."""
        self._queue.close()
        for thread in self._threads:
            thread.close()

    def _trace_first(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Traces a function that is new in the thread of the script, where Keras has the script's settings.

        With the next elements of the first worker, which get them nevertheless.
        """
        arguments = _arguments_of(args, kwargs, 0)
        with self._tracing:
            traced = self._traced_function(function, arguments)
            if traced.iterators is None:
                elements: list[Any] = []
                try:
                    traced.trace(elements, 0)
                finally:
                    for iterator in dict.fromkeys(traced.taken):
                        own = [each for each, source in zip(elements, traced.taken, strict=True) if source is iterator]
                        iterator._put_back(0, own)

    def _traced_function(self, function: Callable[..., Any], arguments: Arguments) -> _TracedFunction:
        key = (id(function), arguments.key)
        if key not in self._programs:
            self._programs[key] = _TracedFunction(function, arguments, self._strategy)
        return self._programs[key]

    def _check_workers(self) -> None:
        """Ends the job if no worker could be reached for a long time."""
        since = [thread.missing_since for thread in self._threads]
        if None in since or not self._queue.has_waiting:
            return
        waited = time.monotonic() - max(each for each in since if each is not None)
        if waited > _NO_WORKER_SECONDS and len(since) == len(self._strategy.worker_addresses):
            workers = "\n".join(
                f"    worker {index} ({address}): {thread.reason}"
                for index, (address, thread) in enumerate(
                    zip(self._strategy.worker_addresses, self._threads, strict=True)
                )
            )
            text = NO_WORKERS.format(seconds=waited, workers=workers)
            self._queue.fail(None, unavailable_error.current(text), is_fatal=True)


class _TracedFunction:
    """A function for arguments of one signature: its programs, one for each shape of elements.

    Attributes:
        iterators: from which it takes elements; None before it was traced.
        taken: from which the last trace has taken some.
    """

    def __init__(self, function: Callable[..., Any], arguments: Arguments, strategy: ParameterServerStrategy) -> None:
        self._function, self._arguments, self._strategy = function, arguments, strategy
        self.programs: dict[Any, ClosureProgram] = {}
        self.iterators: list[per_worker.PerWorkerIterator] | None = None
        self.taken: list[per_worker.PerWorkerIterator] = []

    def trace(self, elements: list[Any], worker: int) -> ClosureProgram:
        """Traces the function with these elements. It may ask for more, which are then added to them."""
        self.taken = []
        position = 0

        def take(iterator: per_worker.PerWorkerIterator) -> Any:
            nonlocal position
            if position == len(elements):
                elements.append(iterator._take(worker))
                self.taken.append(iterator)
            position += 1
            return elements[position - 1]

        def begin() -> None:
            nonlocal position
            position = 0

        with context.enter_strategy(self._strategy):
            program = ClosureProgram(self._function, self._arguments, self._strategy, take, begin)
        self.programs[elements_key(elements)] = program
        self.iterators = program.iterators
        return program


def _arguments_of(args: tuple[Any, ...], kwargs: dict[str, Any], worker: int) -> Arguments:
    def own(leaf: Any) -> Any:
        if isinstance(leaf, PerWorkerValues):
            return leaf._of_worker(worker)
        return leaf.fetch() if isinstance(leaf, RemoteValue) else leaf

    args, kwargs = jax.tree.map(
        own, (args, kwargs), is_leaf=lambda leaf: isinstance(leaf, PerWorkerValues | RemoteValue)
    )
    return flatten_arguments(args, kwargs)
