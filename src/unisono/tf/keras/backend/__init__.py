"""`tf.keras.backend`, usually `K`: functions of tensors and variables with their names and signatures of Keras 2."""

import keras as _keras

from unisono.tf.keras._keras_fallback import keras_fallback as _keras_fallback
from unisono.tf.keras.backend._arrays import (
    abs, all, any, arange, argmax, argmin, batch_dot, batch_flatten, binary_crossentropy, cast,
    categorical_crossentropy, clip, concatenate, cos, cumprod, cumsum, dot, elu, equal, exp, expand_dims, eye, flatten,
    gather, greater, greater_equal, hard_sigmoid, in_top_k, l2_normalize, less, less_equal, log, logsumexp, map_fn, max,
    maximum, mean, min, minimum, ndim, not_equal, one_hot, permute_dimensions, pow, print_tensor, prod, relu, repeat,
    repeat_elements, reshape, reverse, round, shape, sigmoid, sign, sin, slice, softmax, softplus, softsign,
    sparse_categorical_crossentropy, sqrt, square, squeeze, stack, std, stop_gradient, sum, switch, tanh, tile,
    to_dense, transpose, var,
)
from unisono.tf.keras.backend._graphs import (
    function, get_session, gradients, in_test_phase, in_train_phase, learning_phase, learning_phase_scope,
    manual_variable_initialization, placeholder, reset_uids, set_learning_phase, set_session,
)
from unisono.tf.keras.backend._layer_operations import (
    batch_normalization, bias_add, conv1d, conv2d, conv2d_transpose, conv3d, ctc_batch_cost, ctc_decode,
    depthwise_conv2d, pool2d, pool3d, resize_images, resize_volumes, separable_conv2d, spatial_2d_padding,
    spatial_3d_padding, temporal_padding,
)
from unisono.tf.keras.backend._random import (
    dropout, random_bernoulli, random_binomial, random_normal, random_normal_variable, random_uniform,
    random_uniform_variable, truncated_normal,
)
from unisono.tf.keras.backend._recurrence import foldl, foldr, rnn
from unisono.tf.keras.backend._values import (
    batch_get_value, batch_set_value, cast_to_floatx, constant, count_params, dtype, eval, get_value, int_shape,
    is_sparse, is_tensor, moving_average_update, ones, ones_like, set_value, update, update_add, update_sub, variable,
    zeros, zeros_like,
)

backend = _keras.backend.backend
name_scope = _keras.name_scope

__getattr__ = _keras_fallback(globals(), "tf.keras.backend", _keras.backend)
