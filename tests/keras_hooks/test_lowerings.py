import jax
import keras
import numpy as np
import pytest

from unisono._src.devices import Placement
from unisono._src.keras_hooks import use_cpu_lowerings

pytestmark = pytest.mark.slow


@pytest.fixture
def placement() -> Placement:
    return Placement.over(jax.devices("cpu")[:2])


@pytest.mark.parametrize("shape", [(2, 4, 6, 3), (1, 5, 7, 2), (3, 2, 2, 1)])
@pytest.mark.parametrize("window", [2, (1, 2), (2, 1)])
def test_pooling_by_comparison_is_max_pooling_bit_for_bit(placement: Placement, shape: tuple, window: object) -> None:
    x = np.random.default_rng(0).integers(-2, 3, shape).astype("float32")  # small integers: many ties
    weights = np.random.default_rng(1).normal(size=keras.ops.max_pool(x, window, window).shape).astype("float32")

    def pooled(x: jax.Array) -> jax.Array:
        return keras.ops.sum(keras.ops.max_pool(x, window, window) * weights)

    expected = keras.ops.max_pool(x, window, window), jax.grad(pooled)(x)
    with use_cpu_lowerings(placement, stock_step=True):
        ours = keras.ops.max_pool(x, window, window), jax.grad(pooled)(x)
        assert "select_and_scatter" not in str(jax.make_jaxpr(jax.grad(pooled))(x))
    for one, other in zip(ours, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_pooling_passes_nan_on_as_max_pooling_does(placement: Placement) -> None:
    x = np.zeros((1, 2, 4, 1), "float32")
    x[0, 1, 0, 0] = np.nan
    with use_cpu_lowerings(placement, stock_step=True):
        pooled = np.asarray(keras.ops.max_pool(x, 2, 2)).ravel()
    np.testing.assert_array_equal(pooled, [np.nan, 0.0])


@pytest.mark.parametrize("arguments", [{"strides": 1}, {"padding": "same"}, {"pool_size": 5, "strides": 5}])
def test_pooling_that_does_not_tile_is_left_to_keras(placement: Placement, arguments: dict) -> None:
    x = np.random.default_rng(0).normal(size=(2, 7, 7, 2)).astype("float32")
    arguments = {"pool_size": 2, "strides": 2, **arguments}
    with use_cpu_lowerings(placement, stock_step=True):
        ours = keras.ops.max_pool(x, **arguments)
    np.testing.assert_array_equal(ours, keras.ops.max_pool(x, **arguments))


def test_the_other_matmul_gives_the_same_product_and_gradients(placement: Placement) -> None:
    random = np.random.default_rng(0)
    x, kernel = random.normal(size=(5, 7)).astype("float32"), random.normal(size=(7, 3)).astype("float32")

    def loss(x: jax.Array, kernel: jax.Array) -> jax.Array:
        return keras.ops.sum(keras.ops.tanh(keras.ops.matmul(x, kernel)))

    expected = jax.value_and_grad(loss, argnums=(0, 1))(x, kernel)
    with use_cpu_lowerings(placement, stock_step=True):
        ours = jax.value_and_grad(loss, argnums=(0, 1))(x, kernel)
        assert "custom_vjp" in str(jax.make_jaxpr(loss)(x, kernel))
    for one, other in zip(jax.tree.leaves(ours), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


def test_outside_of_our_programs_keras_is_untouched() -> None:
    x = np.ones((1, 4, 4, 1), "float32")
    assert "reduce_window" in str(jax.make_jaxpr(lambda x: keras.ops.max_pool(x, 2, 2))(x))
    assert "custom_vjp" not in str(jax.make_jaxpr(keras.ops.matmul)(x[0, :, :, 0], x[0, :, :, 0]))
