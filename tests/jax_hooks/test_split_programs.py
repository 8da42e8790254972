"""What a worker computes, what it sends, and what the owner of a variable computes."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from unisono._src import jax_hooks

W, M, N = 1, 2, 3
VALUES = {W: np.float32([1.0, 2.0, 3.0]), M: np.float32([0.5, 0.5, 0.5]), N: np.int32(7)}


def split(function: Any, written: list[int], groups: list[list[int]], *arguments: Any) -> Any:
    """Splits ``function(values, *arguments)``, which returns results and new values by key."""

    def traced(arrays: list[Any]) -> Any:
        trace = jax_hooks.current_trace()
        values = {key: jax_hooks.make_placeholder(trace, key, value) for key, value in VALUES.items()}
        with jax_hooks.marking_gradients():
            results, new = function(values, *arrays)
        return [*results, *(new[key] for key in written)]

    jaxpr = jax.make_jaxpr(traced)(list(arguments))
    num_results = len(jaxpr.out_avals) - len(written)
    return jax_hooks.split_updates(jaxpr, num_results, written, groups)


def run(program: Any, current: dict[int, Any], *arguments: Any) -> tuple[list[Any], dict[int, Any]]:
    """The worker computes with VALUES; owners have the ``current`` values."""
    outputs = jax.jit(program.worker)([VALUES[key] for key in program.read], list(arguments))
    new = dict(current)
    for part in program.owners:
        received = [outputs[position] for position in part.received]
        assert [(each.shape, each.dtype) for each in received] == list(part.received_specs)
        new |= dict(zip(part.keys, jax.jit(part.update)([current[key] for key in part.keys], received), strict=True))
    return outputs, new


CURRENT = {W: np.float32([10.0, 20.0, 30.0]), M: np.float32([1.0, 1.0, 1.0]), N: np.int32(70)}


def test_an_addition_is_made_by_the_owner() -> None:
    program = split(lambda values, x: ([x * 2], {N: values[N] + x.astype("int32")}), [N], [[N]], np.float32(3))
    assert program.read == ()
    outputs, new = run(program, CURRENT, np.float32(3))
    assert float(outputs[0]) == 6.0
    assert int(new[N]) == 73


def test_of_a_step_with_momentum_only_the_gradient_is_sent() -> None:
    def step(values: Any, x: Any) -> Any:
        loss, gradient = jax.value_and_grad(lambda w: jnp.sum((w * x) ** 2))(values[W])
        gradient = jax_hooks.mark_gradients(gradient)
        momentum = 0.9 * values[M] + gradient
        return [loss], {M: momentum, W: values[W] - 0.1 * momentum, N: values[N] + 1}

    x = np.float32([1, 2, 3])
    program = split(step, [W, M, N], [[W, M], [N]], x)
    assert program.read == (W,)
    assert [part.received_specs for part in program.owners] == [(((3,), np.dtype("float32")),), ()]
    _, new = run(program, CURRENT, x)
    gradient = 2 * VALUES[W] * x**2  # of the value that the worker has read
    momentum = 0.9 * CURRENT[M] + gradient
    np.testing.assert_allclose(new[M], momentum, rtol=1e-6)
    np.testing.assert_allclose(new[W], CURRENT[W] - 0.1 * momentum, rtol=1e-6)
    assert int(new[N]) == 71
    merged = jax_hooks.merge_owners(program.owners)
    assert merged.keys == (W, M, N)
    assert len(merged.received) == 1


def test_without_a_mark_the_owner_computes_all_of_the_way() -> None:
    def step(values: Any, x: Any) -> Any:
        return [], {W: values[W] - jax.grad(lambda w: jnp.sum((w * x) ** 2))(values[W])}

    x = np.float32([1, 1, 1])
    program = split(step, [W], [[W]], x)
    _, new = run(program, CURRENT, x)
    np.testing.assert_allclose(new[W], CURRENT[W] - 2 * CURRENT[W])


def test_an_assignment_replaces_the_value_and_an_unchanged_one_is_left_alone() -> None:
    program = split(
        lambda values, x: ([], {W: x + values[M], M: values[M], N: jnp.int32(0)}), [W, M, N], [[W], [M], [N]], VALUES[W]
    )
    assert [part.keys for part in program.owners] == [(W,), (N,)]
    _, new = run(program, CURRENT, VALUES[W])
    np.testing.assert_array_equal(new[W], VALUES[W] + VALUES[M])
    assert int(new[N]) == 0
    np.testing.assert_array_equal(new[M], CURRENT[M])


def test_a_branch_is_taken_by_the_owner_with_what_it_needs_of_it() -> None:
    def step(values: Any, x: Any) -> Any:
        new = jax.lax.cond(x > 0, lambda: (values[W] + x, values[M] * x), lambda: (values[W], values[M]))
        return [], {W: new[0], M: new[1]}

    program = split(step, [W, M], [[W], [M]], np.float32(2))
    _, new = run(program, CURRENT, np.float32(2))
    np.testing.assert_array_equal(new[W], CURRENT[W] + 2)
    np.testing.assert_array_equal(new[M], CURRENT[M] * 2)
    assert all(shape == () for part in program.owners for shape, _ in part.received_specs)


@pytest.mark.parametrize("dtype_key", [W, N])
def test_of_a_loop_the_difference_is_sent(dtype_key: int) -> None:
    def step(values: Any, x: Any) -> Any:
        return [], {dtype_key: jax.lax.fori_loop(0, 3, lambda _, value: value * 2, values[dtype_key])}

    program = split(step, [dtype_key], [[dtype_key]], np.float32(0))
    _, new = run(program, CURRENT, np.float32(0))
    np.testing.assert_array_equal(new[dtype_key], CURRENT[dtype_key] + 7 * VALUES[dtype_key])
