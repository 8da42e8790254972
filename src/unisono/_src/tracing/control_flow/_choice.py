"""An `if` whose condition is known only when the program runs: both branches are traced, and the program chooses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unisono._src.tracing.control_flow._common import as_dtype, common_dtype, is_one, kind_of
from unisono._src.tracing.control_flow._errors import RESULT_AFTER_LOOP, Place
from unisono._src.tracing.control_flow._nests import UNDEFINED, Array, Leaf, Nest, Thing
from unisono._src.tracing.control_flow._signals import BREAK, CONTINUE, END, Jump, MayBreak, Returned, Signal
from unisono._src.tracing.control_flow._slots import Container
from unisono._src.tracing.control_flow._state import Changes, State
from unisono._src.tracing.control_flow._traced import truth
from unisono._src.tracing.functions import Branch, OuterScope, current_outer_scope, run_cond

ONE_BRANCH_ONLY = """`{name}` gets a value in one branch only, and is used afterwards. Which branch is taken is known
only when the program runs, so it needs one in both. Give it one before:
    {name} = ...
    if ...:"""

UNLIKE = """{subject} is
    {one}
if the condition holds, and
    {other}
if not. Which one is known only when the program runs, so both must be of one kind. {advice}"""

ADVICE_DTYPE = "Make one of them fit with tf.cast(x, tf.{dtype})."
ADVICE_SHAPE = "Make their shapes equal, with tf.reshape, tf.pad or tf.broadcast_to."
ADVICE_NONE = "Start with an array in the place of None, as tf.zeros(shape)."
ADVICE_LIST = """Append in both branches, or choose what to append:
    values.append(tf.where(condition, a, b))"""
ADVICE = "Give both the same structure, with arrays or numbers in it."

RETURNS_NOTHING = """The function returns a value if the condition holds and none if not, or the other way round. Which
is known only when the program runs, so it has to return in both cases:
    if ...:
        return a
    return b"""

MIXED = """One branch ends with `{one}` and the other goes on to {other}.
Which is known only when the program runs. {advice}"""

ADVICE_LOOP = f"""Remember the result and leave the loop with `break`:
{RESULT_AFTER_LOOP}"""
ADVICE_BLOCK = """Inside of a `with`, `try` or `match` block it cannot
be compiled: bind a name there, and return after the block."""


def choose(test: Any, pieces: tuple[Callable[[], Any], ...], changes: Changes, place: Place) -> None:
    """Runs the first piece if ``test``, a traced value, is true, else the second; both without a jump."""
    outer = current_outer_scope()
    state = State(pieces, changes)
    parts = tuple(_Part(outer, state, piece) for piece in pieces)
    _merged(outer, truth(test, place), state, (parts[0], parts[1]), place)


def chosen_value(test: Any, pieces: tuple[Callable[[], Any], ...], place: Place) -> Any:
    """What the first piece returns if ``test`` is true, else what the second does."""
    outer = current_outer_scope()
    state = State(pieces, Changes())

    def returning(piece: Callable[[], Any]) -> Callable[[], Signal]:
        return lambda: Returned(piece())

    parts = [_Part(outer, state, returning(piece)) for piece in pieces]
    signal = _merged(outer, truth(test, place), state, (parts[0], parts[1]), place)
    assert isinstance(signal, Returned)
    return signal.value


def choose_and_go_on(
    test: Any,
    pieces: tuple[Callable[[], Signal], ...],
    rest: Callable[[], Signal],
    changes: tuple[Changes, Changes],
    surely: bool,
    place: Place,
) -> Signal:
    """The same for branches that may jump; ``rest`` is what follows, up to the end of the function or loop body.

    ``changes`` are those of the branches alone, and those of the branches and the rest. ``surely`` says that one of the
    branches can be seen to jump. Otherwise it is found out.
    """
    outer = current_outer_scope()
    state = State((*pieces, rest), changes[1])

    def through(piece: Callable[[], Signal]) -> Callable[[], Signal]:
        def gone_on() -> Signal:
            signal = piece()
            return rest() if signal is None else signal

        return gone_on

    if surely:
        parts = [_Part(outer, state, through(piece)) for piece in pieces]
    else:
        parts = [_Part(outer, state, piece) for piece in pieces]
        if all(part.signal is None for part in parts):
            choose(test, pieces, changes[0], place)
            return rest()
        for index, piece in enumerate(pieces):
            if parts[index].signal is None:
                parts[index] = _Part(outer, state, through(piece))
    return _merged(outer, truth(test, place), state, (parts[0], parts[1]), place)


class _Part:
    """One branch, traced: where Python goes on after it, and what it left in the slots of the state."""

    def __init__(self, outer: OuterScope, state: State, function: Callable[[], Signal]) -> None:
        self.signal: Signal = None
        self.nests: list[Nest | None] = []
        self.result = Nest.of(None, None)

        def run() -> list[Any]:
            arrays: list[Any] = []
            self.signal = function()
            self.nests = state.taken(arrays)
            self.result = Nest.of(_carried(self.signal), arrays)
            return arrays

        try:
            self.branch = Branch(outer, run, may_run_on_host=True)
        finally:
            state.restore()


def _carried(signal: Signal) -> Any:
    """The part of a signal that a program may compute."""
    if isinstance(signal, Returned):
        return signal.value
    return signal.stops if isinstance(signal, MayBreak) else signal is BREAK


def _merged(outer: OuterScope, predicate: Any, state: State, parts: tuple[_Part, _Part], place: Place) -> Signal:
    """Chooses, puts what was chosen into the slots, and says where Python goes on."""
    outputs = _Outputs(place)
    signal = _common_signal(outputs, parts, place)  # first: where a jump is refused, advice about names would not help
    values: list[tuple[int, Callable[[list[Any]], Any]]] = []
    for index, (slot, *nests) in enumerate(zip(state.slots, parts[0].nests, parts[1].nests, strict=True)):
        if nests[0] is None and nests[1] is None:
            continue
        if not slot.live:
            if not isinstance(slot, Container):
                values.append((index, lambda results: UNDEFINED))
            continue
        one, other = (nest or state.nest_before(index) for nest in nests)
        values.append((index, outputs.add(slot.name, one, other, ADVICE_LIST if isinstance(slot, Container) else None)))
    results = run_cond(outer, predicate, [part.branch for part in parts], [outputs.finish(0), outputs.finish(1)])
    for index, value in values:
        state.slots[index].set(value(results))
    return signal(results)


def _common_signal(outputs: _Outputs, parts: tuple[_Part, _Part], place: Place) -> Callable[[list[Any]], Signal]:
    one, other = (part.signal for part in parts)
    if isinstance(one, Returned) and isinstance(other, Returned):
        if (one.value is None) != (other.value is None):
            raise place.error(RETURNS_NOTHING)
        value = outputs.add("What is returned", parts[0].result, parts[1].result)
        return lambda results: Returned(value(results))
    if one is other and not isinstance(one, Returned | MayBreak):
        return lambda results: one
    in_loop = [signal in (BREAK, CONTINUE) or isinstance(signal, MayBreak) for signal in (one, other)]
    if all(in_loop):
        stops = outputs.add("break", parts[0].result, parts[1].result)
        return lambda results: MayBreak(stops(results))
    texts = sorted(map(_in_words, (one, other)), key=lambda text: text != "return")
    advice = ADVICE_BLOCK if END in (one, other) else ADVICE_LOOP
    raise place.error(MIXED.format(one=texts[0], other=texts[1], advice=advice))


def _in_words(signal: Signal) -> str:
    if isinstance(signal, Returned):
        return "return"
    if signal is CONTINUE or isinstance(signal, MayBreak):
        return "the next turn of the loop"
    return signal.name if isinstance(signal, Jump) else "what follows"


class _Outputs:
    """The arrays that the program has to choose between."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._pairs: list[tuple[Any, Leaf, Leaf]] = []

    def add(self, name: str, one: Nest, other: Nest, advice: str | None = None) -> Callable[[list[Any]], Any]:
        """Adds the arrays of a value that has these forms in the branches. Returns what makes it of the results."""
        subject = f"`{name}`" if name.isidentifier() or "." in name or "[" in name else name
        undefined = [any(leaf.value is UNDEFINED for leaf in nest.leaves) for nest in (one, other)]
        if undefined[0] != undefined[1]:
            raise self._place.error(ONE_BRANCH_ONLY.format(name=name))

        def unlike(default: str) -> Exception:
            return self._place.error(UNLIKE.format(subject=subject, one=one, other=other, advice=default))

        if one.form != other.form:
            raise unlike(advice or _advice(one, other))
        other = other.placed_as_in(one)
        leaves: list[Any] = []
        for left, right in zip(one.leaves, other.leaves, strict=True):
            if is_one(left, right):
                leaves.append(left)
                continue
            if isinstance(left, Thing) or isinstance(right, Thing):
                raise unlike(_advice(one, other))
            kinds = kind_of(left), kind_of(right)
            if kinds[0].shape != kinds[1].shape:
                raise unlike(ADVICE_SHAPE)
            dtype = common_dtype(*kinds)
            if dtype is None:
                raise unlike(ADVICE_DTYPE.format(dtype=kinds[0].dtype))
            leaves.append(len(self._pairs))
            self._pairs.append((dtype, left, right))
        return lambda results: one.with_leaves(
            [results[leaf] if isinstance(leaf, int) else leaf.value for leaf in leaves]
        )

    def finish(self, number: int) -> Callable[[list[Any]], list[Any]]:
        """From the arrays of the branch with this number to what both have in common."""

        def finished(arrays: list[Any]) -> list[Any]:
            return [as_dtype(_computed(leaves[number], arrays), dtype) for dtype, *leaves in self._pairs]

        return finished


def _computed(leaf: Leaf, arrays: list[Any]) -> Any:
    if isinstance(leaf, Array):
        return leaf.array if leaf.index is None else arrays[leaf.index]
    return leaf.value


def _advice(one: Nest, other: Nest) -> str:
    return ADVICE_NONE if any(_is_none(nest) for nest in (one, other)) else ADVICE


def _is_none(nest: Nest) -> bool:
    return any(isinstance(leaf, Thing) and leaf.value is None for leaf in nest.leaves)
