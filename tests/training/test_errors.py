"""Bad input is refused before training starts, with the value and the remedy."""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest

import unisono
from unisono._src.strategy import Strategy

XY = tuple[np.ndarray, np.ndarray]
Make = Callable[..., Any]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x": np.zeros((0, 4)), "y": np.zeros((0, 1))}, "0 rows"),
        ({"batch_size": 0}, "batch_size is a whole number of at least 1; got 0"),
        ({"batch_size": 2.5}, "batch_size is a whole number of at least 1; got 2.5"),
        (
            {"steps_per_epoch": -1, "batch_size": 8},
            "steps_per_epoch is a whole number, or None for all batches; got -1",
        ),
        ({"y": np.zeros((21, 1))}, "21"),
        ({"x": np.full((22, 4), "a")}, "dtype <U1"),
        ({"validation_split": 0.2, "validation_steps": -2, "batch_size": 8}, "validation_steps is a whole number"),
    ],
)
def test_bad_arguments_of_fit_are_named(make_model: Make, xy: XY, arguments: dict[str, Any], message: str) -> None:
    model = make_model()
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(**{"x": xy[0], "y": xy[1], "verbose": 0, **arguments})
    assert not model.optimizer.built or int(model.optimizer.iterations.numpy()) == 0


def test_rows_of_a_shape_that_the_model_does_not_take_are_refused(make_model: Make, xy: XY) -> None:
    with pytest.raises(ValueError, match=r"incompatible|expected shape"):
        make_model().fit(xy[0][:, :3], xy[1], verbose=0)


def test_fit_without_compile_is_refused(pair: Strategy, xy: XY) -> None:
    with pair.scope():
        model = keras.Sequential([keras.layers.Dense(1)])
    with pytest.raises(ValueError, match="must call `compile"):
        model.fit(*xy, verbose=0)


def test_a_model_made_outside_and_compiled_inside_is_refused(pair: Strategy) -> None:
    model = keras.Sequential([keras.layers.Dense(1)])
    with pair.scope(), pytest.raises(ValueError, match="created outside the scope"):
        model.compile("sgd", "mse")


def test_fit_in_the_scope_of_another_strategy_is_refused(make_model: Make, xy: XY) -> None:
    model = make_model()
    with unisono.OneDeviceStrategy("cpu:5").scope(), pytest.raises(RuntimeError, match="Cannot enter the scope"):
        model.fit(*xy, verbose=0)


def test_an_optimizer_of_another_strategy_is_refused_by_name(pair: Strategy, xy: XY) -> None:
    with unisono.OneDeviceStrategy("cpu:5").scope():
        optimizer = keras.optimizers.SGD()
    with pair.scope():
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile(optimizer, "mse")
    with pytest.raises(ValueError, match=r"made in the scope of OneDeviceStrategy\('cpu:5'\)"):
        model.fit(*xy, verbose=0)


def test_an_unbatched_dataset_is_refused_with_the_remedy(make_model: Make, xy: XY) -> None:
    with pytest.raises(ValueError, match=r"Add .batch\(global_batch_size\)"):
        make_model().fit(unisono.data.Dataset.from_tensor_slices(xy), verbose=0)


def test_an_endless_dataset_needs_steps(make_model: Make, xy: XY) -> None:
    dataset = unisono.data.Dataset.from_tensor_slices(xy).batch(8).repeat()
    with pytest.raises(ValueError, match="no end, so `steps_per_epoch` must say"):
        make_model().fit(dataset, verbose=0)
    with pytest.raises(ValueError, match="no end, so `steps` must say"):
        make_model().evaluate(dataset, verbose=0)


def test_targets_beside_a_dataset_are_refused(make_model: Make, xy: XY) -> None:
    dataset = unisono.data.Dataset.from_tensor_slices(xy).batch(8)
    with pytest.raises(ValueError, match="contains its y already"):
        make_model().fit(dataset, xy[1], verbose=0)


@pytest.mark.slow
def test_a_generator_that_is_used_up_says_so(make_model: Make, xy: XY) -> None:
    def batches() -> Any:
        yield from [(xy[0][:8], xy[1][:8])] * 3

    with pytest.warns(UserWarning, match="ended after 3 batches, and a generator cannot begin again"):
        make_model().fit(batches(), epochs=2, verbose=0)


def test_an_empty_generator_is_refused(make_model: Make) -> None:
    with pytest.raises(ValueError, match=r"at least one batch|no batches"):
        make_model().fit((batch for batch in []), verbose=0)


def test_a_custom_train_function_is_refused_with_what_to_override(pair: Strategy, xy: XY) -> None:
    class Own(keras.Sequential):
        def make_train_function(self, force: bool = False) -> None:
            pass

    with pair.scope():
        model = Own([keras.layers.Dense(1)])
        model.compile("sgd", "mse")
    with pytest.raises(NotImplementedError, match="Override `train_step`"):
        model.fit(*xy, verbose=0)


def test_unknown_arguments_of_evaluate_are_named(make_model: Make, xy: XY) -> None:
    with pytest.raises(TypeError, match="stepz"):
        make_model().evaluate(*xy, stepz=3)
