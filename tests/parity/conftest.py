"""Solves the problems of all selected cells once: the oracle in one process, Unisono in others per N."""

import os
from dataclasses import dataclass

import pytest

from ._cells import Cell
from ._compare import Solution
from ._processes import Group, oracle_solution, solve_all


@dataclass(frozen=True)
class Solved:
    candidate: str
    groups: dict[tuple[str, int, str], Group]

    def oracle(self, cell: Cell) -> Solution:
        return self._solution("oracle", 1, oracle_solution(cell))

    def unisono(self, cell: Cell) -> Solution:
        return self._solution(self.candidate, cell.devices, cell.solution)

    def _solution(self, side: str, devices: int, name: str) -> Solution:
        return self.groups[side, devices, name].solution(name)


@pytest.fixture(scope="session")
def solved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Solved:
    """PARITY_CANDIDATE=reordered replaces Unisono by stock Keras: what fails then is rounding."""
    candidate = os.environ.get("PARITY_CANDIDATE", "unisono")
    calls = [getattr(item, "callspec", None) for item in request.session.items]
    selected = [call.params.get("cell") for call in calls if call is not None]
    cells = list(dict.fromkeys(cell for cell in selected if isinstance(cell, Cell)))
    return Solved(candidate, solve_all(cells, candidate, tmp_path_factory.mktemp("parity")))
