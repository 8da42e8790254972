"""`tf.nn`: activations, losses, convolutions, normalisation."""

from unisono._src.strategy._average_loss import compute_average_loss as compute_average_loss
from unisono._src.strategy._average_loss import scale_regularization_loss as scale_regularization_loss
from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.linalg._norms import l2_normalize as l2_normalize
from unisono.tf.math._counting import approx_max_k as approx_max_k
from unisono.tf.math._counting import approx_min_k as approx_min_k
from unisono.tf.math._counting import in_top_k as in_top_k
from unisono.tf.math._counting import top_k as top_k
from unisono.tf.math._reductions import zero_fraction as zero_fraction
from unisono.tf.math._special import sigmoid as sigmoid
from unisono.tf.math._special import softplus as softplus
from unisono.tf.math._special import softsign as softsign
from unisono.tf.math._special import tanh as tanh
from unisono.tf.nn._activations import crelu as crelu
from unisono.tf.nn._activations import elu as elu
from unisono.tf.nn._activations import gelu as gelu
from unisono.tf.nn._activations import leaky_relu as leaky_relu
from unisono.tf.nn._activations import log_softmax as log_softmax
from unisono.tf.nn._activations import relu as relu
from unisono.tf.nn._activations import relu6 as relu6
from unisono.tf.nn._activations import selu as selu
from unisono.tf.nn._activations import silu as silu
from unisono.tf.nn._activations import softmax as softmax
from unisono.tf.nn._convolutions import avg_pool as avg_pool
from unisono.tf.nn._convolutions import avg_pool1d as avg_pool1d
from unisono.tf.nn._convolutions import avg_pool2d as avg_pool2d
from unisono.tf.nn._convolutions import avg_pool3d as avg_pool3d
from unisono.tf.nn._convolutions import conv1d as conv1d
from unisono.tf.nn._convolutions import conv1d_transpose as conv1d_transpose
from unisono.tf.nn._convolutions import conv2d as conv2d
from unisono.tf.nn._convolutions import conv2d_transpose as conv2d_transpose
from unisono.tf.nn._convolutions import conv3d as conv3d
from unisono.tf.nn._convolutions import conv3d_transpose as conv3d_transpose
from unisono.tf.nn._convolutions import convolution as convolution
from unisono.tf.nn._convolutions import depth_to_space as depth_to_space
from unisono.tf.nn._convolutions import depthwise_conv2d as depthwise_conv2d
from unisono.tf.nn._convolutions import max_pool as max_pool
from unisono.tf.nn._convolutions import max_pool1d as max_pool1d
from unisono.tf.nn._convolutions import max_pool2d as max_pool2d
from unisono.tf.nn._convolutions import max_pool3d as max_pool3d
from unisono.tf.nn._convolutions import separable_conv2d as separable_conv2d
from unisono.tf.nn._convolutions import space_to_depth as space_to_depth
from unisono.tf.nn._losses import ctc_loss as ctc_loss
from unisono.tf.nn._losses import l2_loss as l2_loss
from unisono.tf.nn._losses import log_poisson_loss as log_poisson_loss
from unisono.tf.nn._losses import sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits
from unisono.tf.nn._losses import softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits
from unisono.tf.nn._losses import sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits
from unisono.tf.nn._losses import weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits
from unisono.tf.nn._normalization import batch_normalization as batch_normalization
from unisono.tf.nn._normalization import bias_add as bias_add
from unisono.tf.nn._normalization import dropout as dropout
from unisono.tf.nn._normalization import embedding_lookup as embedding_lookup
from unisono.tf.nn._normalization import local_response_normalization as local_response_normalization
from unisono.tf.nn._normalization import moments as moments
from unisono.tf.nn._normalization import weighted_moments as weighted_moments
from unisono.tf.nn._sampled_losses import nce_loss as nce_loss
from unisono.tf.nn._sampled_losses import sampled_softmax_loss as sampled_softmax_loss

swish = silu
lrn = local_response_normalization

__getattr__ = _missing_in("tf.nn")
