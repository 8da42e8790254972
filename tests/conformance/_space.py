"""Space: what a plan may use. The plans never know which of the two libraries they run on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Space:
    """One library, and a folder for plans that write."""

    data: Any
    """`tf.data` or `unisono.data`."""
    TensorSpec: Any
    length: Callable[[Any], Any]
    """The number of rows of an array; TensorFlow needs `tf.shape(x)[0]` where the length is not known."""
    folder: Path

    @property
    def Dataset(self) -> Any:  # noqa: N802
        return self.data.Dataset

    def range(self, *bounds: int) -> Any:
        return self.data.Dataset.range(*bounds)

    def slices(self, tensors: Any) -> Any:
        return self.data.Dataset.from_tensor_slices(tensors)

    def numbers(self, num: int) -> Any:
        """0, 1, 2, … as int32, which every map keeps: JAX has no int64 unless asked."""
        return self.slices(np.arange(num, dtype=np.int32))

    def pairs(self, num: int) -> Any:
        """(i, 10·i + 0.5)."""
        return self.slices((np.arange(num, dtype=np.int32), np.arange(num, dtype=np.float32) * 10 + 0.5))

    def spec(self, *shape: int | None, dtype: Any = np.int32) -> Any:
        return self.TensorSpec(shape, dtype)

    def generated(self, elements: list[Any], signature: Any) -> Any:
        def generator() -> Iterator[Any]:
            yield from elements

        return self.data.Dataset.from_generator(generator, output_signature=signature)

    def rows(self, *lengths: int) -> Any:
        """One vector for each length: 10, 11, 12, … ."""
        return self.generated([np.arange(10, 10 + n, dtype=np.int32) for n in lengths], self.spec(None))

    def lacks(self, error: Exception) -> bool:
        """Whether the library has no such name at all, which must not pass for a plan that is refused."""
        if not isinstance(error, AttributeError):
            return False
        names = (self.data, self.Dataset, getattr(self.data, "experimental", self.data))
        return any(error.obj is name for name in names) or isinstance(error.obj, self.Dataset)
