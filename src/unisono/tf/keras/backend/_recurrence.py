"""`tf.keras.backend.rnn`, `foldl` and `foldr`: functions over the steps of a sequence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from unisono.tf._control_flow import foldl as tf_foldl
from unisono.tf._control_flow import foldr as tf_foldr
from unisono.tf._tensors import as_array

Step = Callable[[Any, list[Any]], tuple[Any, list[Any]]]


def rnn(
    step_function: Step,
    inputs: Any,
    initial_states: Any,
    go_backwards: bool = False,
    mask: Any = None,
    constants: Any = None,
    unroll: bool = False,
    input_length: Any = None,
    time_major: bool = False,
    zero_output_for_mask: bool = False,
    return_all_outputs: bool = True,
) -> tuple[Any, Any, list[Any]]:
    """Calls a function for each step of a sequence. Returns the last output, all outputs, and the last states.

    Args:
        step_function: takes the values of a step and the states (then the constants); returns an output and states.
        inputs: arrays of shape (rows, steps, ...).
        initial_states: the states before the first step.
        go_backwards: whether the last step comes first.
        mask: bools of shape (rows, steps). Where False, the states and the output are those of the step before.
        constants: more values for each call.
        unroll: whether the loop is written out in the compiled program.
        input_length: accepted; the steps are those of the inputs.
        time_major: whether the first dim are the steps.
        zero_output_for_mask: whether outputs are zero where the mask is False.
        return_all_outputs: whether all outputs are returned; else only the last one, as a sequence of one step.
    """
    order = slice(None, None, -1) if go_backwards else slice(None)

    def steps_first(value: Any) -> Any:
        array = as_array(value)
        return (array if time_major else jnp.swapaxes(array, 0, 1))[order]

    more = list(constants or [])
    xs = jax.tree.map(steps_first, inputs)
    states = [as_array(state) for state in initial_states]
    first = jax.tree.map(lambda array: array[0], xs)
    blank = jax.eval_shape(lambda: step_function(first, [*states, *more])[0])
    blank = jax.tree.map(lambda spec: jnp.zeros(spec.shape, spec.dtype), blank)

    def step(carry: Any, given: Any) -> Any:
        (before, states), (x, keep) = carry, given
        output, after = step_function(x, [*states, *more])
        after = list(after)[: len(states)]
        if keep is not None:
            fallback = jax.tree.map(jnp.zeros_like, before) if zero_output_for_mask else before
            output = _choose(keep, output, fallback)
            after = [_choose(keep, new, old) for new, old in zip(after, states, strict=True)]
        return (output, after), output

    masks = None if mask is None else steps_first(mask).astype(bool)
    if masks is not None and masks.ndim > 2:
        masks = masks[..., 0]
    (last, states), outputs = jax.lax.scan(step, (blank, states), (xs, masks), unroll=unroll)
    if not return_all_outputs:
        outputs = jax.tree.map(lambda array: array[None], last)
    if not time_major:
        outputs = jax.tree.map(lambda array: jnp.swapaxes(array, 0, 1), outputs)
    return last, outputs, states


def foldl(fn: Callable[..., Any], elems: Any, initializer: Any = None, name: Any = None) -> Any:
    """Combines the rows from the first to the last."""
    return tf_foldl(fn, elems, initializer)


def foldr(fn: Callable[..., Any], elems: Any, initializer: Any = None, name: Any = None) -> Any:
    """Combines the rows from the last to the first."""
    return tf_foldr(fn, elems, initializer)


def _choose(keep: Any, new: Any, old: Any) -> Any:
    def choose(new: Any, old: Any) -> Any:
        return jnp.where(keep.reshape(keep.shape + (1,) * (new.ndim - keep.ndim)), new, old)

    return jax.tree.map(choose, new, old)
