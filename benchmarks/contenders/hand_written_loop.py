"""A training loop as an expert writes it in JAX without any framework: a step is one call.

One `jit` of one `shard_map`, one sum over the devices for gradients and loss together, the state donated. Each replica
counts its correct answers, which are summed when somebody asks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import _data
import jax
import jax.numpy as jnp
import numpy as np
from _cases import Workload
from _reference import initial_weights
from _steps import Loop, serve_steps
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from contenders.hand_written import AXIS, IN_FLIGHT, State, adam, make_loss, new_state, params_from

# Weights and moments are the same everywhere; of the counters each replica has its own.
_LAYOUT = State(P(), P(), P(), P(), P(AXIS))


def contender(workload: Workload) -> Loop:
    mesh = Mesh(np.array(jax.devices()[: workload.replicas]), (AXIS,))
    call = _compiled(workload, mesh)
    state = _on_devices(workload, mesh)
    batches = _Batches(workload, NamedSharding(mesh, P(AXIS)))
    in_flight: deque[jax.Array] = deque()

    def step(batch: Any) -> jax.Array:
        nonlocal state
        state, loss = call(state, *batch)
        if workload.replicas > 1:
            in_flight.append(loss)
            if len(in_flight) > IN_FLIGHT:
                in_flight.popleft().block_until_ready()
        return loss

    def accuracy() -> float:
        correct, rows = np.asarray(state.metrics).sum(0)
        return float(correct / rows)

    return Loop(step, batches if workload.feeds else list(batches), accuracy)


class _Batches:
    """Those of one epoch, in the order of the data, each sent to the devices when it is asked for."""

    def __init__(self, workload: Workload, layout: NamedSharding) -> None:
        self._arrays = [array.reshape(workload.steps, -1, *array.shape[1:]) for array in _data.load(workload)]
        self._layout = layout

    def __iter__(self) -> Iterator[Any]:
        return (jax.device_put(batch, self._layout) for batch in zip(*self._arrays, strict=True))


def _compiled(workload: Workload, mesh: Mesh) -> Any:
    value_and_grad = jax.value_and_grad(make_loss(workload), has_aux=True)

    def step(state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
        (loss, correct), grads = value_and_grad(state.params, x, y)
        grads, loss = lax.psum((grads, loss), AXIS)
        counted = jnp.stack([correct, jnp.float32(len(y))])
        return adam(state, grads)._replace(metrics=state.metrics + counted), loss

    mapped = jax.shard_map(
        step, mesh=mesh, in_specs=(_LAYOUT, P(AXIS), P(AXIS)), out_specs=(_LAYOUT, P()), check_vma=False
    )
    return jax.jit(mapped, donate_argnums=0)


def _on_devices(workload: Workload, mesh: Mesh) -> State:
    state = new_state(params_from(initial_weights()))._replace(metrics=jnp.zeros((workload.replicas, 2)))
    return jax.device_put(state, State(*(NamedSharding(mesh, spec) for spec in _LAYOUT)))


if __name__ == "__main__":
    serve_steps(contender)
