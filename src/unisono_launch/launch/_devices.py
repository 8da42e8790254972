"""`--devices`: which devices each worker gets, as variables of its environment. JAX is not imported."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from unisono_launch.cluster import has_tpu_files, has_uncounted_gpus, visible_gpus
from unisono_launch.launch._options import UsageError
from unisono_launch.worker import num_cpu_threads


@dataclass(frozen=True, kw_only=True)
class MachineDevices:
    """The devices of this machine that the workers share.

    >>> MachineDevices(kind="gpu", gpus=("4", "5", "6", "7")).variables(1, 2, {})
    {'CUDA_VISIBLE_DEVICES': '6,7'}
    """

    kind: Literal["gpu", "cpu", "as found"]
    """"as found": there is no GPU and "cpu" was not asked for. JAX decides what there is: TPUs, or else CPUs."""
    gpus: tuple[str, ...] = ()
    """Numbers or UUIDs, as in `CUDA_VISIBLE_DEVICES`."""
    cpus_each: int = 1

    def variables(self, rank: int, size: int, environ: Mapping[str, str]) -> dict[str, str]:
        """What worker `rank` of `size` workers of this machine has in its environment to see its devices only."""
        if self.kind == "gpu":
            return self._gpu_variables(rank, size, environ)
        if self.kind == "as found" and (size == 1 or has_tpu_files()):
            return {}
        # Without an explicit "cpu", the shell's variable is what the user wants.
        devices = (
            _positive_number(environ, "UNISONO_CPU_DEVICES", self.cpus_each)
            if self.kind == "as found"
            else self.cpus_each
        )
        threads = max(num_cpu_threads(devices), _positive_number(environ, "NPROC", 1))
        return {"JAX_PLATFORMS": "cpu", "UNISONO_CPU_DEVICES": str(devices), "NPROC": str(threads)}

    def gpus_of(self, rank: int, size: int) -> tuple[str, ...]:
        """The GPUs of worker `rank` of `size`. Each has equally many; a remainder that cannot be divided is idle.

        >>> MachineDevices(kind="gpu", gpus=("0", "1", "2", "3")).gpus_of(2, 3)
        ('2',)
        """
        each = len(self.gpus) // size
        return self.gpus[rank * each : (rank + 1) * each]

    def _gpu_variables(self, rank: int, size: int, environ: Mapping[str, str]) -> dict[str, str]:
        variables = {"CUDA_VISIBLE_DEVICES": ",".join(self.gpus_of(rank, size))}
        if environ.get("JAX_PLATFORMS") == "cpu":  # left over in the shell, against --devices
            variables["JAX_PLATFORMS"] = ""
        return variables


def find_devices(
    asked: str, environ: Mapping[str, str], root: Path = Path("/"), *, strict: bool = True
) -> MachineDevices:
    """Reads `--devices`: "cpu:2", "gpu:0,1", "gpu" or "auto". Unless `strict`, GPUs that are not there are left out."""
    if match := re.fullmatch(r"cpu(?::([1-9]\d*))?", asked):
        return MachineDevices(kind="cpu", cpus_each=int(match[1] or 1))
    gpus = visible_gpus(environ, root)
    if asked == "auto":
        return MachineDevices(kind="gpu", gpus=tuple(gpus)) if gpus else MachineDevices(kind="as found")
    if not re.fullmatch(r"gpu(:\d+(,\d+)*)?", asked):
        raise UsageError(f"--devices {asked} is not a choice of devices. Write cpu:2, gpu:0,1 or auto.")
    named = [int(position) for position in re.findall(r"\d+", asked)]
    if named and not gpus and has_uncounted_gpus(root):  # JAX will find out
        return MachineDevices(kind="gpu", gpus=tuple(map(str, named)))
    if strict and not gpus:
        raise UsageError(f"--devices {asked}: no GPU is visible here. Use CPUs: --devices cpu:1")
    return MachineDevices(kind="gpu", gpus=_select(asked, named, gpus, strict=strict) if named else tuple(gpus))


def count_workers(devices: MachineDevices, num_workers: int | Literal["auto", "gpu"]) -> int:
    """How many workers share the devices; raises :class:`UsageError` if they cannot be shared evenly."""
    num_gpus = len(devices.gpus)
    if num_workers == "gpu" and not num_gpus:
        raise UsageError("-n gpu: no GPU is visible here. Give a number, as in -n 2 --devices cpu:1")
    workers = max(1, num_gpus) if isinstance(num_workers, str) else num_workers
    if devices.kind == "gpu" and num_gpus % workers:
        fitting = [str(n) for n in range(1, num_gpus + 1) if num_gpus % n == 0]
        raise UsageError(
            f"{num_gpus} GPUs ({', '.join(devices.gpus)}) cannot be divided evenly among {workers} workers. "
            f"Give -n {' or '.join(fitting)}, or name other GPUs with --devices gpu:0,1,…"
        )
    return workers


def _select(asked: str, positions: list[int], gpus: list[str], *, strict: bool) -> tuple[str, ...]:
    """The GPUs of "gpu:0,1": positions in the list of visible ones, as everywhere in CUDA."""
    repeated = sorted({position for position in positions if positions.count(position) > 1})
    if repeated:
        raise UsageError(f"--devices {asked} names GPU {repeated[0]} twice. Name each once.")
    missing = [position for position in positions if position >= len(gpus)]
    if missing and strict:
        raise UsageError(
            f"--devices {asked}: there is no GPU {missing[0]}. Visible are {len(gpus)} ({', '.join(gpus)}), "
            f"so write gpu:{','.join(str(position) for position in range(len(gpus)))} for all of them."
        )
    return tuple(gpus[position] for position in positions if position < len(gpus))


def _positive_number(environ: Mapping[str, str], name: str, default: int) -> int:
    text = environ.get(name, "")
    return int(text) if text.isdecimal() and int(text) > 0 else default
