"""What `gradient` gives for which targets and sources."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest

from unisono import GradientTape, UnconnectedGradients

pytestmark = pytest.mark.slow

X = jnp.array(3.0)
ROW = jnp.array([1.0, 2.0])


def squared(x: Any, tape: GradientTape) -> Any:
    with tape:
        tape.watch(x)
        return x * x


def test_gradients_are_those_of_jax(mode: Callable) -> None:
    def function(x: jax.Array) -> jax.Array:
        return jnp.sum(jnp.sin(x) * x**2 / (1 + jnp.exp(-x)))

    def by_tape(x: jax.Array) -> jax.Array:
        with GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return tape.gradient(y, x)

    x = jnp.linspace(-2, 2, 12).reshape(3, 4)
    np.testing.assert_allclose(mode(by_tape)(x), jax.jit(jax.grad(function))(x), rtol=1e-5, atol=1e-6)


def test_sources_may_be_inputs_and_intermediate_values(mode: Callable) -> None:
    def by_tape(x: jax.Array) -> Any:
        with GradientTape() as tape:
            tape.watch(x)
            y = x * x
            z = y * jnp.sin(x)
        return tape.gradient(z, {"x": x, "y": y, "z": z})

    got = mode(by_tape)(X)
    # The gradient by y is that with x held: TensorFlow's too.
    expected = {"x": 6 * np.sin(3) + 9 * np.cos(3), "y": np.sin(3), "z": 1}
    for name, value in expected.items():
        np.testing.assert_allclose(got[name], value, rtol=1e-5)


def test_a_target_that_is_not_a_scalar_is_summed() -> None:
    tape = GradientTape()
    np.testing.assert_array_equal(tape.gradient(squared(ROW, tape), ROW), [2, 4])


def test_several_targets_are_added_even_where_one_is_made_of_another(mode: Callable) -> None:
    def by_tape(x: jax.Array) -> Any:
        with GradientTape() as tape:
            tape.watch(x)
            y = x * x
            z = y * y
        return tape.gradient([y, {"z": z}], [y, x])

    assert mode(by_tape)(X) == [19, 114]


def test_gradients_come_in_the_structure_of_the_sources() -> None:
    pair = collections.namedtuple("pair", "a b")
    for sources, expected in [
        ([X, X], [6, 6]),
        ((X,), (6,)),
        ({"b": X, "a": [X]}, {"b": 6, "a": [6]}),
        (pair(X, ROW), pair(6, None)),
        ([], []),
    ]:
        tape = GradientTape()
        got = tape.gradient(squared(X, tape), sources)
        assert type(got) is type(sources)
        assert got == expected


def test_what_is_its_own_source_has_the_gradient_one() -> None:
    tape = GradientTape(persistent=True)
    y = squared(X, tape)
    assert tape.gradient(y, y) == 1
    assert tape.gradient(X, X) == 1
    np.testing.assert_array_equal(tape.gradient(ROW, ROW), [1, 1])  # not even watched


def test_where_nothing_leads_to_the_target_the_gradient_is_none_or_zero() -> None:
    tape = GradientTape(persistent=True)
    y = squared(X, tape)
    assert tape.gradient(y, ROW) is None
    assert tape.gradient(y, [X, ROW], unconnected_gradients="none")[1] is None
    for zero in ("zero", UnconnectedGradients.ZERO):
        gradients = tape.gradient(y, [X, ROW, jnp.array(2)], unconnected_gradients=zero)
        np.testing.assert_array_equal(gradients[1], [0, 0])
        assert gradients[2] == 0
        assert gradients[2].dtype == jnp.int32
    with pytest.raises(ValueError, match="unconnected_gradients='zeros' is not known"):
        tape.gradient(y, X, unconnected_gradients="zeros")


def test_values_that_were_not_watched_have_no_gradient() -> None:
    with GradientTape() as tape:
        y = X * X
        tape.watch(X)
        z = y * X
    assert tape.gradient(z, X) == 9


def test_a_target_of_integers_leads_nowhere() -> None:
    with GradientTape() as tape:
        tape.watch(X)
        y = X.astype("int32")
    assert tape.gradient(y, X) is None


@pytest.mark.parametrize(
    ("output_gradients", "expected"),
    [
        (None, [2, 4]),
        (2.0, [4, 8]),
        ([jnp.array([1.0, 3.0])], [2, 12]),
        (np.array([1, 3]), [2, 12]),
        ([None], [2, 4]),
    ],
)
def test_output_gradients_are_factors_of_the_targets(output_gradients: Any, expected: list[float]) -> None:
    tape = GradientTape()
    np.testing.assert_array_equal(tape.gradient(squared(ROW, tape), ROW, output_gradients=output_gradients), expected)


def test_there_is_an_output_gradient_for_each_target() -> None:
    with GradientTape() as tape:
        tape.watch(ROW)
        y, z = ROW * ROW, 3 * ROW
    np.testing.assert_array_equal(tape.gradient([y, z], ROW, output_gradients=[None, ROW]), [5, 10])


def test_output_gradients_that_do_not_fit_are_an_error() -> None:
    tape = GradientTape(persistent=True)
    y = squared(ROW, tape)
    with pytest.raises(ValueError, match="has 2 leaves and the target has 1"):
        tape.gradient(y, ROW, output_gradients=[ROW, ROW])
    with pytest.raises(ValueError, match=r"has the shape \(3,\) and its target the shape \(2,\)"):
        tape.gradient(y, ROW, output_gradients=jnp.ones(3))


def test_what_no_tape_can_have_seen_is_refused() -> None:
    with GradientTape(persistent=True) as tape:
        with pytest.raises(ValueError, match=r"watch\(\) was given 3.0, of type 'float'"):
            tape.watch(3.0)
        with pytest.raises(ValueError, match=r"type 'ndarray'.\n.*jax.numpy.asarray"):
            tape.watch([X, np.ones(2)])
        tape.watch(X)
        y = X * X
    with pytest.raises(TypeError, match="None as target"):
        tape.gradient(None, X)
    with pytest.raises(TypeError, match=r"The target of gradient\(\) is 9.0, of type 'float'"):
        tape.gradient(float(y), X)
    with pytest.raises(TypeError, match=r"The target of gradient\(\) is .*, of type 'ndarray'"):
        tape.gradient([np.asarray(y)], X)
    with pytest.raises(TypeError, match=r"A source of gradient\(\) is None"):
        tape.gradient(y, [X, None])


def test_watching_integers_warns() -> None:
    with GradientTape() as tape:
        with pytest.warns(UserWarning, match="dtype int32, which has no gradients"):
            tape.watch([X, jnp.array(1)])
        y = X * X
    assert tape.gradient(y, X) == 6


def test_integers_and_floats_may_come_from_one_operation(mode: Callable) -> None:
    def function(x: jax.Array) -> jax.Array:
        values, indices = jax.lax.top_k(x, 2)
        return jnp.sum(values * indices)

    def by_tape(x: jax.Array) -> jax.Array:
        with GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return tape.gradient(y, x)

    x = jnp.array([1.0, 5.0, 3.0])
    np.testing.assert_array_equal(mode(by_tape)(x), jax.jit(jax.grad(function))(x))


def test_of_several_results_those_that_are_not_used_do_no_harm(mode: Callable) -> None:
    """The derivative of the square root at 0 is infinite, and 0 · ∞ is NaN."""

    def by_tape(x: jax.Array) -> jax.Array:
        with GradientTape() as tape:
            tape.watch(x)
            y, _ = jax.jit(lambda x: (x * x, jnp.sqrt(x)))(x)
        return tape.gradient(y, x)

    assert mode(by_tape)(jnp.array(0.0)) == 0


def test_gradients_of_complex_numbers_are_those_of_tensorflow(mode: Callable) -> None:
    def by_tape(z: jax.Array) -> list[jax.Array]:
        with GradientTape(persistent=True) as tape:
            tape.watch(z)
            targets = [z * z, jnp.abs(z) ** 2, jnp.real(z * z * (3 - 1j))]
        return [tape.gradient(target, z) for target in targets]

    # TensorFlow 2.21: the conjugates of what jax.grad gives.
    np.testing.assert_allclose(mode(by_tape)(jnp.array(1 + 2j)), [2 - 4j, 2 + 4j, 10 - 10j], rtol=1e-6)


def test_gradients_have_the_dtype_of_their_sources(mode: Callable) -> None:
    def by_tape(x: jax.Array) -> Any:
        with GradientTape() as tape:
            tape.watch(x)
            y = x.astype("float32") * 2.0
        return tape.gradient(y, x)

    for dtype in ("float16", "bfloat16", "float32"):
        assert mode(by_tape)(jnp.ones(2, dtype)).dtype == dtype


def test_two_tapes_that_follow_each_other_know_nothing_of_each_other() -> None:
    first, second = GradientTape(), GradientTape()
    y = squared(X, first)
    with second:
        second.watch(y)
        z = y * X
    assert second.gradient(z, [y, X]) == [3, None]
    assert first.gradient(y, X) == 6


def test_lists_that_a_layer_tracks_are_nests_too() -> None:
    class Scales(keras.layers.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.scales = [self.add_weight(shape=(), initializer="ones") for _ in range(2)]

        def call(self, x: Any) -> Any:
            return self.scales[0] * x + self.scales[1]

    layer = Scales()
    with GradientTape() as tape:
        y = layer(X)
    assert list(tape.gradient(y, layer.scales)) == [3, 1]
