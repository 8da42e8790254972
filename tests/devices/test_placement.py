import jax
import numpy as np
import pytest

from unisono._src.devices import Placement


@pytest.fixture
def placement() -> Placement:
    return Placement.over(jax.devices("cpu")[:4])


def test_a_placed_variable_is_whole_on_every_device_and_shares_no_memory(placement: Placement) -> None:
    value = jax.numpy.arange(6.0)
    placed = placement.place_variable(value)
    assert placed.sharding.device_set == set(placement.devices)
    assert placed.is_fully_replicated
    placed.delete()
    assert float(value.sum()) == 15.0


@pytest.mark.parametrize(("rows", "sharded"), [(8, True), (4, True), (7, False), (1, False)])
def test_rows_are_sharded_where_they_divide_and_replicated_where_they_do_not(
    placement: Placement, rows: int, sharded: bool
) -> None:
    placed = placement.place_rows(np.zeros((rows, 3)))
    assert placed.addressable_shards[0].data.shape == ((rows // 4, 3) if sharded else (rows, 3))


@pytest.mark.parametrize("rows", [1, 3, 4, 5, 7, 16])
def test_constrained_rows_give_exact_sums_and_gradients_whatever_their_number(placement: Placement, rows: int) -> None:
    x = np.random.default_rng(0).normal(size=(rows, 3)).astype("float32")

    def loss(w: jax.Array, x: jax.Array) -> jax.Array:
        return jax.numpy.mean((placement.constrain_rows(x) @ w) ** 2)

    w = placement.place_variable(jax.numpy.ones(3))
    value, gradient = jax.jit(jax.value_and_grad(loss))(w, placement.place_rows(x))
    np.testing.assert_allclose(value, np.mean((x @ np.ones(3)) ** 2), rtol=1e-6)
    np.testing.assert_allclose(gradient, 2 * x.T @ (x @ np.ones(3)) / rows, rtol=1e-5, atol=1e-6)
