"""`tf.compat.v1.train`: `tf.train`, and `summary_iterator`."""

from unisono.tf.compat.v1._summary_iterator import summary_iterator
from unisono.tf.compat.v1._tf2_names import names_from_tf2 as _names_from_tf2

__all__ = ["summary_iterator"]

__getattr__ = _names_from_tf2("tf.compat.v1.train", "unisono.tf.train")
