"""Rows on the host, gathered from all processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unisono._src.processes import all_gather_host, all_gather_json

NO_TEXT = """Workers exchange arrays of numbers and of text; got an element of type {type}: {item!r}.
Convert it in the dataset, with map."""


def gather_host_rows(rows: np.ndarray[Any, Any], counts: Sequence[int]) -> np.ndarray[Any, Any]:
    """The rows of all processes, in their order. All processes have to call it.

    Args:
        rows: those of this process.
        counts: the number of rows of each process.
    """
    if rows.dtype.kind in "OSU":
        return _gather_text(rows)
    padded = np.zeros((max(counts), *rows.shape[1:]), rows.dtype)
    padded[: len(rows)] = rows
    return np.concatenate([part[:count] for part, count in zip(all_gather_host(padded), counts, strict=True)])


def _gather_text(rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """As JSON, because processes have text of different lengths."""
    items = rows.reshape(-1).tolist()
    other = next((item for item in items if not isinstance(item, bytes | str)), None)
    failure = None if other is None else NO_TEXT.format(type=type(other).__name__, item=other)
    gathered = all_gather_json([failure, rows.shape, None if failure else [*map(_encode, items)]])
    for failure, *_ in gathered:
        if failure is not None:
            raise TypeError(failure)
    return np.concatenate([_decode(shape, items, rows.dtype.kind) for _, shape, items in gathered])


def _encode(item: bytes | str) -> Any:
    return [item.decode("latin-1")] if isinstance(item, bytes) else item


def _decode(shape: list[int], items: list[Any], kind: str) -> np.ndarray[Any, Any]:
    text = np.empty(len(items), object)
    text[:] = [item[0].encode("latin-1") if isinstance(item, list) else item for item in items]
    return text.reshape(shape).astype(kind)
