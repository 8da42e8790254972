"""`tf.experimental`."""

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.experimental import dlpack as dlpack
from unisono.tf.experimental import numpy as numpy
from unisono.tf.experimental._optional import Optional as Optional
from unisono.tf.experimental._ways_to_run import async_clear_error as async_clear_error
from unisono.tf.experimental._ways_to_run import async_scope as async_scope
from unisono.tf.experimental._ways_to_run import enable_strict_mode as enable_strict_mode
from unisono.tf.experimental._ways_to_run import function_executor_type as function_executor_type

__getattr__ = _missing_in("tf.experimental")
