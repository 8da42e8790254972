"""Choices and loops as functions: Python's own on numbers that are there, JAX's on those of compiled functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np

from unisono._src import jax_hooks
from unisono._src.tracing import functions
from unisono.tf._operands import static_int
from unisono.tf._tensor_array import TensorArray
from unisono.tf._tensors import HostTensor, as_array, convert_to_tensor, is_text, to_host_tensor
from unisono.tf.nest import _structures as nest

NOT_SAME = """tf.while_loop: a loop variable changes its {what} in the body: {before} before, {after} after. In a
compiled function it stays the same. Give it its last {what} from the beginning, by tf.cast or by
tf.zeros of the full shape."""

NO_GRADIENT = """A gradient was asked for through tf.while_loop, and how often it turns is known only when the program
runs: there is no way back through it. Say how often at most: tf.while_loop(..., maximum_iterations=100)."""

NO_BRANCH = "tf.case: none of the conditions holds, and there is no default."


def cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: Any = None) -> Any:
    """`true_fn()` if ``pred`` holds, otherwise `false_fn()`. Both may assign variables.

    >>> int(cond(jnp.array(2) > 1, lambda: 1, lambda: 0))
    1
    """
    if true_fn is None or false_fn is None:
        raise TypeError("tf.cond needs two functions: tf.cond(pred, true_fn, false_fn).")
    value = pred.value if isinstance(pred, keras.Variable) else pred
    if not isinstance(value, jax.core.Tracer):
        return true_fn() if bool(value) else false_fn()
    return keras.ops.cond(as_array(value).reshape(()), lambda: _tensors(true_fn()), lambda: _tensors(false_fn()))


def case(
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: Any = None,
) -> Any:
    """What the function of the first condition that holds returns; that of ``default`` if none does."""
    pairs = list(pred_fn_pairs.items()) if isinstance(pred_fn_pairs, Mapping) else list(pred_fn_pairs)
    if exclusive and not any(isinstance(pred, jax.core.Tracer) for pred, _ in pairs):
        holding = sum(bool(pred) for pred, _ in pairs)
        if holding > 1:
            raise ValueError(f"tf.case(exclusive=True): {holding} of the conditions hold. Expected one at most.")
    if not pairs:
        if default is None:
            raise ValueError(NO_BRANCH)
        return default()
    (pred, function), *others = pairs
    if not others and default is None:
        if isinstance(pred, jax.core.Tracer):  # the last one, as TensorFlow has it
            return function()
        if not bool(pred):
            raise ValueError(NO_BRANCH)
    return cond(pred, function, lambda: case(others, default))


def switch_case(branch_index: Any, branch_fns: Any, default: Callable[[], Any] | None = None, name: Any = None) -> Any:
    """What the function with this number returns; the default, or the last one, if there is none."""
    if isinstance(branch_fns, Mapping):
        numbered = {int(key): function for key, function in branch_fns.items()}
    elif branch_fns and isinstance(branch_fns[0], tuple | list):
        numbered = {int(key): function for key, function in branch_fns}
    else:
        numbered = dict(enumerate(branch_fns))
    fallback = default or numbered[max(numbered)]
    if not isinstance(branch_index, jax.core.Tracer):
        return numbered.get(int(branch_index), fallback)()
    pairs = [(branch_index == key, function) for key, function in numbered.items()]
    return case(pairs, fallback)


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
    name: Any = None,
) -> Any:
    """Calls ``body`` with the loop variables as long as ``cond`` of them holds; it returns the next ones.

    With ``maximum_iterations`` gradients pass through it in compiled functions, too.

    >>> int(while_loop(lambda i: i < 5, lambda i: i + 2, [0])[0])
    6
    """
    many = isinstance(loop_vars, list | tuple)
    state = _tensors(list(loop_vars) if many else [loop_vars])
    most = None if maximum_iterations is None else static_int(maximum_iterations)
    if jax_hooks.is_evaluating():
        turns = 0
        while (most is None or turns < most) and bool(cond(*state)):
            state = _next(body, state)
            turns += 1
    else:
        state = _compiled_loop(cond, body, state, most)
    return type(loop_vars)(state) if many and not hasattr(loop_vars, "_fields") else state if many else state[0]


def map_fn(
    fn: Callable[..., Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: Any = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: Any = None,
    fn_output_signature: Any = None,
) -> Any:
    """What ``fn`` makes of each row, stacked.

    >>> map_fn(lambda x: x * 2, jnp.array([1, 2])).tolist()
    [2, 4]
    """
    rows = nest.map_structure(convert_to_tensor, elems)
    if _runs_eagerly(rows):
        results = [_tensors(fn(nest.map_structure(lambda leaf: leaf[place], rows))) for place in range(_length(rows))]  # noqa: B023
        if not results:
            raise ValueError("tf.map_fn: there are no rows, so nothing is known about the result.")
        return nest.map_structure(lambda *leaves: _stacked(leaves), *results)
    return jax.lax.map(lambda row: _tensors(fn(row)), rows)


def vectorized_map(fn: Callable[..., Any], elems: Any, fallback_to_while_loop: bool = True, warn: bool = True) -> Any:
    """What ``fn`` makes of each row, stacked; computed for all rows at once."""
    return jax.vmap(lambda row: _tensors(fn(row)))(nest.map_structure(as_array, elems))


def foldl(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: Any = None,
) -> Any:
    """`fn(fn(fn(initializer, first), second), …)`; without an initializer the first row is that."""
    rows, first = _split(nest.map_structure(as_array, elems), initializer, from_end=False)
    return _scanned(fn, rows, first, reverse=False)[0]


def foldr(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: Any = None,
) -> Any:
    """:func:`foldl` from the last row to the first."""
    rows, first = _split(nest.map_structure(as_array, elems), initializer, from_end=True)
    return _scanned(fn, rows, first, reverse=True)[0]


def scan(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: Any = None,
) -> Any:
    """All values that :func:`foldl` passes through, stacked."""
    rows, first = _split(nest.map_structure(as_array, elems), initializer, from_end=reverse)
    _, passed = _scanned(fn, rows, first, reverse)
    if initializer is not None:
        return passed

    def joined(start: Any, rest: Any) -> Any:
        return jnp.concatenate([rest, start[None]] if reverse else [start[None], rest])

    return nest.map_structure(joined, first, passed)


def _scanned(fn: Callable[..., Any], rows: Any, first: Any, reverse: bool) -> Any:
    def turn(total: Any, row: Any) -> Any:
        following = _tensors(fn(total, row))
        return following, following

    if not jax_hooks.is_evaluating():
        return jax.lax.scan(turn, first, rows, reverse=reverse)
    places = range(_length(rows))
    passed: list[Any] = []
    for place in reversed(places) if reverse else places:
        first, _ = turn(first, nest.map_structure(lambda leaf: leaf[place], rows))  # noqa: B023
        passed.append(first)
    ordered = passed[::-1] if reverse else passed
    empty = nest.map_structure(lambda leaf: jnp.zeros((0, *leaf.shape), leaf.dtype), first)
    return first, nest.map_structure(lambda *leaves: _stacked(leaves), *ordered) if ordered else empty


def _split(rows: Any, initializer: Any, from_end: bool) -> Any:
    if initializer is not None:
        return rows, _tensors(initializer)
    start, rest = (-1, slice(None, -1)) if from_end else (0, slice(1, None))
    return nest.map_structure(lambda leaf: leaf[rest], rows), nest.map_structure(lambda leaf: leaf[start], rows)


def _compiled_loop(cond: Any, body: Any, state: list[Any], most: int | None) -> list[Any]:
    """The loop inside of the program. What it assigns to variables takes effect."""
    outer = functions.current_outer_scope()
    arrays, tree = jax.tree.flatten(_allocated(body, state))

    def turn(operands: list[Any]) -> list[Any]:
        following = jax.tree.leaves(_next(body, jax.tree.unflatten(tree, operands)))
        for before, after in zip(operands, following, strict=True):
            for what in ("dtype", "shape"):
                if getattr(before, what) != getattr(after, what):
                    pair = {"before": getattr(before, what), "after": getattr(after, what)}
                    raise ValueError(NOT_SAME.format(what=what, **pair))
        return following

    def holds(operands: list[Any]) -> Any:
        return as_array(cond(*jax.tree.unflatten(tree, operands))).reshape(())

    def traced(function: Callable[[list[Any]], list[Any]], operands: list[Any]) -> functions.LoopBody:
        return functions.LoopBody(outer, function, [jax.typeof(each) for each in operands], same_for_all=False)

    if most is None:
        test, one_turn = traced(lambda operands: [holds(operands)], arrays), traced(turn, arrays)
        after = functions.run_while(outer, test, one_turn, arrays, lambda: ValueError(NO_GRADIENT))
        return list(jax.tree.unflatten(tree, after))

    def turn_and_look(operands: list[Any]) -> list[Any]:
        following = turn(operands[1:])
        return [jnp.logical_not(holds(following)), *following]

    # So many turns, of which those after the end do nothing: this has gradients.
    carry = [jnp.logical_not(holds(arrays)), *arrays]
    after = functions.run_scan(outer, traced(turn_and_look, carry), carry, [], most, may_stop=True)
    return list(jax.tree.unflatten(tree, after[1:]))


def _allocated(body: Any, state: list[Any]) -> list[Any]:
    """The state, where a TensorArray has the room for what the body will write into it."""
    if not any(isinstance(each, TensorArray) and not each.has_shape for each in state):
        return state
    shapes: list[Any] = []

    def probe() -> Any:
        following = _next(body, state)
        shapes.extend(each.element_shape_and_dtype() if isinstance(each, TensorArray) else None for each in following)
        return jnp.zeros(())

    jax.eval_shape(probe)
    return [
        each.allocated(*shape) if isinstance(each, TensorArray) and not each.has_shape and shape is not None else each
        for each, shape in zip(state, shapes, strict=True)
    ]


def _next(body: Any, state: list[Any]) -> list[Any]:
    returned = body(*state)
    several = isinstance(returned, list | tuple) and not (len(state) == 1 and isinstance(state[0], list | tuple))
    following: list[Any] = _tensors(list(returned) if several else [returned])
    if len(following) != len(state):
        raise ValueError(
            f"tf.while_loop: there are {len(state)} loop variables, and the body returned {len(following)} values. "
            f"Expected as many."
        )
    return following


def _tensors(value: Any) -> Any:
    """Everything in it as tensors; None, and what is no number, stays."""
    return nest.map_structure(_tensor, value)


def _tensor(leaf: Any) -> Any:
    if leaf is None or isinstance(leaf, TensorArray) or (is_text(leaf) and not jax_hooks.is_evaluating()):
        return leaf
    return convert_to_tensor(leaf)


def _runs_eagerly(rows: Any) -> bool:
    return jax_hooks.is_evaluating() or any(is_text(leaf) for leaf in nest.flatten(rows))


def _length(rows: Any) -> int:
    return int(nest.flatten(rows)[0].shape[0])


def _stacked(leaves: Any) -> Any:
    if leaves[0] is None:
        return None
    return to_host_tensor(np.stack(leaves)) if isinstance(leaves[0], HostTensor) else jnp.stack(leaves)
