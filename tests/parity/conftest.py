"""Solves the problems of all selected cells once: the oracle in one process, Unisono in one per N."""

import os
from dataclasses import dataclass

import pytest

from ._cells import Cell
from ._compare import Solution
from ._processes import Group, solve_all


@dataclass(frozen=True)
class Solved:
    candidate: str
    groups: dict[tuple[str, int], Group]

    def oracle(self, cell: Cell) -> Solution:
        return self.groups["oracle", 1].solution(cell.problem.id)

    def unisono(self, cell: Cell) -> Solution:
        return self.groups[self.candidate, cell.replicas].solution(cell.problem.id)


@pytest.fixture(scope="session")
def solved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Solved:
    """PARITY_CANDIDATE=reordered replaces Unisono by stock Keras: what fails then is rounding."""
    candidate = os.environ.get("PARITY_CANDIDATE", "unisono")
    calls = [getattr(item, "callspec", None) for item in request.session.items]
    selected = [call.params.get("cell") for call in calls if call is not None]
    cells = list(dict.fromkeys(cell for cell in selected if isinstance(cell, Cell)))
    return Solved(candidate, solve_all(cells, candidate, tmp_path_factory.mktemp("parity")))
