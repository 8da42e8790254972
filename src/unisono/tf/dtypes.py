"""`tf.dtypes`: the dtypes, and `cast`."""

# ruff: noqa: F401  (names that the module re-exports)

from unisono.tf._array_ops import cast, saturate_cast
from unisono.tf._dtypes import (
    DType,
    as_dtype,
    bfloat16,
    complex64,
    complex128,
    double,
    float16,
    float32,
    float64,
    half,
    int8,
    int16,
    int32,
    int64,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
)
from unisono.tf._dtypes import bool_ as bool
from unisono.tf._missing import explain_missing_names
from unisono.tf.math._elementary_and_special import complex

__getattr__ = explain_missing_names("tf.dtypes")
