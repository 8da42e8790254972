"""Operations that are more than arithmetic: control flow, functions with derivatives of their own, shards."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest
from jax import lax
from jax.sharding import Mesh, PartitionSpec

import unisono
from unisono import GradientTape

pytestmark = pytest.mark.slow

X, W = jnp.array(0.3), jnp.array([0.5, -1.2, 0.7])


def gradients_by_tape(function: Callable[..., Any]) -> Callable[..., Any]:
    def by_tape(*sources: Any) -> Any:
        with GradientTape() as tape:
            tape.watch(sources)
            y = function(*sources)
        return tape.gradient(y, sources)

    return by_tape


@jax.custom_vjp
def reversed_gradient(x: jax.Array) -> jax.Array:
    return x


reversed_gradient.defvjp(lambda x: (x, None), lambda _, cotangent: (-cotangent,))


@jax.custom_jvp
def tripled_gradient(x: jax.Array) -> jax.Array:
    return jnp.sin(x)


tripled_gradient.defjvp(lambda primals, tangents: (jnp.sin(primals[0]), 3 * jnp.cos(primals[0]) * tangents[0]))


def scan_with_results(x: jax.Array, w: jax.Array) -> jax.Array:
    carry, carries = lax.scan(lambda carry, step: (carry * jnp.cos(step), carry), w, jnp.arange(4.0) * x)
    return jnp.sum(carry) + jnp.sum(carries**2)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "scan": scan_with_results,
    "scan, of which a result is not used": lambda x, w: jnp.sum(
        lax.scan(lambda carry, step: (carry * jnp.cos(step), carry), w, jnp.arange(4.0) * x)[0]
    ),
    "scan, of which the carry is not used": lambda x, w: jnp.sum(
        lax.scan(lambda carry, step: (carry * jnp.cos(step), carry), w, jnp.arange(4.0) * x)[1]
    ),
    "scan in a jitted function": lambda x, w: jax.jit(
        lambda x, w: lax.scan(lambda carry, step: (carry * jnp.cos(step), carry), w, jnp.arange(4.0) * x)
    )(x, w)[0].sum(),
    "cond": lambda x, w: jnp.sum(lax.cond(w.sum() > 0, lambda z: z * 2, lambda z: z * x, w)),
    "switch": lambda x, w: jnp.sum(lax.switch(1, [lambda z: z * 2, lambda z: z * x], w)),
    "fori_loop": lambda x, w: jnp.sum(lax.fori_loop(0, 3, lambda _, z: jnp.sin(z) * x, w)),
    "map": lambda x, w: jnp.sum(lax.map(lambda z: jnp.sin(z) * x, w)),
    "vmap": lambda x, w: jnp.sum(jax.vmap(lambda row: row @ w * x)(jnp.outer(w, w))),
    "checkpoint": lambda x, w: jnp.sum(jax.checkpoint(lambda z: jnp.sin(jnp.sin(z)) * x)(w)),
    "jit": lambda x, w: jnp.sum(jax.jit(lambda z: jnp.where(z > 0, z, x * z))(w)),
    "jit that returns its argument": lambda x, w: jnp.sum(
        (lambda pair: pair[0] * pair[1] * w)(jax.jit(lambda z: (z, z * x))(w))
    ),
    "jit in jit": lambda x, w: jnp.sum(jax.jit(lambda z: jax.jit(lambda z: z * x)(z) + 1)(w)),
    "custom_vjp": lambda x, w: jnp.sum(3 * reversed_gradient(w) * x + 5 * w),
    "custom_jvp": lambda x, w: jnp.sum(tripled_gradient(w * x)),
    "stop_gradient": lambda x, w: jnp.sum(lax.stop_gradient(w) * w * x),
    "while_loop behind stop_gradient": lambda x, w: jnp.sum(
        w * x * lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * 2), (0, lax.stop_gradient(w)))[1]
    ),
    "softmax": lambda x, w: jnp.sum(jax.nn.softmax(w * x) ** 2),
    "indexing": lambda x, w: (w * x).at[1].add(w[0]).at[2].multiply(3.0)[jnp.array([1, 1, 2])].sum(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_through_it_are_those_of_jax(name: str, mode: Callable) -> None:
    function = FUNCTIONS[name]
    got = mode(gradients_by_tape(function))(X, W)
    expected = jax.jit(jax.grad(function, (0, 1)))(X, W)
    for ours, theirs in zip(got, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", ["floor", "round", "sign", "argmax", "stop_gradient", "comparison"])
def test_there_is_no_gradient_through_it(name: str, mode: Callable) -> None:
    def by_tape(w: jax.Array) -> jax.Array:
        with GradientTape() as tape:
            tape.watch(w)
            y = {
                "floor": jnp.floor,
                "round": jnp.round,
                "sign": jnp.sign,
                "argmax": lambda w: jnp.argmax(w) * 1.0,
                "stop_gradient": lax.stop_gradient,
                "comparison": lambda w: jnp.where(w > 0, 1.0, 2.0),
            }[name](w)
        assert tape.gradient(y, w) is None
        return y

    mode(by_tape)(W)


def test_a_while_loop_between_source_and_target_is_an_error_in_a_sentence(mode: Callable) -> None:
    def by_tape(x: jax.Array) -> Any:
        with GradientTape() as tape:
            tape.watch(x)
            y = lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * 2), (0, x))[1] * x
        return tape.gradient(y, x)

    with pytest.raises(ValueError, match=r"no gradient through the operation 'while'(.|\n)*Try using lax.scan"):
        mode(by_tape)(X)


def test_an_operation_without_a_gradient_is_no_error_where_none_is_needed(mode: Callable) -> None:
    def by_tape(x: jax.Array, only_looked_at: bool) -> Any:
        with GradientTape() as tape:
            tape.watch(x)
            y = x * x
            seen = jax.pure_callback(lambda a: np.asarray(a), jax.ShapeDtypeStruct((), "float32"), y)
        return tape.gradient(y if only_looked_at else seen, x), seen

    gradient, seen = mode(lambda x: by_tape(x, True))(X)
    np.testing.assert_allclose([gradient, seen], [0.6, 0.09], rtol=1e-6)
    with pytest.raises(ValueError, match="no gradient through the operation 'pure_callback'"):
        mode(lambda x: by_tape(x, False))(X)


def test_an_array_that_a_jitted_function_closes_over_has_a_gradient(mode: Callable) -> None:
    def by_tape(x: jax.Array) -> Any:
        with GradientTape() as tape:
            tape.watch(W)
            y = jnp.sum(jax.jit(lambda x: jax.jit(lambda x: jnp.sin(W) * x)(x) + W)(x))
        return tape.gradient(y, W)

    np.testing.assert_allclose(mode(by_tape)(X), np.cos(W) * 0.3 + 1, rtol=1e-5)


def test_an_operation_may_print(mode: Callable, capfd: pytest.CaptureFixture[str]) -> None:
    def function(w: jax.Array) -> jax.Array:
        jax.debug.print("first {}", w[0])
        return jnp.sum(w * w)

    np.testing.assert_allclose(mode(gradients_by_tape(function))(W)[0], 2 * W, rtol=1e-6)
    jax.effects_barrier()
    assert "first 0.5" in capfd.readouterr().out


def test_randomness_is_drawn_once(mode: Callable) -> None:
    def by_tape(w: jax.Array) -> Any:
        with GradientTape() as tape:
            tape.watch(w)
            noise = jax.random.normal(jax.random.key(0), w.shape)
            y = jnp.sum(w * noise)
        return tape.gradient(y, w), noise

    gradient, noise = mode(by_tape)(W)
    np.testing.assert_array_equal(gradient, noise)


def test_the_first_eager_gradient_has_the_bits_of_the_next_ones() -> None:
    """Else a process that resumes a training, and runs its first step, would round otherwise than the one before it."""

    @jax.checkpoint
    def rematerialized(x: jax.Array) -> jax.Array:
        for _ in range(3):
            x = jnp.tanh(x * 1.3 + 0.1) * jnp.exp(-x * x) + x / 3.7
        return x

    x = jnp.asarray(np.random.default_rng(0).normal(size=(64, 128)).astype("float32"))
    first, *rest = [np.asarray(gradients_by_tape(rematerialized)(x)[0]) for _ in range(3)]
    for gradient in rest:
        np.testing.assert_array_equal(gradient, first)


def test_a_tape_works_inside_of_a_shard_map() -> None:
    mesh = Mesh(np.array(jax.devices()[:4]), ("rows",))
    rows = PartitionSpec("rows")

    def function(x: jax.Array, w: jax.Array) -> jax.Array:
        return jnp.sum(jnp.tanh(x @ w))

    def by_tape(x: jax.Array, w: jax.Array) -> jax.Array:
        with GradientTape() as tape:
            tape.watch(w)
            y = function(x, w)
        return lax.psum(tape.gradient(y, w), "rows")

    sharded = jax.shard_map(
        by_tape, mesh=mesh, in_specs=(rows, PartitionSpec()), out_specs=PartitionSpec(), check_vma=False
    )
    x = jnp.arange(24.0).reshape(8, 3) / 24
    np.testing.assert_allclose(jax.jit(sharded)(x, W), jax.jit(jax.grad(function, 1))(x, W), rtol=1e-5)


def test_a_shard_map_can_be_recorded(mode: Callable) -> None:
    mesh = Mesh(np.array(jax.devices()[:4]), ("rows",))
    rows, whole = PartitionSpec("rows"), PartitionSpec()

    def function(x: jax.Array, w: jax.Array) -> jax.Array:
        return jax.shard_map(
            lambda x, w: lax.psum(jnp.sum(jnp.tanh(x @ w)), "rows"), mesh=mesh, in_specs=(rows, whole), out_specs=whole
        )(x, w)

    x = jnp.arange(24.0).reshape(8, 3) / 24
    got = mode(gradients_by_tape(function))(x, W)
    for ours, theirs in zip(got, jax.jit(jax.grad(function, (0, 1)))(x, W), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def test_a_shard_map_that_closes_over_a_watched_array_is_an_error_not_a_wrong_gradient(mode: Callable) -> None:
    mesh = Mesh(np.array(jax.devices()[:4]), ("rows",))
    rows = PartitionSpec("rows")

    def function(w: jax.Array) -> jax.Array:
        x = jnp.ones((8, 3))
        return jnp.sum(jax.shard_map(lambda x: x @ w, mesh=mesh, in_specs=rows, out_specs=rows)(x))

    with pytest.raises(ValueError, match="Pass the value as an argument"):
        mode(gradients_by_tape(function))(W)


def test_arrays_on_several_devices_are_followed() -> None:
    mesh = Mesh(np.array(jax.devices()[:4]), ("rows",))
    x = jax.device_put(jnp.arange(24.0).reshape(8, 3) / 24, jax.NamedSharding(mesh, PartitionSpec("rows")))
    w = jax.device_put(W, jax.NamedSharding(mesh, PartitionSpec()))

    def function(x: jax.Array, w: jax.Array) -> jax.Array:
        return jnp.sum(jnp.tanh(x @ w))

    got = gradients_by_tape(function)(x, w)
    for ours, theirs in zip(got, jax.jit(jax.grad(function, (0, 1)))(x, w), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def _scale_by_custom_jvp(w: jax.Array, uses_value: bool) -> Callable[..., Any]:
    @jax.custom_jvp
    def scale(x: jax.Array) -> jax.Array:
        return x * w if uses_value else x * 2.0

    scale.defjvp(lambda primals, tangents: (scale(*primals), tangents[0] * w))
    return scale


def _scale_by_custom_vjp(w: jax.Array, uses_value: bool) -> Callable[..., Any]:
    @jax.custom_vjp
    def scale(x: jax.Array) -> jax.Array:
        return x * w if uses_value else x * 2.0

    scale.defvjp(lambda x: (scale(x), None), lambda _, cotangent: (cotangent * w,))
    return scale


def _scale_by_custom_gradient(w: jax.Array, uses_value: bool) -> Callable[..., Any]:
    return keras.ops.custom_gradient(lambda x: (x * w if uses_value else x * 2.0, lambda upstream: upstream * w))


CUSTOM = pytest.mark.parametrize("make", [_scale_by_custom_jvp, _scale_by_custom_vjp, _scale_by_custom_gradient])


@CUSTOM
@pytest.mark.parametrize("watches_x", [True, False])
def test_a_custom_derivative_that_closes_over_a_watched_array_is_an_error_not_a_wrong_gradient(
    make: Callable, watches_x: bool, mode: Callable
) -> None:
    def step(x: jax.Array, w: jax.Array) -> Any:
        with GradientTape() as tape:
            tape.watch([x, w] if watches_x else w)
            make(w, uses_value=True)(x)

    with pytest.raises(ValueError, match=r"custom_gradient uses a value from outside"):
        mode(step)(jnp.array(2.0), jnp.array(3.0))


@CUSTOM
def test_a_custom_derivative_may_close_over_what_only_scales_it(make: Callable, mode: Callable) -> None:
    def step(x: jax.Array, w: jax.Array) -> Any:
        with GradientTape() as tape:
            tape.watch([x, w])
            y = make(w, uses_value=False)(x)
        return tape.gradient(y, x)

    assert mode(step)(jnp.array(2.0), jnp.array(3.0)) == 3


def test_a_program_does_not_keep_what_a_tape_recorded_while_it_was_traced() -> None:
    records = []

    @unisono.function
    def step(x: jax.Array) -> Any:
        with GradientTape() as tape:
            tape.watch(x)
            records.append(weakref.ref(tape._record))
            y = jax.nn.relu(jnp.ones(3)) * x  # relu, of a value that is not watched, has derivatives of its own
        return tape.gradient(y, x)

    np.testing.assert_array_equal(step(jnp.ones(3)), np.ones(3))
    gc.collect()
    assert [record() for record in records] == [None]
