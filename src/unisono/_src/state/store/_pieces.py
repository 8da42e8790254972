"""Arrays in pieces: of state that is sharded over processes each process writes the pieces that it owns.

A checkpoint of several processes has a file of arrays for each of them, a *part*, and in it every piece is a tensor of
its own. The names of these files and tensors are derived from numbers and slices.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unisono._src.state.store._dtypes import Array

PART_FILE = r"arrays-\d{5,}-of-\d{5,}\.safetensors"
"""A pattern of the names of parts."""

Index = tuple[tuple[int, int], ...]
"""The start and the stop of a piece in each dimension of its array."""


@dataclass(frozen=True)
class Piece:
    """One piece of an array.

    Attributes:
        part: the number of the process that writes it, and of its file.
        index: where it is in the array.
    """

    part: int
    index: Index

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(stop - start for start, stop in self.index)


@dataclass(frozen=True, eq=False)
class ArrayInPieces:
    """An array of which several processes have pieces.

    >>> pieces = (Piece(0, ((0, 2), (0, 3))), Piece(1, ((2, 4), (0, 3))))
    >>> array = ArrayInPieces((4, 3), np.dtype("float32"), pieces, {0: np.ones((2, 3), "float32")})
    >>> array.nbytes  # of what this process has
    24

    Attributes:
        shape, dtype: of the whole array.
        pieces: all of them, the same on every process. They are a grid that covers the array once.
        values: the values of those that this process writes, by their number in `pieces`.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    pieces: tuple[Piece, ...]
    values: Mapping[int, Array] = field(repr=False)

    @property
    def nbytes(self) -> int:
        """How many bytes this process has of it."""
        return sum(value.nbytes for value in self.values.values())


def part_file(part: int, num_parts: int) -> str:
    """The name of the file of a process.

    >>> part_file(1, 4)
    'arrays-00001-of-00004.safetensors'
    """
    return f"arrays-{part:05}-of-{num_parts:05}.safetensors"


def tensor_name(name: str, index: Index) -> str:
    """The name of a piece in its file. The last bracket begins the slices, so no two pieces have the same.

    >>> tensor_name("dense/kernel", ((0, 4), (8, 16)))
    'dense/kernel[0:4,8:16]'
    """
    return f"{name}[{','.join(f'{start}:{stop}' for start, stop in index)}]"


def whole_index(shape: Sequence[int]) -> Index:
    """The index of an array that is in one piece."""
    return tuple((0, size) for size in shape)


def covers_once(shape: Sequence[int], indexes: Sequence[Index]) -> bool:
    """Whether these are the cells of a grid that covers an array of this shape.

    >>> covers_once((4, 2), [((0, 2), (0, 2)), ((2, 4), (0, 2))])
    True
    >>> covers_once((4, 2), [((0, 2), (0, 2)), ((1, 4), (0, 2))])
    False
    """
    if len(set(indexes)) != len(indexes) or any(len(index) != len(shape) for index in indexes):
        return False
    ranges = [sorted({index[dim] for index in indexes}) for dim in range(len(shape))]
    return len(indexes) == math.prod(map(len, ranges)) and all(map(_tile, shape, ranges))


def _tile(size: int, ranges: Iterable[tuple[int, int]]) -> bool:
    end = 0
    for start, stop in ranges:
        if start != end or (stop <= start and size):
            return False
        end = stop
    return end == size
