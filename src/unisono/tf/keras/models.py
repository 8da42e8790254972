"""`tf.keras.models`: Keras's. `save_model` and `load_model` also accept folders."""

# ruff: noqa: F401  (names that the module re-exports)

from __future__ import annotations

from typing import Any, NoReturn

import keras

from unisono._src.keras_hooks.tf_keras import save_model
from unisono.tf.keras._keras_fallback import keras_fallback


def clone_model(model: Any, input_tensors: Any = None, clone_function: Any = None, **kwargs: Any) -> Any:
    """Creates the same model with new weights. `Lambda` layers keep their functions."""
    if clone_function is None and _has_lambda(model):
        clone_function = _clone_layer
    return keras.models.clone_model(model, input_tensors, clone_function, **kwargs)


def _has_lambda(model: Any) -> bool:
    return any(
        isinstance(layer, keras.layers.Lambda) or (isinstance(layer, keras.Model) and _has_lambda(layer))
        for layer in model.layers
    )


def _clone_layer(layer: Any) -> Any:
    if isinstance(layer, keras.Model) and _has_lambda(layer):
        return clone_model(layer)
    if type(layer) is keras.layers.Lambda:
        # Its config contains the code of a lambda, which Keras refuses to deserialize.
        config = keras.Layer.get_config(layer)
        return keras.layers.Lambda(layer.function, layer._output_shape, layer.mask, layer.arguments, **config)
    return type(layer).from_config(layer.get_config())


def model_from_config(config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
    """Creates the model that ``{"class_name": ..., "config": model.get_config()}`` describes, with new weights."""
    return keras.layers.deserialize(config, custom_objects=custom_objects)


def model_from_yaml(yaml_string: str, custom_objects: dict[str, Any] | None = None) -> NoReturn:
    """Not supported. YAML can run code; TensorFlow 2.6 removed it, too."""
    raise RuntimeError("model_from_yaml is not available: YAML can run code. Use model.to_json() and model_from_json.")


__getattr__ = keras_fallback(globals(), "tf.keras.models", keras.models)
