"""Map functions under JAX: whether they can be traced, and how functions of an element become one of a batch.

Leaves that JAX has no type for (strings, dates) bypass it: a function may pass them on, but not use them.
"""

from __future__ import annotations

import contextlib
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeAlias

import jax
import numpy as np

from unisono._src import keras_hooks
from unisono._src.data.plans import (
    CompositeLeaf,
    IndexedPlan,
    Nest,
    RandomDraws,
    apply,
    flatten,
    map_leaves,
    set_identity,
)
from unisono._src.data.plans import current_identity as current_identity

MapFunction: TypeAlias = Callable[..., Any]

NON_JAX_KINDS = "OSUMm"  # NumPy's letters for object, bytes, str, datetime and timedelta


@dataclass(frozen=True)
class Traced:
    """What tracing a function found."""

    result: Nest
    """The `jax.ShapeDtypeStruct`s of what it returns."""
    draws: bool
    """Whether it draws random numbers."""


@dataclass(frozen=True)
class Untraceable:
    """Why a function cannot be traced, in one line."""

    reason: str


def shape_struct(shape: Sequence[int], dtype: np.dtype[Any]) -> Any:
    """A `jax.ShapeDtypeStruct` with the dtype that JAX will make of this one: float32 of float64, unless x64 is on."""
    known = dtype.kind not in NON_JAX_KINDS
    return jax.ShapeDtypeStruct(shape, jax.dtypes.canonicalize_dtype(dtype) if known else dtype)


def trace(function: MapFunction, element: Nest, seed: int = 0) -> Traced | Untraceable:
    """Traces `function` on an element of these structs, computing nothing.

    Any exception counts as a reason: a function that reads files fails here, and so does one with a mistake in
    it. The second fails again, visibly, when it runs on the host.

    >>> image = jax.ShapeDtypeStruct((28, 28), np.uint8)
    >>> trace(lambda x: x / 255, image).result.shape
    (28, 28)
    >>> trace(lambda x: open(x), image).reason.partition(":")[0]
    'TypeError'
    """
    draws = RandomDraws(seed)

    def call(element: Nest, epoch: Any, row: Any) -> Nest:
        set_identity(epoch, row)
        with draws, _tracing(), keras_hooks.refuse_variables():
            result = apply(function, element)
        if any(isinstance(leaf, CompositeLeaf) for leaf in flatten(result)):
            raise TypeError("it returns ragged or sparse tensors, which are made on the host")
        return result

    identity = current_identity()
    before = random.getstate(), np.random.get_state()
    try:
        number = jax.ShapeDtypeStruct((), np.int32)
        result = _bypass_non_jax_leaves(lambda inner: partial(jax.eval_shape, inner), call, element, number, number)
    except Exception as error:
        return Untraceable(summarize_error(error))
    finally:
        set_identity(*identity)
        after = random.getstate(), np.random.get_state()
        random.setstate(before[0])
        np.random.set_state(before[1])
    if _generators_differ(before, after):
        return Untraceable("it draws from `random` or `numpy.random`, which tracing would do only once")
    return Traced(result, draws.num_draws > 0)


def trace_indexed_maps(plan: IndexedPlan) -> list[Traced | Untraceable]:
    """Traces the maps of a plan one after the other, up to the first that cannot be traced."""
    element = map_leaves(lambda array: shape_struct(array.shape[1:], np.dtype(array.dtype)), plan.arrays)
    results: list[Traced | Untraceable] = []
    for number, one in enumerate((*plan.element_maps, *plan.batch_maps)):
        if plan.batch is not None and number == len(plan.element_maps):
            element = _add_batch_dim(element, plan.batch.batch_size)
        found = trace(one.function, element, one.seed)
        results.append(found)
        if isinstance(found, Untraceable):
            break
        element = found.result
    return results


class _TracingState(threading.local):
    tracing = False


_thread = _TracingState()


def is_tracing() -> bool:
    """Whether a map function is being traced by this thread."""
    return _thread.tracing


