"""The same transformer in JAX without a framework, as an expert would shard it.

`jit` over a mesh: weights and moments have their shardings, activations are constrained to the rows of the devices, and
XLA inserts the rest. The data is on the devices before the first round, a round is one call, the state is donated.
"""

from __future__ import annotations

import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from _protocol import Round, serve_rounds
from _transformer import ShardedWork, initial_weights, tokens, weight_axes
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from contenders.hand_written import State, adam, new_state

Weights = dict[str, jax.Array]


def contender() -> Round:
    work = ShardedWork.from_json(sys.argv[1])
    mesh = Mesh(np.array(jax.devices()[: work.devices]).reshape(*work.mesh.values()), tuple(work.mesh))
    everywhere = NamedSharding(mesh, P())
    layouts = {path: NamedSharding(mesh, P(*axes)) for path, axes in weight_axes(work).items()}
    state_layouts = State(layouts, layouts, layouts, everywhere, everywhere)  # type: ignore[arg-type]
    state = jax.device_put(new_state(initial_weights(work)), state_layouts)  # type: ignore[arg-type]
    stacked = [array.reshape(work.steps, work.rows, work.length) for array in tokens(work)]
    data = jax.device_put(stacked, NamedSharding(mesh, P(None, "batch")))
    rows = NamedSharding(mesh, P("batch"))

    def step(state: State, batch: Any) -> tuple[State, None]:
        loss, gradients = jax.value_and_grad(_loss)(state.params, *batch, work, rows)
        gradients = lax.with_sharding_constraint(gradients, layouts)
        updated = adam(state, gradients)
        return updated._replace(metrics=state.metrics + loss), None

    def run(state: State, data: Any) -> State:
        return lax.scan(step, state, data)[0]

    call = jax.jit(run, donate_argnums=0, out_shardings=state_layouts)

    def train() -> dict[str, float]:
        nonlocal state
        state = state._replace(metrics=jax.device_put(np.zeros(2, "float32"), everywhere))
        state = call(state, data)
        return {"loss": float(state.metrics[0]) / work.steps}

    return train


def _loss(weights: Weights, x: jax.Array, y: jax.Array, work: ShardedWork, rows: NamedSharding) -> jax.Array:
    hidden = lax.with_sharding_constraint(weights["tokens/embeddings"][x], rows)
    for index in range(work.depth):
        block = f"block{index}"
        hidden = hidden + _attention(weights, block, _norm(weights, f"{block}_norm1", hidden))
        normal = _norm(weights, f"{block}_norm2", hidden)
        wide = jax.nn.gelu(normal @ weights[f"{block}_up/kernel"] + weights[f"{block}_up/bias"], approximate=False)
        hidden = hidden + wide @ weights[f"{block}_down/kernel"] + weights[f"{block}_down/bias"]
        hidden = lax.with_sharding_constraint(hidden, rows)
    logits = _norm(weights, "norm", hidden) @ weights["logits/kernel"] + weights["logits/bias"]
    log_probs = jax.nn.log_softmax(logits)
    return -jnp.take_along_axis(log_probs, y[..., None], axis=-1).mean()


def _attention(weights: Weights, block: str, x: jax.Array) -> jax.Array:
    def project(name: str) -> jax.Array:
        kernel, bias = (weights[f"{block}_attention/{name}/{part}"] for part in ("kernel", "bias"))
        return jnp.einsum("btw,whs->bths", x, kernel) + bias

    attended = jax.nn.dot_product_attention(project("query"), project("key"), project("value"), is_causal=True)
    kernel, bias = (weights[f"{block}_attention/attention_output/{part}"] for part in ("kernel", "bias"))
    return jnp.einsum("bths,hsw->btw", attended, kernel) + bias


def _norm(weights: Weights, name: str, x: jax.Array) -> jax.Array:
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-3) * weights[f"{name}/gamma"] + weights[f"{name}/beta"]


if __name__ == "__main__":
    serve_rounds(contender)
