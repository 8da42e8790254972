from __future__ import annotations

import random as python_random
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest

from unisono._src.data.dataset._trace import Traced, Untraceable, shape_struct, trace, trace_indexed_maps, vectorise
from unisono._src.data.plans import ArraySlices, Batch, IndexedMap, Map, Nest, Plan, index_plan, map_leaves
from unisono.data import Dataset, random

NAMES = np.array(["ada", "bob"])


def rows_of(arrays: Nest) -> Nest:
    """What one row of these arrays looks like."""
    return map_leaves(lambda array: shape_struct(array.shape[1:], array.dtype), arrays)


def reason(function: Callable[..., Any], element: Nest) -> str | None:
    """Why it cannot be traced; None if it can."""
    traced = trace(function, element)
    return traced.reason if isinstance(traced, Untraceable) else None


def map_elements(*functions: Callable[..., Any]) -> list[IndexedMap]:
    return [IndexedMap(function, number, None) for number, function in enumerate(functions)]


IMAGE = rows_of(np.zeros((5, 2, 3), np.uint8))


def test_a_struct_has_the_dtype_that_jax_will_make_of_it() -> None:
    row = rows_of({"x": np.zeros((5, 2), np.uint8), "y": jnp.zeros(5)})
    assert (row["x"].shape, row["x"].dtype) == ((2,), np.uint8)
    assert (row["y"].shape, row["y"].dtype) == ((), np.float32)
    assert shape_struct((2,), np.dtype(np.float64)).dtype == np.float32
    with jax.enable_x64(True):
        assert shape_struct((2,), np.dtype(np.float64)).dtype == np.float64


def test_what_jax_computes_can_be_traced() -> None:
    assert reason(lambda x: x / 255, IMAGE) is None
    assert reason(lambda x, y: (jnp.sum(x), y), (IMAGE, IMAGE)) is None
    assert reason(lambda element: element["x"], {"x": IMAGE}) is None


def test_a_function_that_needs_values_gives_a_reason_in_one_line() -> None:
    why = reason(lambda x: np.asarray(x), IMAGE)
    assert why is not None
    assert why.startswith("TracerArrayConversionError: ")
    assert "\n" not in why


def test_a_mistake_in_the_function_is_the_reason() -> None:
    def broken(x: Any) -> Any:
        raise KeyError("colour")

    assert reason(broken, IMAGE) == "KeyError: 'colour'"
    assert reason(lambda x, y: x, IMAGE) == (
        "TypeError: test_a_mistake_in_the_function_is_the_reason.<locals>.<lambda>() "
        "missing 1 required positional argument: 'y'"
    )


def test_an_exception_without_a_message_is_named() -> None:
    def silent(x: Any) -> Any:
        raise NotImplementedError

    assert reason(silent, IMAGE) == "NotImplementedError"


def test_a_result_that_is_no_array_is_a_reason() -> None:
    assert str(reason(lambda x: "text", IMAGE)).startswith("TypeError")


def test_element_maps_see_one_element_and_batch_maps_the_batch() -> None:
    def mean_of_element(x: jax.Array, y: jax.Array) -> tuple[jax.Array, jax.Array]:
        assert x.ndim == 1
        return x.mean(), y

    def minus_batch_mean(x: jax.Array, y: jax.Array) -> dict[str, jax.Array]:
        return {"x": x - x.mean(), "y": y}

    function = vectorise(map_elements(mean_of_element), map_elements(minus_batch_mean))
    result = function((np.array([[1.0, 3.0], [4.0, 8.0]], np.float32), np.array([5, 6])))
    assert result["x"].tolist() == [-2.0, 2.0]
    assert result["y"].tolist() == [5, 6]


def test_each_map_spreads_the_element_anew() -> None:
    function = vectorise(map_elements(lambda x: (x, x + 1), lambda a, b: {"sum": a + b}, lambda e: e["sum"] * 2), [])
    assert function(np.array([1, 2])).tolist() == [6, 10]


def test_namedtuples_and_none_go_through() -> None:
    pair_class = namedtuple("Pair", ["x", "y"])
    result = vectorise(map_elements(lambda pair: (pair.x + pair.y, None)), [])(pair_class(np.ones(2), np.ones(2)))
    assert result[0].tolist() == [2.0, 2.0]
    assert result[1] is None


def test_constants_are_given_to_every_row() -> None:
    assert vectorise(map_elements(lambda x: jnp.arange(2)), [])(np.zeros(3)).tolist() == [[0, 1]] * 3


def test_without_maps_the_batch_is_returned_as_it_is() -> None:
    batch = (np.zeros(3), NAMES)
    assert vectorise([], [])(batch) is batch


