"""`tf.TensorShape`: the shape of an array, as a tuple with TensorFlow's methods."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Self

import jax
import jax.export

_tuple_item = tuple.__getitem__
_tuple_equal = tuple.__eq__


class TensorShape(tuple[int | None, ...]):
    """A shape. None is a dimension of unknown size, `TensorShape(None)` a shape of unknown rank.

    It is a tuple: JAX, NumPy and Keras accept it as a shape.

    >>> shape = TensorShape([None, 28, 28])
    >>> shape.as_list(), shape.rank, shape[1:], shape == (None, 28, 28)
    ([None, 28, 28], 3, TensorShape([28, 28]), True)
    """

    _known = True

    def __new__(cls, dims: Iterable[int | None] | int | None = ()) -> Self:
        if isinstance(dims, int):
            dims = (dims,)
        shape = super().__new__(cls, () if dims is None else map(_size, dims))
        if dims is None or not getattr(dims, "_known", True):
            shape._known = False
        return shape

    @classmethod
    def from_sizes(cls, sizes: tuple[int, ...]) -> Self:
        """The shape of an array, whose sizes need no check."""
        return tuple.__new__(cls, sizes)

    @property
    def rank(self) -> int | None:
        """How many dimensions there are."""
        return len(self) if self._known else None

    @property
    def ndims(self) -> int | None:
        """The same as `rank`."""
        return self.rank

    @property
    def dims(self) -> list[int | None] | None:
        """The dimensions as a list."""
        return list(self) if self._known else None

    def as_list(self) -> list[int | None]:
        """The dimensions as a list; an error if the rank is unknown."""
        if not self._known:
            raise ValueError("as_list() of a TensorShape of unknown rank.")
        return list(self)

    def num_elements(self) -> int | None:
        """The product of the dimensions; None if one is unknown."""
        return math.prod(dim for dim in self if dim is not None) if self.is_fully_defined() else None

    def is_fully_defined(self) -> bool:
        """Whether every dimension is known."""
        return self._known and None not in self

    def is_compatible_with(self, other: Any) -> bool:
        """Whether there could be an array that has both shapes."""
        other = TensorShape(other)
        if not (self._known and other._known):
            return True
        return len(self) == len(other) and all(
            a is None or b is None or a == b for a, b in zip(self, other, strict=True)
        )

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raises ValueError if no array could have both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self!r} and {TensorShape(other)!r} are not compatible.")

    def assert_has_rank(self, rank: int) -> None:
        """Raises ValueError if the number of dimensions differs."""
        if self.rank not in (None, rank):
            raise ValueError(f"{self!r} has {self.rank} dimensions; expected {rank}.")

    def assert_is_fully_defined(self) -> None:
        """Raises ValueError if a dimension is unknown."""
        if not self.is_fully_defined():
            raise ValueError(f"{self!r} is not fully defined.")

    def with_rank(self, rank: int) -> TensorShape:
        """This shape with that many dimensions; an error if the number differs."""
        return self.merge_with(TensorShape([None] * rank))

    def merge_with(self, other: Any) -> TensorShape:
        """The shape with the known dimensions of both."""
        other = TensorShape(other)
        self.assert_is_compatible_with(other)
        if not (self._known and other._known):
            return self if self._known else other
        return TensorShape([b if a is None else a for a, b in zip(self, other, strict=True)])

    def concatenate(self, other: Any) -> TensorShape:
        """The dimensions of both, one after the other."""
        other = TensorShape(other)
        return TensorShape([*self, *other] if self._known and other._known else None)

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> Any:
        if isinstance(other, list):  # `sizes += shape` calls it, too, and JAX expects a list then
            return [*other, *self]
        return TensorShape(other).concatenate(self)

    # Shapes of JAX's arrays are of this class too, and JAX's own code indexes, compares and hashes them: so these
    # methods take the common case first, and __hash__ is tuple's own, which Python calls without a frame.

    def __getitem__(self, key: Any) -> Any:
        if self._known:
            found = _tuple_item(self, key)
            return tuple.__new__(TensorShape, found) if type(found) is tuple else found
        return TensorShape(None) if isinstance(key, slice) else None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TensorShape) and other._known != self._known:
            return False
        return _tuple_equal(self, tuple(other) if isinstance(other, list) else other)

    def __ne__(self, other: object) -> bool:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    __hash__ = tuple.__hash__

    def __repr__(self) -> str:
        return f"TensorShape({list(self) if self._known else None})"

    def __str__(self) -> str:
        if not self._known:
            return "<unknown>"
        return "({}{})".format(", ".join(map(str, self)), "," if len(self) == 1 else "")

    def __reduce__(self) -> Any:
        return TensorShape, (list(self) if self._known else None,)


def _size(dim: Any) -> Any:
    """An int, None, or the symbolic dimension of a function being exported."""
    return dim if dim is None or type(dim) is int or jax.export.is_symbolic_dim(dim) else int(dim)
