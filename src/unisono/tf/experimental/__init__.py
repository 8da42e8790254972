"""`tf.experimental`."""

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.experimental import dlpack, numpy
from unisono.tf.experimental._dispatch import (
    dispatch_for_api, dispatch_for_binary_elementwise_apis, dispatch_for_unary_elementwise_apis,
    unregister_dispatch_for,
)
from unisono.tf.experimental._extension_spec import ExtensionTypeSpec
from unisono.tf.experimental._extension_type import BatchableExtensionType, ExtensionType
from unisono.tf.experimental._optional_and_execution import (
    Optional, async_clear_error, async_scope, enable_strict_mode, function_executor_type,
)
from unisono.tf.ragged._ragged_shape import DynamicRaggedShape
from unisono.tf.ragged._row_partition_class import RowPartition

__getattr__ = _explain_missing_names("tf.experimental")
