"""Modules that are Keras's own, under the name they have here, so that `import` statements find them."""

from __future__ import annotations

import importlib
import sys
from typing import Final

from unisono._src.keras_hooks import tf_keras
from unisono.tf.keras import layers, utils

PACKAGE: Final = "unisono.tf.keras"

SAME: Final = (
    "activations",
    "applications",
    "config",
    "constraints",
    "datasets",
    "distribution",
    "dtype_policies",
    "export",
    "initializers",
    "ops",
    "quantizers",
    "random",
    "regularizers",
    "saving",
    "tree",
    "visualization",
)

# Keras's own raise without TensorFlow, so replacing them loses nothing.
OWN_LAYERS: Final = ("HashedCrossing", "Hashing", "IntegerLookup", "StringLookup", "TextVectorization")
OWN_DATASETS: Final = (
    "audio_dataset_from_directory",
    "image_dataset_from_directory",
    "text_dataset_from_directory",
    "timeseries_dataset_from_array",
)


def share_modules() -> None:
    """Makes `import unisono.tf.keras.initializers` and its like give Keras's modules; stock Keras has ours."""
    for name in SAME:
        module = importlib.import_module(f"keras.{name}")
        sys.modules[f"{PACKAGE}.{name}"] = module
        setattr(sys.modules[PACKAGE], name, module)
    tf_keras.replace_public_names(
        layers={name: getattr(layers, name) for name in OWN_LAYERS},
        datasets={name: getattr(utils, name) for name in OWN_DATASETS},
    )
    for name, module in list(sys.modules.items()):
        parts = name.split(".")
        if parts[0] == "keras" and len(parts) > 2 and parts[1] in SAME:
            sys.modules[f"unisono.tf.{name}"] = module
