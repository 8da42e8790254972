"""padded_batch: consecutive elements of different shapes, padded and stacked into one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unisono._src.data.plans._batch import StackOperation, stack_elements
from unisono._src.data.plans._composite_leaf import CompositeLeaf
from unisono._src.data.plans._identity import ComputedElement
from unisono._src.data.plans._inspection import Inspection
from unisono._src.data.plans._nest import Nest, flatten, is_leaf, leaf_names, unflatten
from unisono._src.data.plans._operation import Deferred
from unisono._src.data.plans._spec import TensorSpec, check_no_datasets


@dataclass(frozen=True)
class PaddedBatch(StackOperation):
    """Elements stacked, each leaf padded at its end to one shape.

    `padded_shapes` and `padding_values` have the structure of an element, or are one value for all of it.
    A dim of None or -1, and every dim if there are no `padded_shapes`, is as long as the longest in the batch.
    """

    call: ClassVar[str] = "padded_batch"

    padded_shapes: Nest = None
    padding_values: Nest = None

    def stack(self, group: Sequence[Deferred]) -> Nest:
        first = ComputedElement(group[0]())
        names = leaf_names(first.value, "element")
        shapes = dict(zip(names, self._shapes(first.value, self.padded_shapes), strict=True))
        values = dict(zip(names, self._values(first.value, self.padding_values), strict=True))
        return stack_elements(
            [first, *group[1:]], self, lambda leaves, name: self._pad(leaves, name, shapes[name], values[name])
        )

    def element_spec(self, spec: Nest, inspection: Inspection) -> Nest:
        check_no_datasets(spec, self)
        num_rows = self.batch_size if self.drop_remainder else None
        padded: list[TensorSpec | None] = []
        for leaf, shape in zip(flatten(spec), self._shapes(spec, self.padded_shapes), strict=True):
            if leaf is not None and shape is not None and len(shape) != len(leaf.shape):
                raise ValueError(f"{self}: {leaf} cannot be padded to {shape}, which has another number of dims.")
            padded.append(leaf and TensorSpec((num_rows, *(leaf.shape if shape is None else shape)), leaf.dtype))
        return unflatten(spec, padded)

    def _pad(self, leaves: tuple[Any, ...], name: str, wanted: tuple[int | None, ...] | None, value: Any) -> Any:
        if isinstance(leaves[0], CompositeLeaf):
            raise TypeError(
                f"{self}: {name} is a {type(leaves[0]).__name__}. Use batch(...), or make it dense before: "
                f"map(lambda x: x.to_tensor()), or map(tf.sparse.to_dense)."
            )
        num_dims = {leaf.ndim for leaf in leaves}
        if len(num_dims) > 1 or (wanted is not None and num_dims != {len(wanted)}):
            raise ValueError(
                f"{self}: {name} has {' and '.join(map(str, sorted(num_dims)))} dims"
                + (f", but padded_shapes says {wanted}." if wanted is not None else " in one batch.")
                + " Only lengths are padded: all rows need the same number of dims."
            )
        longest = np.max([leaf.shape for leaf in leaves], axis=0).astype(int).tolist()
        shape = [
            most if want is None else want for most, want in zip(longest, wanted or [None] * len(longest), strict=True)
        ]
        if any(most > want for most, want in zip(longest, shape, strict=True)):
            raise ValueError(
                f"{self}: a row of {name} has shape {tuple(longest)} or more, which does not fit into the padded shape "
                f"{tuple(shape)}. Give a larger padded shape, None to fit the longest, or cut the rows with map(...)."
            )
        return _pad_rows(leaves, shape, value)

    def _shapes(self, element: Nest, shapes: Nest) -> Iterator[tuple[int | None, ...] | None]:
        """The wanted shape of each leaf of an element, in the order of `flatten`; None to fit the longest."""
        if shapes is None:
            yield from [None] * len(flatten(element))
        elif is_leaf(element):
            dims: Any = getattr(shapes, "shape", shapes)
            yield tuple(None if dim is None or int(dim) == -1 else int(dim) for dim in dims)
        else:
            for child, part in self._children(element, shapes, "padded_shapes"):
                yield from self._shapes(child, part)

    def _values(self, element: Nest, values: Nest) -> Iterator[Any]:
        if is_leaf(values):
            yield from [values] * len(flatten(element))
        else:
            for child, part in self._children(element, values, "padding_values"):
                yield from self._values(child, part)

    def _children(self, element: Nest, parts: Nest, name: str) -> Iterator[tuple[Nest, Nest]]:
        keys = sorted(element) if isinstance(element, dict) else range(len(element))
        if is_leaf(element) or isinstance(parts, dict) != isinstance(element, dict) or len(parts) != len(element):
            raise ValueError(
                f"{self}: {name}={parts!r} does not have the structure of an element, whose leaves are "
                f"{', '.join(leaf_names(element, 'element'))}. Give one entry for each of them."
            )
        return ((element[key], parts[key]) for key in keys)


def _pad_rows(leaves: tuple[Any, ...], shape: list[int], value: Any) -> np.ndarray[Any, Any]:
    dtype = np.result_type(*leaves)
    if value is None:
        value = b"" if dtype.kind in "OS" else "" if dtype.kind == "U" else 0
    elif dtype.kind in "biu" and not _is_exact(value, dtype):  # floats are rounded
        raise TypeError(f"padded_batch: the padding value {value!r} does not fit the dtype {dtype}.")
    batch = np.full((len(leaves), *shape), value, dtype)
    for row, leaf in enumerate(leaves):
        part: tuple[Any, ...] = (row, *map(slice, leaf.shape), ...)
        batch[part] = leaf
    return batch


def _is_exact(value: Any, dtype: np.dtype[Any]) -> bool:
    with np.errstate(invalid="ignore"):  # NaN
        return bool(np.asarray(value).astype(dtype) == value)
