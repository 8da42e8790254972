from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from unisono.data import Dataset, TensorSpec

X = np.zeros((10, 4, 3), np.uint8)
Y = np.arange(10)


def on_the_host(x: Any) -> Any:
    """Needs a value, so it cannot be traced."""
    return np.asarray(x).astype(np.float64).sum(axis=-1)


def test_a_source_is_described_without_its_rows() -> None:
    spec = Dataset.from_tensor_slices({"x": X, "y": Y}).element_spec
    assert spec == {"x": TensorSpec((4, 3), "uint8"), "y": TensorSpec((), "int64")}


def test_a_batch_that_may_be_smaller_has_an_open_dimension() -> None:
    dataset = Dataset.from_tensor_slices(X)
    assert dataset.batch(5).element_spec == TensorSpec((None, 4, 3), "uint8")
    assert dataset.batch(5, drop_remainder=True).element_spec == TensorSpec((5, 4, 3), "uint8")
    assert dataset.batch(5).batch(2).element_spec == TensorSpec((None, None, 4, 3), "uint8")


def test_maps_are_followed_by_tracing_and_not_by_running() -> None:
    values: list[Any] = []

    def remember(x: Any, y: Any) -> tuple[Any, Any]:
        values.append(x)
        return x / np.float64(255), {"label": y}

    spec = Dataset.from_tensor_slices((X, X)).map(remember).shuffle(10).repeat().batch(4).element_spec
    assert spec == (TensorSpec((None, 4, 3), "float64"), {"label": TensorSpec((None, 4, 3), "uint8")})
    assert not any(isinstance(value, np.ndarray) for value in values)


def test_open_dimensions_are_followed_through_maps_of_batches() -> None:
    dataset = Dataset.from_tensor_slices(X).batch(4)
    assert dataset.map(lambda x: x.reshape(-1, 12)).element_spec == TensorSpec((None, 12), "uint8")
    assert dataset.map(lambda x: x.transpose(1, 0, 2)).element_spec == TensorSpec((4, None, 3), "uint8")
    assert dataset.map(lambda x: x.sum(axis=0)).element_spec.shape == (4, 3)


def test_a_map_that_insists_on_the_full_batch_has_fixed_dimensions() -> None:
    dataset = Dataset.from_tensor_slices(X).batch(5).map(lambda x: x.reshape(5, 12))
    assert dataset.element_spec == TensorSpec((5, 12), "uint8")


def test_a_map_that_cannot_be_traced_is_seen_on_the_first_element_only() -> None:
    calls: list[int] = []

    def host(x: Any) -> Any:
        np.asarray(x)
        calls.append(1)
        return on_the_host(x)

    dataset = Dataset.from_tensor_slices(X).shuffle(10).map(host).shuffle(10)
    assert dataset.element_spec == TensorSpec((4,), "float64")
    assert len(calls) == 1


def test_the_batch_dimension_stays_open_after_a_map_that_cannot_be_traced() -> None:
    dataset = Dataset.from_tensor_slices(X).batch(6).map(on_the_host)
    assert dataset.element_spec == TensorSpec((None, 4), "float64")
    assert dataset.map(lambda x: x + 1).element_spec == TensorSpec((None, 4), "float64")


def test_none_and_strings_are_described() -> None:
    dataset = Dataset.from_tensor_slices((X, np.array(["a"] * 10))).map(lambda x, name: (x, None, name)).batch(2)
    x, nothing, name = dataset.element_spec
    assert (x.shape, nothing, name.shape, name.dtype.kind) == ((None, 4, 3), None, (None,), "U")


def test_a_mistake_in_a_map_is_raised_and_not_hidden() -> None:
    dataset = Dataset.from_tensor_slices(X).map(lambda x: x.undefined_method())
    with pytest.raises(AttributeError, match="undefined_method"):
        _ = dataset.element_spec
    with pytest.raises(AttributeError, match="undefined_method"):
        list(dataset)


def test_an_empty_dataset_whose_map_must_run_says_so() -> None:
    dataset = Dataset.from_tensor_slices(X).batch(50, drop_remainder=True).map(on_the_host)
    with pytest.raises(ValueError, match=r"has no element.*smaller batch_size"):
        _ = dataset.element_spec


def test_a_function_of_jax_is_described_like_one_of_numpy() -> None:
    dataset = Dataset.from_tensor_slices(X)
    assert dataset.map(lambda x: jnp.mean(x)).element_spec == dataset.map(lambda x: x.mean()).element_spec
