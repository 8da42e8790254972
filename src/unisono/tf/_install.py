"""Puts the hooks of the namespace in place: arrays, variables and elements of datasets behave as TensorFlow's."""

from __future__ import annotations

from unisono._src import core, jax_hooks, keras_hooks, parameter_servers
from unisono._src.data.dataset import Dataset, element_conversion
from unisono._src.datasets import DatasetFilesNotFoundError, read_local_dataset
from unisono._src.keras_hooks import tf_keras
from unisono._src.tracing import functions
from unisono.tf import errors
from unisono.tf._argument_error import ArgumentError
from unisono.tf._dtypes import dtype_attributes, name_dtype
from unisono.tf._operands import match_list
from unisono.tf._shape import TensorShape
from unisono.tf._variable_parts import array_properties, assign_and_return, remember_part, variable_methods
from unisono.tf.data._conversions import to_host_tensors


def install_hooks() -> None:
    """Called once, when `unisono.tf` is imported, before anything makes an array."""
    jax_hooks.install_tensor_methods(TensorShape.from_sizes)
    jax_hooks.install_dtype_attributes(dtype_attributes())
    tf_keras.install_variable_methods(TensorShape)
    tf_keras.install_dtype_names(name_dtype)
    tf_keras.install_variable_parts(variable_methods(), remember_part, assign_and_return)
    jax_hooks.install_list_operands(match_list)
    jax_hooks.install_array_properties(array_properties())
    keras_hooks.install_current_layer_tracking()
    keras_hooks.install_tensorflow_substitutes(Dataset)
    element_conversion.set(to_host_tensors)
    core.out_of_range_error.set(_out_of_range)
    functions.argument_error.set(ArgumentError)
    parameter_servers.unavailable_error.set(lambda text: errors.UnavailableError(None, None, text))
    parameter_servers.cancelled_error.set(lambda text: errors.CancelledError(None, None, text))
    tf_keras.install_local_datasets(read_local_dataset, DatasetFilesNotFoundError)


def _out_of_range(text: str) -> errors.OutOfRangeError:
    return errors.OutOfRangeError(None, None, text)
