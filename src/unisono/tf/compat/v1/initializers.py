"""`tf.compat.v1.initializers`: TensorFlow 1's initializers by their short names."""

# ruff: noqa: F401  (names that the module re-exports)

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.compat.v1._assignments import (
    global_variables_initializer as global_variables,
)
from unisono.tf.compat.v1._assignments import local_variables_initializer as local_variables
from unisono.tf.compat.v1._assignments import tables_initializer
from unisono.tf.compat.v1._assignments import variables_initializer as variables
from unisono.tf.compat.v1._initializers import constant_initializer as constant
from unisono.tf.compat.v1._initializers import glorot_normal_initializer as glorot_normal
from unisono.tf.compat.v1._initializers import glorot_uniform_initializer as glorot_uniform
from unisono.tf.compat.v1._initializers import (
    he_normal,
    he_uniform,
    identity,
    lecun_normal,
    lecun_uniform,
)
from unisono.tf.compat.v1._initializers import ones_initializer as ones
from unisono.tf.compat.v1._initializers import orthogonal_initializer as orthogonal
from unisono.tf.compat.v1._initializers import random_normal_initializer as random_normal
from unisono.tf.compat.v1._initializers import random_uniform_initializer as random_uniform
from unisono.tf.compat.v1._initializers import truncated_normal_initializer as truncated_normal
from unisono.tf.compat.v1._initializers import variance_scaling_initializer as variance_scaling
from unisono.tf.compat.v1._initializers import zeros_initializer as zeros

__getattr__ = _explain_missing_names("tf.compat.v1.initializers")
