"""`tf.compat.v1.random`: `tf.random`, with TensorFlow 1's names for seeds and categorical numbers."""

# ruff: noqa: F401  (names that the module re-exports)

from unisono.tf.compat.v1._functions import multinomial
from unisono.tf.compat.v1._tf2_names import names_from_tf2 as _names_from_tf2
from unisono.tf.compat.v1._v2_behavior import set_random_seed

__getattr__ = _names_from_tf2("tf.compat.v1.random", "unisono.tf.random")
