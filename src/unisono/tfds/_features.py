"""The features of a dataset's elements: Image, Text, ClassLabel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np

_BYTE: Final[np.dtype[Any]] = np.dtype(np.uint8)
_NUMBER: Final[np.dtype[Any]] = np.dtype(np.int64)
_TEXT: Final[np.dtype[Any]] = np.dtype(object)


class FeatureConnector(Protocol):
    """An array of one shape and type."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...


@dataclass(frozen=True)
class Image:
    """An image of bytes: height, width, channels."""

    shape: tuple[int, int, int]
    dtype: np.dtype[Any] = _BYTE


@dataclass(frozen=True)
class Text:
    """Bytes of any length."""

    shape: tuple[int, ...] = ()
    dtype: np.dtype[Any] = _TEXT


@dataclass(frozen=True)
class ClassLabel:
    """The number of a class.

    >>> label = ClassLabel(["cat", "dog"])
    >>> label.num_classes, label.int2str(1), label.str2int("cat")
    (2, 'dog', 0)
    """

    names: list[str]
    shape: tuple[int, ...] = ()
    dtype: np.dtype[Any] = _NUMBER

    @property
    def num_classes(self) -> int:
        """How many classes there are."""
        return len(self.names)

    def int2str(self, value: int) -> str:
        """The name of a class."""
        return self.names[int(value)]

    def str2int(self, name: str) -> int:
        """The number of a class."""
        return self.names.index(name)


class FeaturesDict(dict[str, FeatureConnector]):
    """The features by name."""

    @property
    def shape(self) -> dict[str, tuple[int, ...]]:
        """The shape of each."""
        return {name: feature.shape for name, feature in self.items()}

    @property
    def dtype(self) -> dict[str, np.dtype[Any]]:
        """The type of each."""
        return {name: feature.dtype for name, feature in self.items()}
