"""Where elements come from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Self

from unisono._src.data.plans._nest import Nest
from unisono._src.data.plans._operation import Elements, Path

if TYPE_CHECKING:
    from unisono._src.data.plans._inspection import Inspection
    from unisono._src.data.plans._plan import Plan
    from unisono._src.data.plans._row_plan import RowPlan


class Source(ABC):
    """The first member of a plan."""

    @property
    @abstractmethod
    def cardinality(self) -> int:
        """The number of elements in one pass."""

    @property
    @abstractmethod
    def random_access(self) -> bool:
        """Whether an element costs nothing until it is computed."""

    @abstractmethod
    def elements(self, path: Path) -> Elements:
        """The elements of one pass."""

    @abstractmethod
    def __str__(self) -> str:
        """A few words for `repr(dataset)`, such as `60000 rows`."""

    def element_spec(self, inspection: Inspection) -> Nest:
        """What its elements look like. By default the first one is read to find out."""
        return inspection.observe()

    def as_rows(self) -> RowPlan | None:
        """Its elements as rows of arrays, in order; None if they are not."""
        return None

    @property
    def gives_single_rows(self) -> bool:
        """Whether it is known that its elements are single rows or records, not batches of them."""
        return False

    @property
    def num_shuffles(self) -> int:
        """Shuffles that it replaces."""
        return 0

    @property
    def inputs(self) -> tuple[Plan, ...]:
        """Plans that this source reads."""
        return ()

    def with_inputs(self, inputs: tuple[Plan, ...]) -> Self:
        """The same source on other plans; `inputs` has the length of `self.inputs`."""
        return self
