"""guide/saved_model: Using the SavedModel format."""

from pathlib import Path

import numpy as np
import pytest

import unisono.tf as tf


class CustomModule(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.v = tf.Variable(1.0)

    @tf.function
    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return x * self.v

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def mutate(self, new_v: tf.Tensor) -> None:
        self.v.assign(new_v)


def test_a_keras_model_and_its_signature(tmp_path: Path) -> None:
    """saved_model.save of a Keras model, signatures["serving_default"], structured_outputs"""
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,), name="predictions")])
    tf.saved_model.save(model, str(tmp_path / "1"))
    loaded = tf.saved_model.load(str(tmp_path / "1"))
    assert list(loaded.signatures.keys()) == ["serving_default"]
    infer = loaded.signatures["serving_default"]
    assert infer.structured_outputs
    (labeling,) = infer(tf.ones([1, 3])).values()
    np.testing.assert_allclose(labeling, model(tf.ones([1, 3])), rtol=1e-5)
    assert tf.saved_model.contains_saved_model(str(tmp_path / "1"))


def test_custom_modules(tmp_path: Path) -> None:
    """several methods, with and without input_signature; traces made before saving are those that can be called"""
    module = CustomModule()
    module(tf.constant(0.0))
    tf.saved_model.save(module, str(tmp_path / "no_signatures"))
    imported = tf.saved_model.load(str(tmp_path / "no_signatures"))
    assert imported(tf.constant(3.0)).numpy() == 3
    imported.mutate(tf.constant(2.0))
    assert imported(tf.constant(3.0)).numpy() == 6
    with pytest.raises((ValueError, TypeError)):
        imported(tf.constant([3.0]))


def test_signatures(tmp_path: Path) -> None:
    """one signature, several signatures, named outputs"""
    module = CustomModule()
    call = module.__call__.get_concrete_function(tf.TensorSpec([], tf.float32))
    tf.saved_model.save(module, str(tmp_path / "with"), signatures=call)
    imported = tf.saved_model.load(str(tmp_path / "with"))
    assert list(imported.signatures.keys()) == ["serving_default"]
    signatures = {
        "serving_default": call,
        "array_input": module.__call__.get_concrete_function(tf.TensorSpec([None], tf.float32)),
    }
    tf.saved_model.save(module, str(tmp_path / "several"), signatures=signatures)
    several = tf.saved_model.load(str(tmp_path / "several"))
    assert set(several.signatures) == {"serving_default", "array_input"}
    assert several.signatures["array_input"](tf.constant([1.0, 2.0]))["output_0"].shape == (2,)

    class CustomModuleWithOutputName(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec(None, tf.float32)])
        def __call__(self, x: tf.Tensor) -> dict:
            return {"custom_output_name": x * 1.0}

    named = CustomModuleWithOutputName()
    tf.saved_model.save(named, str(tmp_path / "named"), signatures=named.__call__)
    loaded = tf.saved_model.load(str(tmp_path / "named"))
    assert list(loaded.signatures["serving_default"].structured_outputs) == ["custom_output_name"]


def test_fine_tuning_what_was_loaded(tmp_path: Path) -> None:
    """variables of a loaded module, gradients of a loaded function"""
    module = CustomModule()
    module(tf.constant([0.0, 0.0]))
    tf.saved_model.save(module, str(tmp_path / "m"))
    root = tf.saved_model.load(str(tmp_path / "m"))
    optimizer = tf.optimizers.SGD(0.05)
    for _ in range(10):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((root(tf.constant([1.0, 2.0])) - [3.0, 6.0]) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, [root.v]), [root.v], strict=True))
    assert abs(float(root.v) - 3.0) < 1.0
