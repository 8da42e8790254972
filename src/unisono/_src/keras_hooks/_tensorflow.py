"""Hook: Keras, which runs on JAX, takes nothing for TensorFlow that is not.

Checked against Keras 3.15.1: `keras.src.utils.module_utils.tensorflow` imports TensorFlow when it is first asked for
something, and all of Keras asks it: whether there is a TensorFlow, whether a graph is being built, what is a
`tf.data.Dataset`. Where `tensorflow` means Unisono, Keras would believe that its own TensorFlow is there.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import keras
from keras.src.utils import module_utils


class _NoTensorFlow(module_utils.LazyModule):
    """Says that there is none, and the little that Keras asks without asking that before."""

    available = False
    is_tensor = staticmethod(keras.ops.is_tensor)

    def initialize(self) -> None:
        raise ImportError(self.import_error_msg)

    @staticmethod
    def executing_eagerly() -> bool:
        """Keras asks it to find out whether TensorFlow builds a graph."""
        return True


def hide_tensorflow(dataset: type[Any]) -> None:
    """Installs the hook. `dataset` is the class that Keras takes for `tf.data.Dataset` in the `adapt` of its layers."""
    for module in (module_utils.tensorflow, module_utils.gfile):
        if module.module is None:  # else somebody uses the real one already
            module.__class__ = _NoTensorFlow
            module.data = SimpleNamespace(Dataset=dataset)
