"""The shards of variables as one replica has them: gathered where its code reads them, updated as they are.

A weight that is sharded over the replicas enters the program of one replica as its shard. Code reads the whole value.
An optimizer whose updates are element by element computes with the shards: each replica gets its part of the summed
gradients, and updates its part of the weights and of the optimizer's variables.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import jax
from jax.sharding import NamedSharding, PartitionSpec

from unisono._src import jax_hooks, keras_hooks
from unisono._src.devices import Placement


@dataclass(frozen=True)
class ShardedDim:
    """The dimension along which a variable is sharded over the replicas.

    Attributes:
        dim: the dimension.
        axes: the mesh axes.
        count: the number of shards.
    """

    dim: int
    axes: tuple[str, ...]
    count: int

    def gather(self, shard: Any) -> Any:
        """The whole value."""
        return jax.lax.all_gather(shard, self.axes, axis=self.dim, tiled=True)

    def slice(self, whole: Any) -> Any:
        """This replica's shard of a value that is the same on all of them."""
        size = whole.shape[self.dim] // self.count
        return jax.lax.dynamic_slice_in_dim(whole, jax.lax.axis_index(self.axes) * size, size, self.dim)

    def sum_and_scatter(self, value: Any, row_axes: Sequence[str]) -> Any:
        """This replica's shard of the sum of the values of all replicas."""
        shard = jax.lax.psum_scatter(value, self.axes, scatter_dimension=self.dim, tiled=True)
        others = tuple(axis for axis in row_axes if axis not in self.axes)
        return jax.lax.psum(shard, others) if others else shard

    def shard_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        return tuple(size // self.count if dim == self.dim else size for dim, size in enumerate(shape))


def sharded_dim(layout: NamedSharding | None, placement: Placement) -> ShardedDim | None:
    """Along which dimension ``layout`` is sharded over the replicas; None if it is not."""
    for dim, entry in enumerate(() if layout is None else layout.spec):
        axes = entry if isinstance(entry, tuple) else (entry,)
        rows = tuple(axis for axis in axes if axis in placement.row_axes)
        if rows:
            return ShardedDim(dim, rows, math.prod(placement.mesh.shape[axis] for axis in rows))
    return None


class ReplicaShards:
    """The variables of a strategy that are sharded over its replicas, in the program of one replica.

    Args:
        variables: the variables, in an order on which all processes agree.
        placement: the devices of the strategy.
    """

    def __init__(self, variables: Iterable[Any], placement: Placement) -> None:
        self.placement = placement
        self.variables: list[Any] = []
        self.dims: list[ShardedDim] = []
        for variable in variables:
            dim = sharded_dim(placement.layout(keras_hooks.get_stored_value(variable)), placement)
            if dim is not None:
                self.variables.append(variable)
                self.dims.append(dim)
        self._dims = {id(variable): dim for variable, dim in zip(self.variables, self.dims, strict=True)}
        self._shards: dict[int, Any] = {}
        self._updating: dict[int, ShardedDim] = {}
        self._updated: dict[int, Any] = {}
        self.written: dict[int, Any] = {}
        """The variables whose shard is newer than the value that the scope has, by identity."""

    @property
    def specs(self) -> list[PartitionSpec]:
        """How the shards enter and leave the program of a replica."""
        return [PartitionSpec(*[None] * dim.dim, dim.axes) for dim in self.dims]

    def begin(self, shards: Sequence[Any]) -> None:
        """The program is traced: these are the placeholders of its shards."""
        self._shards = {id(variable): shard for variable, shard in zip(self.variables, shards, strict=True)}

    def end(self) -> list[Any]:
        """The shards that the program returns; those in :attr:`written` are new."""
        return [self._shards[id(variable)] for variable in self.variables]

    def __contains__(self, variable: Any) -> bool:
        return id(variable) in self._shards

    def gather(self, variable: Any, trace: Any) -> Any:
        """The whole value, gathered in ``trace``: not in the body of a loop that happens to read it first."""
        with jax_hooks.use_trace(trace):
            return self._dims[id(variable)].gather(self._shards[id(variable)])

    # Updates.

    def is_updating(self, variable: Any) -> bool:
        """Whether an optimizer computes with the shard of ``variable`` now."""
        return id(variable) in self._updating

    def read_shard(self, variable: Any) -> Any:
        return self._updated[id(variable)]

    def write_shard(self, variable: Any, shard: Any) -> None:
        self._updated[id(variable)] = shard

    @contextlib.contextmanager
    def update(self, scope: Any, variables: Sequence[tuple[Any, ShardedDim]]) -> Iterator[None]:
        """Inside, these variables have the shapes and values of their shards. Writes become those of ``scope``."""
        before = {}
        for variable, dim in variables:
            before[id(variable)] = self._updated[id(variable)] = self._shard_of(scope, variable, dim)
            self._updating[id(variable)] = dim
        with _shapes([(variable, dim.shard_shape(variable.shape)) for variable, dim in variables]):
            yield
        self._updating = {}
        for variable, dim in variables:
            shard = self._updated.pop(id(variable))
            if shard is before[id(variable)]:
                continue
            if self._dims.get(id(variable)) == dim:
                self._shards[id(variable)] = shard
                self.written[id(variable)] = variable
                scope.forget_whole(variable)
            else:
                scope.write(variable, dim.gather(shard))

    def _shard_of(self, scope: Any, variable: Any, dim: ShardedDim) -> Any:
        if self._dims.get(id(variable)) == dim and not scope.has_written_whole(variable):
            scope.used[id(variable)] = variable
            return self._shards[id(variable)]
        return dim.slice(scope.read(variable))


@contextlib.contextmanager
def _shapes(variables: Sequence[tuple[Any, tuple[int, ...]]]) -> Iterator[None]:
    """Inside, the variables have other shapes: `assign` compares."""
    with contextlib.ExitStack() as stack:
        for variable, shape in variables:
            stack.callback(setattr, variable, "_shape", variable._shape)
            variable._shape = shape
        yield
