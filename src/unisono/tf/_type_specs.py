"""`tf.type_spec_from_value`: the spec of a value."""

from __future__ import annotations

from typing import Any

from unisono._src.data.dataset import Dataset
from unisono._src.data.plans import CompositeLeaf, spec_of_leaf
from unisono.tf._spec import TensorSpec, as_tf_spec
from unisono.tf._tensors import convert_to_tensor


def type_spec_from_value(value: Any) -> Any:
    """The spec of a tensor, or of what can be one, of a ragged or sparse tensor, an ExtensionType or a dataset.

    >>> type_spec_from_value([[1.0, 2.0]])
    TensorSpec(shape=(1, 2), dtype=tf.float32, name=None)
    """
    if isinstance(value, CompositeLeaf | Dataset):
        return as_tf_spec(spec_of_leaf(value))
    return TensorSpec.from_tensor(value if hasattr(value, "dtype") else convert_to_tensor(value))
