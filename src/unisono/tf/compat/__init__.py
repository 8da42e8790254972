"""`tf.compat`: text and bytes, and the namespaces of both releases."""

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.compat import v1 as v1
from unisono.tf.compat import v2 as v2
from unisono.tf.compat._numbers import bytes_or_text_types as bytes_or_text_types
from unisono.tf.compat._numbers import complex_types as complex_types
from unisono.tf.compat._numbers import dimension_at_index as dimension_at_index
from unisono.tf.compat._numbers import dimension_value as dimension_value
from unisono.tf.compat._numbers import forward_compatible as forward_compatible
from unisono.tf.compat._numbers import integral_types as integral_types
from unisono.tf.compat._numbers import real_types as real_types
from unisono.tf.compat._text import as_bytes as as_bytes
from unisono.tf.compat._text import as_str as as_str
from unisono.tf.compat._text import as_str_any as as_str_any
from unisono.tf.compat._text import as_text as as_text
from unisono.tf.compat._text import path_to_str as path_to_str

__getattr__ = _missing_in("tf.compat")
