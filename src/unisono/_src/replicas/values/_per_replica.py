"""One value for each replica, as one leaf of a nest; and what such a leaf looks like."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from unisono._src.replicas.values._held import Separate, Storage


class DistributedValues(ABC):
    """What a strategy holds in several places at once."""

    @property
    @abstractmethod
    def values(self) -> tuple[Any, ...]:
        """The value of each replica, in their order."""


class PerReplica(DistributedValues):
    """A value of its own for each replica: its rows of a batch, or what it computed.

    >>> PerReplica(["a", "b"])
    PerReplica:{
      0: 'a',
      1: 'b'
    }
    >>> PerReplica(["a", "b"]).values
    ('a', 'b')
    """

    __slots__ = ("_held",)

    def __init__(self, values: Iterable[Any]) -> None:
        self._held: Storage = Separate(tuple(values))

    @classmethod
    def holding(cls, held: Storage) -> PerReplica:
        """The same with values that are held in another way."""
        made = cls(())
        made._held = held
        return made

    @property
    def held(self) -> Storage:
        """How the values are held: for those who compute with them."""
        return self._held

    @property
    def values(self) -> tuple[Any, ...]:
        return self._held.values

    def __repr__(self) -> str:
        lines = ",\n".join(f"  {replica}: {value!r}" for replica, value in enumerate(self.values))
        return f"PerReplica:{{\n{lines}\n}}"


class PerReplicaSpec:
    """What each replica's value looks like: the `element_spec` of a PerReplica.

    >>> PerReplicaSpec("rows", "rows")
    PerReplicaSpec('rows', 'rows')
    """

    __slots__ = ("_specs",)

    def __init__(self, *specs: Any) -> None:
        self._specs = specs

    @property
    def specs(self) -> tuple[Any, ...]:
        """The spec of each replica, in their order."""
        return self._specs

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PerReplicaSpec) and self._specs == other._specs

    def __hash__(self) -> int:
        return hash(self._specs)

    def __repr__(self) -> str:
        return f"PerReplicaSpec({', '.join(map(repr, self._specs))})"
