"""`tf.nn`: activations, losses, convolutions, pooling and normalization."""

from unisono._src.strategy._average_loss import compute_average_loss, scale_regularization_loss
from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.linalg._norms import l2_normalize
from unisono.tf.math._counts_and_top_k import approx_max_k, approx_min_k, in_top_k, top_k
from unisono.tf.math._elementary_and_special import sigmoid, softplus, softsign, tanh
from unisono.tf.math._reductions import zero_fraction
from unisono.tf.nn._activations import crelu, elu, gelu, leaky_relu, log_softmax, relu, relu6, selu, silu, softmax
from unisono.tf.nn._convolutions import (
    avg_pool, avg_pool1d, avg_pool2d, avg_pool3d, conv1d, conv1d_transpose, conv2d, conv2d_transpose, conv3d,
    conv3d_transpose, convolution, depth_to_space, depthwise_conv2d, max_pool, max_pool1d, max_pool2d, max_pool3d,
    separable_conv2d, space_to_depth,
)
from unisono.tf.nn._layer_ops import (
    batch_normalization, bias_add, dropout, embedding_lookup, embedding_lookup_sparse,
    local_response_normalization, moments, weighted_moments,
)
from unisono.tf.nn._losses import (
    ctc_loss, l2_loss, log_poisson_loss, sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits, weighted_cross_entropy_with_logits,
)
from unisono.tf.nn._sampled_losses import nce_loss, sampled_softmax_loss

swish = silu
lrn = local_response_normalization

__getattr__ = _explain_missing_names("tf.nn")