def test_it_works_inside_jit_and_gives_what_single_elements_give() -> None:
    def augment(x: jax.Array, y: jax.Array) -> tuple[jax.Array, jax.Array]:
        return jnp.flip(x, axis=0) * 2 - y, y

    x, y = np.arange(12, dtype=np.float32).reshape(4, 3), np.arange(4, dtype=np.float32)
    batched = jax.jit(vectorise(map_elements(augment), []))((x, y))[0]
    single = np.stack([augment(jnp.asarray(a), jnp.asarray(b))[0] for a, b in zip(x, y, strict=True)])
    np.testing.assert_array_equal(batched, single)


def test_strings_bypass_jax() -> None:
    assert reason(lambda x, name: {"name": name, "x": x * 2}, rows_of((np.ones(2), NAMES))) is None
    result = vectorise(map_elements(lambda x, name: {"name": name, "x": x * 2}), [])((np.ones(2), NAMES))
    assert result["name"] is NAMES
    assert result["x"].tolist() == [2.0, 2.0]


def test_strings_can_be_left_out() -> None:
    assert vectorise(map_elements(lambda x, name: x), [])((np.ones(2), NAMES)).tolist() == [1.0, 1.0]


def test_computing_with_strings_is_a_reason() -> None:
    assert reason(lambda x, name: jnp.asarray(name), rows_of((np.ones(2), NAMES))) is not None


def test_an_element_of_strings_alone_cannot_be_traced() -> None:
    assert str(reason(lambda name: name, rows_of(NAMES))).startswith("TypeError: JAX has no type for")


def test_tracing_finds_the_result_and_whether_random_numbers_were_drawn() -> None:
    traced = trace(lambda x: {"sum": x.sum()}, IMAGE)
    assert isinstance(traced, Traced)
    assert traced.result["sum"].shape == ()
    assert not traced.draws
    drawn = trace(lambda x: x + jax.random.uniform(random.key()), IMAGE)
    assert isinstance(drawn, Traced)
    assert drawn.draws


@pytest.mark.parametrize(
    "draw", [np.random.rand, np.random.randint, python_random.random], ids=["rand", "randint", "random"]
)
def test_drawing_from_a_global_generator_is_a_reason(draw: Callable[..., Any]) -> None:
    before = python_random.getstate(), np.random.get_state()[2]
    assert "draws from `random` or `numpy.random`" in str(
        reason(lambda x: x + draw(*[5][: draw is np.random.randint]), IMAGE)
    )
    assert (python_random.getstate(), np.random.get_state()[2]) == before


def test_a_variable_that_is_read_or_assigned_is_a_reason() -> None:
    variable = keras.Variable(1.0, name="offset")
    assert reason(lambda image: image + variable, IMAGE) == (
        "TypeError: it uses the variable 'offset', whose value may change"
    )
    assert "'offset'" in str(reason(lambda image: variable.assign(image[0, 0]), IMAGE))
    assert float(variable) == 1.0, "no tracer is left in it"


def test_maps_see_the_present_values_of_variables() -> None:
    offset, calls = keras.Variable(1, dtype="int32"), keras.Variable(0, dtype="int32")

    def add(x: Any) -> Any:
        calls.assign_add(1)
        return x + offset

    dataset = Dataset.from_tensor_slices(np.arange(3, dtype=np.int32)).map(add).batch(3)
    assert [each.tolist() for each in dataset.as_numpy_iterator()] == [[1, 2, 3]]
    offset.assign(10)
    assert [each.tolist() for each in dataset.as_numpy_iterator()] == [[10, 11, 12]]
    assert int(calls) == 6


def test_the_maps_of_a_plan_are_traced_up_to_the_first_that_cannot_be() -> None:
    maps = (Map(lambda x: x * 2), Batch(2), Map(lambda x: x.reshape(2)), Map(lambda x: float(x)), Map(lambda x: x))
    found = index_plan(Plan(ArraySlices(np.arange(4)), maps))
    assert found is not None
    first, second, third = trace_indexed_maps(found[0])
    assert isinstance(first, Traced)
    assert isinstance(second, Traced)
    assert second.result.shape == (2,)
    assert isinstance(third, Untraceable)


def test_random_numbers_are_derived_from_epochs_and_positions() -> None:
    function = vectorise(map_elements(lambda x: jax.random.uniform(random.key())), [])
    epochs, positions = np.array([[7], [7], [7], [8]], np.int32), np.array([[0], [1], [0], [0]], np.int32)
    a, b, c, d = function(np.zeros(4), (epochs, positions)).tolist()
    assert a == c
    assert len({a, b, d}) == 3


def test_a_traced_function_can_pass_text_on_but_not_read_it() -> None:
    element = (jax.ShapeDtypeStruct((2,), np.dtype("<U3")), IMAGE)
    assert isinstance(trace(lambda text, image: (text, image + 1), element), Traced)
    for read in (
        np.asarray,
        np.ndim,
        str,
        bool,
        hash,
        lambda text: text == "a",
        lambda text: f"{text}",
        lambda text: {text: 1},
    ):
        found = trace(lambda text, image, read=read: (image, read(text) and 1), element)
        assert "can pass on" in str(found), read
