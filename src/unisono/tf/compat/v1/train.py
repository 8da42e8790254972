"""`tf.compat.v1.train`: what `tf.train` has, too."""

from unisono.tf.compat.v1._names import fallen_back

__getattr__ = fallen_back("tf.compat.v1.train", "unisono.tf.train")
