"""Writes docs/row-operations.md from what `run.py` has left: FILE PAGE. `make row-operations` does both."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from tests.row_operations._cells import BATCHES, CELLS, REPLICAS, Cell
from tests.row_operations._operations import GROUPS

INTRODUCTION: Final = """# Operations along the rows

In `fit`, `evaluate` and `predict`, an operation sees all rows of the global batch, whichever replica they are on. A
layer may sort them, shuffle them, or compare each row with all others, and gives the same result as on one device. XLA
divides the work among the replicas. Where XLA does not do so correctly, Unisono changes the operation in the traced
program (`jax_hooks/_partitioning.py`):

- *Scatters with unsigned indices*, which include the gradients of `sort`, `median`, `quantile` and `shuffle`: if the
  batch does not split evenly, XLA aborts the process. Unisono converts the indices to signed integers.
- *The gradient of max-pooling along the rows*: if the windows overlap, XLA's result is wrong. Unisono gives every
  replica all rows for this operation.

In [`strategy.run`](loops.md), each replica sees only its own rows.

`make row-operations` generates this page. A small network with the operation between two dense layers predicts and
trains on two, three and four replicas and, with stock Keras, on one device. *Equal* means that predictions, losses and
all weights after training agree to within 2e-5 of the largest value. *Even* batches have 12 rows; *uneven* batches have
7, 7 and 3 rows, so with four replicas, one replica gets no rows of the last batch. Because XLA may abort the process,
every group of operations runs in its own process.
"""


def page(rows: Iterable[Sequence[Any]]) -> str:
    """The page. Cells that were not compared are in it, as such."""
    results = {Cell(*row[:3]): row[3] for row in rows}
    equal = sum(results.get(cell) == "equal" for cell in CELLS)
    versions = f"Python {platform.python_version()}, JAX {version('jax')}, Keras {version('keras')}"
    summary = f"**{equal} of {len(CELLS)} cells: equal.** {versions}.\n"
    tables = [f"## {title[:1].upper()}{title[1:]}\n\n{_table(names, results)}" for title, names in GROUPS.items()]
    return "\n".join([INTRODUCTION, summary, *tables])


def listed_operations(text: str) -> list[str]:
    """The operations that a page lists."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    names = [line.split("|")[1].strip() for line in lines]
    return [name for name in names if name not in ("operation", "---")]


def _table(names: Iterable[str], results: dict[Cell, str]) -> str:
    columns = [(replicas, batches) for replicas in REPLICAS for batches in BATCHES]
    head = ["operation", *(f"{replicas} replicas, {batches}" for replicas, batches in columns)]
    lines = [[name, *(_show(results.get(Cell(name, *column))) for column in columns)] for name in names]
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, ["---"] * len(head), *lines))


def _show(result: str | None) -> str:
    return "not compared" if result is None else result if result == "equal" else f"**{result}**"


def main(results: Path, target: Path) -> None:
    target.write_text(page([json.loads(line) for line in results.read_text().splitlines()]))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
