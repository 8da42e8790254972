"""`tf.compat.v1`: what TensorFlow 2 has by the same name; the rest is refused, with what to write instead."""

from unisono.tf.compat.v1 import data as data
from unisono.tf.compat.v1 import gfile as gfile
from unisono.tf.compat.v1 import logging as logging
from unisono.tf.compat.v1 import train as train
from unisono.tf.compat.v1._names import of_both_releases as __getattr__
from unisono.tf.compat.v1._switches import enable_eager_execution as enable_eager_execution
from unisono.tf.compat.v1._switches import enable_resource_variables as enable_resource_variables
from unisono.tf.compat.v1._switches import enable_v2_behavior as enable_v2_behavior
from unisono.tf.compat.v1._switches import enable_v2_tensorshape as enable_v2_tensorshape
from unisono.tf.compat.v1._switches import executing_eagerly_outside_functions as executing_eagerly_outside_functions
from unisono.tf.compat.v1._switches import set_random_seed as set_random_seed
