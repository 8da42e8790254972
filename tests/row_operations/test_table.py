"""Operations that mix the rows of a batch give one device's result, on any number of replicas."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.quick_compilation import QUICK_COMPILATION
from tests.row_operations._cells import CELLS, QUICK, Cell, group_cells
from tests.row_operations._operations import GROUPS, OPERATIONS
from tests.row_operations.page import listed_operations, page

ROOT = Path(__file__).parents[2]


def _compare(cells: list[Cell], folder: Path, seconds: float) -> dict[Cell, str]:
    results = folder / "results.jsonl"
    results.touch()
    chosen = json.dumps([[cell.operation, cell.replicas, cell.batches] for cell in cells])
    ours = ("JAX_", "XLA_", "UNISONO_CPU", "NPROC")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    # What matters is how XLA partitions the program, not how well it compiles the parts.
    environment["XLA_FLAGS"] = QUICK_COMPILATION
    with (folder / "output.txt").open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.row_operations.run", str(results), chosen],
            cwd=ROOT,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(seconds)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    assert code == 0, (folder / "output.txt").read_text()[-3000:]
    return {Cell(*row[:3]): row[3] for row in map(json.loads, results.read_text().splitlines())}


@pytest.mark.timeout(240)
@pytest.mark.slow
def test_an_operation_along_the_rows_gives_one_devices_result(tmp_path: Path) -> None:
    assert _compare(QUICK, tmp_path, 200) == dict.fromkeys(QUICK, "equal")


@pytest.mark.full
@pytest.mark.timeout(3600)
def test_every_operation_along_the_rows_gives_one_devices_result(tmp_path: Path) -> None:
    results = _compare(CELLS, tmp_path, 3500)
    assert {cell: result for cell, result in results.items() if result != "equal"} == {}
    assert set(results) == set(CELLS)


def test_the_page_lists_the_operations_that_are_compared() -> None:
    text = (ROOT / "docs" / "row-operations.md").read_text()
    assert listed_operations(text) == list(OPERATIONS), "type: make row-operations"
    assert f"**{len(CELLS)} of {len(CELLS)} cells: equal.**" in text


def test_the_page_shows_what_differs_and_what_was_not_compared() -> None:
    text = page([["sort", 2, "even", "equal"], ["sort", 2, "uneven", "SIGABRT"]])
    assert f"**1 of {len(CELLS)} cells: equal.**" in text
    assert "| sort | equal | **SIGABRT** | not compared |" in text


def test_groups_have_every_cell_once() -> None:
    assert sorted(map(repr, (cell for group in group_cells(CELLS, size=12) for cell in group.cells))) == sorted(
        map(repr, CELLS)
    )
    assert len(OPERATIONS) == sum(map(len, GROUPS.values()))
    assert set(QUICK) <= set(CELLS)
