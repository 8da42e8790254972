"""Elements that have been computed already, of any shapes: the content of a window."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from unisono._src.data.plans._identity import pass_number, set_identity
from unisono._src.data.plans._inspection import Inspection
from unisono._src.data.plans._nest import Nest
from unisono._src.data.plans._operation import Elements, PassId
from unisono._src.data.plans._passes import NumberedElements
from unisono._src.data.plans._source import Source
from unisono._src.data.plans._spec import map_specs, merge_specs, spec_of_leaf


@dataclass(frozen=True, eq=False)
class ListSource(Source):
    """These elements, in this order."""

    random_access = True

    values: tuple[Nest, ...]
    spec: Nest = None
    """What elements of such a source look like, if more is known than these values show."""

    @property
    def cardinality(self) -> int:
        return len(self.values)

    def elements(self, pass_id: PassId) -> Elements:
        return NumberedElements(len(self.values), partial(partial, self._element, pass_number(pass_id)))

    def _element(self, epoch: int, row: int) -> Nest:
        set_identity(epoch, row)
        return self.values[row]

    def element_spec(self, inspection: Inspection) -> Nest:
        if self.spec is not None:
            return self.spec
        return merge_specs([map_specs(spec_of_leaf, value) for value in self.values])

    def __str__(self) -> str:
        return f"{len(self.values)} elements"
