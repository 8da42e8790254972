"""Map functions as JAX sees them: whether they trace, and one function of a batch made of many of an element.

Leaves that JAX has no type for (strings, dates) go past it: a function may hand them on, but not look inside.
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

from unisono._src.data.plans import IndexedPlan, Nest, RandomDraws, apply, map_leaves, set_identity
from unisono._src.data.plans import current_identity as current_identity

MapFunction: TypeAlias = Callable[..., Any]

NON_JAX_KINDS = "OSUMm"  # NumPy's letters for object, bytes, str, datetime and timedelta


@dataclass(frozen=True)
class Traced:
    """What tracing a function told."""

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
    it. The second fails again, and is seen, when it runs on the host.

    >>> image = jax.ShapeDtypeStruct((28, 28), np.uint8)
    >>> trace(lambda x: x / 255, image).result.shape
    (28, 28)
    >>> trace(lambda x: open(x), image).reason.partition(":")[0]
    'TypeError'
    """
    draws = RandomDraws(seed)

    def called(element: Nest, epoch: Any, row: Any) -> Nest:
        set_identity(epoch, row)
        with draws, _tracing():
            return apply(function, element)

    who = current_identity()
    before = random.getstate(), np.random.get_state()
    try:
        number = jax.ShapeDtypeStruct((), np.int32)
        result = _past_foreign_leaves(lambda inner: partial(jax.eval_shape, inner), called, element, number, number)
    except Exception as error:
        return Untraceable(one_line(error))
    finally:
        set_identity(*who)
        after = random.getstate(), np.random.get_state()
        random.setstate(before[0])
        np.random.set_state(before[1])
    if _differ(before, after):
        return Untraceable("it draws from `random` or `numpy.random`, which tracing would do only once")
    return Traced(result, draws.num_draws > 0)


def trace_indexed_maps(plan: IndexedPlan) -> list[Traced | Untraceable]:
    """Traces the maps of a plan one after the other, up to the first that cannot be traced."""
    element = map_leaves(lambda array: shape_struct(array.shape[1:], np.dtype(array.dtype)), plan.arrays)
    results: list[Traced | Untraceable] = []
    for number, each in enumerate((*plan.element_maps, *plan.batch_maps)):
        if plan.batch is not None and number == len(plan.element_maps):
            element = _batch_of(element, plan.batch.batch_size)
        found = trace(each.function, element, each.seed)
        results.append(found)
        if isinstance(found, Untraceable):
            break
        element = found.result
    return results


class _Here(threading.local):
    tracing = False


_here = _Here()


def is_tracing() -> bool:
    """Whether a map function is being traced by this thread."""
    return _here.tracing


@contextlib.contextmanager
def _tracing() -> Iterator[None]:
    before, _here.tracing = _here.tracing, True
    try:
        yield
    finally:
        _here.tracing = before


def one_line(error: Exception) -> str:
    """The exception's type and the first line of its message."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


class SeededFunction(Protocol):
    """A map function, with what its random numbers follow from."""

    @property
    def function(self) -> MapFunction: ...
    @property
    def seed(self) -> int | None: ...
    @property
    def origin(self) -> int: ...


Identity: TypeAlias = tuple[Any, Any] | None
"""(epochs, places) of rows, with a column for each origin: what random numbers follow from. None: nobody draws."""


def vectorise(
    element_maps: Sequence[SeededFunction], batch_maps: Sequence[SeededFunction]
) -> Callable[[Nest, Identity], Nest]:
    """One function of (batch, identity): the element maps under one `jax.vmap`, then the batch maps."""

    def of_element(element: Nest, identity: Identity) -> Nest:
        for each in element_maps:
            element = _call(each, element, identity)
        return element

    def of_batch(batch: Nest, identity: Identity = None) -> Nest:
        who = current_identity()
        try:
            if element_maps:
                batch = _past_foreign_leaves(jax.vmap, of_element, batch, identity)
            for each in batch_maps:  # a batch is known by its first row
                batch = _call(each, batch, jax.tree.map(lambda rows: rows[0], identity))
        finally:
            set_identity(*who)  # leaves no traced value behind
        return batch

    return of_batch


def _call(each: SeededFunction, element: Nest, identity: Identity) -> Nest:
    if identity is not None:
        epochs, places = identity
        set_identity(epochs[each.origin], places[each.origin])
    with RandomDraws(each.seed or 0), _tracing():
        return apply(each.function, element)


def _batch_of(element: Nest, batch_size: int) -> Nest:
    return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct((batch_size, *leaf.shape), leaf.dtype), element)


def _differ(before: Any, after: Any) -> bool:
    python, numpy = before
    return bool(python != after[0] or numpy[2] != after[1][2] or not np.array_equal(numpy[1], after[1][1]))


@dataclass(frozen=True, eq=False)
class NonJaxLeaf:
    """A leaf that JAX has no type for, wrapped so that whoever computes with it fails."""

    leaf: Any
    dtype = np.dtype(object)

    def _fail(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("text, and what else JAX has no type for, can be handed on by a traced function, but not used")

    # What works with any object of Python, and would make a constant of this one.
    __array__ = __str__ = __repr__ = __format__ = __eq__ = __ne__ = __hash__ = __bool__ = _fail


def _past_foreign_leaves(
    transform: Callable[[Callable[..., Any]], Callable[..., Any]],
    function: Callable[..., Nest],
    nest: Nest,
    *others: Any,
) -> Nest:
    """`transform(function)(nest, *others)`, where `transform` never meets a foreign leaf, coming or going."""
    leaves, tree = jax.tree.flatten(nest)
    known = [None if leaf.dtype.kind in NON_JAX_KINDS else leaf for leaf in leaves]  # None: JAX sees no leaf at all
    if all(leaf is None for leaf in known):
        raise TypeError(f"JAX has no type for any part of the element ({', '.join(str(x.dtype) for x in leaves)})")
    results: list[Any] = []
    result_trees: list[Any] = []

    def on_known_leaves(known: list[Any], *others: Any) -> list[Any]:
        whole = [NonJaxLeaf(leaf) if part is None else part for part, leaf in zip(known, leaves, strict=True)]
        results[:], result_tree = jax.tree.flatten(function(jax.tree.unflatten(tree, whole), *others))
        result_trees.append(result_tree)
        return [None if isinstance(result, NonJaxLeaf) else result for result in results]

    known_results = transform(on_known_leaves)(known, *others)
    merged = [
        result.leaf if isinstance(result, NonJaxLeaf) else known_result
        for result, known_result in zip(results, known_results, strict=True)
    ]
    return jax.tree.unflatten(result_trees[-1], merged)
