"""A dataset as data: where the elements come from and what is done to them, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from unisono._src.data.plans._nest import Nest
from unisono._src.data.plans._operation import Elements, Operation, PassId, Upstream
from unisono._src.data.plans._source import Source


@dataclass(frozen=True, eq=False)
class Plan:
    """A source and the operations on its elements. It holds no position: passes do.

    >>> import numpy as np
    >>> from unisono._src.data.plans import ArraySlices, Batch, Plan, Shuffle
    >>> plan = Plan(ArraySlices(np.arange(10))).then(Shuffle(10)).then(Batch(4))
    >>> print(plan, plan.cardinality)
    10 rows -> shuffle(10) -> batch(4) 3
    """

    source: Source
    operations: tuple[Operation, ...] = ()

    def then(self, operation: Operation) -> Plan:
        """This plan with one more operation at its end."""
        return Plan(self.source, (*self.operations, operation))

    @property
    def cardinality(self) -> int:
        """The number of elements in one pass, INFINITE_CARDINALITY or UNKNOWN_CARDINALITY."""
        number = self.source.cardinality
        for operation in self.operations:
            number = operation.cardinality(number)
        return number

    @property
    def random_access(self) -> bool:
        """Whether an element costs nothing until it is computed."""
        return self.source.random_access and all(operation.keeps_random_access for operation in self.operations)

    def open(self, pass_id: PassId) -> Elements:
        """One pass through the reference executor: stages that pass on one element at a time."""
        stage = Upstream(
            cardinality=self.source.cardinality,
            random_access=self.source.random_access,
            open=self.source.elements,
            num_shuffles=self.source.num_shuffles,
        )
        for operation in self.operations:
            stage = Upstream(
                cardinality=operation.cardinality(stage.cardinality),
                random_access=stage.random_access and operation.keeps_random_access,
                open=partial(operation.elements, stage),
                num_shuffles=stage.num_shuffles + operation.num_shuffles,
            )
        return stage.open(pass_id)

    @property
    def resume_caveat(self) -> str | None:
        """Why a pass that is set to a position may give other elements than before; None if it cannot."""
        members: list[Source | Operation] = [self.source, *self.operations]
        inputs = (plan.resume_caveat for member in members for plan in member.inputs)
        return self.source.resume_caveat or next(filter(None, inputs), None)

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of everything random in it, in order: with equal seeds, equal plans give equal elements."""
        return tuple(self._seeds())

    def with_seeds(self, seeds: Sequence[int]) -> Plan:
        """The same plan with the seeds of another run of it."""
        following = iter(seeds)
        plan = self._with_seeds(following)
        if len(self.seeds) != len(seeds):
            raise ValueError(f"{self} has {len(self.seeds)} seeds, not {len(seeds)}: {list(seeds)}")
        return plan

    def _seeds(self) -> Iterator[int]:
        members: list[Source | Operation] = [self.source, *self.operations]
        for member in members:
            for plan in member.inputs:
                yield from plan._seeds()
            seed = getattr(member, "seed", None)
            if seed is not None:
                yield seed

    def _with_seeds(self, following: Iterator[int]) -> Plan:
        source = self.source.with_inputs(tuple(plan._with_seeds(following) for plan in self.source.inputs))
        if getattr(source, "seed", None) is not None:
            source = replace(source, seed=next(following, 0))  # type: ignore[type-var]
        operations: list[Operation] = []
        for operation in self.operations:
            member = operation.with_inputs(tuple(plan._with_seeds(following) for plan in operation.inputs))
            if getattr(member, "seed", None) is not None:
                member = replace(member, seed=next(following, 0))  # type: ignore[type-var]
            operations.append(member.without_memory())
        return Plan(source, tuple(operations))

    def __str__(self) -> str:
        return " -> ".join(map(str, (self.source, *self.operations)))


def iterate(plan: Plan, iteration: int = 0) -> Iterator[Nest]:
    """The elements of pass `iteration` through the reference executor, as NumPy arrays.

    Every faster executor must give these elements in this order.

    >>> import numpy as np
    >>> from unisono._src.data.plans import ArraySlices, Batch, Plan, iterate
    >>> [batch.tolist() for batch in iterate(Plan(ArraySlices(np.arange(5)), (Batch(2),)))]
    [[0, 1], [2, 3], [4]]
    """
    elements = plan.open((iteration,))
    try:
        for element in elements:
            yield element()
    finally:
        elements.close()
