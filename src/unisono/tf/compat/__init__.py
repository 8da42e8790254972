"""`tf.compat`: text and bytes, and the namespaces of both releases."""

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.compat import v1, v2
from unisono.tf.compat._numbers import (
    bytes_or_text_types,
    complex_types,
    dimension_at_index,
    dimension_value,
    forward_compatible,
    integral_types,
    real_types,
)
from unisono.tf.compat._text_and_types import as_bytes, as_str, as_str_any, as_text, path_to_str

__getattr__ = _explain_missing_names("tf.compat")
