"""Hook: Keras, which runs on JAX, takes nothing for TensorFlow that is not.

Checked against Keras 3.15.1: `keras.src.utils.module_utils.tensorflow` imports TensorFlow when it is first asked for
something, and all of Keras asks it: whether there is a TensorFlow, whether a graph is being built, what is a
`tf.data.Dataset`. Where `tensorflow` means Unisono, Keras would believe that its own TensorFlow is there.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Final

import keras
from keras.src.utils import module_utils

from unisono._src import hooks

_hidden: Final[list[Any]] = []


def install_tensorflow_substitutes(dataset: type[Any]) -> None:
    """Installs the hook. ``dataset`` is what Keras takes for `tf.data.Dataset` in the `adapt` of its layers."""
    why = "with `tensorflow` in sys.modules, Keras on JAX would take Unisono for TensorFlow"
    hooks.wrap(module_utils.LazyModule, "available", _unavailable, expects="source e8b4e890e415", why=why)
    hooks.wrap(module_utils.LazyModule, "initialize", _refuse_import, expects="source 9d6899058d57", why=why)
    for module in (module_utils.tensorflow, module_utils.gfile):
        if module.module is None:  # else the real one is in use already
            _hidden.append(module)
            why = "Keras asks this without asking first whether there is a TensorFlow"
            hooks.add(module, "data", SimpleNamespace(Dataset=dataset), why=why)
            hooks.add(module, "is_tensor", keras.ops.is_tensor, why=why)
            hooks.add(module, "executing_eagerly", lambda: True, why=why)


def _is_hidden(module: Any) -> bool:
    return any(module is each for each in _hidden)


def _unavailable(original: Any) -> Any:
    return property(lambda self: False if _is_hidden(self) else original.fget(self))


def _refuse_import(original: Any) -> Any:
    def initialize(self: Any) -> None:
        if _is_hidden(self):
            raise ImportError(self.import_error_msg)
        original(self)

    return initialize
