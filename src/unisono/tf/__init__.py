"""TensorFlow's names over Unisono: with `import unisono.tf as tf` a script for `tf.distribute` runs unchanged.

```python
import unisono.tf as tf

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
```
"""

# ruff: noqa: E402  (the hooks are installed before the modules below use Keras and JAX)
from unisono.tf._install import install_hooks as _install_hooks  # isort: skip

_install_hooks()  # arrays get TensorFlow's methods before the modules below make one

from unisono._src.keras_hooks.tf_keras import install_export as _export_without_tensorflow
from unisono._src.tracing.tape import GradientTape, UnconnectedGradients
from unisono.tf import (
    audio, autodiff, autograph, bitwise, compat, config, core, data, debugging, distribute, dtypes, errors,
    experimental, image, io, keras, linalg, lookup, math, nest, nn, profiler, python, ragged, random, saved_model,
    signal, sparse, strings, summary, sysconfig, test, tpu, train, types, version,
)
from unisono.tf._array_ops import (
    batch_to_space, bitcast, broadcast_dynamic_shape, broadcast_static_shape, broadcast_to, cast, concat, ensure_shape,
    expand_dims, identity, identity_n, meshgrid, pad, parallel_stack, rank, repeat, reshape, reverse, reverse_sequence,
    roll, saturate_cast, shape, shape_n, size, space_to_batch, space_to_batch_nd, split, squeeze, stack, stop_gradient,
    tile, transpose, unstack,
)
from unisono.tf._clipping import clip_by_global_norm, clip_by_norm, clip_by_value
from unisono.tf._control_flow import case, cond, foldl, foldr, map_fn, scan, switch_case, vectorized_map, while_loop
from unisono.tf._creation_ops import (
    eye, fill, linspace, one_hot, ones, ones_like, range, sequence_mask, zeros, zeros_like,
)
from unisono.tf._device import device
from unisono.tf._dtypes import (
    DType, as_dtype, bfloat16, complex64, complex128, double, float16, float32, float64, half, int8, int16, int32,
    int64, string, uint8, uint16, uint32, uint64,
)
from unisono.tf._dtypes import bool_ as bool
from unisono.tf._execution import (
    Graph, Operation, Session, control_dependencies, executing_eagerly, get_logger, get_static_value,
    global_variables_initializer, group, init_scope, inside_function, name_scope, no_op, placeholder, timestamp,
)
from unisono.tf._functions import function
from unisono.tf._gradients import custom_gradient, grad_pass_through, gradients, hessians, recompute_grad
from unisono.tf._host_calls import numpy_function, py_function
from unisono.tf._indexed_slices import IndexedSlices
from unisono.tf._indexing import (
    argsort, boolean_mask, dynamic_partition, dynamic_stitch, gather, gather_nd, scatter_nd, searchsorted, slice, sort,
    strided_slice, tensor_scatter_nd_add, tensor_scatter_nd_max, tensor_scatter_nd_min, tensor_scatter_nd_sub,
    tensor_scatter_nd_update, unique, unique_with_counts, unravel_index, where,
)
from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf._module import Module
from unisono.tf._print import print
from unisono.tf._shape import TensorShape
from unisono.tf._spec import TensorSpec, TypeSpec, type_spec_from_value
from unisono.tf._tensor_array import TensorArray
from unisono.tf._tensor_proto import make_ndarray, make_tensor_proto
from unisono.tf._tensors import Tensor, constant, convert_to_tensor, is_tensor
from unisono.tf._variables import Variable, VariableAggregation, VariableSynchronization
from unisono.tf.debugging import Assert, assert_equal, assert_greater, assert_less, assert_rank
from unisono.tf.keras import initializers, losses, metrics, optimizers
from unisono.tf.linalg import einsum, matmul, norm, tensordot
from unisono.tf.math._arithmetic import (
    abs, add, add_n, divide, floor, maximum, minimum, multiply, negative, pow, round, scalar_mul, sign, sqrt, square,
    subtract, truediv, truncatediv, truncatemod,
)
from unisono.tf.math._comparisons import (
    equal, greater, greater_equal, less, less_equal, logical_and, logical_not, logical_or, not_equal,
)
from unisono.tf.math._counts_and_top_k import histogram_fixed_width, histogram_fixed_width_bins
from unisono.tf.math._elementary_and_special import (
    acos, acosh, asin, asinh, atan, atan2, atanh, complex, cos, cosh, exp, sigmoid, sin, sinh, tan, tanh,
)
from unisono.tf.math._reductions import (
    argmax, argmin, cumsum, reduce_all, reduce_any, reduce_logsumexp, reduce_max, reduce_mean, reduce_min, reduce_prod,
    reduce_sum,
)
from unisono.tf.ragged._ragged_tensor import RaggedTensor
from unisono.tf.ragged._spec import RaggedTensorSpec
from unisono.tf.saved_model._save import export_model as _export_model
from unisono.tf.sparse._sparse_tensor import SparseTensor
from unisono.tf.sparse._spec import SparseTensorSpec

_export_without_tensorflow(_export_model)

constant_initializer = initializers.Constant
ones_initializer = initializers.Ones
random_normal_initializer = initializers.RandomNormal
random_uniform_initializer = initializers.RandomUniform
zeros_initializer = initializers.Zeros

newaxis = None
__version__ = "2.21.0"  # the version of TensorFlow whose names these are

__getattr__ = _explain_missing_names("tf")
