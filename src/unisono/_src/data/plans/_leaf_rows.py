"""The rows of arrays and of composite leaves, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from unisono._src.data.plans._composite_leaf import CompositeLeaf, count_leaf_rows, take_leaf_row
from unisono._src.data.plans._identity import pass_number, set_identity
from unisono._src.data.plans._inspection import Inspection
from unisono._src.data.plans._nest import Nest, flatten, map_leaves
from unisono._src.data.plans._operation import Elements, PassId
from unisono._src.data.plans._passes import NumberedElements
from unisono._src.data.plans._source import Source
from unisono._src.data.plans._spec import TensorSpec


@dataclass(frozen=True, eq=False)
class LeafRows(Source):
    """One element for each row of a nest of arrays and composite leaves with equally many rows."""

    random_access = True
    gives_single_rows = True

    leaves: Nest

    def __post_init__(self) -> None:
        counts = {count_leaf_rows(leaf) for leaf in flatten(self.leaves)}
        if len(counts) != 1:
            raise ValueError(f"from_tensor_slices: the parts have {sorted(counts)} rows. Expected equally many.")

    @property
    def cardinality(self) -> int:
        return count_leaf_rows(flatten(self.leaves)[0])

    def elements(self, pass_id: PassId) -> Elements:
        return NumberedElements(self.cardinality, partial(partial, self._element, pass_number(pass_id)))

    def _element(self, epoch: int, row: int) -> Nest:
        set_identity(epoch, row)
        return map_leaves(lambda leaf: take_leaf_row(leaf, row), self.leaves)

    def element_spec(self, inspection: Inspection) -> Nest:
        def row_spec(leaf: object) -> object:
            if isinstance(leaf, CompositeLeaf):
                return leaf.leaf_spec().unbatched()
            return TensorSpec(leaf.shape[1:], leaf.dtype)  # type: ignore[attr-defined]

        return map_leaves(row_spec, self.leaves)

    def __str__(self) -> str:
        return f"{self.cardinality} row{'' if self.cardinality == 1 else 's'}"
