"""The reference executor: Python iterators, one element at a time, any order of operations.

Every faster executor must give these elements in this order.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from unisono.plans._nest import Nest
from unisono.plans._operation import Upstream
from unisono.plans._plan import Plan
from unisono.plans._shuffle import Shuffle


def iterate(plan: Plan, iteration: int = 0) -> Iterator[Nest]:
    """The elements of pass `iteration` over the plan, as NumPy arrays.

    >>> import numpy as np
    >>> from unisono.plans import ArraySlices, Batch, Plan, iterate
    >>> [batch.tolist() for batch in iterate(Plan(ArraySlices(np.arange(5)), (Batch(2),)))]
    [[0, 1], [2, 3], [4]]
    """
    stage = Upstream(cardinality=plan.source.cardinality, elements=plan.source.elements, num_shuffles=0)
    for operation in plan.operations:
        stage = Upstream(
            cardinality=operation.cardinality(stage.cardinality),
            elements=partial(operation.elements, stage),
            num_shuffles=stage.num_shuffles + isinstance(operation, Shuffle),
        )
    for element in stage.elements((iteration,)):
        yield element()
