"""`tf.debugging`: assertions about tensors."""

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.debugging._assertions import (
    Assert, assert_equal, assert_greater, assert_greater_equal, assert_less, assert_less_equal, assert_near,
    assert_negative, assert_non_negative, assert_non_positive, assert_none_equal, assert_positive,
)
from unisono.tf.debugging._numerics import (
    assert_all_finite, check_numerics, disable_check_numerics, enable_check_numerics, get_log_device_placement,
    set_log_device_placement,
)
from unisono.tf.debugging._static_assertions import (
    assert_integer, assert_rank, assert_rank_at_least, assert_rank_in, assert_same_float_dtype, assert_scalar,
    assert_shapes, assert_type, is_numeric_tensor,
)

__getattr__ = _explain_missing_names("tf.debugging")
