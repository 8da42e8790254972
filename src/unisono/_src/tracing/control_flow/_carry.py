"""The values that a compiled loop carries from one iteration to the next; their types must stay the same."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeGuard

import jax

from unisono._src import keras_hooks
from unisono._src.tracing.control_flow._errors import ControlFlowError, SourceLocation
from unisono._src.tracing.control_flow._leaf_types import as_dtype, common_dtype, is_same_leaf, is_weak, leaf_type
from unisono._src.tracing.control_flow._nests import UNDEFINED, Array, Leaf, Nest, Number
from unisono._src.tracing.control_flow._slots import ContainerSlot, Slot
from unisono._src.tracing.control_flow._state import FunctionState
from unisono._src.tracing.control_flow._structures import flatten

CHANGED_TYPE = """`{name}` is
    {before}
before the loop, and
    {after}
after one iteration. All iterations are one program, so its type must stay the same. {advice}"""

ADVICE_DTYPE = "Start with that dtype: {name} = tf.cast({name}, tf.{dtype})."
ADVICE_SHAPE = """Start with the shape that it has in the end, or
compute all rows with tf.map_fn(function, rows)."""
ADVICE_LIST = """A list cannot grow or shrink there.
Compute all results with tf.map_fn(function, rows), or let Python run the loop, which unrolls it:
    for i in range(10):"""
ADVICE_NONE = "Start with an array, as {name} = tf.zeros(shape)."
ADVICE = "Start with the structure that it has in the end, with arrays or numbers in it."

NO_FIRST_VALUE = """`{name}` gets its value inside the loop and is used after it. The trip count is known only
when the program runs; if it is 0, there is no value. Give it one before:
    {name} = {first}"""


class RetraceNeeded(Exception):  # noqa: N818
    """The trace has shown which types the values must have: it has to be repeated with these."""


@dataclass(eq=False)
class _CarriedSlot:
    """A slot whose value is carried.

    Attributes:
        slot: the slot.
        nest: its value before the loop.
        types: the shape and dtype of each leaf while it is carried; None for one that does not change.
        constant: of each leaf, whether it is a Python number that no iteration changes.
        is_initialized: whether the value was given the structure that it has after an iteration.
    """

    slot: Slot
    nest: Nest
    types: list[Any]
    constant: list[bool] = field(default_factory=list)
    is_initialized: bool = False

    @classmethod
    def from_slot(cls, slot: Slot, nest: Nest) -> _CarriedSlot:
        return cls(
            slot, nest, [_as_shape_struct(leaf_type(leaf)) if _is_computed(leaf) else None for leaf in nest.leaves]
        )


class Carry:
    """The values that a loop carries.

    Args:
        state: all that its body can change.
        names: the names in it that a later iteration or the code after the loop may read.
        location: where the loop is.
    """

    def __init__(self, state: FunctionState, names: tuple[str, ...], location: SourceLocation) -> None:
        self._state, self._location = state, location
        self._carried: list[_CarriedSlot] = []
        self._late: list[Slot] = []  # slots without a value before the loop
        self._late_nests: list[Nest] = []
        self._before_retrace: list[Callable[[], None]] = []  # to be called outside the trace, before the next one
        for index, slot in enumerate(state.slots):
            if not slot.is_bound or (slot.name.isidentifier() and slot.name not in names):
                continue
            if state.before[index] is UNDEFINED:
                self._late.append(slot)
            else:
                self._carried.append(_CarriedSlot.from_slot(slot, state.nest_before(index)))

    def types(self) -> list[Any]:
        """The shapes and dtypes of what is carried."""
        while self._before_retrace:
            self._before_retrace.pop()()
        return [type_ for carried in self._carried for type_ in carried.types if type_ is not None]

    def arrays(self) -> list[Any]:
        """What is carried into the first iteration."""
        return [
            as_dtype(leaf.array if isinstance(leaf, Array) else leaf.value, type_.dtype)
            for carried in self._carried
            for leaf, type_ in zip(carried.nest.leaves, carried.types, strict=True)
            if type_ is not None
        ]

    def put(self, operands: list[Any]) -> None:
        """Sets the slots to these values."""
        following = iter(operands)
        for carried in self._carried:
            leaves = [
                leaf.value if type_ is None else next(following)
                for leaf, type_ in zip(carried.nest.leaves, carried.types, strict=True)
            ]
            carried.slot.set(carried.nest.with_leaves(leaves))

    def restore(self) -> None:
        """Sets the slots to the values from before the loop."""
        self._state.restore()

    def collect(self, at_least_once: bool) -> list[Any]:
        """The values after an iteration: those that are carried, and then those of names that had none before.

        ``at_least_once`` says that there will be an iteration.
        """
        self._add_changed_slots()
        arrays = [array for carried in self._carried for array in self._arrays_after(carried)]
        self._late_nests = [Nest.flatten(slot.get(), None) for slot in self._late]
        for slot, nest in zip(self._late, self._late_nests, strict=True):
            if slot.live and not at_least_once and all(leaf.value is not UNDEFINED for leaf in nest.leaves):
                raise self._location.error(NO_FIRST_VALUE.format(name=slot.name, first=_suggest_first_value(nest)))
            if slot.live and at_least_once:
                arrays += [leaf.array for leaf in nest.leaves if _is_array(leaf)]
        return arrays

    def finish(self, results: list[Any]) -> None:
        """Sets the slots to the values from after the loop."""
        following = iter(results)
        for carried in self._carried:
            leaves = []
            for leaf, type_, constant in zip(carried.nest.leaves, carried.types, carried.constant, strict=True):
                result = leaf.value if type_ is None else next(following)
                leaves.append(leaf.value if constant else result)
            carried.slot.set(carried.nest.with_leaves(leaves))
        for slot, nest in zip(self._late, self._late_nests, strict=True):
            if slot.live:
                leaves = [next(following) if _is_array(leaf) else leaf.value for leaf in nest.leaves]
                slot.set(nest.with_leaves(leaves))

    def _add_changed_slots(self) -> None:
        """Carries, from now on, also lists that were changed in place and names that a call bound."""
        known = [carried.slot for carried in self._carried]
        for index, (slot, changed) in enumerate(zip(self._state.slots, self._state.changed(), strict=True)):
            if slot.is_bound or not slot.live or not changed or slot in known:
                continue
            before, after = self._state.nest_before(index), Nest.flatten(slot.get(), None, slot.opaque)
            if before.structure != after.structure:
                raise self._changed_error(slot, before, after, ADVICE_LIST)
            self._before_retrace.append(functools.partial(self._add_slot, index))
            raise RetraceNeeded

    def _add_slot(self, index: int) -> None:
        self._carried.append(_CarriedSlot.from_slot(self._state.slots[index], self._state.nest_before(index)))

    def _arrays_after(self, carried: _CarriedSlot) -> list[Any]:
        slot, before = carried.slot, carried.nest
        after = Nest.flatten(slot.get(), None, slot.opaque)
        if before.structure != after.structure:
            raise self._structure_error(carried, after, ADVICE_LIST if isinstance(slot, ContainerSlot) else None)
        after = after.reordered_like(before)
        carried.constant = []
        arrays = []
        for index, (first, leaf) in enumerate(zip(before.leaves, after.leaves, strict=True)):
            carried.constant.append(isinstance(first, Number) and is_same_leaf(first, leaf))
            if carried.types[index] is not None:
                arrays.append(self._match_type(carried, index, leaf, after))
            elif not is_same_leaf(first, leaf):
                if not isinstance(first, Array) or not isinstance(leaf, Array | Number):
                    raise self._structure_error(carried, after)
                carried.types[index] = _as_shape_struct(leaf_type(first))  # a variable whose value is carried
                raise RetraceNeeded
        return arrays

    def _structure_error(self, carried: _CarriedSlot, after: Nest, advice: str | None = None) -> Exception:
        """The error, unless the value can start with the structure that it has after an iteration."""
        slot, before = carried.slot, carried.nest
        initialize = make_initializer(before.with_leaves([leaf.value for leaf in before.leaves]), slot.get())
        if initialize is None or carried.is_initialized:
            return self._changed_error(slot, before, after, advice)
        self._before_retrace.append(functools.partial(self._restart_from, carried, initialize))
        return RetraceNeeded()

    def _restart_from(self, carried: _CarriedSlot, initialize: Callable[[], Any]) -> None:
        slot = carried.slot
        restarted = _CarriedSlot.from_slot(slot, Nest.flatten(initialize(), None, slot.opaque))
        restarted.is_initialized = True
        self._carried[self._carried.index(carried)] = restarted

    def _match_type(self, carried: _CarriedSlot, index: int, leaf: Leaf, after: Nest) -> Any:
        """An array after an iteration, as the next one gets it."""
        slot, before, type_ = carried.slot, carried.nest, carried.types[index]
        if not isinstance(leaf, Array | Number):
            raise self._structure_error(carried, after)
        new = leaf_type(leaf)
        if new.shape != type_.shape:
            keras_hooks.run_on_host_if_possible(f"the shape of `{slot.name}` changes in a loop")
            raise self._changed_error(slot, before, after, ADVICE_SHAPE)
        dtype = common_dtype(type_, new)
        if dtype is None:
            raise self._changed_error(slot, before, after, ADVICE_DTYPE.format(name=slot.name, dtype=new.dtype))
        if dtype != type_.dtype:
            both_weak = is_weak(type_) and is_weak(new)
            carried.types[index] = jax.ShapeDtypeStruct(type_.shape, dtype, weak_type=both_weak)
            raise RetraceNeeded
        return as_dtype(leaf.array if isinstance(leaf, Array) else leaf.value, dtype)

    def _changed_error(self, slot: Slot, before: Nest, after: Nest, advice: str | None = None) -> ControlFlowError:
        if advice is None:
            nothing = any(leaf.value is None for leaf in before.leaves)
            advice = ADVICE_NONE.format(name=slot.name) if nothing else ADVICE
        return self._location.error(CHANGED_TYPE.format(name=slot.name, before=before, after=after, advice=advice))


def _is_computed(leaf: Leaf) -> TypeGuard[Array | Number]:
    return isinstance(leaf, Number) or _is_array(leaf)


def _is_array(leaf: Leaf) -> TypeGuard[Array]:
    return isinstance(leaf, Array) and not leaf.is_variable


def _as_shape_struct(type_: Any) -> Any:
    return jax.ShapeDtypeStruct(type_.shape, type_.dtype, weak_type=is_weak(type_))


def _suggest_first_value(nest: Nest) -> str:
    if len(nest.leaves) == 1 and isinstance(nest.leaves[0], Array):
        array = nest.leaves[0].array
        return f"tf.zeros({list(array.shape)}, tf.{array.dtype})"
    return f"...   # {nest}"


def make_initializer(before: Any, after: Any) -> Callable[[], Any] | None:
    """A function that makes of ``before`` a value with the structure of ``after``; None if there is none.

    Objects have a method `begin_like` for that: a TensorArray, whose rows a loop writes, has none before the loop.
    """
    parts, structure = flatten(before, is_leaf=_has_initializer)
    if not any(map(_has_initializer, parts)):
        return None
    try:
        parts_after = structure.flatten_up_to(after)
    except ValueError:  # the structure around these objects has changed too
        return None

    def initialize() -> Any:
        initialized = [
            part.begin_like(part_after) if _has_initializer(part) else part
            for part, part_after in zip(parts, parts_after, strict=True)
        ]
        return structure.unflatten(initialized)

    return initialize


def _has_initializer(part: Any) -> bool:
    return hasattr(part, "begin_like")
