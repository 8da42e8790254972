"""Compares cells and appends a line of JSON for each to a file. Arguments: FILE [CELLS].

CELLS is a JSON list of [operation, replicas, batches]; without it, all of them are compared.

XLA may end the process. Therefore each group of cells runs in a child of this one, which imports everything but does
not start JAX. Of a group whose child died, each cell is tried alone.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from pathlib import Path

import unisono

unisono.config.set_cpu_devices(4)

from tests.row_operations._cells import CELLS, Cell, Group, group_cells  # noqa: E402
from tests.row_operations._compare import compare  # noqa: E402

SECONDS_A_CELL = 60


def run(cells: list[Cell], path: Path) -> None:
    """Compares ``cells``."""
    for group in group_cells(cells, size=12):
        if _run_in_child(group, path) is not None:
            for cell in group.cells:
                (single,) = group_cells([cell], size=1)
                ending = _run_in_child(single, path)
                if ending is not None:
                    _write(path, {cell: ending})


def _run_in_child(group: Group, path: Path) -> str | None:
    """How the child ended without results; None if it wrote them."""
    pid = os.fork()
    if pid == 0:
        try:
            _write(path, compare(group))
            os._exit(0)
        except Exception as error:
            traceback.print_exc()
            if len(group.cells) == 1:
                _write(path, dict.fromkeys(group.cells, f"raises {type(error).__name__}"))
                os._exit(0)
        finally:
            os._exit(1)
    return _wait(pid, time.monotonic() + SECONDS_A_CELL * len(group.cells))


def _wait(pid: int, deadline: float) -> str | None:
    while time.monotonic() < deadline:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            code = os.waitstatus_to_exitcode(status)
            return None if code == 0 else signal.Signals(-code).name if code < 0 else f"exit code {code}"
        time.sleep(0.02)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return "does not end"


def _write(path: Path, results: dict[Cell, str]) -> None:
    with path.open("a") as file:
        for cell, result in results.items():
            file.write(json.dumps([cell.operation, cell.replicas, cell.batches, result]) + "\n")


if __name__ == "__main__":
    chosen = [Cell(*row) for row in json.loads(sys.argv[2])] if len(sys.argv) > 2 else CELLS
    run(chosen, Path(sys.argv[1]))
