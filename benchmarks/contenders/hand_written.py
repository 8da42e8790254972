"""What an expert writes in JAX without any framework: the bar for "close to the metal".

The data lies on the device before the first round, an epoch is one call, the state is donated, and the host sends
nothing but an epoch's row numbers. Several devices can be programmed in two ways. The *global view* is what Unisono
compiles: `jit` over a mesh, the batch cut along its rows, communication left to XLA. In the *replica view* the whole
epoch is inside one `shard_map` with one psum per step for gradients and metrics together; it is faster by a few
percent and right only for networks without batch normalisation, dropout and uneven batches.

XLA:CPU gets the two exceptions that an expert finds with a profiler: convolutions run as one call per step, since in a
loop they are several times slower, and max-pooling is written as comparisons, since the gradient of `reduce_window` is
slower than the rest of the network. In the global view it also gets gradients of kernels in the kernels' own layout.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import _data
import jax
import jax.numpy as jnp
import numpy as np
from _cases import Workload
from _protocol import Train, serve
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

AXIS = "replica"
IN_FLIGHT = 8  # launches; more than 32 with collectives deadlock XLA:CPU

Params = list[tuple[jax.Array, jax.Array]]


class State(NamedTuple):
    """Weights, Adam's moments, the number of steps, and (loss, correct) summed over the epoch."""

    params: Params
    momentum: Params
    velocity: Params
    steps: jax.Array
    metrics: jax.Array


def contender(workload: Workload, *, replica_view: bool = False) -> Train:
    mesh = Mesh(np.array(jax.devices()[: workload.replicas]), (AXIS,))
    everywhere, by_row = NamedSharding(mesh, P()), NamedSharding(mesh, P(None, AXIS))
    data = jax.device_put(_data.load(workload), everywhere)
    epoch = _epoch_of_calls if calls_are_better(workload) else _epoch_in_a_scan
    run_epoch = epoch(workload, mesh, replica_view)
    state = jax.device_put(new_state(_new_params(workload.network)), everywhere)
    random = np.random.default_rng(1)

    def train() -> tuple[float, float]:
        nonlocal state
        for _ in range(workload.epochs):
            order = random.permutation(workload.num_rows).astype("int32").reshape(workload.steps, -1)
            state = state._replace(metrics=jax.device_put(np.zeros(2, "float32"), everywhere))
            state = run_epoch(state, data, jax.device_put(order, by_row))
        loss, correct = np.asarray(state.metrics)
        return loss / workload.steps, correct / workload.num_rows

    return train


def calls_are_better(workload: Workload) -> bool:
    """Than one call with a loop."""
    return workload.network == "cnn" and workload.platform == "cpu"


def _epoch_in_a_scan(workload: Workload, mesh: Mesh, replica_view: bool) -> Callable[..., State]:
    step = _make_step(workload, mesh, replica_view)

    def epoch(state: State, data: Any, order: jax.Array) -> State:
        return lax.scan(lambda state, rows: (step(state, data, rows), None), state, order)[0]

    if replica_view:
        epoch = jax.shard_map(epoch, mesh=mesh, in_specs=(P(), P(), P(None, AXIS)), out_specs=P(), check_vma=False)
    return jax.jit(epoch, donate_argnums=0, out_shardings=NamedSharding(mesh, P()))


def _epoch_of_calls(workload: Workload, mesh: Mesh, replica_view: bool) -> Callable[..., State]:
    step = _make_step(workload, mesh, replica_view)

    def one(state: State, data: Any, order: jax.Array, index: jax.Array) -> State:
        return step(state, data, lax.dynamic_index_in_dim(order, index, keepdims=False))

    if replica_view:
        one = jax.shard_map(one, mesh=mesh, in_specs=(P(), P(), P(None, AXIS), P()), out_specs=P(), check_vma=False)
    call = jax.jit(one, donate_argnums=0, out_shardings=NamedSharding(mesh, P()))

    def epoch(state: State, data: Any, order: jax.Array) -> State:
        for index in range(workload.steps):
            state = call(state, data, order, np.int32(index))
            if workload.replicas > 1 and index % IN_FLIGHT == IN_FLIGHT - 1:
                jax.block_until_ready(state.metrics)
        return state

    return epoch


def make_network(workload: Workload) -> Callable[[Params, jax.Array], jax.Array]:
    """From rows to logits."""
    if workload.network == "mlp":
        return _mlp
    return partial(_cnn, max_pool=_max_pool_by_comparison if workload.platform == "cpu" else _max_pool_by_window)


