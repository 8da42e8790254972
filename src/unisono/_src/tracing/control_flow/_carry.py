"""What goes from one turn of a compiled loop to the next, and that it stays of one kind."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeGuard

import jax

from unisono._src.tracing.control_flow._beginnings import begin_like
from unisono._src.tracing.control_flow._common import as_dtype, common_dtype, is_one, is_weak, kind_of
from unisono._src.tracing.control_flow._errors import ControlFlowError, Place
from unisono._src.tracing.control_flow._nests import UNDEFINED, Array, Leaf, Nest, Number
from unisono._src.tracing.control_flow._slots import Container, Slot
from unisono._src.tracing.control_flow._state import State

CHANGES = """`{name}` is
    {before}
before the loop, and
    {after}
after one turn. All turns are one program, so it must stay of one kind. {advice}"""

ADVICE_DTYPE = "Begin with that dtype: {name} = tf.cast({name}, tf.{dtype})."
ADVICE_SHAPE = """Begin with the shape that it has in the end, or
compute all rows with tf.map_fn(function, rows)."""
ADVICE_LIST = """A list cannot grow or shrink there.
Compute all results with tf.map_fn(function, rows), or let Python turn the loop, each turn as code of its own:
    for i in range(10):"""
ADVICE_NONE = "Begin with an array, as {name} = tf.zeros(shape)."
ADVICE = "Begin with the structure that it has in the end, with arrays or numbers in it."

NO_FIRST_VALUE = """`{name}` gets its value inside of the loop and is used after it. How often the loop turns is known
only when the program runs; if it never does, there is none. Give it one before:
    {name} = {first}"""


class TryAgain(Exception):  # noqa: N818
    """The trace has shown of what kind the values must be: it has to be made again with these."""


@dataclass(eq=False)
class _Carried:
    """A slot whose value is carried.

    Attributes:
        slot: it.
        nest: its value before the loop.
        kinds: the shape and dtype of each leaf while it is carried; None for one that stays what it is.
        constant: of each leaf, whether it is a Python number that every turn leaves the same.
        begun: whether the value was made to begin like it is after a turn.
    """

    slot: Slot
    nest: Nest
    kinds: list[Any]
    constant: list[bool] = field(default_factory=list)
    begun: bool = False

    @classmethod
    def of(cls, slot: Slot, nest: Nest) -> _Carried:
        return cls(slot, nest, [_struct(kind_of(leaf)) if _is_computed(leaf) else None for leaf in nest.leaves])


class Carry:
    """The values that a loop carries.

    Args:
        state: all that its body can change.
        names: the names in it that a later turn or the code after the loop may ask for.
        place: the loop.
    """

    def __init__(self, state: State, names: tuple[str, ...], place: Place) -> None:
        self._state, self._place = state, place
        self._carried: list[_Carried] = []
        self._late: list[Slot] = []  # those that have no value before
        self._late_nests: list[Nest] = []
        self._to_do: list[Callable[[], None]] = []  # before it is tried again, outside of the trace
        for index, slot in enumerate(state.slots):
            if not slot.is_bound or (slot.name.isidentifier() and slot.name not in names):
                continue
            if state.before[index] is UNDEFINED:
                self._late.append(slot)
            else:
                self._carried.append(_Carried.of(slot, state.nest_before(index)))

    def kinds(self) -> list[Any]:
        """The shapes and dtypes of what is carried."""
        while self._to_do:
            self._to_do.pop()()
        return [kind for carried in self._carried for kind in carried.kinds if kind is not None]

    def arrays(self) -> list[Any]:
        """What is carried into the first turn."""
        return [
            as_dtype(leaf.array if isinstance(leaf, Array) else leaf.value, kind.dtype)
            for carried in self._carried
            for leaf, kind in zip(carried.nest.leaves, carried.kinds, strict=True)
            if kind is not None
        ]

    def put(self, operands: list[Any]) -> None:
        """Gives the names these values."""
        following = iter(operands)
        for carried in self._carried:
            leaves = [
                leaf.value if kind is None else next(following)
                for leaf, kind in zip(carried.nest.leaves, carried.kinds, strict=True)
            ]
            carried.slot.set(carried.nest.with_leaves(leaves))

    def restore(self) -> None:
        """Gives the names the values from before the loop."""
        self._state.restore()

    def taken(self, at_least_once: bool) -> list[Any]:
        """The values after a turn: those that are carried, and then those of names that had none before.

        ``at_least_once`` says that there will be a turn.
        """
        self._notice_others()
        arrays = [array for carried in self._carried for array in self._after(carried)]
        self._late_nests = [Nest.of(slot.get(), None) for slot in self._late]
        for slot, nest in zip(self._late, self._late_nests, strict=True):
            if slot.live and not at_least_once and all(leaf.value is not UNDEFINED for leaf in nest.leaves):
                raise self._place.error(NO_FIRST_VALUE.format(name=slot.name, first=_first_value(nest)))
            if slot.live and at_least_once:
                arrays += [leaf.array for leaf in nest.leaves if _is_array(leaf)]
        return arrays

    def finish(self, results: list[Any]) -> None:
        """Gives the names the values from after the loop."""
        following = iter(results)
        for carried in self._carried:
            leaves = []
            for leaf, kind, constant in zip(carried.nest.leaves, carried.kinds, carried.constant, strict=True):
                result = leaf.value if kind is None else next(following)
                leaves.append(leaf.value if constant else result)
            carried.slot.set(carried.nest.with_leaves(leaves))
        for slot, nest in zip(self._late, self._late_nests, strict=True):
            if slot.live:
                leaves = [next(following) if _is_array(leaf) else leaf.value for leaf in nest.leaves]
                slot.set(nest.with_leaves(leaves))

    def _notice_others(self) -> None:
        """From now on lists that were changed in place are carried, and names that were bound by a call."""
        known = [carried.slot for carried in self._carried]
        for index, (slot, changed) in enumerate(zip(self._state.slots, self._state.changed(), strict=True)):
            if slot.is_bound or not slot.live or not changed or slot in known:
                continue
            before, after = self._state.nest_before(index), Nest.of(slot.get(), None, slot.opaque)
            if before.form != after.form:
                raise self._changes(slot, before, after, ADVICE_LIST)
            self._to_do.append(functools.partial(self._carry_too, index))
            raise TryAgain

    def _carry_too(self, index: int) -> None:
        self._carried.append(_Carried.of(self._state.slots[index], self._state.nest_before(index)))

    def _after(self, carried: _Carried) -> list[Any]:
        slot, before = carried.slot, carried.nest
        after = Nest.of(slot.get(), None, slot.opaque)
        if before.form != after.form:
            raise self._unlike(carried, after, ADVICE_LIST if isinstance(slot, Container) else None)
        after = after.placed_as_in(before)
        carried.constant = []
        arrays = []
        for index, (first, leaf) in enumerate(zip(before.leaves, after.leaves, strict=True)):
            carried.constant.append(isinstance(first, Number) and is_one(first, leaf))
            if carried.kinds[index] is not None:
                arrays.append(self._fitted(carried, index, leaf, after))
            elif not is_one(first, leaf):
                if not isinstance(first, Array) or not isinstance(leaf, Array | Number):
                    raise self._unlike(carried, after)
                carried.kinds[index] = _struct(kind_of(first))  # a variable whose value is carried
                raise TryAgain
        return arrays

    def _unlike(self, carried: _Carried, after: Nest, advice: str | None = None) -> Exception:
        """The error, unless the value can begin with the structure that it has after a turn."""
        slot, before = carried.slot, carried.nest
        begin = begin_like(before.with_leaves([leaf.value for leaf in before.leaves]), slot.get())
        if begin is None or carried.begun:
            return self._changes(slot, before, after, advice)
        self._to_do.append(functools.partial(self._begin_anew, carried, begin))
        return TryAgain()

    def _begin_anew(self, carried: _Carried, begin: Callable[[], Any]) -> None:
        slot = carried.slot
        anew = _Carried.of(slot, Nest.of(begin(), None, slot.opaque))
        anew.begun = True
        self._carried[self._carried.index(carried)] = anew

    def _fitted(self, carried: _Carried, index: int, leaf: Leaf, after: Nest) -> Any:
        """An array after a turn, as it goes into the next."""
        slot, before, kind = carried.slot, carried.nest, carried.kinds[index]
        if not isinstance(leaf, Array | Number):
            raise self._unlike(carried, after)
        new = kind_of(leaf)
        if new.shape != kind.shape:
            raise self._changes(slot, before, after, ADVICE_SHAPE)
        dtype = common_dtype(kind, new)
        if dtype is None:
            raise self._changes(slot, before, after, ADVICE_DTYPE.format(name=slot.name, dtype=new.dtype))
        if dtype != kind.dtype:
            both_weak = is_weak(kind) and is_weak(new)
            carried.kinds[index] = jax.ShapeDtypeStruct(kind.shape, dtype, weak_type=both_weak)
            raise TryAgain
        return as_dtype(leaf.array if isinstance(leaf, Array) else leaf.value, dtype)

    def _changes(self, slot: Slot, before: Nest, after: Nest, advice: str | None = None) -> ControlFlowError:
        if advice is None:
            nothing = any(leaf.value is None for leaf in before.leaves)
            advice = ADVICE_NONE.format(name=slot.name) if nothing else ADVICE
        return self._place.error(CHANGES.format(name=slot.name, before=before, after=after, advice=advice))


def _is_computed(leaf: Leaf) -> TypeGuard[Array | Number]:
    return isinstance(leaf, Number) or _is_array(leaf)


def _is_array(leaf: Leaf) -> TypeGuard[Array]:
    return isinstance(leaf, Array) and not leaf.is_variable


def _struct(kind: Any) -> Any:
    return jax.ShapeDtypeStruct(kind.shape, kind.dtype, weak_type=is_weak(kind))


def _first_value(nest: Nest) -> str:
    if len(nest.leaves) == 1 and isinstance(nest.leaves[0], Array):
        array = nest.leaves[0].array
        return f"tf.zeros({list(array.shape)}, tf.{array.dtype})"
    return f"...   # {nest}"
