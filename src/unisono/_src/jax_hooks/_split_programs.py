"""Hook: a traced program is split into what a worker computes and what the owners of its variables compute.

A program that trains reads variables, computes gradients, and assigns new values. With parameter servers the values may
have changed since a worker read them. So what leads from the old value of a variable to its new one is computed where
the variable is stored, from the value that it has then; all else is computed by the worker and sent. For
`w.assign(w - rate * gradient)` the subtraction is the owner's part. It does not begin with the forward pass, which
depends on `w` as well: a gradient that was marked (:func:`mark_gradients`) is taken as independent of the variables.

Checked against JAX 0.10.2, 0.11.2 and 0.12.0.1: a jaxpr has `eqns`, `invars`, `constvars` and `outvars`; an equation
has `primitive`, `params`, `invars`, `outvars` and `ctx`; `checkpoint_name` is the primitive `name`; `dce_jaxpr` keeps
the variables of the equations that it keeps.
"""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import jax
from jax.ad_checkpoint import checkpoint_name
from jax.extend.core import Literal
from jax.interpreters.partial_eval import dce_jaxpr

from unisono._src import hooks
from unisono._src.jax_hooks._placeholders import placeholder_key

_GRADIENT: Final = "unisono_gradient"

# What the owner computes as well rather than have it sent, if its operands are not larger than its result: from an
# array and a few numbers to another array. So that of an optimizer's step only the gradient is sent.
_CHEAP: Final = hooks.require_primitives(
    "abs",
    "add",
    "add_any",
    "and",
    "broadcast_in_dim",
    "clamp",
    "convert_element_type",
    "copy",
    "cos",
    "div",
    "eq",
    "exp",
    "ge",
    "gt",
    "integer_pow",
    "le",
    "log",
    "lt",
    "max",
    "min",
    "mul",
    "ne",
    "neg",
    "not",
    "or",
    "pow",
    "reshape",
    "rsqrt",
    "select_n",
    "sign",
    "sin",
    "sqrt",
    "square",
    "squeeze",
    "stop_gradient",
    "sub",
    "tanh",
    why="what a parameter server computes cheaply is not sent to it",
)
_FEW_BYTES: Final = 64  # a learning rate
_WHY: Final = "a program is split between a worker and the parameter servers"
_LOOPS: Final = hooks.require_primitives("scan", "while", why=_WHY)
_MARKS: Final = hooks.require_primitives("name", why=_WHY)


class _Marking(threading.local):
    active = False


_marking = _Marking()


@contextlib.contextmanager
def marking_gradients() -> Iterator[None]:
    """In this block :func:`mark_gradients` marks."""
    before, _marking.active = _marking.active, True
    try:
        yield
    finally:
        _marking.active = before


def mark_gradients(gradients: Any) -> Any:
    """Gradients, known as such to :func:`split_updates`; unchanged outside :func:`marking_gradients`."""
    if not _marking.active:
        return gradients
    return jax.tree.map(lambda leaf: checkpoint_name(leaf, _GRADIENT), gradients)


@dataclass(frozen=True, eq=False)
class OwnersPart:
    """How the owner of some variables updates them: ``update(old_values, received) -> new_values``.

    Attributes:
        keys: the placeholders of the variables.
        received: which of the worker's outputs the owner needs.
        received_specs: the shape and dtype of each of them.
    """

    keys: tuple[int, ...]
    received: tuple[int, ...]
    received_specs: tuple[tuple[tuple[int, ...], Any], ...]
    update: Callable[[list[Any], list[Any]], list[Any]]


@dataclass(frozen=True, eq=False)
class SplitProgram:
    """A program in two parts.

    Attributes:
        read: the placeholders whose values the worker needs.
        worker: ``worker(values, arguments) -> outputs``: the results of the program, then what owners receive.
        owners: the parts of the owners.
    """

    read: tuple[int, ...]
    worker: Callable[[list[Any], list[Any]], list[Any]]
    owners: tuple[OwnersPart, ...]


def split_updates(
    traced: Any, num_results: int, written: Sequence[int], groups: Sequence[Sequence[int]]
) -> SplitProgram:
    """Splits what `jax.make_jaxpr` returned: a program whose outputs are its results, then the new values of variables.

    Args:
        traced: the program, with a placeholder for the old value of each variable.
        num_results: the number of results before the new values.
        written: the keys of the variables whose new values are returned, in this order.
        groups: the same keys in groups; variables of a group have one owner and are updated together.
    """
    program = _ProgramGraph(traced)
    results = list(program.outputs[:num_results])
    outputs: list[Any] = list(results)
    new_values = dict(zip(written, program.outputs[num_results:], strict=True))
    parts: list[OwnersPart] = []
    for group in groups:
        changed = [key for key in group if not program.is_placeholder(new_values[key], key)]
        if changed:
            positions = [num_results + list(written).index(key) for key in changed]
            parts.append(_split_group(traced, changed, positions, outputs))
    return _make_split(program, outputs, parts)


