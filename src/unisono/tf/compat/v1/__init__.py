"""`tf.compat.v1`: what TensorFlow 2 has by the same name; the rest is refused, with what to write instead."""

from unisono.tf.compat.v1 import data, gfile, logging, train
from unisono.tf.compat.v1._tf2_names import of_both_releases as __getattr__
from unisono.tf.compat.v1._v2_behavior import (
    enable_eager_execution,
    enable_resource_variables,
    enable_v2_behavior,
    enable_v2_tensorshape,
    executing_eagerly_outside_functions,
    set_random_seed,
)
