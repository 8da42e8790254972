"""Registers what functions of the namespace do with ragged tensors."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from unisono.tf._composite import register_handlers
from unisono.tf._op import get_op
from unisono.tf._operands import as_bytes_array, static_int
from unisono.tf._tensors import to_host_tensor
from unisono.tf.ragged import _elementwise as elementwise
from unisono.tf.ragged import _gather as gather
from unisono.tf.ragged import _ragged_shape as ragged_shape
from unisono.tf.ragged import _reductions as reductions
from unisono.tf.ragged import _structure_ops as structure
from unisono.tf.ragged._base import is_ragged, with_flat_values_of
from unisono.tf.ragged._ragged_tensor import RaggedTensor

# Functions of one tensor: of each value, or of the dims inside the flat values.
UNARY_ELEMENTWISE: Final = [
    "bitcast",
    "bitwise.invert",
    "cast",
    "identity",
    "one_hot",
    "ones_like",
    "saturate_cast",
    "stop_gradient",
    "zeros_like",
    "math.abs",
    "math.acos",
    "math.acosh",
    "math.angle",
    "math.asin",
    "math.asinh",
    "math.atan",
    "math.atanh",
    "math.bessel_i0",
    "math.bessel_i0e",
    "math.bessel_i1",
    "math.bessel_i1e",
    "math.ceil",
    "math.conj",
    "math.cos",
    "math.cosh",
    "math.digamma",
    "math.erf",
    "math.erfc",
    "math.erfcinv",
    "math.erfinv",
    "math.exp",
    "math.expm1",
    "math.floor",
    "math.imag",
    "math.is_finite",
    "math.is_inf",
    "math.is_nan",
    "math.lgamma",
    "math.log",
    "math.log1p",
    "math.log_sigmoid",
    "math.logical_not",
    "math.ndtri",
    "math.negative",
    "math.real",
    "math.reciprocal",
    "math.reciprocal_no_nan",
    "math.rint",
    "math.round",
    "math.rsqrt",
    "math.sigmoid",
    "math.sign",
    "math.sin",
    "math.sinh",
    "math.softplus",
    "math.softsign",
    "math.sqrt",
    "math.square",
    "math.tan",
    "math.tanh",
    "nn.dropout",
    "nn.elu",
    "nn.gelu",
    "nn.leaky_relu",
    "nn.relu",
    "nn.relu6",
    "nn.selu",
    "nn.silu",
    "strings.as_string",
    "strings.bytes_split",
    "strings.length",
    "strings.lower",
    "strings.regex_full_match",
    "strings.regex_replace",
    "strings.split",
    "strings.strip",
    "strings.to_hash_bucket_fast",
    "strings.to_number",
    "strings.unicode_decode",
    "strings.unicode_split",
    "strings.upper",
    "image.convert_image_dtype",
]

# Functions of two tensors that are broadcast.
BINARY_ELEMENTWISE: Final = [
    "bitwise.bitwise_and",
    "bitwise.bitwise_or",
    "bitwise.bitwise_xor",
    "bitwise.left_shift",
    "bitwise.right_shift",
    "math.add",
    "math.atan2",
    "math.complex",
    "math.divide",
    "math.divide_no_nan",
    "math.equal",
    "math.floordiv",
    "math.floormod",
    "math.greater",
    "math.greater_equal",
    "math.igamma",
    "math.igammac",
    "math.less",
    "math.less_equal",
    "math.logical_and",
    "math.logical_or",
    "math.logical_xor",
    "math.maximum",
    "math.minimum",
    "math.multiply",
    "math.multiply_no_nan",
    "math.nextafter",
    "math.not_equal",
    "math.pow",
    "math.scalar_mul",
    "math.squared_difference",
    "math.subtract",
    "math.truediv",
    "math.truncatediv",
    "math.truncatemod",
    "math.xdivy",
    "math.xlog1py",
    "math.xlogy",
    "math.zeta",
]


def _substr(input: Any, pos: Any, len: Any, unit: str = "BYTE") -> Any:
    if is_ragged(pos) or is_ragged(len):
        return elementwise.map_flat_values(get_op("strings.substr"), input, pos, len, unit)
    return with_flat_values_of(input, get_op("strings.substr")(input.flat_values, pos, len, unit))


def _reduce_join(inputs: Any, axis: Any = None, keepdims: bool = False, separator: Any = "") -> Any:
    if axis is None:
        return get_op("strings.reduce_join")(inputs.flat_values, None, keepdims, separator)
    rank = len(inputs.shape)
    return _join_axis(inputs, static_int(axis) % rank, separator)


def _join_axis(value: Any, axis: int, separator: Any) -> Any:
    if not is_ragged(value):
        return get_op("strings.reduce_join")(value, axis, False, separator)
    if axis > 1:
        return value.with_rows_of(_join_axis(value.values, axis - 1, separator))
    if axis == 0 or is_ragged(value.values):
        raise ValueError("tf.strings.reduce_join of a ragged tensor: expected the innermost dim.")
    joined = [get_op("strings.reduce_join")(row, 0, False, separator).numpy() for row in value]
    return to_host_tensor(as_bytes_array(np.array(joined, object)))


def _unicode_encode(input: Any, output_encoding: str = "UTF-8") -> Any:
    if is_ragged(input.values):
        return input.with_rows_of(_unicode_encode(input.values, output_encoding))
    if len(input.values.shape) > 1:
        return input.with_rows_of(get_op("strings.unicode_encode")(input.values, output_encoding))
    texts = np.empty(input.num_rows(), object)
    texts[:] = ["".join(map(chr, row)).encode(output_encoding) for row in input.to_list()]
    return to_host_tensor(texts)


def register() -> None:
    """Called when `tf.ragged` is imported."""
    handlers = {name: elementwise.unary_handler(name) for name in UNARY_ELEMENTWISE}
    handlers |= {name: elementwise.binary_handler(name) for name in BINARY_ELEMENTWISE}
    handlers |= {
        "argsort": gather.argsort,
        "boolean_mask": gather.boolean_mask_op,
        "broadcast_to": structure.broadcast_to,
        "clip_by_value": elementwise.clip_by_value,
        "concat": structure.concat,
        "expand_dims": structure.expand_dims,
        "gather": gather.gather,
        "gather_nd": gather.gather_nd,
        "linalg.matmul": elementwise.matmul,
        "math.add_n": elementwise.add_n,
        "math.argmax": reductions.argmax,
        "math.argmin": reductions.argmin,
        "math.cumsum": reductions.cumsum,
        "math.reduce_all": reductions.reduce_all,
        "math.reduce_any": reductions.reduce_any,
        "math.reduce_logsumexp": reductions.reduce_logsumexp,
        "math.reduce_max": reductions.reduce_max,
        "math.reduce_mean": reductions.reduce_mean,
        "math.reduce_min": reductions.reduce_min,
        "math.reduce_prod": reductions.reduce_prod,
        "math.reduce_std": reductions.reduce_std,
        "math.reduce_sum": reductions.reduce_sum,
        "math.reduce_variance": reductions.reduce_variance,
        "nn.embedding_lookup": elementwise.embedding_lookup,
        "nn.softmax": elementwise.softmax,
        "rank": structure.rank,
        "repeat": structure.repeat,
        "reshape": ragged_shape.reshape,
        "reverse": structure.reverse,
        "shape": ragged_shape.shape,
        "size": structure.size,
        "sort": gather.sort,
        "split": structure.split,
        "squeeze": structure.squeeze,
        "stack": structure.stack,
        "strings.join": elementwise.join,
        "strings.reduce_join": _reduce_join,
        "strings.substr": _substr,
        "strings.unicode_encode": _unicode_encode,
        "tile": structure.tile,
        "unstack": structure.unstack,
        "where": structure.where,
    }
    own = ("ragged.stack", "ragged.range", "ragged.stack_dynamic_partitions")
    handlers |= {name: get_op(name).__wrapped__ for name in own}  # type: ignore[attr-defined]
    register_handlers(RaggedTensor, handlers)
    register_handlers(
        ragged_shape.DynamicRaggedShape,
        {
            "broadcast_to": structure.broadcast_to,
            "fill": ragged_shape.fill,
            "ones": ragged_shape.ones,
            "random.normal": ragged_shape.normal,
            "random.uniform": ragged_shape.uniform,
            "reshape": ragged_shape.reshape,
            "zeros": ragged_shape.zeros,
        },
    )
