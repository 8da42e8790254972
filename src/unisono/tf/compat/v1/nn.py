"""`tf.compat.v1.nn`: `tf.nn`, with TensorFlow 1's names of arguments, and `dropout` with `keep_prob`."""

from __future__ import annotations

from typing import Any

from unisono.tf import nn as tf_nn
from unisono.tf.compat.v1._old_arguments import with_old_names
from unisono.tf.compat.v1._tf2_names import names_from_tf2 as _names_from_tf2
from unisono.tf.math import l2_normalize as _l2_normalize

TWO_RATES = "tf.compat.v1.nn.dropout: expected either rate= or keep_prob=."

conv1d = with_old_names(tf_nn.conv1d, "use_cudnn_on_gpu", value="input")
conv2d = with_old_names(tf_nn.conv2d, "use_cudnn_on_gpu", filter="filters")
conv3d = with_old_names(tf_nn.conv3d, filter="filters")
conv2d_transpose = with_old_names(tf_nn.conv2d_transpose, value="input", filter="filters")
depthwise_conv2d = depthwise_conv2d_native = with_old_names(tf_nn.depthwise_conv2d, rate="dilations")
max_pool = with_old_names(tf_nn.max_pool, value="input")
avg_pool = with_old_names(tf_nn.avg_pool, value="input")
softmax = with_old_names(tf_nn.softmax, dim="axis")
log_softmax = with_old_names(tf_nn.log_softmax, dim="axis")
l2_normalize = with_old_names(_l2_normalize, dim="axis")
moments = with_old_names(tf_nn.moments, keep_dims="keepdims")
embedding_lookup = with_old_names(tf_nn.embedding_lookup, "partition_strategy validate_indices")
softmax_cross_entropy_with_logits = with_old_names(tf_nn.softmax_cross_entropy_with_logits, "_sentinel", dim="axis")
softmax_cross_entropy_with_logits_v2 = softmax_cross_entropy_with_logits
sparse_softmax_cross_entropy_with_logits = with_old_names(tf_nn.sparse_softmax_cross_entropy_with_logits, "_sentinel")
sigmoid_cross_entropy_with_logits = with_old_names(tf_nn.sigmoid_cross_entropy_with_logits, "_sentinel")
weighted_cross_entropy_with_logits = with_old_names(tf_nn.weighted_cross_entropy_with_logits, targets="labels")


def dropout(
    x: Any, keep_prob: Any = None, noise_shape: Any = None, seed: Any = None, name: Any = None, rate: Any = None
) -> Any:
    """Keeps each element with probability ``keep_prob``; ``rate`` is 1 minus that."""
    if (keep_prob is None) == (rate is None):
        raise ValueError(TWO_RATES)
    return tf_nn.dropout(x, 1 - keep_prob if rate is None else rate, noise_shape, seed)


def xw_plus_b(x: Any, weights: Any, biases: Any, name: Any = None) -> Any:
    """``x @ weights + biases``."""
    return tf_nn.bias_add(x @ weights, biases)


def relu_layer(x: Any, weights: Any, biases: Any, name: Any = None) -> Any:
    """``relu(x @ weights + biases)``."""
    return tf_nn.relu(xw_plus_b(x, weights, biases))


__getattr__ = _names_from_tf2("tf.compat.v1.nn", "unisono.tf.nn")
