"""Every way to import, and missing names."""

import importlib
import sys
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorboardX  # noqa: F401  (sets a variable of the environment when it is first imported)

import unisono.tf as tf


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("unisono.tf.keras", "Sequential"),
        ("unisono.tf.keras.layers", "Dense"),
        ("unisono.tf.keras.layers.experimental.preprocessing", "Rescaling"),
        ("unisono.tf.keras.models", "Model"),
        ("unisono.tf.keras.optimizers.schedules", "ExponentialDecay"),
        ("unisono.tf.keras.callbacks", "EarlyStopping"),
        ("unisono.tf.keras.losses", "Huber"),
        ("unisono.tf.keras.metrics", "AUC"),
        ("unisono.tf.keras.utils", "to_categorical"),
        ("unisono.tf.keras.initializers", "HeNormal"),
        ("unisono.tf.keras.regularizers", "L2"),
        ("unisono.tf.keras.constraints", "MaxNorm"),
        ("unisono.tf.keras.activations", "gelu"),
        ("unisono.tf.keras.applications.resnet50", "preprocess_input"),
        ("unisono.tf.keras.applications", "MobileNetV2"),
        ("unisono.tf.keras.preprocessing.image", "img_to_array"),
        ("unisono.tf.keras.preprocessing.sequence", "pad_sequences"),
        ("unisono.tf.keras.datasets.mnist", "load_data"),
        ("unisono.tf.keras.mixed_precision", "set_global_policy"),
        ("unisono.tf.keras.backend", "clear_session"),
    ],
)
def test_names_are_those_of_keras(module: str, name: str) -> None:
    found = getattr(importlib.import_module(module), name)
    path = module.removeprefix("unisono.tf.").replace(".experimental.preprocessing", "")
    assert found is getattr(importlib.import_module(path), name)


def test_modules_without_differences_are_keras_own() -> None:
    assert tf.keras.initializers is keras.initializers
    assert tf.keras.regularizers is keras.regularizers
    assert tf.keras.activations is keras.activations
    assert tf.keras.applications is keras.applications
    assert tf.keras.datasets is keras.datasets
    assert tf.keras.ops is keras.ops
    assert tf.keras.random is keras.random
    assert tf.keras.Model is keras.Model
    assert tf.keras.Input is keras.Input
    assert tf.keras.__version__ == keras.__version__


def test_a_star_gives_all_names() -> None:
    names: dict[str, object] = {}
    exec("from unisono.tf.keras.losses import *", names)
    assert names["Reduction"] is tf.keras.losses.Reduction
    assert names["MeanSquaredError"] is keras.losses.MeanSquaredError
    assert "annotations" not in names


def test_a_missing_name_raises_with_similar_names() -> None:
    with pytest.raises(AttributeError, match=r"tf\.keras\.layers\.Danse is not available.*Dense"):
        tf.keras.layers.Danse  # noqa: B018
    with pytest.raises(ImportError, match=r"tf\.keras\.layers\.Danse is not available"):
        from unisono.tf.keras.layers import Danse  # noqa: F401


@pytest.mark.slow
def test_keras_does_not_take_the_namespace_for_tensorflow(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "tensorflow", tf)
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse", metrics=["accuracy"])
    x, y = np.ones((4, 2), "float32"), np.ones((4, 1), "float32")
    callbacks = [keras.callbacks.TensorBoard(tmp_path / "logs"), keras.callbacks.CSVLogger(tmp_path / "log.csv")]
    model.fit(x, y, validation_split=0.5, verbose=0, callbacks=callbacks)
    assert list(tmp_path.glob("logs/train/*tfevents*"))
    assert model.predict(tf.constant(x), verbose=0).shape == (4, 1)
    assert keras.layers.StringLookup(vocabulary=["a"])(["a", "b"]).tolist() == [1, 0]
    assert keras.layers.Resizing(2, 2)(np.ones((1, 4, 4, 1), "float32")).shape == (1, 2, 2, 1)
