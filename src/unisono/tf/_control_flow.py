"""`tf.cond`, `tf.while_loop`, `tf.map_fn`, `tf.scan` and related functions: Python control flow on concrete values,
JAX's while a function is traced."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np

from unisono._src import jax_hooks, keras_hooks
from unisono._src.data.plans import CompositeSpec
from unisono._src.tracing import functions
from unisono.tf import nest
from unisono.tf._composite import CompositeTensor
from unisono.tf._operands import static_int
from unisono.tf._tensor_array import TensorArray
from unisono.tf._tensors import HostTensor, as_array, convert_to_tensor, is_text, to_host_tensor
from unisono.tf.ragged._factories import stack as stack_ragged

LOOP_VARIABLE_CHANGED = """tf.while_loop: the body changes the {what} of a loop variable from {before} to {after}. In a
compiled function it has to stay the same. Start with the final {what}, by tf.cast or tf.zeros of the full shape."""

NO_GRADIENT = """A gradient through tf.while_loop was requested, and its number of iterations is known only at run time:
such a loop is not reverse-differentiable. Give an upper bound: tf.while_loop(..., maximum_iterations=100)."""

NO_BRANCH = "tf.case: no condition is true, and there is no default."


def cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: Any = None) -> Any:
    """Calls `true_fn()` if ``pred`` is true, otherwise `false_fn()`. Both may assign variables.

    >>> int(cond(jnp.array(2) > 1, lambda: 1, lambda: 0))
    1
    """
    if true_fn is None or false_fn is None:
        raise TypeError("tf.cond needs two functions: tf.cond(pred, true_fn, false_fn).")
    value = pred.value if isinstance(pred, keras.Variable) else pred
    if not isinstance(value, jax.core.Tracer):
        return true_fn() if bool(value) else false_fn()
    return keras.ops.cond(as_array(value).reshape(()), lambda: _to_tensors(true_fn()), lambda: _to_tensors(false_fn()))


def case(
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: Any = None,
) -> Any:
    """Calls the function of the first true condition; ``default`` if none is true."""
    pairs = list(pred_fn_pairs.items()) if isinstance(pred_fn_pairs, Mapping) else list(pred_fn_pairs)
    if exclusive and not any(isinstance(pred, jax.core.Tracer) for pred, _ in pairs):
        holding = sum(bool(pred) for pred, _ in pairs)
        if holding > 1:
            raise ValueError(f"tf.case(exclusive=True): {holding} of the conditions are true. Expected at most one.")
    if not pairs:
        if default is None:
            raise ValueError(NO_BRANCH)
        return default()
    (pred, function), *remaining = pairs
    if not remaining and default is None:
        if isinstance(pred, jax.core.Tracer):  # TensorFlow runs the last branch as well
            return function()
        if not bool(pred):
            raise ValueError(NO_BRANCH)
    return cond(pred, function, lambda: case(remaining, default))


def switch_case(branch_index: Any, branch_fns: Any, default: Callable[[], Any] | None = None, name: Any = None) -> Any:
    """Calls the function with this index; ``default``, or the last function, if there is none."""
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
    """Calls ``body`` with the loop variables, which returns their next values, as long as ``cond`` of them is true.

    With ``maximum_iterations`` it is differentiable in compiled functions, too.

    >>> int(while_loop(lambda i: i < 5, lambda i: i + 2, [0])[0])
    6
    """
    is_sequence = isinstance(loop_vars, list | tuple)
    state = _to_tensors(list(loop_vars) if is_sequence else [loop_vars])
    max_iterations = None if maximum_iterations is None else static_int(maximum_iterations)
    if jax_hooks.is_evaluating():
        iteration = 0
        while (max_iterations is None or iteration < max_iterations) and bool(cond(*state)):
            state = _call_body(body, state)
            iteration += 1
    else:
        state = _traced_loop(cond, body, state, max_iterations)
    if not is_sequence:
        return state[0]
    return state if hasattr(loop_vars, "_fields") else type(loop_vars)(state)


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
    """Applies ``fn`` to each row and stacks the results.

    >>> map_fn(lambda x: x * 2, jnp.array([1, 2])).tolist()
    [2, 4]
    """
    rows = nest.map_structure(_to_tensor, elems)
    if _runs_eagerly(rows) or any(isinstance(leaf, CompositeTensor) for leaf in nest.flatten(rows)):
        results = [_to_tensors(fn(_take_row(rows, index))) for index in range(_length(rows))]
        if not results:
            raise ValueError("tf.map_fn: elems has no rows, so the shape and dtype of the result are unknown.")
        wanted = nest.flatten(dtype if fn_output_signature is None else fn_output_signature)
        if wanted == [None]:  # rows of a ragged tensor become rows again
            has_rows = any(isinstance(leaf, CompositeTensor) for leaf in nest.flatten(rows))
            is_ragged = has_rows and all(getattr(leaf, "ndim", 0) for leaf in nest.flatten(results[0]))
        else:
            is_ragged = any(isinstance(spec, CompositeSpec) for spec in wanted)
        stack = stack_ragged if is_ragged else _stack
        return nest.map_structure(lambda *leaves: stack(list(leaves)), *results)
    return jax.lax.map(lambda row: _to_tensors(fn(row)), rows)


def vectorized_map(fn: Callable[..., Any], elems: Any, fallback_to_while_loop: bool = True, warn: bool = True) -> Any:
    """Applies ``fn`` to all rows at once (`jax.vmap`) and stacks the results."""
    return jax.vmap(lambda row: _to_tensors(fn(row)))(nest.map_structure(as_array, elems))


def foldl(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: Any = None,
) -> Any:
    """`fn(fn(fn(initializer, first), second), …)`; without an initializer the first row is the initial value."""
    rows, first = _split_initial(nest.map_structure(as_array, elems), initializer, from_end=False)
    return _scan_rows(fn, rows, first, reverse=False)[0]


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
    rows, first = _split_initial(nest.map_structure(as_array, elems), initializer, from_end=True)
    return _scan_rows(fn, rows, first, reverse=True)[0]


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
    """All intermediate values of :func:`foldl`, stacked."""
    rows, first = _split_initial(nest.map_structure(as_array, elems), initializer, from_end=reverse)
    _, collected = _scan_rows(fn, rows, first, reverse)
    if initializer is not None:
        return collected

    def prepend(start: Any, rest: Any) -> Any:
        return jnp.concatenate([rest, start[None]] if reverse else [start[None], rest])

    return nest.map_structure(prepend, first, collected)


def _scan_rows(fn: Callable[..., Any], rows: Any, first: Any, reverse: bool) -> Any:
    def step(total: Any, row: Any) -> Any:
        following = _to_tensors(fn(total, row))
        return following, following

    if not jax_hooks.is_evaluating():
        return jax.lax.scan(step, first, rows, reverse=reverse)
    indices = range(_length(rows))
    collected: list[Any] = []
    for index in reversed(indices) if reverse else indices:
        first, _ = step(first, _take_row(rows, index))
        collected.append(first)
    ordered = collected[::-1] if reverse else collected
    empty = nest.map_structure(lambda leaf: jnp.zeros((0, *leaf.shape), leaf.dtype), first)
    return first, nest.map_structure(lambda *leaves: _stack(leaves), *ordered) if ordered else empty


def _split_initial(rows: Any, initializer: Any, from_end: bool) -> Any:
    if initializer is not None:
        return rows, _to_tensors(initializer)
    start, rest = (-1, slice(None, -1)) if from_end else (0, slice(1, None))
    return nest.map_structure(lambda leaf: leaf[rest], rows), nest.map_structure(lambda leaf: leaf[start], rows)


def _traced_loop(cond: Any, body: Any, state: list[Any], max_iterations: int | None) -> list[Any]:
    """The loop inside the compiled program. Variables that it assigns are part of its state."""
    outer = functions.current_outer_scope()
    arrays, tree = jax.tree.flatten(_allocate_tensor_arrays(body, state))

    def step(operands: list[Any]) -> list[Any]:
        following = jax.tree.leaves(_call_body(body, jax.tree.unflatten(tree, operands)))
        for before, after in zip(operands, following, strict=True):
            for what in ("dtype", "shape"):
                if getattr(before, what) != getattr(after, what):
                    pair = {"before": getattr(before, what), "after": getattr(after, what)}
                    raise ValueError(LOOP_VARIABLE_CHANGED.format(what=what, **pair))
        return following

    def is_true(operands: list[Any]) -> Any:
        return as_array(cond(*jax.tree.unflatten(tree, operands))).reshape(())

    def trace(function: Callable[[list[Any]], list[Any]], operands: list[Any]) -> functions.LoopBody:
        return functions.LoopBody(outer, function, [jax.typeof(each) for each in operands], same_for_all=False)

    if max_iterations is None:
        traced_test, traced_step = trace(lambda operands: [is_true(operands)], arrays), trace(step, arrays)
        after = functions.run_while(outer, traced_test, traced_step, arrays, _refuse_gradient)
        return list(jax.tree.unflatten(tree, after))

    def guarded_step(operands: list[Any]) -> list[Any]:
        following = step(operands[1:])
        return [jnp.logical_not(is_true(following)), *following]

    # A scan of fixed length is differentiable; iterations after the condition turned false change nothing.
    carry = [jnp.logical_not(is_true(arrays)), *arrays]
    after = functions.run_scan(outer, trace(guarded_step, carry), carry, [], max_iterations, may_stop=True)
    return list(jax.tree.unflatten(tree, after[1:]))


def _refuse_gradient() -> Exception:
    keras_hooks.run_on_host_if_possible("a gradient goes through a tf.while_loop without maximum_iterations")
    return ValueError(NO_GRADIENT)


def _allocate_tensor_arrays(body: Any, state: list[Any]) -> list[Any]:
    """The state, with every TensorArray allocated for the rows that the body will write."""
    if not any(isinstance(each, TensorArray) and not each.has_shape for each in state):
        return state
    shapes: list[Any] = []

    def probe() -> Any:
        following = _call_body(body, state)
        shapes.extend(each.element_shape_and_dtype() if isinstance(each, TensorArray) else None for each in following)
        return jnp.zeros(())

    jax.eval_shape(probe)
    return [
        each.allocate(*shape) if isinstance(each, TensorArray) and not each.has_shape and shape is not None else each
        for each, shape in zip(state, shapes, strict=True)
    ]


def _call_body(body: Any, state: list[Any]) -> list[Any]:
    returned = body(*state)
    several = isinstance(returned, list | tuple) and not (len(state) == 1 and isinstance(state[0], list | tuple))
    following: list[Any] = _to_tensors(list(returned) if several else [returned])
    if len(following) != len(state):
        raise ValueError(
            f"tf.while_loop: the body returned {len(following)} values. "
            f"Expected {len(state)}, one for each loop variable."
        )
    return following


def _to_tensors(value: Any) -> Any:
    """Converts every leaf to a tensor; None, TensorArrays and text in a traced function are unchanged."""
    return nest.map_structure(_to_tensor, value)


def _to_tensor(leaf: Any) -> Any:
    if (
        leaf is None
        or isinstance(leaf, TensorArray | CompositeTensor)
        or (is_text(leaf) and not jax_hooks.is_evaluating())
    ):
        return leaf
    return convert_to_tensor(leaf)


def _runs_eagerly(rows: Any) -> bool:
    return jax_hooks.is_evaluating() or any(is_text(leaf) for leaf in nest.flatten(rows))


def _take_row(rows: Any, index: int) -> Any:
    # Ragged and sparse tensors can be indexed; types of the user need not have `__getitem__`.
    return nest.map_structure(
        lambda leaf: leaf[index] if hasattr(type(leaf), "__getitem__") else leaf.take_row(index), rows
    )


def _length(rows: Any) -> int:
    first = nest.flatten(rows)[0]
    return first.count_rows() if isinstance(first, CompositeTensor) else int(first.shape[0])


def _stack(leaves: Any) -> Any:
    if leaves[0] is None:
        return None
    if isinstance(leaves[0], CompositeTensor):
        return type(leaves[0]).stack_leaves(leaves)
    return to_host_tensor(np.stack(leaves)) if isinstance(leaves[0], HostTensor) else jnp.stack(leaves)
