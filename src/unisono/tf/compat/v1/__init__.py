"""`tf.compat.v1`: names that TensorFlow 2 has, too. Other names raise an error that says what to write instead."""

from unisono.tf.compat.v1 import data, gfile, logging, train
from unisono.tf.compat.v1._tf2_names import names_from_tf2 as _names_from_tf2
from unisono.tf.compat.v1._v2_behavior import (
    enable_eager_execution, enable_resource_variables, enable_v2_behavior, enable_v2_tensorshape,
    executing_eagerly_outside_functions, set_random_seed,
)

__getattr__ = _names_from_tf2(
    "tf.compat.v1",
    "unisono.tf",
    # TensorFlow 1's modules of these names work with graphs, sessions and collections.
    except_for=("initializers", "losses", "metrics", "saved_model", "summary"),
    messages=("Event", "Summary", "SummaryMetadata"),
)
