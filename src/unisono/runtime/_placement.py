"""Where arrays live: the answer of a strategy to 'on which devices, and how cut'."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from unisono.runtime._devices import device_name
from unisono.runtime._shared import SharedCopy, give_back, shared_copy
from unisono.runtime._upload import upload

_AXIS = "replica"


@dataclass(frozen=True, eq=False)
class Copies:
    """A nest of arrays, whole on every device."""

    arrays: Any
    _shared: tuple[SharedCopy, ...]

    def give_back(self) -> None:
        """Nobody reads them any more, and no program that does is in flight: others may have their memory."""
        for copy in self._shared:
            give_back(copy)


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

    @property
    def devices(self) -> list[jax.Device]:
        """The devices, in the order of the replicas."""
        return list(self.mesh.devices.flat)

    @property
    def num_replicas(self) -> int:
        return self.mesh.size

    @property
    def platform(self) -> str:
        """ "cpu", "gpu" or "tpu"."""
        return device_name(self.devices[0]).split(":")[0]

    @property
    def replicated(self) -> NamedSharding:
        """One whole copy on every device."""
        return NamedSharding(self.mesh, PartitionSpec())

    def variable(self, shape: tuple[int, ...]) -> NamedSharding:
        """How a variable of this shape is laid out."""
        del shape
        return self.replicated

    def rows(self, shape: tuple[int, ...], row_dim: int = 0) -> NamedSharding:
        """How an array that arrives from the host is laid out: cut along ``row_dim`` if that divides evenly.

        Rows that do not divide arrive whole on every device; :meth:`constrain` cuts them inside the program.
        """
        if row_dim < len(shape) and shape[row_dim] % self.num_replicas == 0:
            return NamedSharding(self.mesh, PartitionSpec(*[None] * row_dim, _AXIS))
        return self.replicated

    def place_variable(self, value: Any) -> jax.Array:
        """A copy of ``value`` for a variable: never the caller's own buffer, since variables are donated."""
        # device_put alone would use the caller's buffer for the copy on its device, may_alias=False or not.
        placed: jax.Array = jax.device_put(jnp.array(value, copy=True), self.variable(value.shape))
        return placed

    def place_rows(self, nest: Any, row_dim: int = 0) -> Any:
        """Sends a nest of arrays to the devices, cut along ``row_dim`` where :meth:`rows` says so."""
        return jax.device_put(nest, jax.tree.map(lambda leaf: self.rows(leaf.shape, row_dim), nest))

    def place_copies(self, nest: Any) -> Any:
        """Sends a nest of arrays to every device whole. The caller must not write into them while they are used."""
        return self.lend_copies(nest).arrays

    def lend_copies(self, nest: Any) -> Copies:
        """The same, with a way to say that they are not needed any more."""
        if self.platform == "cpu":
            shared = jax.tree.map(lambda leaf: shared_copy(leaf, self.replicated), nest)
            leaves, tree = jax.tree.flatten(shared)
            return Copies(jax.tree.unflatten(tree, [leaf.array for leaf in leaves]), tuple(leaves))
        return Copies(jax.tree.map(lambda leaf: upload(leaf, self.replicated), nest), ())

    def constrain(self, batch: Any) -> Any:
        """Inside a program: the rows of ``batch`` belong to the replicas, evenly or not.

        XLA pads and masks a number of rows that does not divide, exactly: nothing is dropped or repeated.
        """
        rows = NamedSharding(self.mesh, PartitionSpec(_AXIS))
        return jax.tree.map(lambda leaf: jax.lax.with_sharding_constraint(leaf, rows) if leaf.ndim else leaf, batch)
