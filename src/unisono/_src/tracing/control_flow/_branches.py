"""An `if` whose condition is known only when the program runs: both branches are traced, and the program chooses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unisono._src import keras_hooks
from unisono._src.tracing.control_flow._errors import RESULT_AFTER_LOOP, SourceLocation
from unisono._src.tracing.control_flow._leaf_types import as_dtype, common_dtype, is_same_leaf, leaf_type
from unisono._src.tracing.control_flow._nests import UNDEFINED, Array, Leaf, Nest, PythonObject
from unisono._src.tracing.control_flow._signals import BREAK, CONTINUE, END, Jump, MayBreak, Returned, Signal
from unisono._src.tracing.control_flow._slots import ContainerSlot
from unisono._src.tracing.control_flow._state import Changes, FunctionState
from unisono._src.tracing.control_flow._traced_values import as_condition
from unisono._src.tracing.functions import Branch, OuterScope, current_outer_scope, run_cond

ONE_BRANCH_ONLY = """`{name}` gets a value in one branch only, and is used afterwards. Which branch is taken is known
only when the program runs, so it needs one in both. Give it one before:
    {name} = ...
    if ...:"""

MISMATCH = """{subject} is
    {one}
if the condition holds, and
    {other}
if not. Which one is known only when the program runs, so both must have the same type. {advice}"""

ADVICE_DTYPE = "Make one of them fit with tf.cast(x, tf.{dtype})."
ADVICE_SHAPE = "Make their shapes equal, with tf.reshape, tf.pad or tf.broadcast_to."
ADVICE_NONE = "Start with an array instead of None, as tf.zeros(shape)."
ADVICE_LIST = """Append in both branches, or choose what to append:
    values.append(tf.where(condition, a, b))"""
ADVICE = "Give both the same structure, with arrays or numbers in it."

RETURNS_NOTHING = """The function returns a value in one case and none in the other. Which case it is
is known only when the program runs, so it has to return a value in both:
    if ...:
        return a
    return b"""

MIXED_JUMPS = """One branch ends with `{one}` and the other one continues with {other}.
Which is known only when the program runs. {advice}"""

ADVICE_LOOP = f"""Remember the result and leave the loop with `break`:
{RESULT_AFTER_LOOP}"""
ADVICE_BLOCK = """Inside a `with`, `try` or `match` block it cannot
be compiled: bind a name there, and return after the block."""


def traced_if(test: Any, functions: tuple[Callable[[], Any], ...], changes: Changes, location: SourceLocation) -> None:
    """Runs the first function if ``test``, a traced value, is true, else the second; both without a jump."""
    outer = current_outer_scope()
    state = FunctionState(functions, changes)
    branches = tuple(_TracedBranch(outer, state, function) for function in functions)
    _merge_branches(outer, as_condition(test, location), state, (branches[0], branches[1]), location)


def traced_if_expression(test: Any, functions: tuple[Callable[[], Any], ...], location: SourceLocation) -> Any:
    """What the first function returns if ``test`` is true, else what the second does."""
    outer = current_outer_scope()
    state = FunctionState(functions, Changes())

    def returning(function: Callable[[], Any]) -> Callable[[], Signal]:
        return lambda: Returned(function())

    branches = [_TracedBranch(outer, state, returning(function)) for function in functions]
    signal = _merge_branches(outer, as_condition(test, location), state, (branches[0], branches[1]), location)
    assert isinstance(signal, Returned)
    return signal.value


def traced_if_with_jumps(
    test: Any,
    functions: tuple[Callable[[], Signal], ...],
    continuation: Callable[[], Signal],
    changes: tuple[Changes, Changes],
    always_jumps: bool,
    location: SourceLocation,
) -> Signal:
    """The same for branches that may jump.

    Args:
        test: a traced value.
        functions: the two branches.
        continuation: what follows, up to the end of the function or of the loop body.
        changes: those of the branches alone, and those of the branches and the continuation.
        always_jumps: whether the source shows that a branch ends with a jump. Otherwise tracing shows it.
        location: the `if`.
    """
    outer = current_outer_scope()
    state = FunctionState((*functions, continuation), changes[1])

    def with_continuation(function: Callable[[], Signal]) -> Callable[[], Signal]:
        def run() -> Signal:
            signal = function()
            return continuation() if signal is None else signal

        return run

    if always_jumps:
        branches = [_TracedBranch(outer, state, with_continuation(function)) for function in functions]
    else:
        branches = [_TracedBranch(outer, state, function) for function in functions]
        if all(branch.signal is None for branch in branches):
            traced_if(test, functions, changes[0], location)
            return continuation()
        for index, function in enumerate(functions):
            if branches[index].signal is None:
                branches[index] = _TracedBranch(outer, state, with_continuation(function))
    return _merge_branches(outer, as_condition(test, location), state, (branches[0], branches[1]), location)


class _TracedBranch:
    """One branch, traced: where Python continues after it, and what it left in the slots of the state."""

    def __init__(self, outer: OuterScope, state: FunctionState, function: Callable[[], Signal]) -> None:
        self.signal: Signal = None
        self.nests: list[Nest | None] = []
        self.result = Nest.flatten(None, None)

        def run() -> list[Any]:
            arrays: list[Any] = []
            self.signal = function()
            self.nests = state.collect(arrays)
            self.result = Nest.flatten(_signal_value(self.signal), arrays)
            return arrays

        try:
            self.branch = Branch(outer, run, may_run_on_host=True)
        finally:
            state.restore()


def _signal_value(signal: Signal) -> Any:
    """The branch of a signal that a program may compute."""
    if isinstance(signal, Returned):
        return signal.value
    return signal.stops if isinstance(signal, MayBreak) else signal is BREAK


def _merge_branches(
    outer: OuterScope,
    predicate: Any,
    state: FunctionState,
    branches: tuple[_TracedBranch, _TracedBranch],
    location: SourceLocation,
) -> Signal:
    """Adds the choice to the program, puts the results into the slots, and returns where Python continues."""
    outputs = _BranchOutputs(location)
    signal = _merge_signals(
        outputs, branches, location
    )  # first: if a jump is an error, advice about names would not help
    values: list[tuple[int, Callable[[list[Any]], Any]]] = []
    for index, (slot, *nests) in enumerate(zip(state.slots, branches[0].nests, branches[1].nests, strict=True)):
        if nests[0] is None and nests[1] is None:
            continue
        if not slot.live:
            if not isinstance(slot, ContainerSlot):
                values.append((index, lambda results: UNDEFINED))
            continue
        one, other = (nest or state.nest_before(index) for nest in nests)
        values.append(
            (index, outputs.add(slot.name, one, other, ADVICE_LIST if isinstance(slot, ContainerSlot) else None))
        )
    results = run_cond(outer, predicate, [branch.branch for branch in branches], [outputs.finish(0), outputs.finish(1)])
    for index, value in values:
        state.slots[index].set(value(results))
    return signal(results)


def _merge_signals(
    outputs: _BranchOutputs, branches: tuple[_TracedBranch, _TracedBranch], location: SourceLocation
) -> Callable[[list[Any]], Signal]:
    one, other = (branch.signal for branch in branches)
    if isinstance(one, Returned) and isinstance(other, Returned):
        if (one.value is None) != (other.value is None):
            raise location.error(RETURNS_NOTHING)
        value = outputs.add("What is returned", branches[0].result, branches[1].result)
        return lambda results: Returned(value(results))
    if one is other and not isinstance(one, Returned | MayBreak):
        return lambda results: one
    in_loop = [signal in (BREAK, CONTINUE) or isinstance(signal, MayBreak) for signal in (one, other)]
    if all(in_loop):
        stops = outputs.add("break", branches[0].result, branches[1].result)
        return lambda results: MayBreak(stops(results))
    texts = sorted(map(_describe_signal, (one, other)), key=lambda text: text != "return")
    advice = ADVICE_BLOCK if END in (one, other) else ADVICE_LOOP
    raise location.error(MIXED_JUMPS.format(one=texts[0], other=texts[1], advice=advice))


def _describe_signal(signal: Signal) -> str:
    if isinstance(signal, Returned):
        return "return"
    if signal is CONTINUE or isinstance(signal, MayBreak):
        return "the next iteration of the loop"
    return signal.name if isinstance(signal, Jump) else "what follows"


class _BranchOutputs:
    """The arrays between which the program chooses."""

    def __init__(self, location: SourceLocation) -> None:
        self._location = location
        self._pairs: list[tuple[Any, Leaf, Leaf]] = []

    def add(self, name: str, one: Nest, other: Nest, advice: str | None = None) -> Callable[[list[Any]], Any]:
        """Adds the arrays of a value that is ``one`` or ``other`` in the branches. Returns a function that makes it
        from the results.
        """
        subject = f"`{name}`" if name.isidentifier() or "." in name or "[" in name else name
        undefined = [any(leaf.value is UNDEFINED for leaf in nest.leaves) for nest in (one, other)]
        if undefined[0] != undefined[1]:
            raise self._location.error(ONE_BRANCH_ONLY.format(name=name))

        def mismatch(default: str) -> Exception:
            return self._location.error(MISMATCH.format(subject=subject, one=one, other=other, advice=default))

        if one.structure != other.structure:
            raise mismatch(advice or _choose_advice(one, other))
        other = other.reordered_like(one)
        leaves: list[Any] = []
        for left, right in zip(one.leaves, other.leaves, strict=True):
            if is_same_leaf(left, right):
                leaves.append(left)
                continue
            if isinstance(left, PythonObject) or isinstance(right, PythonObject):
                raise mismatch(_choose_advice(one, other))
            types = leaf_type(left), leaf_type(right)
            if types[0].shape != types[1].shape:
                keras_hooks.run_on_host_if_possible(f"{subject} has another shape in each branch of an `if`")
                raise mismatch(ADVICE_SHAPE)
            dtype = common_dtype(*types)
            if dtype is None:
                raise mismatch(ADVICE_DTYPE.format(dtype=types[0].dtype))
            leaves.append(len(self._pairs))
            self._pairs.append((dtype, left, right))
        return lambda results: one.with_leaves(
            [results[leaf] if isinstance(leaf, int) else leaf.value for leaf in leaves]
        )

    def finish(self, number: int) -> Callable[[list[Any]], list[Any]]:
        """A function from the arrays of the branch with this number to the outputs, in the types common to both."""

        def convert(arrays: list[Any]) -> list[Any]:
            return [as_dtype(_leaf_value(leaves[number], arrays), dtype) for dtype, *leaves in self._pairs]

        return convert


def _leaf_value(leaf: Leaf, arrays: list[Any]) -> Any:
    if isinstance(leaf, Array):
        return leaf.array if leaf.index is None else arrays[leaf.index]
    return leaf.value


def _choose_advice(one: Nest, other: Nest) -> str:
    return ADVICE_NONE if any(_is_none(nest) for nest in (one, other)) else ADVICE


def _is_none(nest: Nest) -> bool:
    return any(isinstance(leaf, PythonObject) and leaf.value is None for leaf in nest.leaves)
