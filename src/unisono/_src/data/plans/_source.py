"""Where elements come from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Self

from unisono._src.data.plans._operation import Elements, Path

if TYPE_CHECKING:
    from unisono._src.data.plans._plan import Plan


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

    @property
    def num_shuffles(self) -> int:
        """Shuffles that it stands for."""
        return 0

    @property
    def inputs(self) -> tuple[Plan, ...]:
        """Plans that this source reads."""
        return ()

    def with_inputs(self, inputs: tuple[Plan, ...]) -> Self:
        """The same source on other plans; `inputs` are as many as its own."""
        return self
