"""The strategies for models that are larger than a device: their state is divided among the devices."""

from __future__ import annotations

import itertools
import math
import os
import platform
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import jax
import keras
from jax.sharding import AxisType

from unisono._src.devices import (
    Placement,
    ShardByMap,
    ShardedPlacement,
    ShardLargestDim,
    all_devices,
    default_devices,
    resolve_devices,
)
from unisono._src.processes import all_gather_json, processes
from unisono._src.strategy._join_cluster import join_cluster
from unisono._src.strategy._strategy import Strategy
from unisono_launch.cluster import ClusterResolver, detect

WHAT: Final = ("all", "optimizer")

UNKNOWN_WHAT = """FullyShardedStrategy: shard={found!r}. Write "all", for weights, gradients and optimizer state, or
"optimizer", for only the optimizer state."""

UNKNOWN_GROUP = """FullyShardedStrategy: shard_group={found!r}. Write "machine", to shard within each machine and
replicate between machines, or a number of devices that divides {devices}, or None, to shard over all devices."""

UNEQUAL_MACHINES = """FullyShardedStrategy: shard_group="machine" needs the same number of devices on each machine, and
found {found}. Write a number that divides each of these, or None, to shard over all devices."""

SCATTERED_MACHINE = """FullyShardedStrategy: shard_group="machine" needs workers with consecutive ranks on each machine,
and the ranks of {machine} are not: by rank, the devices are on {found}. Number the workers machine by machine (SLURM:
--distribution=block)."""

WRONG_MESH = """ModelParallelStrategy: the mesh {mesh} needs {wanted} devices, and there are {found}.
Its sizes have to multiply to the number of devices: {example}."""

NO_BATCH_AXIS = """ModelParallelStrategy: the mesh {mesh} has no axis "batch", along which rows are divided, or only it.
Name two axes, as in {{"batch": 2, "model": 4}}; {{"batch": 1, "model": 8}} divides no rows."""

NO_LAYOUT_MAP = """ModelParallelStrategy: layout_map is a {kind}. Write a dict, as in
{{"dense.*kernel": (None, "model")}}, a keras.distribution.LayoutMap, or None, which derives layouts from shapes."""


class FullyShardedStrategy(Strategy):
    """One replica on each device; each device stores a part of the weights and of the optimizer state.

    This is also called FSDP or ZeRO: a weight is gathered when a layer needs it, and each part of its gradient goes to
    the device that stores this part of the weight and updates it. The result is the same as on one device. If the
    environment defines a cluster (`unisono run`, TF_CONFIG, SLURM, ...), the devices of all workers take part.

    ```python
    strategy = unisono.FullyShardedStrategy()
    with strategy.scope():
        model = keras.Sequential([keras.Input((784,)), keras.layers.Dense(512, "relu"), keras.layers.Dense(10)])
        model.compile("adam", "mse")
    strategy.explain(model)
    model.fit(dataset)
    ```

    Args:
        devices: names ("gpu:0") or JAX devices; None means all.
        shard: "all" shards weights, gradients and optimizer state (ZeRO-3). "optimizer" shards only the optimizer state
            (ZeRO-1): weights are whole on every device and do not have to be gathered.
        shard_group: "machine" shards within each machine and replicates across machines; a number shards within
            groups of that many devices.
        min_shard_size: variables with fewer elements are replicated.
    """

    def __init__(
        self,
        devices: Sequence[str | jax.Device] | None = None,
        shard: Literal["all", "optimizer"] = "all",
        shard_group: Literal["machine"] | int | None = None,
        min_shard_size: int = 1024,
    ):
        if shard not in WHAT:
            raise ValueError(UNKNOWN_WHAT.format(found=shard))
        resolver = detect(os.environ) if devices is None else None
        placement = fully_sharded(_devices(devices, resolver), shard, shard_group, min_shard_size)
        super().__init__(placement, resolver)


class ModelParallelStrategy(Strategy):
    """The devices form a mesh: the rows of a batch are split along its "batch" axis, weights along the other axes.

    A weight that is sharded along "model" stays sharded while it is used: the devices of one replica share the work of
    a layer, and XLA inserts the communication. The result is the same as on one device.

    ```python
    strategy = unisono.ModelParallelStrategy({"batch": 2, "model": 4})      # layouts from shapes
    strategy = unisono.ModelParallelStrategy({"batch": 2, "model": 4}, {"query/kernel": (None, "model", None)})
    ```

    Args:
        mesh: the names and sizes of the axes; "batch" is one of them.
        layout_map: for patterns of variable paths, the name of an axis or None for each dimension; a
            `keras.distribution.LayoutMap` works, too. None derives layouts from shapes. If a dimension is not divisible
            by the size of its axis, the next best dimension is sharded.
        devices: names or JAX devices; None means all.
    """

    def __init__(
        self,
        mesh: Mapping[str, int],
        layout_map: Any = None,
        devices: Sequence[str | jax.Device] | None = None,
    ):
        resolver = detect(os.environ) if devices is None else None
        super().__init__(model_parallel(_devices(devices, resolver), dict(mesh), layout_map), resolver)


