"""`tf.keras.backend`, usually `K`: functions of tensors and variables with their names and signatures of Keras 2."""

import keras as _keras

from unisono.tf.keras._keras_fallback import keras_fallback as _keras_fallback
from unisono.tf.keras.backend._arrays import (
    abs, all, any, argmax, argmin, batch_dot, batch_flatten, binary_crossentropy, cast, categorical_crossentropy, clip,
    concatenate, cos, cumprod, cumsum, dot, elu, equal, exp, expand_dims, eye, flatten, gather, greater, greater_equal,
    hard_sigmoid, in_top_k, l2_normalize, less, less_equal, log, logsumexp, map_fn, max, maximum, mean, min, minimum,
    ndim, not_equal, one_hot, permute_dimensions, pow, prod, relu, repeat, repeat_elements, reshape, reverse, round,
    shape, sigmoid, sign, sin, softmax, softplus, softsign, sparse_categorical_crossentropy, sqrt, square, squeeze,
    stack, std, stop_gradient, sum, switch, tanh, tile, transpose, var,
)
from unisono.tf.keras.backend._graphs import (
    function, get_session, gradients, in_test_phase, in_train_phase, learning_phase, learning_phase_scope,
    manual_variable_initialization, placeholder, set_learning_phase, set_session,
)
from unisono.tf.keras.backend._random import dropout, random_bernoulli, random_normal, random_uniform, truncated_normal
from unisono.tf.keras.backend._values import (
    batch_get_value, batch_set_value, cast_to_floatx, constant, count_params, dtype, eval, get_value, int_shape,
    is_sparse, is_tensor, moving_average_update, ones, ones_like, set_value, update, update_add, update_sub, variable,
    zeros, zeros_like,
)

backend = _keras.backend.backend
name_scope = _keras.name_scope

__getattr__ = _keras_fallback(globals(), "tf.keras.backend", _keras.backend)
