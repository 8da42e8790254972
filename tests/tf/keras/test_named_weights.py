"""Sample weights by the names of outputs."""

from typing import Any

import numpy as np
import pytest

import unisono.tf as tf

X = np.arange(8, dtype="float32").reshape(4, 2)
Y = {"a": np.ones((4, 1), "float32"), "b": np.zeros((4, 1), "float32")}
WEIGHTS = {"b": np.array([1.0, 2.0, 3.0, 4.0]), "a": np.array([4.0, 0.0, 0.0, 1.0])}


@pytest.fixture(scope="module")
def model() -> Any:
    given = tf.keras.Input((2,))
    outputs = [tf.keras.layers.Dense(1, kernel_initializer="ones", name=name)(given) for name in ("a", "b")]
    made = tf.keras.Model(given, outputs)
    made.compile(tf.keras.optimizers.SGD(0.0), "mse", weighted_metrics=[["mae"], ["mae"]])
    return made


def test_weights_by_name_are_those_in_the_order_of_the_outputs(model: Any) -> None:
    by_name = model.evaluate(X, Y, sample_weight=WEIGHTS, verbose=0, return_dict=True)
    in_order = model.evaluate(
        X, [Y["a"], Y["b"]], sample_weight=[WEIGHTS["a"], WEIGHTS["b"]], verbose=0, return_dict=True
    )
    assert by_name == pytest.approx(in_order)
    sums = X.sum(axis=1)
    assert by_name["a_loss"] == pytest.approx(np.mean(WEIGHTS["a"] * (sums - 1) ** 2))


def test_fit_takes_them_from_arrays_and_datasets(model: Any) -> None:
    (of_arrays,) = model.fit(X, Y, sample_weight=WEIGHTS, batch_size=4, verbose=0).history["loss"]
    rows = tf.data.Dataset.from_tensor_slices((X, Y, WEIGHTS)).batch(4)
    (of_dataset,) = model.fit(rows, verbose=0).history["loss"]
    assert of_dataset == pytest.approx(of_arrays)


def test_names_that_are_not_outputs_are_an_error(model: Any) -> None:
    rows = tf.data.Dataset.from_tensor_slices((X, Y, {"a": WEIGHTS["a"], "c": WEIGHTS["b"]})).batch(4)
    with pytest.raises(ValueError, match=r"keys \['a', 'c'\], and the outputs of the model are \['a', 'b'\]"):
        model.evaluate(rows, verbose=0)
