"""`tf.sparse`: tensors of few values that are not zero."""

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.sparse._arithmetic import (
    add, map_values, maximum, minimum, reduce_max, reduce_sum, sampled_addmm, softmax, sparse_dense_matmul,
)
from unisono.tf.sparse._conversion import eye, from_dense, to_dense, to_indicator
from unisono.tf.sparse._dispatch import register as _register
from unisono.tf.sparse._features import (
    bincount, cross, cross_hashed, segment_mean, segment_sqrt_n, segment_sum,
)
from unisono.tf.sparse._rearrange import (
    concat, expand_dims, fill_empty_rows, mask, reorder, reset_shape, reshape, retain, slice, split, transpose,
)
from unisono.tf.sparse._sparse_tensor import SparseTensor

_register()

__getattr__ = _explain_missing_names("tf.sparse")
