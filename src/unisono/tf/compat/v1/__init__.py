"""`tf.compat.v1` in eager style: names of TensorFlow 1 that do not need graphs. Others raise an error with advice."""

from unisono.tf.compat.v1 import (
    app, data, flags, gfile, image, initializers, io, logging, losses, nn, random, saved_model, summary, train,
)
from unisono.tf.compat.v1._assignments import (
    assign, assign_add, assign_sub, global_variables_initializer, initialize_all_tables, initialize_all_variables,
    initialize_local_variables,
    local_variables_initializer, scatter_add, scatter_nd_add, scatter_nd_update, scatter_sub, scatter_update,
    tables_initializer, variables_initializer,
)
from unisono.tf.compat.v1._functions import (
    Print, arg_max, arg_min, argmax, argmin, assert_equal, assert_greater, assert_greater_equal, assert_integer,
    assert_less, assert_less_equal, assert_near, assert_negative, assert_non_negative, assert_non_positive,
    assert_none_equal, assert_positive, assert_rank, assert_rank_at_least, assert_rank_in, assert_scalar, assert_type,
    batch_gather, batch_to_space_nd, bincount, cond, confusion_matrix, count_nonzero, decode_csv, decode_raw,
    depth_to_space, div, expand_dims, extract_image_patches, floor_div, gather, multinomial, norm, ones_like,
    parse_example, parse_single_example, py_func, reduce_all, reduce_any, reduce_join, reduce_logsumexp, reduce_max,
    reduce_mean, reduce_min, reduce_prod, reduce_sum, setdiff1d, shape, size, space_to_depth, sparse_to_dense,
    squeeze, string_split, string_to_number, substr, to_bfloat16, to_complex64, to_double, to_float, to_int32,
    to_int64, verify_tensor_all_finite, zeros_like,
)
from unisono.tf.compat.v1._initializers import (
    constant_initializer, glorot_normal_initializer, glorot_uniform_initializer, ones_initializer,
    orthogonal_initializer, random_normal_initializer, random_uniform_initializer, truncated_normal_initializer,
    variance_scaling_initializer, zeros_initializer,
)
from unisono.tf.compat.v1._sessions import ConfigProto, GPUOptions, InteractiveSession, Session
from unisono.tf.compat.v1._sessions import SessionOptions as GraphOptions
from unisono.tf.compat.v1._sessions import SessionOptions as OptimizerOptions
from unisono.tf.compat.v1._sessions import SessionOptions as RunOptions
from unisono.tf.compat.v1._tf2_names import names_from_tf2 as _names_from_tf2
from unisono.tf.compat.v1._v2_behavior import (
    control_flow_v2_enabled, disable_eager_execution, disable_v2_behavior, enable_control_flow_v2,
    enable_eager_execution, enable_resource_variables, enable_tensor_equality, enable_v2_behavior,
    enable_v2_tensorshape, executing_eagerly_outside_functions, resource_variables_enabled, set_random_seed,
)
from unisono.tf.compat.v1._variable_scopes import (
    AUTO_REUSE, Variable, VariableScope, get_variable, get_variable_scope, reset_default_graph, variable_scope,
)

VERSION = __version__ = "2.21.0"
no_regularizer = None

__getattr__ = _names_from_tf2(
    "tf.compat.v1",
    "unisono.tf",
    # TensorFlow 1's modules of these names work with graphs, sessions and collections.
    except_for=("initializers", "metrics"),
    messages=("Event", "SessionLog", "Summary", "SummaryMetadata", "TensorProto", "TensorShapeProto"),
)
