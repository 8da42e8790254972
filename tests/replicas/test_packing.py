"""Many arrays as one vector, and back."""

import jax.numpy as jnp
import numpy as np

from unisono._src.replicas.values import apply_packed


def test_leaves_come_back_as_they_were_whatever_their_shapes_and_dtypes():
    nest = {
        "a": np.arange(6.0, dtype="float32").reshape(2, 3),
        "b": (np.float32(7), np.arange(3)),
        "c": np.ones((0, 2)),
    }
    calls = []
    result = apply_packed(nest, lambda vector: calls.append(vector.dtype) or vector * 2)
    np.testing.assert_array_equal(result["a"], 2 * nest["a"])
    assert result["b"][0] == 14
    np.testing.assert_array_equal(result["b"][1], [0, 2, 4])
    assert result["c"].shape == (0, 2)
    assert len(calls) == len({str(dtype) for dtype in calls}), "one call for each dtype"


def test_dimensions_in_front_may_be_reduced():
    nest = [np.arange(8.0).reshape(2, 4), np.array([1.0, 10.0])]
    first, second = apply_packed(nest, lambda vector: jnp.sum(vector, 0), lead=1)
    np.testing.assert_array_equal(first, [4, 6, 8, 10])
    assert second == 11


def test_a_short_vector_is_filled_up():
    lengths = []
    apply_packed([np.float32(1)], lambda vector: lengths.append(vector.shape[0]) or vector)
    assert lengths == [4096]


def test_an_empty_nest_stays_empty():
    assert apply_packed([], lambda vector: vector) == []
