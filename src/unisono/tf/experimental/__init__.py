"""`tf.experimental`."""

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.experimental import dlpack, numpy
from unisono.tf.experimental._optional_and_execution import Optional
from unisono.tf.experimental._ways_to_run import (
    async_clear_error,
    async_scope,
    enable_strict_mode,
    function_executor_type,
)

__getattr__ = _missing_in("tf.experimental")
