"""Parsing records that look like one that was parsed before.

The records of a file mostly agree byte for byte in everything but their values: names, tags and lengths. A layout
remembers one record as a row of spans, by turns *frame* (which must be equal) and *run* (the bytes of a value). A
record of the same length with the same frame has the same runs, since nothing in a run decides where a run ends.

What a run of varints holds is seen only when it is decoded, so that is done and checked for every record.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unisono._src.data.files._feature_request import FeatureRequest
from unisono._src.data.files._stored import BYTES, FLOAT, Stored
from unisono._src.data.files._wire import ExampleError, varints_of

Parsed = dict[str, NDArray[Any]]
_Take = Callable[[tuple[bytes, ...]], NDArray[Any]]


class Layout:
    """Where the values lie in all records with this frame."""

    def __init__(self, data: bytes, asked: Sequence[FeatureRequest], features: dict[str, Stored]) -> None:
        self._wanted = [(each, features.get(each.name, Stored())) for each in asked]
        wanted = {span for _, stored in self._wanted for span in stored.spans}
        runs = sorted(span for stored in features.values() for span in stored.spans)
        place = {run: 2 * index + 1 for index, run in enumerate(runs)}
        self._take = [(each.name, _taker(each, stored, place)) for each, stored in self._wanted]
        # One call splits a record into frame, run, frame, ..., run, frame. Runs that nobody wants are left empty.
        self._frames = list(
            zip([0, *(stop for _, stop in runs)], [*(start for start, _ in runs), len(data)], strict=True)
        )
        form = [f"{self._frames[0][1]}s"]
        for run, (start, stop) in zip(runs, self._frames[1:], strict=True):
            size = run[1] - run[0]
            form += [f"{size}s" if run in wanted else f"0s{size}x", f"{stop - start}s"]
        self._split = struct.Struct("".join(form)).unpack
        self._frame = self._split(data)[::2]

    @staticmethod
    def fits(features: dict[str, Stored]) -> bool:
        """Whether spans alone describe these features."""
        return all(stored.packed and (stored.kind == BYTES or len(stored.spans) < 2) for stored in features.values())

    def parse(self, data: bytes) -> Parsed | None:
        """The values of a record of the layout's length; None if its frame is another, or its varints are damaged."""
        pieces = self._split(data)
        if pieces[::2] != self._frame:
            return None
        try:
            return {name: take(pieces) for name, take in self._take}
        except ExampleError:  # the general way says what is wrong
            return None

    def matching(self, matrix: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Which rows, records of the layout's length, have this frame."""
        matches: NDArray[np.bool_] = (matrix[:, self._frame_columns] == self._frame_bytes).all(axis=1)
        return matches

    def fill(self, out: Parsed, rows: Any, records: Sequence[bytes], matrix: NDArray[np.uint8]) -> bool:
        """Put the values of records with this frame into `rows` of `out`. False where a varint is not as it should be.

        `matrix` holds the bytes of `records`, one record a row.
        """
        for each, stored in self._wanted:
            if not stored.kind:
                out[each.name][rows] = each.absent()
            elif each.num_values:
                values = _column(each, stored, records, matrix)
                if values is None:
                    return False
                out[each.name][rows] = values.reshape(len(records), *each.shape)
        return True

    @cached_property
    def _frame_columns(self) -> NDArray[np.intp]:
        return np.concatenate([np.arange(start, stop) for start, stop in self._frames])

    @cached_property
    def _frame_bytes(self) -> NDArray[np.uint8]:
        return np.frombuffer(b"".join(self._frame), np.uint8)


def _taker(each: FeatureRequest, stored: Stored, place: dict[tuple[int, int], int]) -> _Take:
    """What makes the array of one feature from the pieces of a record."""
    places = [place[span] for span in stored.spans]
    if not stored.kind:
        return lambda pieces: each.absent()
    if stored.kind == BYTES:
        return lambda pieces: each.from_byte_strings([pieces[index] for index in places])
    make = each.from_floats if stored.kind == FLOAT else each.from_int64s
    if not places:
        return lambda pieces: make(b"")
    (only,) = places
    return lambda pieces: make(pieces[only])


def _column(
    each: FeatureRequest, stored: Stored, records: Sequence[bytes], matrix: NDArray[np.uint8]
) -> NDArray[Any] | None:
    """The values of one feature of all records."""
    if stored.kind == BYTES:
        strings: NDArray[Any] = np.empty(len(records) * each.num_values, object)
        strings[:] = [record[start:stop] for record in records for start, stop in stored.spans]
        return strings
    ((start, stop),) = stored.spans
    block = matrix[:, start:stop]
    if stored.kind == FLOAT:
        return np.ascontiguousarray(block).view(np.dtype("<f4"))
    finished = block < 128  # the last byte of each number is
    if (finished.sum(axis=1) != each.num_values).any() or not finished[:, -1].all():
        return None
    return block if stop - start == each.num_values else varints_of(block.ravel())
