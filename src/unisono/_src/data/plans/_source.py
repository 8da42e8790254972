"""Where elements come from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from unisono._src.data.plans._nest import Nest
from unisono._src.data.plans._operation import Elements, PassId, PlanPart

if TYPE_CHECKING:
    from unisono._src.data.plans._inspection import Inspection
    from unisono._src.data.plans._row_plan import RowPlan


class Source(PlanPart, ABC):
    """The first member of a plan."""

    random_access: ClassVar[bool]
    """Whether an element costs nothing until it is computed."""
    gives_single_rows: ClassVar[bool] = False
    """Whether it is known that its elements are single rows or records, not batches of them."""

    @property
    @abstractmethod
    def cardinality(self) -> int:
        """The number of elements in one pass."""

    @abstractmethod
    def elements(self, pass_id: PassId) -> Elements:
        """The elements of one pass."""

    @abstractmethod
    def __str__(self) -> str:
        """A few words for `repr(dataset)`, such as `60000 rows`."""

    def element_spec(self, inspection: Inspection) -> Nest:
        """What its elements look like. By default the first one is read to find out."""
        return inspection.observe()

    @property
    def resume_caveat(self) -> str | None:
        """Why a pass that is set to a position may give other elements than before; None if it cannot."""
        return None

    def as_rows(self) -> RowPlan | None:
        """Its elements as rows of arrays, in order; None if they are not."""
        return None
