"""`tf.compat`: `str` and `bytes`, number types, and the namespaces `v1` and `v2`."""

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.compat import v1, v2
from unisono.tf.compat._text_and_types import (
    as_bytes, as_str, as_str_any, as_text, bytes_or_text_types, complex_types, dimension_at_index, dimension_value,
    forward_compatible, integral_types, path_to_str, real_types,
)

__getattr__ = _explain_missing_names("tf.compat")
