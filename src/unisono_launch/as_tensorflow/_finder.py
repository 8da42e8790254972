"""Which modules `import tensorflow`, `import tensorflow_datasets` and `import keras` give."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final

from unisono_launch.as_tensorflow._loaders import AliasLoader, EmptyLoader, RefusingLoader
from unisono_launch.as_tensorflow._missing import NAMESPACE, describe_package, raise_missing
from unisono_launch.as_tensorflow._packages import NEED_TENSORFLOW, needs_tensorflow

FOLDER: Final = os.path.join(os.path.dirname(os.path.abspath(__file__)), "on_path")
"""The first folder on PYTHONPATH of a worker. It has one file only: everything in it can be imported by its name."""

_DATASETS: Final = "unisono.tfds"
_EDITORS_IMPORT: Final = ("_api", "_v2")  # `from tensorflow._api.v2 import image`, added by an editor
_PORTPICKER: Final = "unisono_launch.as_tensorflow._portpicker"

_TF_KERAS: Final = """tf_keras is Keras 2, which needs TensorFlow itself. Unisono runs Keras 3.
Write `from tensorflow import keras` instead. See docs/tf.md."""


def install() -> None:
    """From now on `import tensorflow` means `unisono.tf`. Imports nothing itself; a second call changes nothing."""
    if not any(isinstance(finder, TensorFlowFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, TensorFlowFinder())  # first: an installed TensorFlow does not count


class TensorFlowFinder:
    """A finder for the front of `sys.meta_path`. Imports a module only when a script does."""

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """The module of Unisono that replaces `fullname`; None for all that is not TensorFlow's."""
        package, _, inner = fullname.partition(".")
        match package:
            case "tensorflow":
                return _find_replacement(fullname, NAMESPACE)
            case "tensorflow_datasets" if not self._is_installed("tensorflow_datasets"):
                return _find_replacement(fullname, _DATASETS)
            case "portpicker" if not inner and not self._is_installed("portpicker"):
                return _alias(fullname, lambda: importlib.import_module(_PORTPICKER))
            case "keras" | "unisono" if not inner:
                return _find_with_hooks(fullname)
            case "tf_keras" if not inner:
                return ModuleSpec(fullname, RefusingLoader(lambda: _TF_KERAS))
            case "tensorflow_probability" if self._is_installed(package):
                # Its substrates.jax works. The rest is imported only when a script uses it.
                return _refuse(fullname) if needs_tensorflow(fullname) else None
            case _ if package in NEED_TENSORFLOW and not inner:
                return _refuse(fullname)
            case "tensorboard" if inner == "compat.notf":
                # This module tells TensorBoard that there is no TensorFlow; it would take ours for the real one.
                return ModuleSpec(fullname, EmptyLoader())
        return None

    def _is_installed(self, name: str) -> bool:
        """Whether another finder has a package `name`.

        A folder without `__init__.py` is none: `~/tensorflow_datasets`, say, where TensorFlow Datasets stores its data.
        """
        for finder in sys.meta_path:
            if finder is not self:
                spec: ModuleSpec | None = finder.find_spec(name, None, None)
                if spec is not None and spec.origin is not None:
                    return True
        return False


def _find_replacement(fullname: str, real_package: str) -> ModuleSpec:
    if "." not in fullname:
        return _alias(fullname, lambda: importlib.import_module(real_package))
    try:
        module = _import_member(fullname)
    except ImportError as error:  # raised by the import; only looking for the module is no error
        text = str(error)
        return ModuleSpec(fullname, RefusingLoader(lambda: text))
    return _alias(fullname, lambda: module)


def _refuse(fullname: str) -> ModuleSpec:
    return ModuleSpec(fullname, RefusingLoader(lambda: describe_package(fullname)), is_package=True)


def _find_with_hooks(fullname: str) -> ModuleSpec | None:
    """Stock Keras, on JAX, with Unisono's hooks in it, whichever of the two a script imports first."""
    os.environ["KERAS_BACKEND"] = "jax"  # scripts set "tensorflow" before they import it
    if fullname == "unisono" or "unisono" in sys.modules:
        return None
    return _alias(fullname, _import_keras)


def _alias(name: str, find: Callable[[], ModuleType]) -> ModuleSpec:
    # As a package, even where it is a file: else Python does not look for modules in it.
    return ModuleSpec(name, AliasLoader(find), origin=NAMESPACE, is_package=True)


def _import_member(fullname: str) -> ModuleType:
    """The module that `fullname` names in its package: a module among the package's names, or one of its files."""
    package, _, name = fullname.rpartition(".")
    if name.startswith("_") and name not in _EDITORS_IMPORT:
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


def _import_keras() -> ModuleType:
    importlib.import_module(NAMESPACE)
    return sys.modules["keras"]
