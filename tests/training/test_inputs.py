"""Every kind of input gives the same training."""

from collections.abc import Callable, Iterator
from typing import Any

import jax.numpy as jnp
import keras
import numpy as np
import pytest

import unisono
from unisono.data import Dataset

pytestmark = pytest.mark.slow

XY = tuple[np.ndarray, np.ndarray]
Make = Callable[..., Any]

BATCH = 5  # 22 rows: four batches of 5 and one of 2


def _generator(xy: XY) -> Iterator[XY]:
    for begin in range(0, 22, BATCH):
        yield xy[0][begin : begin + BATCH], xy[1][begin : begin + BATCH]


class _Batches(keras.utils.PyDataset):
    def __init__(self, xy: XY, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.xy = xy

    def __len__(self) -> int:
        return 5

    def __getitem__(self, index: int) -> XY:
        rows = slice(index * BATCH, index * BATCH + BATCH)
        return self.xy[0][rows], self.xy[1][rows]


def _torch(xy: XY) -> Any:
    torch = pytest.importorskip("torch")
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*map(torch.from_numpy, xy)), batch_size=BATCH)


def _tensorflow(xy: XY) -> Any:
    tf = pytest.importorskip("tensorflow")
    return tf.data.Dataset.from_tensor_slices(xy).batch(BATCH)


def _grain(xy: XY) -> Any:
    grain = pytest.importorskip("grain")
    return grain.MapDataset.source(list(zip(*xy, strict=True))).to_iter_dataset().batch(BATCH, drop_remainder=False)


def _not_traceable(x: Any, y: Any) -> Any:
    return np.asarray(x) * 1, y  # np.asarray refuses a traced value


INPUTS: dict[str, Callable[[XY], dict[str, Any]]] = {
    "jax arrays": lambda xy: {"x": jnp.asarray(xy[0]), "y": jnp.asarray(xy[1]), "batch_size": BATCH},
    "lists in a dict": lambda xy: {"x": xy[0].astype("float64"), "y": xy[1].astype("int64"), "batch_size": BATCH},
    "generator": lambda xy: {"x": _generator(xy)},
    "PyDataset": lambda xy: {"x": _Batches(xy)},
    "PyDataset with threads": lambda xy: {"x": _Batches(xy, workers=2)},
    "Dataset": lambda xy: {"x": Dataset.from_tensor_slices(xy).batch(BATCH)},
    "Dataset, batch then map": lambda xy: {
        "x": Dataset.from_tensor_slices(xy).cache().batch(BATCH).map(lambda x, y: (x * 2 / 2, y)).prefetch(2)
    },
    "Dataset, map then batch": lambda xy: {
        "x": Dataset.from_tensor_slices({"x": xy[0], "y": xy[1]}).map(lambda row: (row["x"], row["y"])).batch(BATCH)
    },
    "Dataset, map on the host": lambda xy: {"x": Dataset.from_tensor_slices(xy).map(_not_traceable).batch(BATCH)},
    "torch DataLoader": lambda xy: {"x": _torch(xy)},
    "tf.data": lambda xy: {"x": _tensorflow(xy)},
    "grain": lambda xy: {"x": _grain(xy)},
}


@pytest.fixture(scope="module")
def expected(pair: Any, xy: XY) -> list[np.ndarray]:
    keras.utils.set_random_seed(7)
    with pair.scope():
        model = _model()
    model.fit(*xy, batch_size=BATCH, shuffle=False, verbose=0)
    return model.get_weights()


def _model() -> Any:
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="tanh"), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    return model


