"""A scheduled function as programs: what a worker computes, and how servers update variables with it.

The function is traced in the chief's process, where its Python code is. Elements of per-worker datasets are taken when
the trace asks for them, and are arguments of the program, like the arrays among the function's arguments.
"""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import jax
import numpy as np

from unisono._src import jax_hooks, keras_hooks
from unisono._src.parameter_servers._exported import ExportedProgram, export_program
from unisono._src.parameter_servers._per_worker_dataset import (
    IN_A_LOOP,
    ElementSource,
    PerWorkerIterator,
    taking_elements_from,
)
from unisono._src.replicas.context import HasPlacement
from unisono._src.replicas.values import is_host_only
from unisono._src.tracing.functions import Arguments, FunctionTrace, trace_function

TEXT = """An element of the dataset has text, which workers cannot compute with: {leaf}. Turn it into numbers in the
dataset, dataset.map(lambda x: string_lookup(x))."""

_DRAWS_PER_CLOSURE: Final = 1 << 12

_drawing = threading.Lock()
_numbers = itertools.count()
_keys = itertools.count(-1, -1)  # of placeholders; variables have their (positive) identity


class _TracedInputs(ElementSource):
    """The inputs of a function beside its arguments, while it is traced.

    Attributes:
        elements: the iterators in the order in which they were asked, each with the keys of its placeholders.
        worker_index: the key of the placeholder of the worker's index.

    Args:
        take: gives the next element of an iterator.
        begin: called when the function is called, since it can be traced twice.
    """

    def __init__(self, take: Callable[[PerWorkerIterator], Any], begin: Callable[[], None]) -> None:
        self._take, self._begin = take, begin
        self._trace: Any = None
        self.elements: list[tuple[PerWorkerIterator, list[int]]] = []
        self.worker_index = next(_keys)

    def start(self) -> None:
        """The function is called now, in the current trace."""
        self._begin()
        self._trace, self.elements = jax_hooks.current_trace(), []

    def next_element(self, iterator: PerWorkerIterator) -> Any:
        if jax_hooks.trace_below_tapes(jax_hooks.current_trace()) is not self._trace:
            raise RuntimeError(IN_A_LOOP)
        leaves, tree = jax.tree.flatten(self._take(iterator))
        for leaf in leaves:
            if is_host_only(leaf.dtype):
                raise TypeError(TEXT.format(leaf=f"dtype {leaf.dtype}, shape {leaf.shape}"))
        keys = [next(_keys) for _ in leaves]
        self.elements.append((iterator, keys))
        traced = [
            jax_hooks.make_placeholder(self._trace, key, to_jax_dtype(leaf))
            for key, leaf in zip(keys, leaves, strict=True)
        ]
        return jax.tree.unflatten(tree, traced)

    def get_worker_index(self) -> Any:
        """The index of the worker that runs the function, as a traced value."""
        return jax_hooks.make_placeholder(self._trace, self.worker_index, np.zeros((), np.int32))


@dataclass(frozen=True, eq=False)
class Update:
    """How a server updates variables after a closure."""

    server: int
    program: ExportedProgram
    variables: tuple[int, ...]
    received: tuple[int, ...]


