"""How long the exchange of a step takes on this machine: between devices of this process, or between processes."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from unisono._src.devices import Placement, ShardedPlacement, ShardLargestDim
from unisono._src.planning._collectives import Collective
from unisono._src.planning._compute_time import ComputeTimer
from unisono._src.planning._interconnect import Measured
from unisono._src.planning._model_call import ExaminedModel
from unisono._src.planning._timed_step import prepare_step, time_steps

_ROUNDS: Final = 7
_REPEATS: Final = 10  # in one call, so that the time of the call itself does not count
_PROCESSES: Final = (2, 4)
_PROCESS_SECONDS: Final = 120

PROBE: Final = Path(__file__).with_name("_exchange_probe.py")

ONE_DEVICE = """--bandwidth measure: there is one {platform} device here, and it takes two to exchange something. Name
the interconnect, as in --bandwidth nvlink4."""

PROBE_FAILED = """--bandwidth measure-processes: {number} processes could not be measured. Name the interconnect
instead, as in --bandwidth 100gbe. What they printed:
{output}"""


def measure_devices(examined: ExaminedModel, timer: ComputeTimer, collectives: Sequence[Collective]) -> Measured:
    """Between 2, 4, 8, … devices of this process: what a step takes on them, less the time in which it computes.

    So the time in which devices wait for each other is part of the exchange. If the step cannot be run on so many
    devices, its collectives are timed by themselves.
    """
    placement = examined.call.placement
    devices = jax.local_devices(backend=placement.devices[0].platform)
    if len(devices) < 2:
        raise ValueError(ONE_DEVICE.format(platform=devices[0].platform))
    found = {}
    for number in [number for number in (2, 4, 8, 16) if number <= len(devices)]:
        other = _over_devices(placement, devices[:number])
        seconds = None if other is None else _time_waiting(examined, timer, other)
        found[number] = time_collectives(collectives, devices[:number]) if seconds is None else seconds
    return Measured(f"between {devices[0].platform} devices of one process", found)


def _time_waiting(examined: ExaminedModel, timer: ComputeTimer, placement: Placement) -> float | None:
    """Seconds of a step on the devices of ``placement`` in which they do not compute; None if it cannot be run."""
    number, batch = placement.mesh.size, examined.batch.rows
    if batch < number:
        return None
    rows = -(-batch // number)
    state = examined.call.placement.fetch(examined.variables.read())
    try:
        timer.measure(number, rows)
        timer.whole_steps[number, rows] = time_steps([prepare_step(examined, placement, state, batch)])
    except jax.errors.JaxRuntimeError as error:
        if "RESOURCE_EXHAUSTED" not in str(error):
            raise
        return None
    return timer.whole_steps[number, rows] - timer.predict(number, rows)


def _over_devices(placement: Placement, devices: list[Any]) -> Placement | None:
    """The placement over other devices; None if the layouts of its variables are for its own devices alone."""
    if not isinstance(placement, ShardedPlacement):
        return Placement.over(devices)
    size, policy = placement.mesh.size, placement.policy
    if not isinstance(policy, ShardLargestDim) or policy.num_shards != size or size % len(devices):
        return None
    mesh = jax.make_mesh((len(devices),), placement.mesh.axis_names, (AxisType.Auto,), devices=devices)
    return replace(placement, mesh=mesh, policy=replace(policy, num_shards=len(devices)))


def measure_processes(collectives: Sequence[Collective]) -> Measured:
    """Between 2 and 4 processes of this machine with a CPU device each, as `unisono run -n` starts them."""
    # Sums are one message there (`Placement.needs_combined_all_reduces`).
    summed = sum(each.num_bytes for each in collectives if each.kind == "all-reduce")
    others = [each for each in collectives if each.kind != "all-reduce"]
    merged = [*([Collective("all-reduce", summed)] if summed else []), *others]
    sizes = json.dumps([[each.kind, each.num_bytes] for each in merged])
    found = {}
    for number in _PROCESSES:
        output = _run_processes(number, sizes)
        lines = [line.partition("seconds=")[2] for line in output.splitlines() if "seconds=" in line]
        if not lines:
            raise RuntimeError(PROBE_FAILED.format(number=number, output=output[-2000:]))
        found[number] = float(lines[0])
    return Measured("between processes with a CPU device each", found)


def _run_processes(number: int, sizes: str) -> str:
    """Runs the probe; returns what it printed. Its run folder, which nobody needs, is a temporary one."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        options = ["-n", str(number), "--devices", "cpu:1", "--run-dir", folder]
        command = [sys.executable, "-m", "unisono_launch", "run", *options, str(PROBE), sizes]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_PROCESS_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            output = f"nothing in {_PROCESS_SECONDS} seconds"
            raise RuntimeError(PROBE_FAILED.format(number=number, output=output)) from None
    if done.returncode:
        raise RuntimeError(PROBE_FAILED.format(number=number, output=(done.stdout + done.stderr)[-2000:]))
    return done.stdout


def time_collectives(collectives: Sequence[Collective], devices: Sequence[Any]) -> float:
    """Seconds that these take on ``devices``, one after the other. All processes of the devices have to call it."""
    mesh = Mesh(np.array(devices), ("device",))
    layout = NamedSharding(mesh, PartitionSpec("device"))
    number = len(devices)
    arrays = []
    for each in collectives:
        # Of an all-gather each device has a part before; of the others, all.
        length = -(-each.num_bytes // 4 // number) if each.kind == "all-gather" else each.num_bytes // 4
        length += -length % number
        shape = (number, length)
        arrays.append(jax.make_array_from_callback(shape, layout, partial(_zeros, length)))

    @jax.jit
    @partial(jax.shard_map, mesh=mesh, in_specs=layout.spec, out_specs=layout.spec, check_vma=False)
    def run(values: list[Any]) -> list[Any]:
        def once(_: Any, values: list[Any]) -> list[Any]:
            return [_exchange(each.kind, value, number) for each, value in zip(collectives, values, strict=True)]

        return jax.lax.fori_loop(0, _REPEATS, once, values)  # type: ignore[no-any-return]

    jax.block_until_ready(run(arrays))
    times = []
    for _ in range(_ROUNDS):
        began = time.perf_counter()
        jax.block_until_ready(run(arrays))
        times.append(time.perf_counter() - began)
    return min(times) / _REPEATS  # other programs on the machine make some rounds slower, and none faster


def _zeros(length: int, index: Any) -> np.ndarray[Any, Any]:
    return np.zeros((1, length), np.float32)


def _exchange(kind: str, value: Any, number: int) -> Any:
    """The collective, and a result of the shape of ``value``."""
    if kind == "all-gather":
        whole = jax.lax.all_gather(value, "device", axis=1, tiled=True)
        return jax.lax.dynamic_slice_in_dim(whole, 0, value.shape[1], axis=1) + 1
    if kind == "reduce-scatter":
        part = jax.lax.psum_scatter(value, "device", scatter_dimension=1, tiled=True)
        return value.at[:, : part.shape[1]].set(part / number)
    if kind == "all-to-all":
        return jax.lax.all_to_all(value, "device", split_axis=1, concat_axis=1, tiled=True)
    if kind == "collective-permute":
        return jax.lax.ppermute(value, "device", [(index, (index + 1) % number) for index in range(number)])
    return jax.lax.psum(value, "device") / jnp.float32(number)
