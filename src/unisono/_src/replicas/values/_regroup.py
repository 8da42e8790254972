"""From one nest for each replica to one nest of all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unisono._src.data.plans import Nest, flatten, unflatten
from unisono._src.devices import Placement
from unisono._src.replicas.values._held import Separate
from unisono._src.replicas.values._per_replica import PerReplica


def regroup(nests: Sequence[Nest], placement: Placement | None = None) -> Nest:
    """One nest whose leaves are PerReplica, out of nests of equal structure. A single nest stays what it is.

    A leaf that is None on every replica stays None. ``placement`` says where the replicas live.

    >>> regroup([{"x": 1, "y": None}, {"x": 2, "y": None}])
    {'x': PerReplica:{
      0: 1,
      1: 2
    }, 'y': None}
    >>> regroup([{"x": 1}])
    {'x': 1}
    """
    if len(nests) == 1:
        return nests[0]
    return unflatten(nests[0], [_joined(leaves, placement) for leaves in zip(*map(flatten, nests), strict=True)])


def _joined(leaves: tuple[Any, ...], placement: Placement | None) -> PerReplica | None:
    if all(leaf is None for leaf in leaves):
        return None
    return PerReplica.holding(Separate(leaves, placement))
