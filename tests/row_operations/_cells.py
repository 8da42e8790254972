"""The cells of the table: an operation on a number of replicas, with batches that divide among them or do not."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Final

from tests.row_operations._operations import OPERATIONS

REPLICAS: Final = (2, 3, 4)

BATCHES: Final = {"even": (24, 12), "uneven": (17, 7)}
"""Rows, and rows per batch. 17 rows are batches of 7, 7 and 3: the last leaves one of four replicas without rows."""


@dataclass(frozen=True)
class Cell:
    operation: str
    replicas: int
    batches: str


@dataclass(frozen=True)
class Group:
    """The cells of some operations, which are the branches of one model."""

    operations: tuple[str, ...]
    replicas: tuple[int, ...]
    batches: str

    @property
    def cells(self) -> list[Cell]:
        pairs = itertools.product(self.operations, self.replicas)
        return [Cell(operation, replicas, self.batches) for operation, replicas in pairs]


CELLS: Final = [
    Cell(operation, replicas, batches) for operation in OPERATIONS for replicas in REPLICAS for batches in BATCHES
]

QUICK: Final = Group(("sort", "median", "shuffle", "segment_max", "max_pool", "cumsum"), (3,), "uneven").cells
"""Those that `make test` runs: what XLA does not partition by itself, and two operations that it does."""


def group_cells(cells: list[Cell], size: int) -> list[Group]:
    """Groups of at most ``size`` operations."""
    replicas_of: dict[tuple[str, str], list[int]] = {}
    for cell in cells:
        replicas_of.setdefault((cell.operation, cell.batches), []).append(cell.replicas)
    operations_of: dict[tuple[tuple[int, ...], str], list[str]] = {}
    for (operation, batches), replicas in replicas_of.items():
        operations_of.setdefault((tuple(replicas), batches), []).append(operation)
    return [
        Group(tuple(operations[start : start + size]), *kind)
        for kind, operations in operations_of.items()
        for start in range(0, len(operations), size)
    ]
