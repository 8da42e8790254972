"""`tf.keras.mixed_precision.experimental`: the names of TensorFlow 2.3 and before."""

from keras.mixed_precision import LossScaleOptimizer, Policy, global_policy
from keras.mixed_precision import set_global_policy as set_policy

from unisono.tf._missing import explain_missing_names

__all__ = ["LossScaleOptimizer", "Policy", "global_policy", "set_policy"]
__getattr__ = explain_missing_names("tf.keras.mixed_precision.experimental")
