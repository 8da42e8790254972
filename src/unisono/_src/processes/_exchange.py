"""What the processes of a job tell each other outside of programs: few numbers, and initial values."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from unisono._src.processes._processes import processes


def exchanged(numbers: Any) -> np.ndarray[Any, Any]:
    """What each process passes, a few numbers, as one array with a line for each. All of them have to call it."""
    line = np.asarray(numbers)
    if processes().number == 1:
        return line[None]
    # JAX has no 64 bits unless told so, hence bytes.
    raw = np.ascontiguousarray(line).reshape(-1).view(np.uint8)
    every = np.asarray(_programs()[1](_lines(raw)))
    return every.view(line.dtype).reshape(processes().number, *line.shape)


def from_chief(array: Any) -> np.ndarray[Any, Any]:
    """What the chief passes; the others' need only have its shape and dtype. All of them have to call it.

    It travels as bytes in a buffer whose size is a power of two, so that few programs are compiled for many arrays.
    """
    if processes().number == 1:
        return np.asarray(array)
    host = np.ascontiguousarray(array)
    size = max(256, 1 << (max(host.nbytes, 1) - 1).bit_length())
    buffer = np.zeros(size, np.uint8)
    buffer[: host.nbytes] = host.reshape(-1).view(np.uint8)
    sent = np.asarray(_programs()[0](_lines(buffer)))
    received: np.ndarray[Any, Any] = sent[: host.nbytes].view(host.dtype).reshape(np.shape(array))
    return received


def told_by_chief(tell: Callable[[], Any]) -> Any:
    """What ``tell`` returns on the chief, which alone calls it: anything JSON can say. All have to call this.

    What it raises there is raised everywhere: if one process went on, it would wait for the others for ever.
    """
    if processes().number == 1:
        return tell()
    said: Any = None
    failure: BaseException | None = None
    if processes().is_chief:
        try:
            said = {"said": tell()}
        except Exception as error:
            said, failure = {"failed": type(error).__name__, "message": str(error)}, error
    encoded = np.frombuffer(json.dumps(said).encode(), np.uint8)
    length = int(from_chief(np.int64(encoded.size)))
    heard = json.loads(from_chief(encoded if processes().is_chief else np.zeros(length, np.uint8)).tobytes())
    if failure is not None:
        raise failure
    if "failed" in heard:
        raise RuntimeError(f"{processes().names[0]} failed with {heard['failed']}: {heard['message']}")
    return heard["said"]


def told_by_all(said: Any) -> list[Any]:
    """What each process says, in order: anything JSON can say. All of them have to call it."""
    encoded = np.frombuffer(json.dumps(said).encode(), np.uint8)
    lengths = exchanged(np.int64(encoded.size))
    padded = np.zeros(1 << (int(lengths.max()) - 1).bit_length(), np.uint8)
    padded[: encoded.size] = encoded
    return [json.loads(line[:length].tobytes()) for line, length in zip(exchanged(padded), lengths, strict=True)]


def seeds_of_chief(seeds: Sequence[int]) -> list[int]:
    """The chief's seeds, for as many of one's own. All of them have to call it, if they have any."""
    return [int(seed) for seed in from_chief(np.array(seeds))] if seeds else []


def _lines(line: np.ndarray[Any, Any]) -> jax.Array:
    """One array with a line of each process, on its first device."""
    mesh = _first_devices()
    with jax.ensure_compile_time_eval():  # a variable may be made while a function is traced
        here = jax.device_put(line[None], jax.local_devices()[0])
        shape = (processes().number, *line.shape)
        return jax.make_array_from_single_device_arrays(shape, NamedSharding(mesh, PartitionSpec("process")), [here])


@functools.cache
def _first_devices() -> Mesh:
    first: dict[int, jax.Device] = {}
    for device in jax.devices():
        first.setdefault(device.process_index, device)
    return Mesh(np.array([first[index] for index in sorted(first)]), ("process",))


@functools.cache
def _programs() -> tuple[Callable[[jax.Array], jax.Array], Callable[[jax.Array], jax.Array]]:
    """The line of the chief for all, and all lines for all."""
    everywhere = NamedSharding(_first_devices(), PartitionSpec())

    def compiled(function: Callable[[jax.Array], jax.Array]) -> Callable[[jax.Array], jax.Array]:
        jitted = jax.jit(function, out_shardings=everywhere)

        def call(lines: jax.Array) -> jax.Array:
            with jax.ensure_compile_time_eval():
                return jitted(lines)  # type: ignore[no-any-return]

        return call

    return compiled(lambda lines: lines[0]), compiled(lambda lines: lines)
