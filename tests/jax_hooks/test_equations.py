"""Changes of a traced program reach the functions and loops that it calls, and leave the rest as it is."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn

from unisono._src.jax_hooks import untranspose_matmuls
from unisono._src.jax_hooks._equations import change_equations, replace_by

X = jnp.linspace(-1.0, 1.0, 4)


@jax.custom_jvp
def _jvp_sine(x: Any) -> Any:
    return jnp.sin(x)


_jvp_sine.defjvp(lambda primals, tangents: (jnp.sin(primals[0]), tangents[0]))


@jax.custom_vjp
def _vjp_sine(x: Any) -> Any:
    return jnp.sin(x)


_vjp_sine.defvjp(lambda x: (jnp.sin(x), None), lambda _, upstream: (upstream,))

PROGRAMS = {
    "plain": jnp.sin,
    "jit": jax.jit(jnp.sin),
    "jit in jit": jax.jit(lambda x: jax.jit(jnp.sin)(x) * 2.0),
    "scan": lambda x: jax.lax.scan(lambda total, row: (total + jnp.sin(row), row), 0.0, x)[0],
    "while": lambda x: jax.lax.while_loop(lambda x: jnp.sin(x[0]) > 2.0, lambda x: x, x),
    "fori_loop": lambda x: jax.lax.fori_loop(0, 3, lambda i, x: jnp.sin(x), x),
    "cond": lambda x: jax.lax.cond(x[0] > 0, jnp.sin, jnp.cos, x),
    "checkpoint": jax.checkpoint(jnp.sin),
    "gradient of checkpoint": jax.grad(lambda x: jnp.sum(jax.checkpoint(lambda x: jnp.sin(x) * x)(x))),
    "custom_jvp": _jvp_sine,
    "custom_vjp": _vjp_sine,
    "custom_linear_solve": lambda x: jax.lax.custom_linear_solve(
        lambda v: v, x, lambda _, b: jnp.sin(b), lambda _, b: b
    ),
}


def _double_sines(jaxpr: Jaxpr) -> list[JaxprEqn]:
    return [
        replace_by(each, lambda x: 10.0 + jnp.cos(x)) if each.primitive.name == "sin" else each for each in jaxpr.eqns
    ]


def _count(program: ClosedJaxpr, name: str) -> int:
    return str(program).count(f" {name} ")


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_equation_is_changed_wherever_it_is(name: str) -> None:
    program = jax.make_jaxpr(PROGRAMS[name])(X)
    assert _count(program, "sin") > 0
    changed = change_equations(program, _double_sines)
    assert _count(changed, "sin") == 0
    assert _count(changed, "add") + str(changed).count("10.0") > 0
    jax.jit(lambda x: jax.core.eval_jaxpr(changed.jaxpr, changed.consts, x)).lower(X)  # it is a program


def test_a_program_in_which_nothing_changes_is_the_same_object() -> None:
    program = jax.make_jaxpr(PROGRAMS["scan"])(X)
    assert change_equations(program, lambda jaxpr: list(jaxpr.eqns)) is program


def test_a_function_that_is_called_twice_stays_one() -> None:
    sine = jax.jit(jnp.sin)
    changed = change_equations(jax.make_jaxpr(lambda x: sine(sine(x)))(X), _double_sines)
    first, second = changed.eqns
    assert first.params["jaxpr"].jaxpr is second.params["jaxpr"].jaxpr


def _evaluate(program: ClosedJaxpr, *arguments: Any) -> Any:
    return jax.core.eval_jaxpr(program.jaxpr, program.consts, *arguments)


def test_the_gradient_of_a_kernel_is_not_transposed() -> None:
    random = np.random.default_rng(0)
    x, kernel = random.normal(size=(5, 7)).astype("float32"), random.normal(size=(7, 3)).astype("float32")
    program = jax.make_jaxpr(jax.value_and_grad(lambda kernel: jnp.sum(jnp.tanh(x @ kernel))))(kernel)
    changed = untranspose_matmuls(program)
    assert (_count(program, "transpose") + str(program).count("transpose["), str(changed).count("transpose[")) == (1, 0)
    for one, other in zip(_evaluate(changed, kernel), _evaluate(program, kernel), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_product_that_is_read_twice_is_not_computed_twice() -> None:
    def program(x: Any) -> Any:
        product = x @ x
        return product.T, product

    traced = jax.make_jaxpr(program)(jnp.ones((2, 2)))
    assert untranspose_matmuls(traced) is traced


def test_the_precisions_of_the_operands_are_swapped_with_them() -> None:
    x, y = jnp.ones((2, 3)), jnp.ones((3, 4))
    traced = jax.make_jaxpr(lambda x, y: jnp.matmul(x, y, precision=("highest", "default")).T)(x, y)
    changed = untranspose_matmuls(traced)
    assert _evaluate(changed, x, y)[0].shape == (4, 2)
    assert "transpose[" not in str(changed)