def merge_owners(parts: Sequence[OwnersPart]) -> OwnersPart:
    """The parts of one owner as one: what several of them receive is sent once."""
    specs = {
        position: spec for part in parts for position, spec in zip(part.received, part.received_specs, strict=True)
    }
    order = {position: index for index, position in enumerate(specs)}

    def update(old: list[Any], received: list[Any]) -> list[Any]:
        remaining = iter(old)
        new: list[Any] = []
        for part in parts:
            own = [next(remaining) for _ in part.keys]
            new += part.update(own, [received[order[position]] for position in part.received])
        return new

    return OwnersPart(tuple(key for part in parts for key in part.keys), tuple(specs), tuple(specs.values()), update)


class _ProgramGraph:
    """The equations of a program, the constants among its variables, and its placeholders."""

    def __init__(self, traced: Any, used_outputs: Sequence[int] | None = None) -> None:
        jaxpr = traced.jaxpr
        if used_outputs is not None:
            used = [position in used_outputs for position in range(len(jaxpr.outvars))]
            jaxpr, _ = dce_jaxpr(jaxpr, used, instantiate=True)
        self.inputs, self.outputs = list(jaxpr.invars), list(jaxpr.outvars)
        self.constants = dict(zip(jaxpr.constvars, traced.consts, strict=True))
        self.equations, self.keys = [], {}
        for equation in jaxpr.eqns:
            key = placeholder_key(equation)
            if key is None:
                self.equations.append(equation)
            else:
                self.keys[equation.outvars[0]] = key
        self.producers = {output: equation for equation in self.equations for output in equation.outvars}

    def is_placeholder(self, atom: Any, key: int) -> bool:
        """Whether ``atom`` is the old value of a variable."""
        return not isinstance(atom, Literal) and self.keys.get(atom) == key

    def is_available(self, atom: Any) -> bool:
        """Whether every part has the value: it is a constant."""
        return isinstance(atom, Literal) or atom in self.constants

    def needed(self, atoms: Sequence[Any], *, beyond_gradients: bool = True) -> set[int]:
        """The equations on which ``atoms`` depend, by identity."""
        found: set[int] = set()
        pending = [atom for atom in atoms if not isinstance(atom, Literal)]
        while pending:
            equation = self.producers.get(pending.pop())
            if equation is None or (not beyond_gradients and _is_mark(equation)):
                continue
            if id(equation) not in found:
                found.add(id(equation))
                pending += [atom for atom in equation.invars if not isinstance(atom, Literal)]
        return found

    def evaluate(self, chosen: set[int], known: dict[Any, Any], outputs: Sequence[Any]) -> list[Any]:
        """Carries out the chosen equations in the current trace."""
        values = {**self.constants, **known}

        def read(atom: Any) -> Any:
            return atom.val if isinstance(atom, Literal) else values[atom]

        for equation in self.equations:
            if id(equation) in chosen:
                params = equation.primitive.get_bind_params(equation.params)
                with equation.ctx.manager:
                    found = equation.primitive.bind(*map(read, equation.invars), **params)
                results = found if equation.primitive.multiple_results else [found]
                values.update(zip(equation.outvars, results, strict=True))
        return [read(atom) for atom in outputs]


def _split_group(traced: Any, keys: Sequence[int], positions: Sequence[int], outputs: list[Any]) -> OwnersPart:
    """The owner's part for one group; what it receives is appended to the worker's ``outputs``."""
    program = _ProgramGraph(traced, positions)
    # Outputs that are not used are gone; the rest keep their order, which may not be that of the keys.
    by_position = dict(zip(sorted(positions), program.outputs, strict=True))
    new_values = [by_position[position] for position in positions]
    old_values = [atom for atom, key in program.keys.items() if key in keys]
    order = [program.keys[atom] for atom in old_values]
    chosen = _owners_equations(program, old_values, new_values)
    if any(equation.primitive.name in _LOOPS for equation in program.equations if id(equation) in chosen):
        return _split_by_difference(program, keys, new_values, outputs)
    frontier = _find_frontier(program, chosen, new_values, old_values)

    def update(old: list[Any], received: list[Any]) -> list[Any]:
        by_key = dict(zip(keys, old, strict=True))
        known = {atom: by_key[key] for atom, key in zip(old_values, order, strict=True)}
        known.update(zip(frontier, received, strict=True))
        return program.evaluate(chosen, known, new_values)

    return OwnersPart(
        tuple(keys), tuple(_add_outputs(outputs, frontier)), tuple(map(_shape_and_dtype, frontier)), update
    )