def fully_sharded(
    devices: list[jax.Device],
    shard: str = "all",
    shard_group: str | int | None = None,
    min_shard_size: int = 1024,
) -> Placement:
    """The placement of a :class:`FullyShardedStrategy` over ``devices``."""
    size = _group_size(devices, shard_group)
    shape: tuple[int, ...] = (size,)
    axes: tuple[str, ...] = ("replica",)
    if size < len(devices):
        shape, axes = (len(devices) // size, size), ("group", "replica")
    policy = ShardLargestDim((axes[-1],), size, min_shard_size, weights=shard == "all")
    return ShardedPlacement(_mesh(devices, shape, axes), row_axes=axes, policy=policy)


def model_parallel(devices: list[jax.Device], mesh: dict[str, int], layout_map: Any) -> Placement:
    """The placement of a :class:`ModelParallelStrategy` over ``devices``."""
    if "batch" not in mesh or len(mesh) < 2:
        raise ValueError(NO_BATCH_AXIS.format(mesh=mesh))
    wanted = math.prod(mesh.values())
    if wanted != len(devices):
        batch = max(len(devices) // 2, 1)
        example = {"batch": batch, next(axis for axis in mesh if axis != "batch"): len(devices) // batch}
        raise ValueError(WRONG_MESH.format(mesh=mesh, wanted=wanted, found=len(devices), example=example))
    axes = ("batch", *(axis for axis in mesh if axis != "batch"))
    policy = ShardByMap({axis: mesh[axis] for axis in axes}, axes[-1], _patterns(layout_map))
    return ShardedPlacement(
        _mesh(devices, tuple(mesh[axis] for axis in axes), axes), row_axes=("batch",), policy=policy
    )


def _devices(devices: Sequence[str | jax.Device] | None, resolver: ClusterResolver | None) -> list[jax.Device]:
    if devices is not None:
        return resolve_devices(devices)
    return all_devices() if join_cluster(resolver) else default_devices()


def _mesh(devices: list[jax.Device], shape: tuple[int, ...], axes: tuple[str, ...]) -> jax.sharding.Mesh:
    return jax.make_mesh(shape, axes, devices=devices, axis_types=(AxisType.Auto,) * len(axes))


def _group_size(devices: list[jax.Device], shard_group: str | int | None) -> int:
    if shard_group is None:
        return len(devices)
    if shard_group == "machine":
        names = all_gather_json(platform.node()) if processes().count > 1 else [platform.node()]
        return devices_of_a_machine([names[device.process_index if len(names) > 1 else 0] for device in devices])
    if type(shard_group) is int and shard_group > 0 and len(devices) % shard_group == 0:
        return shard_group
    raise ValueError(UNKNOWN_GROUP.format(found=shard_group, devices=len(devices)))


def devices_of_a_machine(machines: Sequence[str]) -> int:
    """How many devices each machine has; ``machines`` has the name of the machine of each device, in their order."""
    runs = [(name, len(list(found))) for name, found in itertools.groupby(machines)]
    names = [name for name, _ in runs]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(SCATTERED_MACHINE.format(machine=name, found=", ".join(machines)))
    if len({size for _, size in runs}) > 1:
        found = ", ".join(f"{size} on {name}" for name, size in runs)
        raise ValueError(UNEQUAL_MACHINES.format(found=found))
    return runs[0][1]


def _patterns(layout_map: Any) -> dict[str, tuple[str | None, ...]] | None:
    if layout_map is None:
        return None
    if isinstance(layout_map, keras.distribution.LayoutMap):
        layout_map = {key: layout_map[key] for key in layout_map}
    if isinstance(layout_map, Mapping):
        return {key: _axes(layout) for key, layout in layout_map.items()}
    raise TypeError(NO_LAYOUT_MAP.format(kind=type(layout_map).__name__))


def _axes(layout: Any) -> tuple[str | None, ...]:
    """The axes of a `keras.distribution.TensorLayout`, or of a tuple of names."""
    axes: tuple[str | None, ...] = tuple(getattr(layout, "axes", layout))
    return axes