@contextlib.contextmanager
def _tracing() -> Iterator[None]:
    before, _thread.tracing = _thread.tracing, True
    try:
        yield
    finally:
        _thread.tracing = before


def summarize_error(error: Exception) -> str:
    """The exception's type and the first line of its message."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


class SeededFunction(Protocol):
    """A map function, and what its random numbers are derived from."""

    @property
    def function(self) -> MapFunction: ...
    @property
    def seed(self) -> int | None: ...
    @property
    def origin(self) -> int: ...


Identity: TypeAlias = tuple[Any, Any] | None
"""(epochs, positions) of rows, with a column for each origin: random numbers are derived from them. None if no map
draws."""


def vectorise(
    element_maps: Sequence[SeededFunction], batch_maps: Sequence[SeededFunction]
) -> Callable[[Nest, Identity], Nest]:
    """One function of (batch, identity): the element maps under one `jax.vmap`, then the batch maps."""

    def map_element(element: Nest, identity: Identity) -> Nest:
        for one in element_maps:
            element = _call(one, element, identity)
        return element

    def map_batch(batch: Nest, identity: Identity = None) -> Nest:
        outer_identity = current_identity()
        try:
            if element_maps:
                batch = _bypass_non_jax_leaves(jax.vmap, map_element, batch, identity)
            for one in batch_maps:  # a batch has the identity of its first row
                batch = _call(one, batch, jax.tree.map(lambda rows: rows[0], identity))
        finally:
            set_identity(*outer_identity)  # leaves no tracer behind
        return batch

    return map_batch


def _call(function: SeededFunction, element: Nest, identity: Identity) -> Nest:
    if identity is not None:
        epochs, positions = identity
        set_identity(epochs[function.origin], positions[function.origin])
    with RandomDraws(function.seed or 0), _tracing():
        return apply(function.function, element)


def _add_batch_dim(element: Nest, batch_size: int) -> Nest:
    return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct((batch_size, *leaf.shape), leaf.dtype), element)


def _generators_differ(before: Any, after: Any) -> bool:
    python, numpy = before
    return bool(python != after[0] or numpy[2] != after[1][2] or not np.array_equal(numpy[1], after[1][1]))


@dataclass(frozen=True, eq=False)
class NonJaxLeaf:
    """A leaf that JAX has no type for, wrapped so that computing with it fails."""

    leaf: Any
    dtype = np.dtype(object)

    def _fail(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("a traced function can pass on text and other data that JAX has no type for, but not use it")

    # Methods that every Python object has, and that would make a constant of this one.
    __array__ = __str__ = __repr__ = __format__ = __eq__ = __ne__ = __hash__ = __bool__ = _fail


def _bypass_non_jax_leaves(
    transform: Callable[[Callable[..., Any]], Callable[..., Any]],
    function: Callable[..., Nest],
    nest: Nest,
    *arguments: Any,
) -> Nest:
    """`transform(function)(nest, *arguments)`, where `transform` never sees a non-JAX leaf, as argument or result."""
    leaves, tree = jax.tree.flatten(nest)
    known = [None if leaf.dtype.kind in NON_JAX_KINDS else leaf for leaf in leaves]  # None: JAX sees no leaf at all
    if all(leaf is None for leaf in known):
        raise TypeError(f"JAX has no type for any part of the element ({', '.join(str(x.dtype) for x in leaves)})")
    results: list[Any] = []
    result_trees: list[Any] = []

    def on_known_leaves(known: list[Any], *arguments: Any) -> list[Any]:
        merged = [NonJaxLeaf(leaf) if part is None else part for part, leaf in zip(known, leaves, strict=True)]
        results[:], result_tree = jax.tree.flatten(function(jax.tree.unflatten(tree, merged), *arguments))
        result_trees.append(result_tree)
        return [None if isinstance(result, NonJaxLeaf) else result for result in results]

    known_results = transform(on_known_leaves)(known, *arguments)
    merged = [
        result.leaf if isinstance(result, NonJaxLeaf) else known_result
        for result, known_result in zip(results, known_results, strict=True)
    ]
    return jax.tree.unflatten(result_trees[-1], merged)
