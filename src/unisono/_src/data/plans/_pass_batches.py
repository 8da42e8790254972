"""One pass as row numbers: what the host sends to the devices instead of data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class PassBatches:
    """The rows of all batches of one pass: batch i is `rows[offsets[i]:offsets[i + 1]]`.

    >>> batches = PassBatches(np.array([4, 1, 3], np.int32), np.array([0, 2, 3]))
    >>> len(batches), batches[0].tolist(), batches[1].tolist()
    (2, [4, 1], [3])
    """

    rows: NDArray[np.int32]
    """One number per row; one column per table if there are several."""
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> NDArray[np.int32]:
        if not 0 <= index < len(self):
            raise IndexError(f"batch {index} of a pass with {len(self)} batches")
        return self.rows[self.offsets[index] : self.offsets[index + 1]]


def cut_into_batches(rows: NDArray[np.int32], batch_size: int, num_batches: int) -> PassBatches:
    """The first batches of consecutive rows; the last one may be smaller."""
    offsets = np.minimum(np.arange(num_batches + 1, dtype=np.int64) * batch_size, len(rows))
    return PassBatches(rows[: offsets[-1]], offsets)


def select_batches(batches: PassBatches, order: NDArray[np.intp]) -> PassBatches:
    """The batches in another order."""
    sizes = np.diff(batches.offsets)[order]
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    # Row j of the result was at the old offset of its batch, plus its position in the batch.
    shift = np.repeat(batches.offsets[:-1][order] - offsets[:-1], sizes)
    return PassBatches(batches.rows[np.arange(offsets[-1]) + shift], offsets)


def concatenate_batches(rounds: Sequence[PassBatches]) -> PassBatches:
    """Several rounds, one after the other."""
    sizes = np.concatenate([np.diff(batches.offsets) for batches in rounds])
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    return PassBatches(np.concatenate([batches.rows for batches in rounds]), offsets)


def repeat_last_row(rows: NDArray[np.int32], length: int) -> NDArray[np.int32]:
    """Rows, or lines of them, with the last one repeated up to `length`: for programs of one shape.

    >>> repeat_last_row(np.array([4, 1], np.int32), 4).tolist()
    [4, 1, 1, 1]
    """
    return np.concatenate([rows, np.repeat(rows[-1:], length - len(rows), axis=0)])
