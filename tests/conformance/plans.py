"""The table: the name of each plan, and the function that builds it in a `Space`.

Exactly the same code runs on tf.data and on unisono.data, so an element function may compute, compare, index and build
tuples or dicts, and nothing else: NumPy's functions do not work on TensorFlow's symbolic tensors. A plan gives a
dataset, or a value where it states a fact (`shuffle_passes_differ`) or ends a pipeline (`reduce_a_sum`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._plans_batches import BATCHES
from ._plans_deep import DEEP
from ._plans_elements import ELEMENTS
from ._plans_errors import ERRORS
from ._plans_nested import NESTED
from ._plans_passes import PASSES
from ._plans_several import SEVERAL
from ._plans_shuffles import SHUFFLES
from ._plans_sources import SOURCES
from ._space import Space

_TABLES = (SOURCES, ELEMENTS, BATCHES, PASSES, NESTED, SEVERAL, SHUFFLES, DEEP, ERRORS)

PLANS: dict[str, Callable[[Space], Any]] = {name: plan for table in _TABLES for name, plan in table.items()}

assert len(PLANS) == sum(len(table) for table in _TABLES), "a name was given twice"
