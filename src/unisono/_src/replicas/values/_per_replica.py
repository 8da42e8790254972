"""`PerReplica`, one value for each replica as one leaf of a nested structure; its spec, and how it is made."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import jax

from unisono._src.data.plans import Nest, flatten, unflatten
from unisono._src.devices import Placement
from unisono._src.replicas.values._storage import Separate, Storage


class DistributedValues(ABC):
    """A value of a strategy that may differ between its replicas."""

    @property
    @abstractmethod
    def values(self) -> tuple[Any, ...]:
        """The value of each replica, in their order."""


class PerReplica(DistributedValues):
    """A separate value for each replica: its rows of a batch, or what it computed.

    >>> PerReplica(["a", "b"])
    PerReplica:{
      0: 'a',
      1: 'b'
    }
    >>> PerReplica(["a", "b"]).values
    ('a', 'b')
    """

    __slots__ = ("_storage",)

    def __init__(self, values: Iterable[Any]) -> None:
        self._storage: Storage = Separate(tuple(values))

    @classmethod
    def from_storage(cls, storage: Storage) -> PerReplica:
        """A PerReplica whose values are stored in this way."""
        made = cls(())
        made._storage = storage
        return made

    @property
    def storage(self) -> Storage:
        """How the values are stored, for code that computes with them."""
        return self._storage

    @property
    def values(self) -> tuple[Any, ...]:
        return self._storage.values

    def __repr__(self) -> str:
        lines = ",\n".join(f"  {replica}: {value!r}" for replica, value in enumerate(self.values))
        return f"PerReplica:{{\n{lines}\n}}"


class PerReplicaSpec:
    """The spec of each replica's value: the `element_spec` of a PerReplica.

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


def regroup(nests: Sequence[Nest], placement: Placement | None = None) -> Nest:
    """One nest whose leaves are PerReplica, from one nest for each replica of this process.

    The nest of a single replica is returned as it is, unless other processes have more replicas. The nests have equal
    structure. A leaf that is None on every replica stays None. ``placement`` has the devices of the replicas.

    >>> regroup([{"x": 1, "y": None}, {"x": 2, "y": None}])
    {'x': PerReplica:{
      0: 1,
      1: 2
    }, 'y': None}
    >>> regroup([{"x": 1}])
    {'x': 1}
    """
    if len(nests) == 1 and (placement is None or placement.num_replicas == 1):
        return nests[0]
    columns = zip(*map(flatten, nests), strict=True)
    leaves = [
        None if all(leaf is None for leaf in column) else PerReplica.from_storage(Separate(column, placement))
        for column in columns
    ]
    return unflatten(nests[0], leaves)


def flatten_with_none(nest: Any) -> tuple[list[Any], Any]:
    """The leaves of ``nest`` as JAX flattens it, but with None as a leaf, and the tree for `jax.tree.unflatten`."""
    return jax.tree.flatten(nest, is_leaf=lambda leaf: leaf is None)
