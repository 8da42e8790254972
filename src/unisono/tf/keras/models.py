"""`tf.keras.models`: Keras's. `save_model` and `load_model` know folders too."""

from __future__ import annotations

from typing import Any, NoReturn

import keras

from unisono.tf.keras._folders import save_model as save_model
from unisono.tf.keras._like import like


def model_from_config(config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
    """The model that ``{"class_name": ..., "config": model.get_config()}`` describes, with new weights."""
    return keras.layers.deserialize(config, custom_objects=custom_objects)


def model_from_yaml(yaml_string: str, custom_objects: dict[str, Any] | None = None) -> NoReturn:
    """Refused. YAML can run code; TensorFlow has refused it since 2.6."""
    raise RuntimeError("model_from_yaml is not there: YAML can run code. Use model.to_json() and model_from_json.")


__getattr__ = like(globals(), "tf.keras.models", keras.models)
