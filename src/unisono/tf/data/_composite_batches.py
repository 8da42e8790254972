"""`ragged_batch` and `sparse_batch`: dense elements of different shapes in one batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unisono._src.data.plans import CompositeLeaf, CompositeSpec, Deferred, Inspection, Nest, map_specs
from unisono._src.data.plans._batch import StackOperation, stack_elements
from unisono.tf._dtypes import as_dtype
from unisono.tf._tensors import to_host_tensor
from unisono.tf.ragged._factories import stack
from unisono.tf.ragged._spec import RaggedTensorSpec
from unisono.tf.sparse._sparse_tensor import SparseTensor
from unisono.tf.sparse._spec import SparseTensorSpec


@dataclass(frozen=True)
class RaggedBatch(StackOperation):
    """Elements of different lengths, as ragged tensors; elements without dims, as dense ones."""

    call: ClassVar[str] = "ragged_batch"

    def stack(self, group: Sequence[Deferred]) -> Nest:
        return stack_elements(group, self, self._stack_leaves)

    def _stack_leaves(self, leaves: tuple[Any, ...], name: str) -> Any:
        if isinstance(leaves[0], CompositeLeaf):
            return type(leaves[0]).stack_leaves(leaves)
        if leaves[0].ndim == 0:
            return np.stack(leaves)
        if len({leaf.ndim for leaf in leaves}) > 1:
            raise ValueError(f"{self}: {name} has different numbers of dims in one batch.")
        return stack([to_host_tensor(leaf) for leaf in leaves]).to_host()

    def element_spec(self, spec: Nest, inspection: Inspection) -> Nest:
        num_rows = self.batch_size if self.drop_remainder else None

        def batch(leaf: Any) -> Any:
            if isinstance(leaf, CompositeSpec):
                return leaf.batched(num_rows)
            if not leaf.shape:
                return type(leaf)([num_rows], leaf.dtype)
            return RaggedTensorSpec([num_rows, *[None] * len(leaf.shape)], as_dtype(leaf.dtype))

        return map_specs(batch, spec)


@dataclass(frozen=True)
class SparseBatch(StackOperation):
    """Dense elements as rows of a sparse tensor of the shape ``row_shape``."""

    call: ClassVar[str] = "sparse_batch"

    row_shape: tuple[int, ...] = ()

    def stack(self, group: Sequence[Deferred]) -> Nest:
        return stack_elements(group, self, self._stack_leaves)

    def _stack_leaves(self, leaves: tuple[Any, ...], name: str) -> Any:
        parts, values = [], []
        for number, leaf in enumerate(leaves):
            if leaf.ndim != len(self.row_shape) or any(np.array(leaf.shape) > np.array(self.row_shape)):
                raise ValueError(f"{self}: {name} has the shape {leaf.shape}, larger than row_shape {self.row_shape}.")
            indices = np.indices(leaf.shape).reshape(leaf.ndim, -1).T
            parts.append(np.insert(indices, 0, number, axis=1))
            values.append(np.asarray(leaf).reshape(-1))
        return SparseTensor(np.concatenate(parts), np.concatenate(values), (len(leaves), *self.row_shape))

    def element_spec(self, spec: Nest, inspection: Inspection) -> Nest:
        num_rows = self.batch_size if self.drop_remainder else None
        return map_specs(lambda leaf: SparseTensorSpec([num_rows, *self.row_shape], leaf.dtype), spec)