@pytest.mark.parametrize("name", INPUTS)
def test_every_kind_of_input_trains_alike(pair: Any, xy: XY, expected: list[np.ndarray], name: str) -> None:
    data = INPUTS[name](xy)
    keras.utils.set_random_seed(7)
    with pair.scope():
        model = _model()
    model.fit(**data, shuffle=False, verbose=0)
    for one, other in zip(model.get_weights(), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_data_kept_on_the_host_trains_alike(pair: Any, xy: XY, expected: list[np.ndarray]) -> None:
    unisono.config.set_residency("host")
    try:
        keras.utils.set_random_seed(7)
        with pair.scope():
            model = _model()
        model.fit(*xy, batch_size=BATCH, shuffle=False, verbose=0)
    finally:
        unisono.config.set_residency("auto")
    for one, other in zip(model.get_weights(), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_a_residency_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="'auto', 'device', 'host'; got 'disk'"):
        unisono.config.set_residency("disk")  # type: ignore[arg-type]


def test_maps_are_compiled_into_the_step_and_bytes_stay_bytes_on_the_device(probe: Any, every_step: Any) -> None:
    x = np.full((12, 3), 200, "uint8")
    traced = []

    def scale(x: Any) -> Any:
        traced.append(x)
        return x / 100

    probe.fit(Dataset.from_tensor_slices(x).map(scale).batch(4), epochs=3, callbacks=[every_step], verbose=0)
    assert every_step.column("sum") == pytest.approx([24.0] * 9)
    assert len(traced) < 9  # seen by the tracer a few times, and not once per element or step


def test_a_dataset_shuffles_again_in_every_epoch_and_every_fit(probe: Any, every_step: Any) -> None:
    dataset = Dataset.from_tensor_slices(np.arange(8.0).reshape(8, 1)).shuffle(8, seed=3).batch(1)
    for _ in range(2):
        probe.fit(dataset, epochs=2, callbacks=[every_step], verbose=0)
    orders = np.reshape(every_step.column("first"), (4, 8))
    assert len({tuple(order) for order in orders}) == 4
    assert all(sorted(order) == list(range(8)) for order in orders)


def test_an_endless_dataset_continues_across_epochs(probe: Any, every_step: Any) -> None:
    dataset = Dataset.from_tensor_slices(np.arange(5.0).reshape(5, 1)).repeat().batch(2)
    probe.fit(dataset, steps_per_epoch=3, epochs=3, callbacks=[every_step], verbose=0)
    assert every_step.column("first") == [0, 2, 4, 1, 3, 0, 2, 4, 1]


def test_a_generator_is_read_no_further_than_asked_for(probe: Any, every_step: Any) -> None:
    read = []

    def batches() -> Iterator[tuple[np.ndarray]]:
        for number in range(100):
            read.append(number)
            yield (np.full((2, 1), number, "float32"),)

    probe.fit(batches(), steps_per_epoch=3, epochs=2, callbacks=[every_step], verbose=0)
    assert every_step.column("first") == [0, 1, 2, 3, 4, 5]
    assert len(read) <= 7


def test_batches_of_changing_shape_train_one_by_one(probe: Any, every_step: Any) -> None:
    shapes = [(4, 2), (4, 2), (3, 5), (4, 2), (1, 1)]
    probe.fit((((np.ones(shape),)) for shape in shapes), callbacks=[every_step], verbose=0)
    assert every_step.column("sum") == [8, 8, 15, 8, 1]


def test_an_exception_in_a_generator_reaches_the_caller_as_it_is(probe: Any) -> None:
    def batches() -> Iterator[tuple[np.ndarray]]:
        yield (np.ones((2, 1)),)
        yield (np.ones((2, 1)),)
        raise KeyError("from the generator")

    with pytest.raises(KeyError, match="from the generator"):
        probe.fit(batches(), verbose=0)


def test_validation_data_may_be_a_dataset(make_model: Make, xy: XY) -> None:
    validation = Dataset.from_tensor_slices(xy).batch(8)
    history = make_model().fit(*xy, batch_size=8, validation_data=validation, epochs=2, verbose=0).history
    assert len(history["val_loss"]) == 2


def test_batches_larger_than_the_data_come_from_several_rounds(probe: Any, every_step: Any) -> None:
    dataset = Dataset.from_tensor_slices(np.arange(3.0).reshape(3, 1)).repeat().batch(4)
    probe.fit(dataset, steps_per_epoch=3, callbacks=[every_step], verbose=0)
    assert every_step.column("sum") == [3, 4, 5]
    assert {program.form for program in unisono._src.training.programs(probe)} == {"loop"}


def test_validation_data_that_was_never_used_is_given_back(make_model: Make, xy: XY) -> None:
    class Stop(keras.callbacks.Callback):
        def on_train_begin(self, logs: Any = None) -> None:
            raise ZeroDivisionError

    ended = []

    class Validation(_Batches):
        def on_epoch_end(self) -> None:
            ended.append(True)

    with pytest.raises(ZeroDivisionError):
        make_model().fit(*xy, validation_data=Validation(xy), callbacks=[Stop()], verbose=0)
    assert ended == [True]