class ClosureProgram:
    """A function traced for arguments and elements of certain shapes.

    Attributes:
        iterators: from which it takes elements, in order; one can be there several times.
        updates: how servers update variables with what the worker sends them.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        arguments: Arguments,
        strategy: HasPlacement,
        take: Callable[[PerWorkerIterator], Any],
        begin: Callable[[], None],
    ) -> None:
        self.number = next(_numbers)
        """By which workers know it."""
        self._name = getattr(function, "__qualname__", repr(function))
        inputs = _TracedInputs(take, begin)
        trace = _trace(function, arguments, inputs)
        used, written = trace.scope.used, trace.scope.written
        self._seed_states = [each for each in used.values() if keras_hooks.is_global_seed_state(each)]
        unowned = [each for each in used.values() if keras_hooks.get_storage(each) is None]
        keras_hooks.adopt_variables([each for each in unowned if not keras_hooks.is_global_seed_state(each)], strategy)
        self._results = trace.results.without_arrays()
        self._num_results = len(trace.results.arrays)
        self._split = jax_hooks.split_updates(trace.jaxpr, self._num_results, list(written), _group(written))
        self.iterators = [iterator for iterator, _ in inputs.elements]
        # The worker's inputs: the variables that it reads from servers, then all that the chief sends.
        self._read = [used[key] for key in self._split.read if _is_stored(used.get(key))]
        sent = [key for _, keys in inputs.elements for key in keys]
        sent += [id(variable) for variable in self._seed_states]
        sent.append(inputs.worker_index)
        self._num_arguments = len(arguments.arrays)
        self._positions = {key: self._num_arguments + position for position, key in enumerate(sent)}
        self.updates = self._export_updates(used)
        self._exported: dict[str, ExportedProgram] = {}

    def arrays_for(self, arguments: Arguments, elements: Sequence[Any], worker: int) -> list[Any]:
        """What the chief sends to a worker."""
        leaves = [leaf for element in elements for leaf in jax.tree.leaves(element)]
        arrays = [to_jax_dtype(each) for each in (*arguments.arrays, *leaves)]
        return [*arrays, *map(_draw_seed_state, self._seed_states), np.int32(worker)]

    def make_results(self, arrays: Sequence[Any]) -> Any:
        """What the function returned, from what the worker answered: NumPy arrays, numbers as NumPy's scalars."""
        return self._results.unflatten([array[()] for array in arrays])

    def for_worker(self, platform: str, arrays: Sequence[Any]) -> tuple[ExportedProgram, dict[str, Any]]:
        """The worker's part for a platform, and what the worker has to know about it."""
        if platform not in self._exported:
            specs = ([_spec(variable) for variable in self._read], [_spec(array) for array in arrays])
            self._exported[platform] = export_program(self._run, specs, platform, self._name)
        storages = [keras_hooks.get_storage(variable) for variable in self._read]
        updates = [
            {"server": each.server, "program": each.program.key, "variables": each.variables, "received": each.received}
            for each in self.updates
        ]
        reads = [[storage.server, storage.number] for storage in storages]
        return self._exported[platform], {"num_results": self._num_results, "reads": reads, "updates": updates}

    def _run(self, variables: list[Any], sent: list[Any]) -> list[Any]:
        """The worker's part."""
        known = {id(variable): value for variable, value in zip(self._read, variables, strict=True)}
        known |= {key: sent[position] for key, position in self._positions.items()}
        return self._split.worker([known[key] for key in self._split.read], sent[: self._num_arguments])

    def _export_updates(self, used: dict[int, Any]) -> list[Update]:
        """One program for each server: all that it does with what the worker sends."""
        by_server: dict[int, list[jax_hooks.OwnersPart]] = {}
        for part in self._split.owners:
            by_server.setdefault(keras_hooks.get_storage(used[part.keys[0]]).server, []).append(part)
        updates = []
        for server, parts in by_server.items():
            merged = jax_hooks.merge_owners(parts)
            variables = [used[key] for key in merged.keys]
            received = [jax.ShapeDtypeStruct(*each) for each in merged.received_specs]
            program = export_program(merged.update, ([*map(_spec, variables)], received), "cpu", self._name)
            numbers = tuple(keras_hooks.get_storage(variable).number for variable in variables)
            updates.append(Update(server, program, numbers, merged.received))
        return updates


def elements_key(elements: Sequence[Any]) -> Any:
    """Equal for elements that can use the same program."""
    leaves, tree = jax.tree.flatten(list(elements))
    return tree, tuple((leaf.shape, str(leaf.dtype)) for leaf in leaves)


def to_jax_dtype(array: Any) -> Any:
    """The array as programs take it: in 32 bits unless JAX is set to 64."""
    found = np.asarray(array)
    return found.astype(jax.dtypes.canonicalize_dtype(found.dtype), copy=False)


def _trace(function: Callable[..., Any], arguments: Arguments, inputs: _TracedInputs) -> FunctionTrace:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        inputs.start()
        with taking_elements_from(inputs), jax_hooks.marking_gradients():
            return function(*args, **kwargs)

    return trace_function(call, arguments)


def _group(written: dict[int, Any]) -> list[list[int]]:
    """The keys of written variables; those that are updated together are in one list."""
    groups: dict[int, list[int]] = {}
    for key, variable in written.items():
        if _is_stored(variable):
            groups.setdefault(keras_hooks.get_storage(variable).group, []).append(key)
    return list(groups.values())


def _is_stored(variable: Any) -> bool:
    return variable is not None and keras_hooks.get_storage(variable) is not None


def _spec(array: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(tuple(array.shape), np.dtype(array.dtype))


def _draw_seed_state(variable: Any) -> Any:
    """The state of the generator for draws without a seed; the next closure gets another one.

    The state counts draws. A closure that draws more often than this gives some numbers twice.
    """
    with _drawing:  # several threads draw, one for each worker
        state = np.asarray(variable._value)
        variable.assign(state + np.array([0, _DRAWS_PER_CLOSURE], state.dtype))
        return state
