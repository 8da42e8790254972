"""Gradients through choices and loops of compiled functions."""
# ruff: noqa: SIM108

import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest

import unisono
from unisono._src.tracing.control_flow import ControlFlowError, convert

from ._compare import compiled

XS = jnp.arange(1.0, 5.0)


def choice(w, x):
    if x[0] > 1:
        y = w * x
    else:
        y = w * w * 3
    return keras.ops.sum(y)


def early_return(w, x):
    if x[0] > 1:
        return keras.ops.sum(w * x)
    return keras.ops.sum(w**3)


def expression(w, x):
    return keras.ops.sum(w * x if x[0] > 1 else w**2)


def rows(w, x):
    total = jnp.zeros(())
    for row in x:
        total = total * 0.5 + keras.ops.sum(keras.ops.sin(w) * row)
    return total


def rows_with_a_choice(w, x):
    total = 1.0
    for row in x:
        if row > 2:
            total = total * w[0] + row
        else:
            total = total + w[1]
    return total


def rows_with_a_break(w, x):
    total = 0.0
    for row in x:
        if total > 3:
            break
        total = total + keras.ops.sum(w) * row
    return total


def loop_in_a_branch(w, x):
    total = keras.ops.sum(w)
    if x[0] > 0:
        for row in x:
            total = total * row
    return total


FUNCTIONS = [choice, early_return, expression, rows, rows_with_a_choice, rows_with_a_break, loop_in_a_branch]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("scale", [1.0, 2.0, -1.0])
def test_a_tape_around_gives_pythons_gradient(function, scale):
    w, x = jnp.array([0.5, 2.0, 1.0, 0.25]), XS * scale
    weight = keras.Variable(w)

    @unisono.function
    def of_array(w, x):
        with unisono.GradientTape() as tape:
            tape.watch(w)
            y = convert(function)(w, x)
        return tape.gradient(y, w)

    @unisono.function
    def of_variable(x):
        with unisono.GradientTape() as tape:
            y = convert(function)(weight, x)
        return tape.gradient(y, weight)

    expected = jax.grad(function)(w, x)
    np.testing.assert_allclose(of_array(w, x), expected, rtol=1e-5)
    np.testing.assert_allclose(of_variable(x), expected, rtol=1e-5)
    np.testing.assert_allclose(jax.grad(convert(function))(w, x), expected, rtol=1e-5)


def test_a_variable_that_is_read_inside_of_a_loop_has_its_gradient():
    weight = keras.Variable(2.0)

    @compiled
    def gradient(xs):
        with unisono.GradientTape() as tape:
            total = 0.0
            for x in xs:
                total = total + weight * x
                if x > 2:
                    total = total + weight**2
        return tape.gradient(total, weight)

    assert float(gradient(XS)) == 10.0 + 2 * 4.0


def test_a_tape_inside_of_a_branch():
    weight = keras.Variable(2.0)

    @compiled
    def step(x):
        if x > 0:
            with unisono.GradientTape() as tape:
                loss = weight**2 * x
            weight.assign_sub(0.1 * tape.gradient(loss, weight))
        return weight * 1

    assert float(step(jnp.float32(-1))) == 2.0
    assert float(step(jnp.float32(1))) == pytest.approx(1.6)


def test_the_second_derivative_through_a_loop():
    @compiled
    def second(x):
        with unisono.GradientTape() as outer:
            outer.watch(x)
            with unisono.GradientTape() as inner:
                inner.watch(x)
                y = x
                for _ in jnp.zeros(2):
                    y = y * x
            first = inner.gradient(y, x)
        return outer.gradient(first, x)

    assert float(second(jnp.float32(3))) == 18.0


def test_the_gradient_of_a_loop_of_unknown_length_is_computed_on_the_host():
    @compiled
    def gradient(x, n):
        with unisono.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(n):
                y = y * x
        return tape.gradient(y, x)

    with pytest.warns(UserWarning, match=r"gradient is not compiled.*a gradient goes through a loop"):
        assert float(gradient(jnp.float32(2), jnp.int32(3))) == 32.0
    assert float(gradient(jnp.float32(2), jnp.int32(2))) == 12.0


def test_the_gradient_of_a_while_loop_is_an_error_that_names_its_line_where_the_host_cannot_compute_it():
    strategy = unisono.MirroredStrategy(["cpu:0", "cpu:1"])
    with strategy.scope():
        weight = keras.Variable(2.0)

    def gradient(x):
        with unisono.GradientTape() as tape:
            while x < 100:
                x = x * weight
        return tape.gradient(x, weight)

    with pytest.raises(ControlFlowError, match=r"`while x < 100:`\nA gradient was requested"):
        strategy.run(convert(gradient), args=(jnp.float32(2),))


def test_a_loop_of_unknown_length_has_derivatives_in_forward_mode():
    @compiled
    def derivatives(x, n):
        def power(x):
            y = x
            for _ in range(n):
                y = y * x
            while y > 1000:
                y = y * x / 10
            return y

        def slope(x):
            return jax.jvp(power, (x,), (jnp.ones_like(x),))[1]

        return slope(x), jax.jvp(slope, (x,), (jnp.ones_like(x),))[1], jax.vmap(jax.jacfwd(power))(jnp.stack([x, x]))

    first, second, rows = derivatives(jnp.float32(2), jnp.int32(3))
    assert (float(first), float(second), rows.tolist()) == (32.0, 48.0, [32.0, 32.0])


def test_a_loop_that_leads_to_no_target_may_be_of_unknown_length():
    weight = keras.Variable(2.0)

    @compiled
    def gradient(x, n):
        count, noise = 0, 0.0
        with unisono.GradientTape() as tape:
            loss = weight * x
            for _ in range(n):
                count += 1
                noise = noise + loss
        return tape.gradient(loss, weight), count, noise

    result = gradient(jnp.float32(3), jnp.int32(4))
    assert [float(each) for each in result] == [3.0, 4.0, 24.0]
