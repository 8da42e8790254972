"""Gradients of logits that replace the logits: which ones do, and that no value changes."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from unisono._src.jax_hooks import reuse_logits

CLASSES = 32


def _cross_entropy(logits: Any, labels: Any) -> Any:
    is_label = jax.lax.broadcasted_iota("int32", logits.shape, logits.ndim - 1) == labels[..., None]
    shifted = logits - jax.lax.stop_gradient(jnp.max(logits, -1, keepdims=True))
    return jnp.log(jnp.sum(jnp.exp(shifted), -1)) - jnp.sum(jnp.where(is_label, shifted, 0), -1)


def _loss(kernel: Any, bias: Any, x: Any, labels: Any) -> Any:
    logits = x @ kernel.astype(x.dtype)
    if bias is not None:
        logits = logits + bias.astype(x.dtype)
    return jnp.mean(_cross_entropy(logits.astype("float32"), labels)), logits


def _step(kernel: Any, bias: Any, x: Any, labels: Any) -> Any:
    (loss, logits), gradients = jax.value_and_grad(_loss, argnums=(0, 2), has_aux=True)(kernel, bias, x, labels)
    accuracy = jnp.mean(jnp.argmax(logits, -1) == labels)  # reads the logits after their gradient is known
    return loss, gradients, accuracy


def _arguments(*shape: int, dtype: str = "bfloat16", bias: bool = False) -> tuple[Any, ...]:
    random = np.random.default_rng(0)
    return (
        jnp.asarray(random.normal(size=(6, CLASSES)) / 10, "float32"),
        jnp.asarray(random.normal(size=CLASSES) / 10, "float32") if bias else None,
        jnp.asarray(random.normal(size=(*shape, 6)), dtype),
        jnp.asarray(random.integers(0, CLASSES, shape), "int32"),
    )


def _run(program: Any, arguments: Any) -> list[Any]:
    return jax.core.eval_jaxpr(program.jaxpr, program.consts, *jax.tree.leaves(arguments))


@pytest.mark.parametrize("shape", [(3, 16), (12,), (2, 3, 10)])
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize("bias", [False, True])
def test_a_gradient_replaces_its_logits_of_the_same_value(shape: tuple[int, ...], dtype: str, bias: bool) -> None:
    arguments = _arguments(*shape, dtype=dtype, bias=bias)
    program = jax.make_jaxpr(_step)(*arguments)
    changed = reuse_logits(program, 1, min_bytes=0)
    assert str(changed).count("name=overwrite") == 1
    # The loop is compiled as a whole, so XLA may leave out a rounding to bfloat16 between two operations.
    tolerance = 1e-2 if dtype == "bfloat16" else 1e-6
    for ours, expected in zip(_run(changed, arguments), _run(program, arguments), strict=True):
        scale = np.abs(np.asarray(expected, "float32")).max()
        np.testing.assert_allclose(
            np.asarray(ours, "float32"), np.asarray(expected, "float32"), rtol=0, atol=tolerance * scale
        )


def test_small_products_stay() -> None:
    program = jax.make_jaxpr(_step)(*_arguments(3, 16))
    assert reuse_logits(program, 1) is program


def test_logits_that_are_a_result_stay() -> None:
    def step(*arguments: Any) -> Any:
        return jax.value_and_grad(_loss, has_aux=True)(*arguments)

    program = jax.make_jaxpr(step)(*_arguments(3, 16))
    assert reuse_logits(program, 1, min_bytes=0) is program


def test_logits_that_are_read_with_their_gradient_stay() -> None:
    def step(*arguments: Any) -> Any:
        (_, logits), gradient = jax.value_and_grad(_loss, has_aux=True)(*arguments)
        return jnp.sum(logits * jnp.sum(gradient))

    program = jax.make_jaxpr(step)(*_arguments(3, 16))
    assert "name=overwrite" not in str(reuse_logits(program, 1, min_bytes=0))


def test_rows_that_cannot_be_divided_stay() -> None:
    program = jax.make_jaxpr(_step)(*_arguments(3, 11))
    assert reuse_logits(program, 1, min_bytes=0) is program


def test_over_several_replicas_only_other_dimensions_than_the_rows_are_divided() -> None:
    program = jax.make_jaxpr(_step)(*_arguments(16))
    assert reuse_logits(program, 2, min_bytes=0) is program
    program = jax.make_jaxpr(_step)(*_arguments(2, 8))
    assert "name=overwrite" in str(reuse_logits(program, 2, min_bytes=0))


@pytest.mark.full
def test_replicas_have_the_gradients_of_one_device() -> None:
    arguments = _arguments(8, 16, dtype="float32")
    program = jax.make_jaxpr(_step)(*arguments)
    changed = reuse_logits(program, 4, min_bytes=0)
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]), ("rows",))
    rows = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("rows"))
    kernel, _, x, labels = arguments
    whole = jax.device_put(kernel, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec()))
    function = jax.jit(lambda *leaves: jax.core.eval_jaxpr(changed.jaxpr, changed.consts, *leaves))
    lowered = function.lower(whole, *jax.device_put((x, labels), rows))
    assert "all-gather" not in lowered.compile().as_text()
    ours = function(whole, *jax.device_put((x, labels), rows))
    for one, expected in zip(ours, _run(program, arguments), strict=True):
        np.testing.assert_allclose(one, expected, rtol=1e-5, atol=1e-6)
