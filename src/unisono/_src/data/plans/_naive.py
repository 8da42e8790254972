"""The reference executor: stages that hand on one element at a time, in any order of operations.

Every faster executor must give these elements in this order.
"""

from __future__ import annotations

from collections.abc import Iterator

from unisono._src.data.plans._nest import Nest
from unisono._src.data.plans._plan import Plan


def iterate(plan: Plan, iteration: int = 0) -> Iterator[Nest]:
    """The elements of pass `iteration` over the plan, as NumPy arrays.

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
