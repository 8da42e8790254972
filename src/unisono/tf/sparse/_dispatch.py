"""Registers what functions of the namespace do with sparse tensors."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from unisono.tf._composite import register_handlers
from unisono.tf._op import get_op
from unisono.tf._tensors import to_host_tensor
from unisono.tf.ragged._ragged_tensor import RaggedTensor
from unisono.tf.sparse import _arithmetic as arithmetic
from unisono.tf.sparse import _conversion as conversion
from unisono.tf.sparse._embeddings import embedding_lookup_sparse
from unisono.tf.sparse._sparse_tensor import SparseTensor

# Functions of each value.
_UNARY: Final = """cast identity
saturate_cast stop_gradient math.abs math.asin math.asinh math.atan math.atanh math.ceil
math.conj math.erf math.expm1 math.floor math.imag math.is_nan math.is_inf math.log1p math.negative math.real math.rint
math.round math.sign math.sin math.sinh math.sqrt math.square math.tan math.tanh nn.elu nn.gelu nn.leaky_relu nn.relu
nn.relu6 nn.selu nn.silu strings.length strings.lower strings.regex_replace strings.strip strings.to_hash_bucket_fast
strings.to_number strings.upper strings.as_string"""


def _unary_handler(name: str) -> Any:
    return lambda *args, **kwargs: arithmetic.apply_to_values(get_op(name), *args, **kwargs)


def _shape(input: Any, out_type: Any = "int64") -> Any:
    return to_host_tensor(np.array(input.dense_sizes, np.int64))


def _matmul(a: Any, b: Any, *args: Any, **kwargs: Any) -> Any:
    return get_op("sparse.sparse_dense_matmul")(a, b)


_OWN_FUNCTIONS: Final = """add bincount concat cross cross_hashed expand_dims fill_empty_rows maximum minimum reduce_max
reduce_sum reorder reset_shape reshape retain slice softmax sparse_dense_matmul split to_indicator transpose"""


def register() -> None:
    """Called when `tf.sparse` is imported."""
    handlers = {name: _unary_handler(name) for name in _UNARY.split()}
    handlers |= {f"sparse.{name}": get_op(f"sparse.{name}").__wrapped__ for name in _OWN_FUNCTIONS.split()}  # type: ignore[attr-defined]
    handlers |= {
        "linalg.matmul": _matmul,
        "math.divide": arithmetic.divide,
        "math.multiply": arithmetic.multiply,
        "math.truediv": arithmetic.divide,
        "nn.embedding_lookup": _reject_embedding,
        "nn.embedding_lookup_sparse": embedding_lookup_sparse,
        "rank": lambda input: to_host_tensor(np.asarray(input.rank, np.int32)),
        "shape": _shape,
        "size": lambda input, out_type="int32": to_host_tensor(np.asarray(input.values.shape[0], np.int32)),
        "sparse.map_values": arithmetic.apply_to_values,
        "sparse.to_dense": conversion.densify,
    }
    register_handlers(SparseTensor, handlers)
    ragged = {name: get_op(f"sparse.{name}").__wrapped__ for name in ("bincount", "cross", "cross_hashed")}  # type: ignore[attr-defined]
    register_handlers(RaggedTensor, {f"sparse.{name}": each for name, each in ragged.items()})
    register_handlers(
        RaggedTensor,
        {"sparse.from_ragged": conversion.sparsify_ragged, "nn.embedding_lookup_sparse": embedding_lookup_sparse},
    )


def _reject_embedding(params: Any, ids: Any, max_norm: Any = None) -> Any:
    raise TypeError(
        "tf.nn.embedding_lookup of a sparse tensor: use tf.nn.embedding_lookup_sparse(params, ids, weights)."
    )
