"""A placement: on which devices the arrays of a strategy are, and how they are divided between them."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from unisono._src.core import active_fit_facts
from unisono._src.devices._devices import device_kind
from unisono._src.devices._layout_policies import VariableInfo
from unisono._src.devices._shards import copy_to_host
from unisono._src.devices._shared_memory import SharedArray, release_memory, share_host_memory
from unisono._src.devices._upload import upload

_AXIS = "replica"


SPLIT_REPLICA = """On the mesh {mesh} a replica has devices of several processes, each of which has {each}. `fit`,
`evaluate`, `predict`, and `run` with arrays that all processes have, can do that, but distributed datasets and values
per replica (`experimental_local_results`, ...) need whole replicas in each process. Make the axes other than "batch"
small enough to fit into a process."""


@dataclass(frozen=True, eq=False)
class ReleasableArrays:
    """A nested structure of arrays, whole on every device, whose memory can be reused."""

    arrays: Any
    _shared: tuple[SharedArray, ...]

    def release(self) -> None:
        """Lets later arrays have the memory. Nothing may read these any more, no program in flight either."""
        for shared in self._shared:
            release_memory(shared)


@dataclass(frozen=True, eq=False)
class Placement:
    """A mesh of devices. Variables are replicated, batches are sharded along their rows.

    How a variable is stored on the devices is decided by :meth:`layout` and read back by :meth:`fetch` (and
    :meth:`gather` and :meth:`replica_values`, for arrays that stay on devices). The rest of the package asks these, and
    looks at shardings only where it needs the shards or all copies instead of one whole value: checkpoints in pieces,
    digests of the weights, state that is put back as it was; ARCHITECTURE.md lists them. Another layout of the state,
    sharded for example, is a subclass that overrides :meth:`layout`.

    Attributes:
        mesh: the devices.
        row_axes: the axes of the mesh along which rows are sharded: its first ones. The devices that differ in other
            axes only form one replica.
    """

    mesh: Mesh
    row_axes: tuple[str, ...] = field(default=(_AXIS,), kw_only=True)

    @classmethod
    def over(cls, devices: list[jax.Device]) -> Placement:
        """One replica on each of ``devices``."""
        return cls(jax.make_mesh((len(devices),), (_AXIS,), devices=devices, axis_types=(jax.sharding.AxisType.Auto,)))

    # The devices.

    @functools.cached_property
    def devices(self) -> list[jax.Device]:
        """The devices, in the order of the replicas."""
        return list(self.mesh.devices.flat)

    @functools.cached_property
    def local_devices(self) -> list[jax.Device]:
        """Those of this process, in the order of the replicas."""
        return [device for device in self.devices if device.process_index == jax.process_index()]

    def devices_of_replica(self, number: int) -> list[jax.Device]:
        """The devices that compute the rows of one replica."""
        return self.devices[number * self.devices_per_replica : (number + 1) * self.devices_per_replica]

    @functools.cached_property
    def local_replica_devices(self) -> list[jax.Device]:
        """The first device of each replica that runs in this process."""
        return [self.devices_of_replica(number)[0] for number in self.local_replicas]

    @functools.cached_property
    def local_replicas(self) -> list[int]:
        """The numbers of the replicas that run in this process."""
        own = set(self.local_devices)
        every = [set(self.devices_of_replica(number)) for number in range(self.num_replicas)]
        if any(own & devices and devices - own for devices in every):
            raise NotImplementedError(SPLIT_REPLICA.format(mesh=dict(self.mesh.shape), each=len(own)))
        return [number for number, devices in enumerate(every) if devices <= own]

    @functools.cached_property
    def spans_processes(self) -> bool:
        """Whether some of the devices belong to other processes."""
        return len({device.process_index for device in self.devices}) > 1

    @functools.cached_property
    def num_replicas(self) -> int:
        """Among how many the rows of a batch are divided."""
        return math.prod(self.mesh.shape[axis] for axis in self.row_axes)

    @property
    def devices_per_replica(self) -> int:
        """How many devices compute the rows of one replica together."""
        return self.mesh.size // self.num_replicas

    @property
    def platform(self) -> str:
        """ "cpu", "gpu" or "tpu"."""
        return device_kind(self.devices[0])

    # Programs over the devices.

    @property
    def axis(self) -> Any:
        """The name of the mesh axis along which the replicas are; of several, a tuple of their names."""
        return self.row_axes[0] if len(self.row_axes) == 1 else self.row_axes

    @property
    def compiler_options(self) -> dict[str, bool | str]:
        """XLA's options for programs over these devices.

        CPU replicas that have no more than a core each do not share their operations among threads: there is nothing
        to gain, and the threads that wait for work take the cores from those that have some (3 % of a step of the MLP
        on two cores).
        """
        if self.platform == "cpu" and self.mesh.size >= (os.cpu_count() or 1):
            return {"xla_cpu_multi_thread_eigen": False}
        return {}

    @property
    def large_step_options(self) -> dict[str, bool | str]:
        """XLA's options for programs whose products are large, besides those of all programs.

        On GPUs these products are left to cuBLAS. XLA would compile and time kernels of its own for each of them, and
        use few: the program of GPT-2 small compiles in 12.8 instead of 20.9 s on an H200, is as fast (71.7 ms a step),
        and uses 19.0 instead of 21.3 GiB. Small products are faster in XLA's kernels, which contain the operations
        around them (784-256-256-10 network, batch 32: 0.041 against 0.061 ms a step).
        """
        return {"xla_gpu_enable_triton_gemm": False} if self.platform == "gpu" else {}

    @property
    def needs_combined_all_reduces(self) -> bool:
        """Whether several arrays are better summed over the replicas as one.

        Between processes on CPUs XLA makes gloo sum one array after the other, and small ones take longest: 25 ms for
        the nine arrays of a small network's step, where one array of the same size takes 1 ms. Elsewhere XLA combines
        them.
        """
        return self.platform == "cpu" and self.spans_processes

    # Layouts.

    @functools.cached_property
    def replicated(self) -> NamedSharding:
        """One whole copy on every device."""
        return NamedSharding(self.mesh, PartitionSpec())

    @functools.cached_property
    def sharded_rows(self) -> NamedSharding:
        """An array sharded along its first dimension, a shard for every replica."""
        return NamedSharding(self.mesh, PartitionSpec(self.axis))

    def layout(self, variable: Any) -> NamedSharding:
        """How a variable is stored.

        ``variable`` is an array, whose layout this is if it is on these devices already, or a :class:`VariableInfo`, or
        a shape.
        """
        del variable
        return self.replicated

    @property
    def shards_variables(self) -> bool:
        """Whether there may be variables that are not whole on every device."""
        return False

    def read_layout(self, stored: NamedSharding) -> NamedSharding:
        """The layout in which a layer computes with a variable that is stored as ``stored``."""
        return stored

    def update_layout(self, variable: VariableInfo) -> NamedSharding | None:
        """The layout in which an optimizer computes the update of a variable; None leaves it to XLA."""
        del variable
        return None

    def check_layouts(self) -> None:
        """Raises if what the user wrote about layouts fits no variable. Called when all variables exist."""

    def row_layout(self, shape: tuple[int, ...], row_dim: int = 0) -> NamedSharding:
        """How an array that arrives from the host is stored: sharded along ``row_dim`` if that divides evenly.

        Rows that do not divide arrive whole on every device; :meth:`constrain_rows` shards them inside the program.
        """
        if row_dim < len(shape) and shape[row_dim] % self.num_replicas == 0:
            return NamedSharding(self.mesh, PartitionSpec(*[None] * row_dim, self.axis))
        return self.replicated

    # Variables that are stored elsewhere.

    def adopt(self, variable: Any) -> None:
        """Called with each Keras variable of the strategy, before it has a value."""

    def num_shards(self, shape: tuple[int, ...], dtype: str) -> int:
        """Into how many variables a weight of a layer is split, along its first dimension."""
        del shape, dtype
        return 1

    # From the devices.

    def gather(self, array: jax.Array) -> jax.Array:
        """``array`` as one that this process can read whole, which most are already.

        One that is sharded over processes is replicated by a program: then all processes have to call this.
        """
        if array.is_fully_addressable or array.is_fully_replicated:
            return array
        return _replicate(self.replicated)(array)

    def fetch(self, nest: Any) -> Any:
        """Copies of the whole values on the host, whatever their layout: a nested structure of arrays as NumPy arrays.

        All processes have to call it if the layout is sharded over them; see :meth:`gather`.
        """
        gathered = jax.tree.map(self.gather, nest)
        for leaf in jax.tree.leaves(gathered):
            leaf.copy_to_host_async()  # all transfers start before the first is waited for
        return jax.tree.map(copy_to_host, gathered)

    def replica_values(self, array: jax.Array) -> tuple[jax.Array, ...]:
        """Copies of the whole value of a variable as each replica of this process has it, on the replica's device.

        Copies, because the parts of ``array`` end with its buffers, which are donated to the next step.
        """
        if array.is_fully_replicated:
            return tuple(jnp.array(shard, copy=True) for shard in self.local_shards(array))
        host = self.fetch(array)
        return tuple(jax.device_put(host, device) for device in self.local_replica_devices)

    def local_shards(self, array: jax.Array) -> tuple[jax.Array, ...]:
        """What the first device of each replica of this process stores of ``array``."""
        stored = {shard.device: shard.data for shard in array.addressable_shards}
        return tuple(stored[device] for device in self.local_replica_devices)

    def whole_on_one_device(self, array: jax.Array) -> jax.Array:
        """The whole value of a variable on one device. Does not wait for programs in flight if it is replicated."""
        if array.is_fully_replicated:
            return array.addressable_data(0)
        placed: jax.Array = jax.device_put(self.fetch(array), self.local_devices[0])
        return placed

    # To the devices.

    def place_variable(self, value: Any, layout: NamedSharding | None = None) -> jax.Array:
        """A copy of ``value`` for a variable: never the caller's own buffer, since variables are donated.

        ``layout`` is that of :meth:`layout` unless it is given. If other processes take part, all of them have the same
        value, and each places the shards of its own devices.
        """
        layout = self.layout(value) if layout is None else layout
        # A traced value belongs to a layer that is made where a model is called, and made again at the next call.
        is_array = isinstance(value, jax.Array) and not isinstance(value, jax.core.Tracer)
        is_here = is_array and value.sharding.device_set == layout.device_set
        if is_here and not (value.is_fully_replicated and layout.is_fully_replicated):
            return _copy_as(layout)(value)
        if self.spans_processes or not layout.is_fully_replicated:
            return self._place_same_array(np.array(value), layout)
        # device_put alone would use the caller's buffer for the copy on its device, may_alias=False or not.
        placed: jax.Array = jax.device_put(jnp.array(value, copy=True), layout)
        return placed

    def place_rows(self, nest: Any, row_dim: int = 0) -> Any:
        """Sends a nested structure of arrays to the devices, sharded along ``row_dim`` as :meth:`row_layout` says.

        If other processes take part, all of them have the same arrays, and each sends its devices their shards.
        """
        facts = active_fit_facts()
        if facts is not None:
            facts.add(bytes_sent=sum(leaf.nbytes for leaf in jax.tree.leaves(nest)))
        if self.spans_processes:
            return jax.tree.map(lambda leaf: self._place_same_array(leaf, self.row_layout(leaf.shape, row_dim)), nest)
        return jax.device_put(nest, jax.tree.map(lambda leaf: self.row_layout(leaf.shape, row_dim), nest))

    def place_from_reader(
        self, shape: tuple[int, ...], read: Callable[[tuple[slice, ...]], Any], row_dim: int = 1
    ) -> jax.Array:
        """An array of ``shape``, sharded along ``row_dim``, of which only the shards of this process's devices are
        read. ``read`` gets the slices of a shard in the dimensions up to ``row_dim``."""
        shards: dict[Any, Any] = {}

        def read_shard(index: Any) -> Any:
            slices = index[: row_dim + 1]
            key = tuple((each.start, each.stop) for each in slices)
            if key not in shards:
                found = np.asarray(read(slices))
                shards[key] = found.astype(jax.dtypes.canonicalize_dtype(found.dtype), copy=False)
                facts = active_fit_facts()
                if facts is not None:
                    facts.add(bytes_sent=shards[key].nbytes)
            return shards[key]

        return jax.make_array_from_callback(shape, self.row_layout(shape, row_dim), read_shard)

    def place_replicated(self, nest: Any) -> Any:
        """Sends a nested structure of arrays to every device whole. The caller must not write into them afterwards."""
        return self.place_releasable(nest).arrays

    def place_releasable(self, nest: Any) -> ReleasableArrays:
        """The same, with a way to release the memory when it is not needed any more."""
        if self.platform == "cpu":
            shared = jax.tree.map(lambda leaf: share_host_memory(leaf, self.replicated), nest)
            leaves, tree = jax.tree.flatten(shared)
            return ReleasableArrays(jax.tree.unflatten(tree, [leaf.array for leaf in leaves]), tuple(leaves))
        if self.spans_processes:
            return ReleasableArrays(jax.tree.map(lambda leaf: self._place_same_array(leaf, self.replicated), nest), ())
        return ReleasableArrays(jax.tree.map(lambda leaf: upload(leaf, self.replicated), nest), ())

    def constrain_rows(self, batch: Any) -> Any:
        """Inside a program: the rows of ``batch`` belong to the replicas, evenly or not.

        XLA pads and masks a number of rows that does not divide, exactly: nothing is dropped or repeated.
        """
        rows = self.sharded_rows
        return jax.tree.map(lambda leaf: jax.lax.with_sharding_constraint(leaf, rows) if leaf.ndim else leaf, batch)

    def _place_same_array(self, array: Any, sharding: NamedSharding) -> jax.Array:
        """An array that all processes have, as one array over the devices of all: each sends its devices their part."""
        host = np.asarray(array)
        host = host.astype(jax.dtypes.canonicalize_dtype(host.dtype), copy=False)
        return jax.make_array_from_callback(host.shape, sharding, lambda index: host[index])


@functools.lru_cache(256)
def _copy_as(layout: NamedSharding) -> Callable[[jax.Array], jax.Array]:
    return jax.jit(jnp.copy, out_shardings=layout)


@functools.lru_cache(8)
def _replicate(replicated: NamedSharding) -> Callable[[jax.Array], jax.Array]:
    return jax.jit(lambda array: array, out_shardings=replicated)
