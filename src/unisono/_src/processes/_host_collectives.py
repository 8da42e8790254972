"""Collectives on host values outside programs: all-gather and broadcast of a few numbers or of JSON."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from unisono._src.processes._processes import processes


def all_gather_host(numbers: Any) -> np.ndarray[Any, Any]:
    """The numbers of every process, stacked along a new first dimension. All processes have to call it."""
    line = np.asarray(numbers)
    if processes().count == 1:
        return line[None]
    # As bytes: JAX has no 64-bit types by default.
    raw = np.ascontiguousarray(line).reshape(-1).view(np.uint8)
    gathered = np.asarray(_programs()[1](_stack_over_processes(raw)))
    return gathered.view(line.dtype).reshape(processes().count, *line.shape)


def broadcast_from_chief(array: Any) -> np.ndarray[Any, Any]:
    """The chief's ``array``; on other processes it only has to have the same shape and dtype. All have to call it.

    It travels as bytes in a buffer whose size is a power of two, so that few programs are compiled for many arrays.
    """
    if processes().count == 1:
        return np.asarray(array)
    host = np.ascontiguousarray(array)
    size = max(256, 1 << (max(host.nbytes, 1) - 1).bit_length())
    buffer = np.zeros(size, np.uint8)
    buffer[: host.nbytes] = host.reshape(-1).view(np.uint8)
    sent = np.asarray(_programs()[0](_stack_over_processes(buffer)))
    received: np.ndarray[Any, Any] = sent[: host.nbytes].view(host.dtype).reshape(np.shape(array))
    return received


def run_on_chief(function: Callable[[], Any]) -> Any:
    """Calls ``function`` on the chief only and returns its result, JSON data, on every process. All have to call it.

    An error there is raised on every process: a process that continued alone would wait for its peers forever.
    """
    if processes().count == 1:
        return function()
    message: Any = None
    failure: BaseException | None = None
    if processes().is_chief:
        try:
            message = {"result": function()}
        except Exception as error:
            message, failure = {"error": type(error).__name__, "message": str(error)}, error
    encoded = np.frombuffer(json.dumps(message).encode(), np.uint8)
    length = int(broadcast_from_chief(np.int64(encoded.size)))
    buffer = encoded if processes().is_chief else np.zeros(length, np.uint8)
    received = json.loads(broadcast_from_chief(buffer).tobytes())
    if failure is not None:
        raise failure
    if "error" in received:
        raise RuntimeError(f"{processes().names[0]} failed with {received['error']}: {received['message']}")
    return received["result"]


def all_gather_json(value: Any) -> list[Any]:
    """The value of every process, JSON data, in the order of the processes. All of them have to call it."""
    encoded = np.frombuffer(json.dumps(value).encode(), np.uint8)
    lengths = all_gather_host(np.int64(encoded.size))
    padded = np.zeros(1 << (int(lengths.max()) - 1).bit_length(), np.uint8)
    padded[: encoded.size] = encoded
    gathered = all_gather_host(padded)
    return [json.loads(line[:length].tobytes()) for line, length in zip(gathered, lengths, strict=True)]


def broadcast_seeds_from_chief(seeds: Sequence[int]) -> list[int]:
    """The chief's seeds instead of this process's. All have to call it with equally many."""
    return [int(seed) for seed in broadcast_from_chief(np.array(seeds))] if seeds else []


def _stack_over_processes(line: np.ndarray[Any, Any]) -> jax.Array:
    """One array with a row for each process, stored on its first device."""
    with jax.ensure_compile_time_eval():  # a variable may be made while a function is traced
        own_row = jax.device_put(line[None], jax.local_devices()[0])
        shape = (processes().count, *line.shape)
        sharding = NamedSharding(_first_devices(), PartitionSpec("process"))
        return jax.make_array_from_single_device_arrays(shape, sharding, [own_row])


@functools.cache
def _first_devices() -> Mesh:
    first: dict[int, jax.Device] = {}
    for device in jax.devices():
        first.setdefault(device.process_index, device)
    return Mesh(np.array([first[index] for index in sorted(first)]), ("process",))


@functools.cache
def _programs() -> tuple[Callable[[jax.Array], jax.Array], Callable[[jax.Array], jax.Array]]:
    """Two compiled programs: broadcast of the chief's row, and all-gather of all rows."""
    replicated = NamedSharding(_first_devices(), PartitionSpec())

    def compile_gather(function: Callable[[jax.Array], jax.Array]) -> Callable[[jax.Array], jax.Array]:
        jitted = jax.jit(function, out_shardings=replicated)

        def call(rows: jax.Array) -> jax.Array:
            with jax.ensure_compile_time_eval():
                return jitted(rows)  # type: ignore[no-any-return]

        return call

    return compile_gather(lambda rows: rows[0]), compile_gather(lambda rows: rows)
