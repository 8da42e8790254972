"""`tf.compat.v1.saved_model`: `tf.saved_model`, and the names of tags and signatures."""

from unisono.tf.compat.v1._tf2_names import names_from_tf2 as _names_from_tf2
from unisono.tf.compat.v1.saved_model import signature_constants, tag_constants

# TensorFlow 1's functions of these names work with sessions.
__getattr__ = _names_from_tf2("tf.compat.v1.saved_model", "unisono.tf.saved_model", except_for=("load", "save"))
