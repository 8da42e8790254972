"""`tf.debugging`: what has to be true of tensors."""

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.debugging._kinds import assert_integer as assert_integer
from unisono.tf.debugging._kinds import assert_rank as assert_rank
from unisono.tf.debugging._kinds import assert_rank_at_least as assert_rank_at_least
from unisono.tf.debugging._kinds import assert_rank_in as assert_rank_in
from unisono.tf.debugging._kinds import assert_same_float_dtype as assert_same_float_dtype
from unisono.tf.debugging._kinds import assert_scalar as assert_scalar
from unisono.tf.debugging._kinds import assert_shapes as assert_shapes
from unisono.tf.debugging._kinds import assert_type as assert_type
from unisono.tf.debugging._kinds import is_numeric_tensor as is_numeric_tensor
from unisono.tf.debugging._switches import disable_check_numerics as disable_check_numerics
from unisono.tf.debugging._switches import enable_check_numerics as enable_check_numerics
from unisono.tf.debugging._switches import get_log_device_placement as get_log_device_placement
from unisono.tf.debugging._switches import set_log_device_placement as set_log_device_placement
from unisono.tf.debugging._values import Assert as Assert
from unisono.tf.debugging._values import assert_all_finite as assert_all_finite
from unisono.tf.debugging._values import assert_equal as assert_equal
from unisono.tf.debugging._values import assert_greater as assert_greater
from unisono.tf.debugging._values import assert_greater_equal as assert_greater_equal
from unisono.tf.debugging._values import assert_less as assert_less
from unisono.tf.debugging._values import assert_less_equal as assert_less_equal
from unisono.tf.debugging._values import assert_near as assert_near
from unisono.tf.debugging._values import assert_negative as assert_negative
from unisono.tf.debugging._values import assert_non_negative as assert_non_negative
from unisono.tf.debugging._values import assert_non_positive as assert_non_positive
from unisono.tf.debugging._values import assert_none_equal as assert_none_equal
from unisono.tf.debugging._values import assert_positive as assert_positive
from unisono.tf.debugging._values import check_numerics as check_numerics

__getattr__ = _missing_in("tf.debugging")
