"""Where arrays live: the answer of a strategy to 'on which devices, and how cut'."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from unisono._src.core import active_fit_facts
from unisono._src.devices._devices import device_name
from unisono._src.devices._shared import SharedArray, release_memory, share_host_memory
from unisono._src.devices._upload import upload

_AXIS = "replica"


@dataclass(frozen=True, eq=False)
class ReleasableArrays:
    """A nest of arrays, whole on every device."""

    arrays: Any
    _shared: tuple[SharedArray, ...]

    def release(self) -> None:
        """Nobody reads them any more, and no program that does is in flight: others may have their memory."""
        for copy in self._shared:
            release_memory(copy)


@dataclass(frozen=True, eq=False)
class Placement:
    """A row of devices, one replica each. Variables are copied to all, batches are cut along their rows.

    Every question of where a value lives is answered here and nowhere else, so another layout of the
    state (sharded, say) is another placement and no branch in the trainer.
    """

    mesh: Mesh

    @classmethod
    def over(cls, devices: list[jax.Device]) -> Placement:
        """One replica on each of ``devices``."""
        return cls(jax.make_mesh((len(devices),), (_AXIS,), devices=devices, axis_types=(jax.sharding.AxisType.Auto,)))

    @functools.cached_property
    def devices(self) -> list[jax.Device]:
        """The devices, in the order of the replicas."""
        return list(self.mesh.devices.flat)

    @functools.cached_property
    def local_devices(self) -> list[jax.Device]:
        """Those of this process, in the order of the replicas."""
        return [device for device in self.devices if device.process_index == jax.process_index()]

    @functools.cached_property
    def local_replicas(self) -> list[int]:
        """The numbers of the replicas that run in this process."""
        return [number for number, device in enumerate(self.devices) if device in self.local_devices]

    @functools.cached_property
    def spans_processes(self) -> bool:
        """Whether some of the devices belong to other processes."""
        return len({device.process_index for device in self.devices}) > 1

    @property
    def num_replicas(self) -> int:
        return self.mesh.size

    @property
    def platform(self) -> str:
        """ "cpu", "gpu" or "tpu"."""
        return device_name(self.devices[0]).split(":")[0]

    @functools.cached_property
    def replicated(self) -> NamedSharding:
        """One whole copy on every device."""
        return NamedSharding(self.mesh, PartitionSpec())

    @property
    def compiler_options(self) -> dict[str, bool | str]:
        """What XLA should know about programs for these devices.

        CPU replicas that have no more than a core each do not share their operations among threads: there is nothing
        to gain, and the threads that wait for work take the cores from those that have some (3 % of a step of the MLP
        on two cores).
        """
        if self.platform == "cpu" and self.num_replicas >= (os.cpu_count() or 1):
            return {"xla_cpu_multi_thread_eigen": False}
        return {}

    @property
    def needs_merged_sums(self) -> bool:
        """Whether several arrays are better summed over the replicas as one.

        Between processes on CPUs XLA has gloo sum one array after the other, and small ones take longest: 25 ms for the
        nine arrays of a small network's step, of which one of the same size takes 1 ms. Elsewhere it is done in one go.
        """
        return self.platform == "cpu" and self.spans_processes

    @property
    def axis(self) -> str:
        """The name by which a program over the mesh speaks of the replicas."""
        return _AXIS

    @functools.cached_property
    def sharded_rows(self) -> NamedSharding:
        """An array cut along its first dimension, a part for every replica."""
        return NamedSharding(self.mesh, PartitionSpec(_AXIS))

    def local_copies(self, array: jax.Array) -> tuple[jax.Array, ...]:
        """What each device of this process holds of ``array``, in the order of the replicas."""
        held = {shard.device: shard.data for shard in array.addressable_shards}
        return tuple(held[device] for device in self.devices if device in held)

    def layout(self, shape: tuple[int, ...]) -> NamedSharding:
        """How a variable of this shape is laid out."""
        del shape
        return self.replicated

    def row_layout(self, shape: tuple[int, ...], row_dim: int = 0) -> NamedSharding:
        """How an array that arrives from the host is laid out: cut along ``row_dim`` if that divides evenly.

        Rows that do not divide arrive whole on every device; :meth:`constrain_rows` cuts them inside the program.
        """
        if row_dim < len(shape) and shape[row_dim] % self.num_replicas == 0:
            return NamedSharding(self.mesh, PartitionSpec(*[None] * row_dim, _AXIS))
        return self.replicated

    def place_variable(self, value: Any) -> jax.Array:
        """A copy of ``value`` for a variable: never the caller's own buffer, since variables are donated."""
        if self.spans_processes:
            return self._cut(np.array(value), self.layout(value.shape))
        # device_put alone would use the caller's buffer for the copy on its device, may_alias=False or not.
        placed: jax.Array = jax.device_put(jnp.array(value, copy=True), self.layout(value.shape))
        return placed

    def place_rows(self, nest: Any, row_dim: int = 0) -> Any:
        """Sends a nest of arrays to the devices, cut along ``row_dim`` where :meth:`row_layout` says so.

        If other processes take part, all of them have the same arrays, and each sends its devices their part.
        """
        facts = active_fit_facts()
        if facts is not None:
            facts.add(bytes_sent=sum(leaf.nbytes for leaf in jax.tree.leaves(nest)))
        if self.spans_processes:
            return jax.tree.map(lambda leaf: self._cut(leaf, self.row_layout(leaf.shape, row_dim)), nest)
        return jax.device_put(nest, jax.tree.map(lambda leaf: self.row_layout(leaf.shape, row_dim), nest))

    def place_from_reader(
        self, shape: tuple[int, ...], read: Callable[[tuple[slice, ...]], Any], row_dim: int = 1
    ) -> jax.Array:
        """An array of ``shape``, cut along ``row_dim``, of which only the parts for devices of this process are read.

        ``read`` gets the part's place in the dimensions up to ``row_dim``.
        """
        parts: dict[Any, Any] = {}

        def part(index: Any) -> Any:
            at = index[: row_dim + 1]
            key = tuple((each.start, each.stop) for each in at)
            if key not in parts:
                found = np.asarray(read(at))
                parts[key] = found.astype(jax.dtypes.canonicalize_dtype(found.dtype), copy=False)
                facts = active_fit_facts()
                if facts is not None:
                    facts.add(bytes_sent=parts[key].nbytes)
            return parts[key]

        return jax.make_array_from_callback(shape, self.row_layout(shape, row_dim), part)

    def place_replicated(self, nest: Any) -> Any:
        """Sends a nest of arrays to every device whole. The caller must not write into them while they are used."""
        return self.place_releasable(nest).arrays

    def place_releasable(self, nest: Any) -> ReleasableArrays:
        """The same, with a way to say that they are not needed any more."""
        if self.platform == "cpu":
            shared = jax.tree.map(lambda leaf: share_host_memory(leaf, self.replicated), nest)
            leaves, tree = jax.tree.flatten(shared)
            return ReleasableArrays(jax.tree.unflatten(tree, [leaf.array for leaf in leaves]), tuple(leaves))
        if self.spans_processes:
            return ReleasableArrays(jax.tree.map(lambda leaf: self._cut(leaf, self.replicated), nest), ())
        return ReleasableArrays(jax.tree.map(lambda leaf: upload(leaf, self.replicated), nest), ())

    def _cut(self, array: Any, sharding: NamedSharding) -> jax.Array:
        """An array that all processes have, as one array over the devices of all: each sends its own their part."""
        host = np.asarray(array)
        host = host.astype(jax.dtypes.canonicalize_dtype(host.dtype), copy=False)
        return jax.make_array_from_callback(host.shape, sharding, lambda index: host[index])

    def constrain_rows(self, batch: Any) -> Any:
        """Inside a program: the rows of ``batch`` belong to the replicas, evenly or not.

        XLA pads and masks a number of rows that does not divide, exactly: nothing is dropped or repeated.
        """
        rows = self.sharded_rows
        return jax.tree.map(lambda leaf: jax.lax.with_sharding_constraint(leaf, rows) if leaf.ndim else leaf, batch)