def _owners_equations(program: _ProgramGraph, old_values: Sequence[Any], new_values: Sequence[Any]) -> set[int]:
    """The equations on the way from an old value to a new one, by identity. A gradient is on no such way."""
    depends: set[Any] = set(old_values)
    dependent: set[int] = set()
    for equation in program.equations:
        if not _is_mark(equation) and any(
            not isinstance(atom, Literal) and atom in depends for atom in equation.invars
        ):
            dependent.add(id(equation))
            depends.update(equation.outvars)
    changed = [atom for atom in new_values if not isinstance(atom, Literal) and atom in depends]
    return dependent & program.needed(changed, beyond_gradients=False)


def _is_mark(equation: Any) -> bool:
    return equation.primitive.name in _MARKS and bool(equation.params["name"] == _GRADIENT)


def _find_frontier(
    program: _ProgramGraph, chosen: set[int], new_values: Sequence[Any], old_values: Sequence[Any]
) -> list[Any]:
    """What the owner has to receive. Adds cheap equations to ``chosen`` if less is to be sent then."""
    at_hand = set(old_values)
    wanted = list(new_values)
    for equation in program.equations:
        if id(equation) in chosen:
            at_hand.update(equation.outvars)
            wanted += equation.invars
    frontier: dict[Any, None] = {}
    pending = [atom for atom in wanted if not program.is_available(atom)]
    while pending:
        atom = pending.pop()
        if atom in at_hand or atom in frontier:
            continue
        equation = program.producers.get(atom)
        if equation is not None and equation.primitive.name in _CHEAP:
            operands = {each for each in equation.invars if not program.is_available(each) and each not in at_hand}
            if sum(map(_num_bytes, operands - frontier.keys())) <= _num_bytes(atom) + _FEW_BYTES:
                chosen.add(id(equation))
                at_hand.update(equation.outvars)
                pending += operands
                continue
        frontier[atom] = None
    return list(frontier)


def _split_by_difference(
    program: _ProgramGraph, keys: Sequence[int], new_values: Sequence[Any], outputs: list[Any]
) -> OwnersPart:
    """Of a loop around many steps the worker sends by how much it has changed the variables."""
    by_key = {key: atom for atom, key in program.keys.items()}
    differences = [_Difference(new, by_key.get(key)) for key, new in zip(keys, new_values, strict=True)]

    def update(old: list[Any], received: list[Any]) -> list[Any]:
        return [
            change if difference.old is None or change.dtype == bool else before + change
            for before, change, difference in zip(old, received, differences, strict=True)
        ]

    start = len(outputs)
    outputs += differences
    return OwnersPart(tuple(keys), tuple(range(start, len(outputs))), tuple(map(_shape_and_dtype, new_values)), update)


@dataclass(frozen=True, eq=False)
class _Difference:
    """An output of the worker: a new value less the old one."""

    new: Any
    old: Any

    def compute(self, new: Any, old: Any) -> Any:
        return new if self.old is None or new.dtype == bool else new - old


def _add_outputs(outputs: list[Any], atoms: Sequence[Any]) -> Iterator[int]:
    for atom in atoms:
        found = next((index for index, known in enumerate(outputs) if known is atom), None)
        if found is None:
            outputs.append(atom)
            found = len(outputs) - 1
        yield found


def _make_split(program: _ProgramGraph, outputs: list[Any], parts: list[OwnersPart]) -> SplitProgram:
    flat: list[Any] = []
    for output in outputs:
        flat += (
            [output.new] + ([output.old] if output.old is not None else [])
            if isinstance(output, _Difference)
            else [output]
        )
    chosen = program.needed(flat)
    used = {atom for atom in flat if not isinstance(atom, Literal)}
    for equation in program.equations:
        if id(equation) in chosen:
            used.update(atom for atom in equation.invars if not isinstance(atom, Literal))
    placeholders = [atom for atom in program.keys if atom in used]

    def worker(values: list[Any], arguments: list[Any]) -> list[Any]:
        known = dict(zip(placeholders, values, strict=True)) | dict(zip(program.inputs, arguments, strict=True))
        found = iter(program.evaluate(chosen, known, flat))
        computed = []
        for output in outputs:
            value = next(found)
            if isinstance(output, _Difference):
                value = output.compute(value, next(found) if output.old is not None else None)
            computed.append(value)
        return computed

    return SplitProgram(tuple(program.keys[atom] for atom in placeholders), worker, tuple(parts))


def _shape_and_dtype(atom: Any) -> tuple[tuple[int, ...], Any]:
    return atom.aval.shape, atom.aval.dtype


def _num_bytes(atom: Any) -> int:
    return int(math.prod(atom.aval.shape) * atom.aval.dtype.itemsize)
