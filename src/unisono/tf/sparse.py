"""`tf.sparse`: only `to_dense`, for the values of a `tf.io.VarLenFeature`, which are dense already."""

from __future__ import annotations

from typing import Any, Final

import numpy as _np

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf._op import op as _op
from unisono.tf._tensors import convert_to_tensor as _convert_to_tensor

_PADDING_VALUES: Final = (None, 0, False, "", b"")

_OTHER_DEFAULT = """tf.sparse.to_dense(default_value={value!r}): the rows of the batch were padded with zeros or empty
strings when they were parsed. Expected no default_value; use
    tf.io.FixedLenSequenceFeature([], dtype, allow_missing=True, default_value={value!r})
instead of tf.io.VarLenFeature, without to_dense."""


@_op
def to_dense(sp_input: Any, default_value: Any = None, validate_indices: bool = True) -> Any:
    """Returns the values of a `tf.io.VarLenFeature` unchanged: they are dense already.

    >>> to_dense([[1, 2], [3, 0]]).tolist()
    [[1, 2], [3, 0]]

    Args:
        sp_input: the parsed feature.
        default_value: for a batch only 0, False or an empty string, with which its rows were padded when they were
            parsed. A single example has no padding, so any value is accepted.
        validate_indices: accepted without effect.
    """
    values = _convert_to_tensor(sp_input)
    plain = _np.asarray(default_value).item() if default_value is not None else None
    if values.ndim > 1 and plain not in _PADDING_VALUES:
        raise ValueError(_OTHER_DEFAULT.format(value=plain))
    return values


__getattr__ = _explain_missing_names("tf.sparse")
