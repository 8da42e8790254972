"""`tf.compat.v1.train`: `tf.train`, and TensorFlow 1's optimizers, learning rates and global step in eager style."""

# ruff: noqa: F401  (names that the module re-exports)

from unisono.tf.compat.v1._learning_rates import (
    cosine_decay,
    create_global_step,
    exponential_decay,
    get_global_step,
    get_or_create_global_step,
    inverse_time_decay,
    natural_exp_decay,
    piecewise_constant,
    piecewise_constant_decay,
    polynomial_decay,
)
from unisono.tf.compat.v1._optimizers import (
    AdadeltaOptimizer,
    AdagradOptimizer,
    AdamOptimizer,
    FtrlOptimizer,
    GradientDescentOptimizer,
    MomentumOptimizer,
    Optimizer,
    RMSPropOptimizer,
)
from unisono.tf.compat.v1._summary_iterator import summary_iterator
from unisono.tf.compat.v1._tf2_names import names_from_tf2 as _names_from_tf2
from unisono.tf.train import load_checkpoint as NewCheckpointReader  # noqa: N812  (TensorFlow's name)

__getattr__ = _names_from_tf2("tf.compat.v1.train", "unisono.tf.train")
