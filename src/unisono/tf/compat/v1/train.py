"""`tf.compat.v1.train`: what `tf.train` has, too, and event files read back."""

# ruff: noqa: F401  (names that the module re-exports)

from unisono.tf.compat.v1._summary_iterator import summary_iterator
from unisono.tf.compat.v1._tf2_names import fallen_back

__getattr__ = fallen_back("tf.compat.v1.train", "unisono.tf.train")
