"""What one leaf of an element looks like: an array, or a dataset."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike


@dataclass(frozen=True, init=False, repr=False)
class TensorSpec:
    """A shape, with None for a dimension that may vary, and a dtype.

    >>> TensorSpec((None, 28, 28), "uint8")
    TensorSpec(shape=(None, 28, 28), dtype=uint8)
    """

    shape: tuple[int | None, ...]
    dtype: np.dtype[Any]
    name: str | None

    def __init__(self, shape: Iterable[int | None], dtype: DTypeLike = "float32", name: str | None = None) -> None:
        object.__setattr__(self, "shape", tuple(shape))
        object.__setattr__(self, "dtype", np.dtype(object if dtype in ("string", bytes, str) else dtype))
        object.__setattr__(self, "name", name)

    def __repr__(self) -> str:
        name = "" if self.name is None else f", name={self.name!r}"
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype}{name})"


@dataclass(frozen=True)
class DatasetSpec:
    """A dataset inside an element, as `window` makes them."""

    element_spec: Any
