"""Everything that training changes in a model and in the process, kept on the host and put back bit by bit."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from unisono._src.training import MethodCall, StepVariables, forget_programs


@contextlib.contextmanager
def preserve_state(call: MethodCall, variables: StepVariables) -> Iterator[None]:
    """What the block changes is undone: variables of the model, its optimizer and its metrics, seeds, `model.history`.

    ``variables``: those of the training step, on their devices. Programs that the block compiled are dropped.
    """
    model = call.model
    own = [*model.variables, *model.metrics_variables, *([] if model.optimizer is None else model.optimizer.variables)]
    every = {id(variable): variable for variable in (*variables.all(), *own)}
    values = [(variable, _HostCopy(variable._value)) for variable in every.values() if variable._value is not None]
    generators = random.getstate(), np.random.get_state()
    attributes = {name: getattr(model, name, None) for name in ("history", "stop_training")}
    try:
        yield
    finally:
        for variable, copy in values:
            variable._value = copy.restore()
        random.setstate(generators[0])
        np.random.set_state(generators[1])
        for name, value in attributes.items():
            setattr(model, name, value)
        forget_programs(model)


class _HostCopy:
    """The shards of an array that this process has. Nothing is exchanged, so that it works for any layout."""

    def __init__(self, array: Any):
        self._shape, self._sharding, self._committed = array.shape, array.sharding, array.committed
        self._dtype = array.dtype
        for shard in array.addressable_shards:
            shard.data.copy_to_host_async()
        self._shards = [(shard.device, np.array(shard.data)) for shard in array.addressable_shards]

    def restore(self) -> jax.Array:
        if not self._committed:
            return jnp.array(self._shards[0][1], dtype=self._dtype)
        # `jnp.array` copies: on CPUs `device_put` would use the memory of the NumPy array, and variables are donated.
        placed = [jax.device_put(jnp.array(data), device) for device, data in self._shards]
        return jax.make_array_from_single_device_arrays(self._shape, self._sharding, placed)
