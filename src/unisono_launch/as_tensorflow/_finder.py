"""What `import tensorflow`, `import tensorflow_datasets` and `import keras` find."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final

from unisono_launch.as_tensorflow._elsewhere import installed
from unisono_launch.as_tensorflow._loaders import EmptyModule, Refused, SameModule
from unisono_launch.as_tensorflow._missing import NAMESPACE, raise_missing

_DATASETS: Final = "unisono.tfds"

_TF_KERAS: Final = """tf_keras is Keras 2, which needs TensorFlow itself. Unisono runs Keras 3.
Write `from tensorflow import keras` instead. See docs/tf.md."""


class TensorFlowFinder:
    """A finder for `sys.meta_path`, before all others. Imports what it gives only when that is needed."""

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """The module of Unisono that stands for `fullname`; None for all that is not TensorFlow's."""
        package, _, inner = fullname.partition(".")
        match package:
            case "tensorflow":
                return _stand_in(fullname, NAMESPACE)
            case "tensorflow_datasets" if not installed("tensorflow_datasets", besides=self):
                return _stand_in(fullname, _DATASETS)
            case "keras" | "unisono" if not inner:
                return _with_hooks(fullname)
            case "tf_keras" if not inner:
                return ModuleSpec(fullname, Refused(_TF_KERAS))
            case "tensorboard" if inner == "compat.notf":
                # By this module TensorBoard is told that there is no TensorFlow; it would take ours for the real one.
                return ModuleSpec(fullname, EmptyModule())
        return None


def _stand_in(fullname: str, real_package: str) -> ModuleSpec:
    if "." not in fullname:
        return _same(fullname, lambda: importlib.import_module(real_package))
    try:
        module = _member(fullname)
    except ImportError as error:  # when it is imported; to ask whether it is there is none
        return ModuleSpec(fullname, Refused(str(error)))
    return _same(fullname, lambda: module)


def _with_hooks(fullname: str) -> ModuleSpec | None:
    """Stock Keras, on JAX, with Unisono's hooks in it, whichever of the two a script imports first."""
    os.environ["KERAS_BACKEND"] = "jax"  # scripts say "tensorflow" before they import it
    if fullname == "unisono" or "unisono" in sys.modules:
        return None
    return _same(fullname, _keras)


def _same(name: str, find: Callable[[], ModuleType]) -> ModuleSpec:
    # As a package, even where it is a file: else Python does not ask for what is in it.
    return ModuleSpec(name, SameModule(find), origin=NAMESPACE, is_package=True)


def _member(fullname: str) -> ModuleType:
    """The module that `fullname` names in its package: a module among the package's names, or one of its files."""
    package, _, name = fullname.rpartition(".")
    if name.startswith("_"):
        raise_missing(fullname)
    holder = sys.modules[package]
    found = getattr(holder, name, None)
    if isinstance(found, ModuleType):
        return found
    real_name = f"{holder.__name__}.{name}"
    try:
        return importlib.import_module(real_name)
    except ModuleNotFoundError as error:
        if error.name != real_name:
            raise
        raise_missing(fullname)


def _keras() -> ModuleType:
    importlib.import_module(NAMESPACE)
    return sys.modules["keras"]
