"""Arrays, variables and elements of datasets behave as TensorFlow's. Happens when the namespace is imported."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np

from unisono._src import core, jax_hooks
from unisono._src.data import plans
from unisono._src.data.dataset import element_conversion
from unisono.tf import errors
from unisono.tf._shape import TensorShape
from unisono.tf._tensors import to_host_tensor


def give_manners() -> None:
    """Gives them to JAX's arrays, to Keras's variables and to what iterating over a dataset gives."""
    jax_hooks.install_tensor_methods(TensorShape.from_sizes)
    element_conversion.set(_element)
    core.out_of_range_error.set(_out_of_range)
    variable = keras.Variable
    plain = variable.shape.fget
    variable.shape = property(lambda self: TensorShape(plain(self)))
    variable.numpy = lambda self: np.array(self.value)[()]
    variable.get_shape = lambda self: self.shape
    variable.read_value = lambda self: self.value
    variable.ref = lambda self: jax_hooks.Reference(self)
    variable.device = property(lambda self: self.value.device)
    variable.__format__ = lambda self, spec: format(self.numpy(), spec) if spec else str(self)


def _out_of_range(text: str) -> errors.OutOfRangeError:
    return errors.OutOfRangeError(None, None, text)


def _element(element: Any) -> Any:
    return plans.map_leaves(_tensor, element)


def _tensor(leaf: Any) -> Any:
    return to_host_tensor(leaf) if isinstance(leaf, np.ndarray | np.generic) else leaf
