"""Hook: NumPy's dtypes, which are those of JAX's arrays, have the attributes of TensorFlow's.

`array.dtype` stays JAX's own property, and gives NumPy's dtype: C code of JAX and NumPy takes only instances of that
class, and it has no subclasses.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from unisono._src import hooks


def install_dtype_attributes(attributes: Mapping[str, property]) -> None:
    """Gives dtypes properties of these names."""
    for name, each in attributes.items():
        hooks.add(np.dtype, name, each, why="scripts use attributes of TensorFlow's dtypes, as in x.dtype.is_floating")
