from __future__ import annotations

from collections import namedtuple
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from unisono.data._trace import can_trace, row_struct, trace, vectorised

IMAGE = row_struct(np.zeros((5, 2, 3), np.uint8))
NAMES = np.array(["ada", "bob"])


def test_a_row_struct_has_no_batch_dimension() -> None:
    struct = row_struct({"x": np.zeros((5, 2), np.uint8), "y": jnp.zeros(5)})
    assert (struct["x"].shape, struct["x"].dtype) == ((2,), np.uint8)
    assert (struct["y"].shape, struct["y"].dtype) == ((), np.float32)


def test_what_jax_computes_can_be_traced() -> None:
    assert can_trace(lambda x: x / 255, IMAGE) is None
    assert can_trace(lambda x, y: (jnp.sum(x), y), (IMAGE, IMAGE)) is None
    assert can_trace(lambda element: element["x"], {"x": IMAGE}) is None


def test_a_function_that_needs_values_gives_a_reason_in_one_line() -> None:
    reason = can_trace(lambda x: np.asarray(x), IMAGE)
    assert reason is not None
    assert reason.startswith("TracerArrayConversionError: ")
    assert "\n" not in reason


def test_a_mistake_in_the_function_is_the_reason() -> None:
    def broken(x: Any) -> Any:
        raise KeyError("colour")

    assert can_trace(broken, IMAGE) == "KeyError: 'colour'"
    assert can_trace(lambda x, y: x, IMAGE) == (
        "TypeError: test_a_mistake_in_the_function_is_the_reason.<locals>.<lambda>() "
        "missing 1 required positional argument: 'y'"
    )


def test_an_exception_without_a_message_is_named() -> None:
    def silent(x: Any) -> Any:
        raise NotImplementedError

    assert can_trace(silent, IMAGE) == "NotImplementedError"


def test_a_result_that_is_no_array_is_a_reason() -> None:
    assert str(can_trace(lambda x: "text", IMAGE)).startswith("TypeError")


def test_element_maps_see_one_element_and_batch_maps_the_batch() -> None:
    def mean_of_element(x: jax.Array, y: jax.Array) -> tuple[jax.Array, jax.Array]:
        assert x.ndim == 1
        return x.mean(), y

    def minus_batch_mean(x: jax.Array, y: jax.Array) -> dict[str, jax.Array]:
        return {"x": x - x.mean(), "y": y}

    function = vectorised([mean_of_element], [minus_batch_mean])
    result = function((np.array([[1.0, 3.0], [4.0, 8.0]], np.float32), np.array([5, 6])))
    assert result["x"].tolist() == [-2.0, 2.0]
    assert result["y"].tolist() == [5, 6]


def test_each_map_spreads_the_element_anew() -> None:
    function = vectorised([lambda x: (x, x + 1), lambda a, b: {"sum": a + b}, lambda e: e["sum"] * 2], [])
    assert function(np.array([1, 2])).tolist() == [6, 10]


def test_namedtuples_and_none_go_through() -> None:
    pair_class = namedtuple("Pair", ["x", "y"])
    result = vectorised([lambda pair: (pair.x + pair.y, None)], [])(pair_class(np.ones(2), np.ones(2)))
    assert result[0].tolist() == [2.0, 2.0]
    assert result[1] is None


def test_constants_are_given_to_every_row() -> None:
    assert vectorised([lambda x: jnp.arange(2)], [])(np.zeros(3)).tolist() == [[0, 1]] * 3


def test_without_maps_the_batch_is_returned_as_it_is() -> None:
    batch = (np.zeros(3), NAMES)
    assert vectorised([], [])(batch) is batch


def test_it_works_inside_jit_and_gives_what_single_elements_give() -> None:
    def augment(x: jax.Array, y: jax.Array) -> tuple[jax.Array, jax.Array]:
        return jnp.flip(x, axis=0) * 2 - y, y

    x, y = np.arange(12, dtype=np.float32).reshape(4, 3), np.arange(4, dtype=np.float32)
    batched = jax.jit(vectorised([augment], []))((x, y))[0]
    single = np.stack([augment(jnp.asarray(a), jnp.asarray(b))[0] for a, b in zip(x, y, strict=True)])
    np.testing.assert_array_equal(batched, single)


def test_strings_can_be_handed_on_past_jax() -> None:
    assert can_trace(lambda x, name: {"name": name, "x": x * 2}, row_struct((np.ones(2), NAMES))) is None
    result = vectorised([lambda x, name: {"name": name, "x": x * 2}], [])((np.ones(2), NAMES))
    assert result["name"] is NAMES
    assert result["x"].tolist() == [2.0, 2.0]


def test_strings_can_be_left_out() -> None:
    assert vectorised([lambda x, name: x], [])((np.ones(2), NAMES)).tolist() == [1.0, 1.0]


def test_computing_with_strings_is_a_reason() -> None:
    assert can_trace(lambda x, name: jnp.asarray(name), row_struct((np.ones(2), NAMES))) is not None


def test_an_element_of_strings_alone_cannot_be_traced() -> None:
    assert str(can_trace(lambda name: name, row_struct(NAMES))).startswith("TypeError: JAX has no type for")
    with pytest.raises(TypeError, match="JAX has no type"):
        trace(lambda name: name, row_struct(NAMES))
