"""What programs for GPUs are made of: sums that leave arrays in row-major order, and a form by what a step computes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from unisono._src.jax_hooks import count_matmul_flops, keep_rows_major
from unisono._src.training import _programs


def _dense(x: Any, kernel: Any, bias: Any) -> Any:
    return jnp.sum(jnp.tanh(x @ kernel + bias))


ARGUMENTS = tuple(np.random.default_rng(0).normal(size=shape).astype("float32") for shape in ((4, 5, 6), (6, 7), (7,)))


def test_the_operands_of_sums_over_rows_are_in_row_major_order() -> None:
    gradients = jax.jit(jax.grad(_dense, argnums=(1, 2)))
    program = jax.make_jaxpr(gradients)(*ARGUMENTS)
    changed = keep_rows_major(program)
    assert "layout_constraint" not in str(program)
    assert str(changed).count("layout_constraint") == 1  # the gradient of the bias; the loss sums all dimensions
    ours = jax.jit(lambda *arguments: jax.core.eval_jaxpr(changed.jaxpr, changed.consts, *arguments))(*ARGUMENTS)
    for one, other in zip(ours, gradients(*ARGUMENTS), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_a_program_without_such_sums_stays_the_same_object() -> None:
    program = jax.make_jaxpr(_dense)(*ARGUMENTS)
    assert keep_rows_major(program) is program


def _convolution(x: Any, kernel: Any) -> Any:
    return jax.lax.conv_general_dilated(x, kernel, (2, 2), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def _scan(x: Any, kernel: Any) -> Any:
    return jax.lax.scan(lambda carry, _: (jnp.tanh(carry @ kernel), None), x, length=10)[0]


@pytest.mark.parametrize(
    ("function", "shapes", "flops"),
    [
        (_dense, ((4, 5, 6), (6, 7), (7,)), 2 * 4 * 5 * 6 * 7),
        (jax.jit(_dense), ((4, 5, 6), (6, 7), (7,)), 2 * 4 * 5 * 6 * 7),
        (_convolution, ((2, 9, 9, 3), (3, 3, 3, 8)), 2 * (2 * 4 * 4 * 8) * (3 * 3 * 3)),
        (_scan, ((3, 4), (4, 4)), 10 * 2 * 3 * 4 * 4),
        (lambda x, y: jnp.einsum("bij,bjk->bik", x, y), ((5, 2, 3), (5, 3, 4)), 5 * 2 * 2 * 3 * 4),
    ],
)
def test_products_and_convolutions_are_counted(function: Any, shapes: Any, flops: float) -> None:
    arguments = [jax.ShapeDtypeStruct(shape, "float32") for shape in shapes]
    assert count_matmul_flops(jax.make_jaxpr(function)(*arguments).jaxpr) == flops


@pytest.mark.parametrize(
    ("platform", "devices", "rows", "form"),
    [("gpu", 1, 10**5, "plain"), ("gpu", 8, 10**5, "loop"), ("gpu", 1, 10, "loop"), ("cpu", 1, 10**5, "loop")],
)
def test_a_step_that_keeps_a_gpu_busy_is_a_call_of_its_own(platform: str, devices: int, rows: int, form: str) -> None:
    shapes = (rows, 1024), (1024, 1024), (1024,)
    program = jax.make_jaxpr(_dense)(*(jax.ShapeDtypeStruct(shape, "float32") for shape in shapes))
    placement: Any = SimpleNamespace(platform=platform, mesh=SimpleNamespace(size=devices))
    chunk: Any = SimpleNamespace(is_regular=True)
    is_large = _programs._is_large(placement, program)
    assert _programs._choose_form(placement, chunk, program, is_large=is_large) == form
