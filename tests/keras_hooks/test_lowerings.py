"""What replaces an operation of Keras gives its results and its derivatives, in every way that JAX computes them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest

import unisono
from unisono._src.keras_hooks import LOWERINGS, use_lowerings
from unisono._src.tracing.tape import ForwardAccumulator
from unisono._src.training import _programs

from ._covers import covers

pytestmark = pytest.mark.slow

Function = Callable[[Any], Any]

_IMAGES = np.random.default_rng(0).normal(size=(2, 4, 4, 1)).astype("float32")
_LABELS = np.array([[[2], [0], [1], [1024]]] * 4)  # 1024 is no class: it counts nothing
_KERNEL = np.random.default_rng(1).normal(size=(3, 4, 1, 2)).astype("float32")

CASES: dict[tuple[str, str], tuple[Function, Any]] = {
    ("cpu", "max_pool"): (lambda x: keras.ops.max_pool(jnp.sin(x), 2, 2), _IMAGES),
    ("gpu", "moments"): (lambda x: jnp.stack(keras.ops.moments(jnp.sin(x) + 9, axes=(0, 1, 2))), _IMAGES),
    ("gpu", "gelu"): (lambda x: keras.ops.gelu(2 * x, approximate=False), _IMAGES),
    ("gpu", "conv"): (lambda x: keras.ops.conv(jnp.sin(x), _KERNEL, 2), _IMAGES),
    ("gpu", "sparse_categorical_crossentropy"): (
        lambda x: keras.ops.sparse_categorical_crossentropy(_LABELS[: len(x)], 9 * x, from_logits=True),
        np.random.default_rng(0).normal(size=(4, 4, 1024)).astype("float32"),
    ),
}
"""For each lowering a function that uses it, and an argument."""


def _scalar(function: Function) -> Function:
    return lambda x: jnp.sum(jnp.tanh(function(x)))


def _in_direction(function: Function) -> Function:
    return lambda x: jax.jvp(function, (x,), (jnp.cos(x),))[1]


TRANSFORMATIONS: dict[str, Callable[[Function], Function]] = {
    "jvp": _in_direction,
    "vjp": lambda function: jax.grad(_scalar(function)),
    "vmap": lambda function: lambda x: jax.vmap(function)(jnp.stack([x, -x, 2 * x])),
    "jit": jax.jit,
    "forward over reverse": lambda function: _in_direction(jax.grad(_scalar(function))),
    "reverse over forward": lambda function: jax.grad(_scalar(_in_direction(function))),
    "reverse over reverse": lambda function: jax.grad(_scalar(jax.grad(_scalar(function)))),
    "forward over forward": lambda function: _in_direction(_in_direction(function)),
    "jacfwd of a row": lambda function: lambda x: jax.jacfwd(function)(x[:1]),
    "hessian of a row": lambda function: lambda x: jax.hessian(_scalar(function))(x[:1]),
    "vmap of grad": lambda function: lambda x: jax.vmap(jax.grad(_scalar(function)))(jnp.stack([x, -x])),
    "checkpoint": lambda function: jax.grad(_scalar(jax.checkpoint(function))),
    "checkpoint, forward over reverse": lambda function: _in_direction(jax.grad(_scalar(jax.checkpoint(function)))),
}


def test_every_lowering_has_a_case() -> None:
    assert {(platform, name) for platform, lowerings in LOWERINGS.items() for name in lowerings} == set(CASES)


def test_only_gradients_that_users_write_refuse_forward_mode() -> None:
    source = Path(unisono.__file__).parent
    refusing = ("custom_vjp", "custom_gradient")
    found = {
        str(path.relative_to(source))
        for path in source.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr in refusing and ast.unparse(node.value) == "jax"
    }
    assert found == {"tf/_gradients.py"}


@pytest.mark.parametrize(
    ("lowering", "transformation"),
    [
        pytest.param(
            lowering,
            transformation,
            marks=[pytest.mark.full] if lowering[0] == "gpu" and transformation not in ("vjp", "vmap") else [],
            id=f"{' '.join(lowering)}-{transformation}",
        )
        for lowering in CASES
        for transformation in TRANSFORMATIONS
    ],
)
def test_a_lowering_supports_what_the_operation_supports(lowering: tuple[str, str], transformation: str) -> None:
    function, x = CASES[lowering]
    expected = TRANSFORMATIONS[transformation](function)(x)
    # Another function: JAX caches the traces of one, which would not be traced again.
    with use_lowerings(lowering[0]):
        ours = TRANSFORMATIONS[transformation](lambda x: function(x))(x)
    tolerance = 1e-6 if lowering[0] == "cpu" else 2e-5
    np.testing.assert_allclose(ours, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("shape", [(2, 4, 6, 3), (1, 5, 7, 2), (3, 2, 2, 1)])
@pytest.mark.parametrize("window", [2, (1, 2), (2, 1)])
def test_pooling_by_comparison_is_max_pooling_bit_for_bit(shape: tuple, window: object) -> None:
    x = np.random.default_rng(0).integers(-2, 3, shape).astype("float32")  # small integers: many ties
    weights = np.random.default_rng(1).normal(size=keras.ops.max_pool(x, window, window).shape).astype("float32")

    def pooled(x: jax.Array) -> jax.Array:
        return keras.ops.sum(keras.ops.max_pool(x, window, window) * weights)

    expected = keras.ops.max_pool(x, window, window), jax.grad(pooled)(x)
    with use_lowerings("cpu"):
        ours = keras.ops.max_pool(x, window, window), jax.grad(pooled)(x)
        assert "select_and_scatter" not in str(jax.make_jaxpr(jax.grad(pooled))(x))
    for one, other in zip(ours, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_pooling_passes_nan_on_as_max_pooling_does() -> None:
    x = np.zeros((1, 2, 4, 1), "float32")
    x[0, 1, 0, 0] = np.nan
    with use_lowerings("cpu"):
        pooled = np.asarray(keras.ops.max_pool(x, 2, 2)).ravel()
    np.testing.assert_array_equal(pooled, [np.nan, 0.0])


@pytest.mark.parametrize("arguments", [{"strides": 1}, {"padding": "same"}, {"pool_size": 5, "strides": 5}])
def test_pooling_that_does_not_tile_is_left_to_keras(arguments: dict) -> None:
    x = np.random.default_rng(0).normal(size=(2, 7, 7, 2)).astype("float32")
    arguments = {"pool_size": 2, "strides": 2, **arguments}
    with use_lowerings("cpu"):
        ours = keras.ops.max_pool(x, **arguments)
    np.testing.assert_array_equal(ours, keras.ops.max_pool(x, **arguments))


@pytest.mark.parametrize("offset", [0.0, 1e3, -1e5])
def test_moments_in_one_pass_lose_nothing_where_the_mean_is_large(offset: float) -> None:
    x = (np.random.default_rng(0).normal(size=(64, 5, 3)) + offset).astype("float32")
    exact = x.astype("float64")
    with use_lowerings("gpu"):
        mean, variance = keras.ops.moments(x, axes=(0, 1))
    np.testing.assert_allclose(mean, exact.mean((0, 1)), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(variance, exact.var((0, 1)), rtol=1e-4)


@pytest.mark.parametrize(("size", "edge"), [(230, 7), (9, 3), (8, 3), (8, 4), (7, 7), (10, 5)])
def test_a_convolution_by_blocks_has_the_shape_and_values_of_the_convolution(size: int, edge: int) -> None:
    random = np.random.default_rng(0)
    x = random.normal(size=(1, size, size + 1, 3)).astype("float32")
    kernel = random.normal(size=(edge, edge - 1 or 1, 3, 2)).astype("float32")
    expected = keras.ops.conv(x, kernel, 2)
    with use_lowerings("gpu"):
        ours = keras.ops.conv(x, kernel, 2)
    np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-4)


@covers("nn.moments", "nn.gelu", "nn.conv", "nn.sparse_categorical_crossentropy")
@pytest.mark.parametrize("devices", [1, 2])
@pytest.mark.full
def test_a_network_trains_the_same_with_the_lowerings_for_gpus(devices: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(0).normal(size=(22, 9, 9, 3)).astype("float32") + 5
    y = np.arange(22) % 4

    def train(platform: str) -> list[Any]:
        keras.utils.set_random_seed(0)
        with unisono.MirroredStrategy([f"cpu:{index}" for index in range(devices)]).scope():
            layers = keras.layers
            model = keras.Sequential(
                [
                    keras.Input((9, 9, 3)),
                    layers.Conv2D(4, 3, strides=2),
                    layers.BatchNormalization(),
                    layers.Flatten(),
                    layers.Dense(8, activation=lambda x: keras.ops.gelu(x, approximate=False)),
                    layers.LayerNormalization(),
                    layers.Dense(1024),
                ]
            )
            model.compile(keras.optimizers.SGD(0.05), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        monkeypatch.setattr(_programs, "use_lowerings", lambda _: use_lowerings(platform))
        history = model.fit(x, y, batch_size=8, epochs=2, shuffle=False, verbose=0).history["loss"]
        return [history, *model.get_weights()]

    for one, other in zip(train("gpu"), train("cpu"), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_outside_of_our_programs_keras_is_untouched() -> None:
    x = np.ones((1, 4, 4, 1), "float32")
    assert "reduce_window" in str(jax.make_jaxpr(lambda x: keras.ops.max_pool(x, 2, 2))(x))


class _PhysicsInformed(keras.Model):
    """Solves u_xx + u_t = f: the loss has derivatives of the network by its inputs, in forward mode."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = keras.layers.Dense(8, activation="tanh")
        self.out = keras.layers.Dense(1)

    def call(self, points: Any) -> Any:
        return self.out(self.hidden(points))

    def compute_loss(
        self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None, training: bool = True
    ) -> Any:
        def u(point: Any) -> Any:
            return self(point[None])[0, 0]

        second = jax.vmap(jax.hessian(u))(x)[:, 0, 0]
        first = jax.vmap(jax.jacfwd(u))(x)[:, 1]
        _, slope = jax.jvp(self, (x,), (jnp.ones_like(x),))
        with ForwardAccumulator(x, jnp.cos(x)) as accumulator:
            values = self(x)
        return (
            jnp.mean(jnp.square(second + first - y[:, 0]))
            + 0.1 * jnp.mean(jnp.square(slope))
            + 0.1 * jnp.mean(jnp.square(accumulator.jvp(values)))
        )


@pytest.mark.full
def test_a_physics_informed_network_trains_as_on_stock_keras() -> None:
    points = np.random.default_rng(0).normal(size=(21, 2)).astype("float32")

    def train(model: keras.Model) -> tuple[Any, list[Any]]:
        history = model.fit(points, points[:, :1], batch_size=8, shuffle=False, epochs=2, verbose=0)
        return history.history["loss"], model.get_weights()

    def build() -> keras.Model:
        keras.utils.set_random_seed(0)
        model = _PhysicsInformed()
        model.compile(keras.optimizers.Adam(1e-2))
        return model

    expected = train(build())
    with unisono.MirroredStrategy(["cpu:0", "cpu:1"]).scope():
        model = build()
    ours = train(model)
    np.testing.assert_allclose(ours[0], expected[0], rtol=1e-5)
    for one, other in zip(ours[1], expected[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
