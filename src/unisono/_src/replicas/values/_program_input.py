"""Converts values per replica, as users have them, into the input of one compiled program over all devices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from unisono._src.data.plans import CompositeLeaf
from unisono._src.devices import Placement
from unisono._src.replicas.values._on_devices import is_host_only
from unisono._src.replicas.values._per_replica import PerReplica
from unisono._src.replicas.values._storage import Separate, Sharded, Storage, Unsplit

_UNLIKE = """The replicas have values that one program cannot take: shapes {shapes}, dtypes {dtypes}.
Expected equal dtypes, and shapes that differ in the first dimension only. Pad to one length, with
padded_batch(size, padded_shapes=...) for example."""

OTHER_STRATEGY = """These values belong to the replicas of another strategy, on {theirs}; this one has {ours}.
Gather them there first, or pass them on as NumPy arrays."""

_NO_ARRAYS = """The replicas have values that are not arrays of numbers: {values}.
Only numbers can be computed with on devices. Encode strings as integers first, or take them out with map."""


_COMPOSITE = """The replicas have {kind}s, which one program for all of them cannot take: their rows differ. Make them
dense in the dataset: map(lambda x, y: (x.to_tensor(shape=[None, 64]), y)), or map(tf.sparse.to_dense)."""


def as_program_input(value: PerReplica, placement: Placement) -> Sharded | Unsplit:
    """``value`` as one array: sharded along its rows, or whole on every device if replicas have different numbers."""
    storage: Storage = value.storage
    theirs = storage.placement
    if theirs is not None and theirs is not placement and theirs.devices != placement.devices:
        raise ValueError(OTHER_STRATEGY.format(theirs=theirs.mesh.devices, ours=placement.mesh.devices))
    if not isinstance(storage, Separate):
        return storage
    _refuse_composites(storage.values)
    values = [leaf if isinstance(leaf, jax.Array) else np.asarray(leaf) for leaf in storage.values]
    _check(values, placement)
    if len({leaf.shape for leaf in values}) == 1:
        return Sharded(_concatenate(values, placement), values[0].ndim == 0, placement)
    is_traced = any(isinstance(leaf, jax.core.Tracer) for leaf in values)
    batch: Any = jnp.concatenate(values) if is_traced else np.concatenate([np.asarray(leaf) for leaf in values])
    if not is_traced:
        batch = jax.device_put(batch, placement.replicated)
    return Unsplit(batch, tuple(leaf.shape[0] for leaf in values), placement, is_batch=True)


def fits_one_program(value: PerReplica) -> bool:
    """Whether the values differ in their number of rows at most."""
    if not isinstance(value.storage, Separate):
        return True
    _refuse_composites(value.values)
    return _differ_in_rows_only([np.shape(leaf) for leaf in value.values])


def _refuse_composites(values: Iterable[Any]) -> None:
    for value in values:
        if isinstance(value, CompositeLeaf):
            raise TypeError(_COMPOSITE.format(kind=type(value).__name__))


def _differ_in_rows_only(shapes: list[tuple[int, ...]]) -> bool:
    return len({(len(shape), *shape[1:]) for shape in shapes}) == 1


def _concatenate(values: list[Any], placement: Placement) -> Any:
    is_scalar = values[0].ndim == 0
    if any(isinstance(leaf, jax.core.Tracer) for leaf in values):
        return jnp.stack(values) if is_scalar else jnp.concatenate(values)
    are_on_their_devices = all(
        isinstance(leaf, jax.Array) and leaf.devices() == {device}
        for leaf, device in zip(values, placement.local_replica_devices, strict=True)
    )
    if not are_on_their_devices or is_scalar or placement.devices_per_replica > 1:
        hosts = [np.asarray(leaf)[None] if is_scalar else np.asarray(leaf) for leaf in values]
        if not placement.spans_processes:
            return jax.device_put(np.concatenate(hosts), placement.sharded_rows)
        values = [
            jax.device_put(host, device)
            for host, number in zip(hosts, placement.local_replicas, strict=True)
            for device in placement.devices_of_replica(number)
        ]
    shape = (values[0].shape[0] * placement.num_replicas, *values[0].shape[1:])
    return jax.make_array_from_single_device_arrays(shape, placement.sharded_rows, values)


def _check(values: list[Any], placement: Placement) -> None:
    expected = len(placement.local_replicas)
    if len(values) != expected:
        raise ValueError(
            f"This PerReplica has {len(values)} values, the strategy {expected} replicas in this process. "
            f"It belongs to another strategy."
        )
    if any(is_host_only(leaf.dtype) for leaf in values):
        raise TypeError(_NO_ARRAYS.format(values=values))
    check_alike([leaf.shape for leaf in values], [str(leaf.dtype) for leaf in values])


def check_alike(shapes: list[tuple[int, ...]], dtypes: list[str]) -> None:
    """Raises if values of these shapes and dtypes, one for each replica, differ in more than their number of rows."""
    if len(set(dtypes)) > 1 or not _differ_in_rows_only(shapes):
        raise ValueError(_UNLIKE.format(shapes=shapes, dtypes=dtypes))
