"""`tf.sparse.to_dense` of what is dense: the values of a `tf.io.VarLenFeature`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from unisono.tf._op import op
from unisono.tf._tensors import convert_to_tensor

_FILLED_WITH: Final = (None, 0, False, "", b"")

OTHER_DEFAULT = """tf.sparse.to_dense(default_value={value!r}): the rows of a batch were filled up with zeros or empty
strings when they were parsed. Expected no default_value; use
    tf.io.FixedLenSequenceFeature([], dtype, allow_missing=True, default_value={value!r})
in place of tf.io.VarLenFeature, and leave to_dense out."""


@op
def to_dense(sp_input: Any, default_value: Any = None, validate_indices: bool = True) -> Any:
    """The values of a `tf.io.VarLenFeature`, as they are: they come dense.

    >>> to_dense([[1, 2], [3, 0]]).tolist()
    [[1, 2], [3, 0]]

    Args:
        sp_input: what was parsed.
        default_value: what a batch is filled up with: zeros or empty strings. One row has nothing to fill.
        validate_indices: accepted, without effect.
    """
    values = convert_to_tensor(sp_input)
    plain = np.asarray(default_value).item() if default_value is not None else None
    if values.ndim > 1 and plain not in _FILLED_WITH:
        raise ValueError(OTHER_DEFAULT.format(value=plain))
    return values
