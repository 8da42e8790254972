"""Modules that are Keras's own, under the name they have here, so that `import` statements find them."""

from __future__ import annotations

import importlib
import sys
from typing import Final

import keras

from unisono.tf.keras import layers

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

# Keras's raise without TensorFlow, so that nobody loses them.
OWN_LAYERS: Final = ("Hashing", "IntegerLookup", "StringLookup", "TextVectorization")


def share_modules() -> None:
    """Makes `import unisono.tf.keras.initializers` and its like give Keras's modules; stock Keras has our layers."""
    for name in SAME:
        module = importlib.import_module(f"keras.{name}")
        sys.modules[f"{PACKAGE}.{name}"] = module
        setattr(sys.modules[PACKAGE], name, module)
    for name in OWN_LAYERS:
        setattr(keras.layers, name, getattr(layers, name))
    for name, module in list(sys.modules.items()):
        parts = name.split(".")
        if parts[0] == "keras" and len(parts) > 2 and parts[1] in SAME:
            sys.modules[f"unisono.tf.{name}"] = module
