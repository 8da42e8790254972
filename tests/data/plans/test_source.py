from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from unisono._src.data.plans import ArraySlices, Map, Plan, iterate


def test_numpy_and_jax_arrays_are_kept_as_they_are() -> None:
    x, y = np.zeros((3, 2)), jnp.zeros(3)
    source = ArraySlices((x, {"y": y}))
    assert source.arrays[0] is x
    assert source.arrays[1]["y"] is y
    assert source.num_rows == 3


def test_a_list_is_data_and_a_tuple_is_a_container() -> None:
    assert ArraySlices([1, 2, 3]).arrays.tolist() == [1, 2, 3]
    assert ArraySlices(([1, 2], [3, 4])).num_rows == 2


def test_elements_are_rows_and_always_arrays() -> None:
    rows = list(iterate(Plan(ArraySlices((np.arange(4).reshape(2, 2), [5, 6])))))
    assert [(x.tolist(), y.tolist()) for x, y in rows] == [([0, 1], 5), ([2, 3], 6)]
    assert all(isinstance(leaf, np.ndarray) for row in rows for leaf in row)


def test_a_map_cannot_write_into_the_data() -> None:
    data = np.zeros((2, 2))

    def write(x: np.ndarray) -> np.ndarray:
        x += 1
        return x

    with pytest.raises(ValueError, match="read-only"):
        list(iterate(Plan(ArraySlices(data), (Map(write),))))
    assert data.flags.writeable
    assert data.sum() == 0


def test_unequal_first_dimensions_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"tensors\['a'\] has 3 rows .* tensors\['b'\] has 2") as info:
        ArraySlices({"a": np.zeros(3), "b": np.zeros((2, 5))})
    assert "cut both to 2 rows" in str(info.value)


def test_arrays_without_rows_are_an_empty_dataset() -> None:
    plan = Plan(ArraySlices(np.zeros((0, 3))))
    assert plan.cardinality == 0
    assert list(iterate(plan)) == []


def test_no_arrays_are_refused() -> None:
    with pytest.raises(ValueError, match="holds no array"):
        ArraySlices({})


def test_a_single_number_is_refused() -> None:
    with pytest.raises(ValueError, match=r"single value 5, which has no rows.*write \[5\]"):
        ArraySlices(5)


def test_ragged_lists_are_refused_with_the_remedy() -> None:
    with pytest.raises(ValueError, match=r"tensors\[1\] is not one array.*from_tensor_slices\(\(x, y\)\)"):
        ArraySlices(([1, 2], [[1], [2, 3]]))


@pytest.mark.parametrize("leaf", [np.array([[1], [2, 3]], dtype=object), None])
def test_objects_are_refused(leaf: object) -> None:
    with pytest.raises(TypeError, match=r"tensors\[1\].*dtype object"):
        ArraySlices((np.zeros(2), leaf))
