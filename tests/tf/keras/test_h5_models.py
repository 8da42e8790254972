"""`load_model("x.h5")`: the model resumes training where it was, as in Keras 2."""

from __future__ import annotations

import logging
import os
import shutil
from pathlib import Path
from typing import Any

import h5py
import keras
import numpy as np
import pytest

import unisono.tf as tf

X = np.linspace(-1, 1, 24, dtype="float32").reshape(8, 3)
Y = X.sum(axis=1, keepdims=True)


def sequential() -> Any:
    return tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,)), tf.keras.layers.Dense(1)])


def nested() -> Any:
    inner, outer = keras.Input((3,)), keras.Input((3,))
    inside = keras.Model(inner, keras.layers.Dense(2)(inner))
    return keras.Model(outer, keras.layers.Dense(1)(inside(outer)))


def fitted(model: Any) -> Any:
    model.fit(X, Y, batch_size=4, shuffle=False, verbose=0)
    return model


def saved(model: Any, folder: Path) -> tuple[Any, str]:
    """The model, compiled and trained, and the file that it is saved in."""
    model.compile("adam", "mse", metrics=["mae"])
    path = os.fspath(folder / "model.h5")
    fitted(model).save(path)
    return model, path


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    return saved(sequential(), tmp_path_factory.mktemp("h5"))[1]


def test_a_loaded_model_trains_as_the_one_that_was_saved(tmp_path: Path) -> None:
    model, path = saved(nested(), tmp_path)
    loaded = tf.keras.models.load_model(path)
    for one, other in zip(model.optimizer.variables, loaded.optimizer.variables, strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(fitted(model).get_weights(), fitted(loaded).get_weights(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.slow
def test_a_loaded_model_trains_in_a_scope(file: str) -> None:
    alone = tf.keras.models.load_model(file)
    with tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"]).scope():
        loaded = tf.keras.models.load_model(file)
    for one, other in zip(fitted(alone).get_weights(), fitted(loaded).get_weights(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)
    assert loaded.evaluate(X, Y, verbose=0, return_dict=True).keys() == {"loss", "mae"}


@pytest.mark.slow
def test_a_model_that_was_not_trained_yet_begins(tmp_path: Path) -> None:
    model = sequential()
    model.compile(keras.optimizers.Adam(0.125), "mse")
    model.save(tmp_path / "model.h5")
    loaded = fitted(tf.keras.models.load_model(tmp_path / "model.h5"))
    assert (loaded.optimizer.iterations.numpy(), loaded.optimizer.learning_rate.numpy()) == (2, 0.125)


def test_what_was_not_compiled_or_is_not_to_be_is_not_compiled(file: str, tmp_path: Path) -> None:
    assert not tf.keras.models.load_model(file, compile=False).compiled
    sequential().save(tmp_path / "model.h5")
    assert not tf.keras.models.load_model(tmp_path / "model.h5").compiled


def with_optimizer_of_keras_2(path: str, *arrays: Any) -> None:
    with h5py.File(path, "a") as file:
        del file["optimizer_weights"]
        group = file.create_group("optimizer_weights")
        names = [f"v{number}:0".encode() for number in range(len(arrays))]
        group.attrs["weight_names"] = names
        for name, array in zip(names, arrays, strict=True):
            group.create_dataset(name, data=array)


def test_of_another_order_of_values_the_iterations_are_kept(file: str, tmp_path: Path) -> None:
    path = shutil.copy(file, tmp_path / "model.h5")
    with_optimizer_of_keras_2(path, np.int64(7), np.zeros((3, 2), "float32"))
    with pytest.warns(UserWarning, match=r"(?s)holds 2 values of its optimizer, and Adam has 10 here.*7, as there"):
        loaded = tf.keras.models.load_model(path)
    assert loaded.optimizer.iterations.numpy() == 7


def test_an_optimizer_that_had_nothing_but_iterations_is_complete(tmp_path: Path) -> None:
    path = os.fspath(tmp_path / "model.h5")
    model = sequential()
    model.compile("sgd", "mse")
    model.save(path)
    with_optimizer_of_keras_2(path, np.int64(7))
    assert tf.keras.models.load_model(path).optimizer.iterations.numpy() == 7


@pytest.mark.slow
def test_functions_of_the_users_are_found(tmp_path: Path) -> None:
    def doubled(y_true: Any, y_pred: Any) -> Any:
        return 2 * keras.losses.mean_squared_error(y_true, y_pred)

    model = sequential()
    model.compile("sgd", doubled)
    model.save(tmp_path / "model.hdf5")
    loaded = tf.keras.models.load_model(tmp_path / "model.hdf5", custom_objects={"doubled": doubled})
    assert loaded.evaluate(X, Y, verbose=0) == pytest.approx(model.evaluate(X, Y, verbose=0), rel=1e-6)


def test_functions_of_a_scope_around_are_found(tmp_path: Path) -> None:
    def own_loss(y_true: Any, y_pred: Any) -> Any:
        return keras.losses.mean_squared_error(y_true, y_pred)

    model = sequential()
    model.compile("sgd", own_loss)
    model.save(tmp_path / "model.h5")
    with tf.keras.utils.custom_object_scope({"own_loss": own_loss}):
        assert tf.keras.models.load_model(tmp_path / "model.h5").loss is own_loss


def test_a_file_may_be_without_the_optimizer(tmp_path: Path) -> None:
    path = tmp_path / "model.h5"
    model, _ = saved(sequential(), tmp_path)
    tf.keras.models.save_model(model, path, include_optimizer=False)
    with h5py.File(path) as file:
        assert "optimizer_weights" not in file
        assert "training_config" not in file.attrs
    assert not tf.keras.models.load_model(path).compiled
    assert model.compiled


def test_no_warning_recommends_another_format(file: str, tmp_path: Path) -> None:
    said: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("absl")
    logger.addHandler(handler)
    try:
        tf.keras.models.load_model(file).save(tmp_path / "model.h5")
        logger.warning("This is another warning")
    finally:
        logger.removeHandler(handler)
    assert said == ["This is another warning"]
