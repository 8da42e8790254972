"""What makes steps of elements: the last operation in the plan of a distributed dataset."""

from __future__ import annotations

from abc import abstractmethod

from unisono._src.data.dataset import Dataset
from unisono._src.data.plans import Nest, Operation


class Step(Operation):
    """An operation whose elements hold a value for each replica."""

    @abstractmethod
    def spec(self, element_spec: Nest) -> Nest:
        """What a step looks like; an error if elements like these cannot be distributed."""

    @abstractmethod
    def global_batches(self, dataset: Dataset) -> Dataset:
        """The same steps as global batches, for training that splits them itself."""
