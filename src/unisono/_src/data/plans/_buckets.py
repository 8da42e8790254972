"""bucket_by_sequence_length: batches of elements of about the same length."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unisono._src.data.plans._arguments import check_function, check_int
from unisono._src.data.plans._batch import Batch
from unisono._src.data.plans._group_by_window import GroupByWindow
from unisono._src.data.plans._nest import Nest, apply
from unisono._src.data.plans._padded_batch import PaddedBatch

if TYPE_CHECKING:
    from unisono._src.data.plans._operation import Operation
    from unisono._src.data.plans._source import Source


@dataclass(frozen=True, kw_only=True)
class Buckets:
    """Bucket i takes the lengths below `boundaries[i]`, the last bucket the remaining ones."""

    length: Callable[..., Any]
    boundaries: Sequence[int]
    batch_sizes: Sequence[int]
    padded_shapes: Nest = None
    padding_values: Nest = None
    pad_to_bucket_boundary: bool = False
    no_padding: bool = False

    def __post_init__(self) -> None:
        check_function(self.length, "bucket_by_sequence_length")
        for name in ("boundaries", "batch_sizes"):
            numbers = [check_int(number, "bucket_by_sequence_length", name) for number in getattr(self, name)]
            object.__setattr__(self, name, numbers)
        if len(self.batch_sizes) != len(self.boundaries) + 1:
            raise ValueError(
                f"bucket_by_sequence_length: {len(self.boundaries)} boundaries make {len(self.boundaries) + 1} "
                f"buckets, but there are {len(self.batch_sizes)} bucket_batch_sizes. Give one size for each bucket."
            )
        if self.boundaries != sorted(set(self.boundaries)):
            raise ValueError(f"bucket_by_sequence_length: the boundaries must rise, but they are {self.boundaries}.")

    def make_operation(self, dataset: Callable[[Source], Any], drop_remainder: bool) -> GroupByWindow:
        """The operation: groups by bucket, each of which becomes a batch."""
        return GroupByWindow(
            key=self._bucket,
            reduce=lambda bucket, window: window._then(self._batch(int(bucket))),
            size=self.batch_sizes.__getitem__,
            dataset=dataset,
            call=f"bucket_by_sequence_length({list(self.boundaries)}, {list(self.batch_sizes)})",
            batch=Batch(1) if self.no_padding else PaddedBatch(1, padded_shapes=self.padded_shapes),
            drop_remainder=drop_remainder,
        )

    def _bucket(self, *element: Nest) -> int:
        return bisect_right(self.boundaries, int(apply(self.length, element if len(element) > 1 else element[0])))

    def _batch(self, bucket: int) -> Operation:
        if self.no_padding:
            return Batch(self.batch_sizes[bucket])
        shapes = self.padded_shapes
        if self.pad_to_bucket_boundary:
            if bucket == len(self.boundaries):
                raise ValueError(
                    f"bucket_by_sequence_length: an element is as long as the last boundary, {self.boundaries[-1]}, or "
                    f"longer, and pad_to_bucket_boundary=True has no length to pad it to. Add a boundary, or filter."
                )
            shapes = _fill_open_dims(shapes, self.boundaries[bucket] - 1)
        return PaddedBatch(self.batch_sizes[bucket], padded_shapes=shapes, padding_values=self.padding_values)


def _fill_open_dims(shapes: Nest, length: int) -> Nest:
    """Shapes with `length` for every open dim. A shape is a tuple, so tuples of tuples are containers."""
    if isinstance(shapes, dict):
        return {key: _fill_open_dims(shape, length) for key, shape in shapes.items()}
    if isinstance(shapes, tuple | list) and any(isinstance(part, tuple | list | dict) for part in shapes):
        return type(shapes)(_fill_open_dims(part, length) for part in shapes)
    return tuple(length if dim is None or dim == -1 else dim for dim in shapes)