def make_loss(workload: Workload) -> Callable[[Params, jax.Array, jax.Array], tuple[jax.Array, jax.Array]]:
    """For the rows of one device: their part of the loss, and the number of correct predictions."""
    network = make_network(workload)

    def loss_of(params: Params, x: jax.Array, y: jax.Array) -> tuple[jax.Array, jax.Array]:
        logits = network(params, x)
        log_probs = jax.nn.log_softmax(logits)
        loss = -jnp.take_along_axis(log_probs, y[:, None], axis=1).sum() / workload.global_batch_size
        correct = (logits.argmax(-1) == y).astype("float32").sum()
        return loss, correct

    return loss_of


def _make_step(workload: Workload, mesh: Mesh, replica_view: bool) -> Callable[[State, Any, jax.Array], State]:
    value_and_grad = jax.value_and_grad(make_loss(workload), has_aux=True)

    def step(state: State, data: Any, rows: jax.Array) -> State:
        x, y = (array.at[rows].get(mode="promise_in_bounds") for array in data)
        if workload.replicas > 1 and not replica_view:
            x, y = lax.with_sharding_constraint((x, y), NamedSharding(mesh, P(AXIS)))
        (loss, correct), grads = value_and_grad(state.params, x, y)
        metrics = jnp.stack([loss, correct])
        if replica_view:
            grads, metrics = lax.psum((grads, metrics), AXIS)
        return adam(state, grads)._replace(metrics=state.metrics + metrics)

    return step


def adam(state: State, grads: Params) -> State:
    """After one step with these gradients."""
    steps = state.steps + 1
    rate = 1e-3 * jnp.sqrt(1 - 0.999**steps) / (1 - 0.9**steps)
    momentum = jax.tree.map(lambda m, g: m + (g - m) * 0.1, state.momentum, grads)
    velocity = jax.tree.map(lambda v, g: v + (g * g - v) * 0.001, state.velocity, grads)
    params = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-7), state.params, momentum, velocity)
    return State(params, momentum, velocity, steps, state.metrics)


def _mlp(params: Params, x: jax.Array) -> jax.Array:
    for kernel, bias in params[:-1]:
        x = jax.nn.relu(_product(x, kernel) + bias)
    kernel, bias = params[-1]
    return _product(x, kernel) + bias


@jax.custom_vjp
def _product(x: jax.Array, kernel: jax.Array) -> jax.Array:
    """``x @ kernel``, its kernel gradient not transposed: over several devices XLA would not fold that away."""
    return x @ kernel


_product.defvjp(
    lambda x, kernel: (x @ kernel, (x, kernel)),
    lambda saved, grad: (grad @ saved[1].T, lax.dot_general(saved[0], grad, (((0,), (0,)), ((), ())))),
)


def _cnn(params: Params, x: jax.Array, max_pool: Callable[[jax.Array], jax.Array]) -> jax.Array:
    kernel, bias = params[0]
    x = lax.conv_general_dilated(x, kernel, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    x = max_pool(jax.nn.relu(x + bias))
    return _mlp(params[1:], x.reshape(x.shape[0], -1))


def _max_pool_by_window(x: jax.Array) -> jax.Array:
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def _max_pool_by_comparison(x: jax.Array) -> jax.Array:
    rows, height, width, channels = x.shape
    tiles = x.reshape(rows, height // 2, 2, width // 2, 2, channels)
    largest = tiles[:, :, 0, :, 0]
    for i, j in ((0, 1), (1, 0), (1, 1)):
        element = tiles[:, :, i, :, j]
        largest = jnp.where(element > largest, element, largest)
    return largest


def _new_params(network: str) -> Params:
    shapes: list[tuple[int, ...]] = [(784, 256), (256, 256), (256, 10)]
    if network == "cnn":
        shapes = [(3, 3, 1, 32), (13 * 13 * 32, 64), (64, 10)]
    draw = jax.nn.initializers.glorot_uniform()
    keys = jax.random.split(jax.random.key(1), len(shapes))
    return [(draw(key, shape), jnp.zeros(shape[-1])) for key, shape in zip(keys, shapes, strict=True)]


def params_from(weights: list[np.ndarray[Any, Any]]) -> Params:
    """Weights in the order of Keras, as pairs of kernel and bias."""
    return [(jnp.array(kernel), jnp.array(bias)) for kernel, bias in zip(weights[::2], weights[1::2], strict=True)]


def new_state(params: Params) -> State:
    """Before the first step."""
    zeros = jax.tree.map(jnp.zeros_like, params)
    return State(params, zeros, jax.tree.map(jnp.zeros_like, params), jnp.int32(0), jnp.zeros(2))


if __name__ == "__main__":
    serve(contender)
