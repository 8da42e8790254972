"""`--devices`: which devices each worker gets, as variables of its environment. JAX is not asked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from unisono_launch.cluster import named_gpus
from unisono_launch.launch._options import UsageError
from unisono_launch.worker import num_cpu_threads


@dataclass(frozen=True, kw_only=True)
class Devices:
    """The devices of this machine that the workers share.

    >>> Devices(kind="gpu", gpus=("4", "5", "6", "7")).variables(1, 2, {})
    {'CUDA_VISIBLE_DEVICES': '6,7'}
    """

    kind: Literal["gpu", "cpu", "as found"]
    """"as found": there is no GPU and nobody said "cpu". JAX decides what there is: TPUs, or else CPUs."""
    gpus: tuple[str, ...] = ()
    """Numbers or UUIDs, as in `CUDA_VISIBLE_DEVICES`."""
    cpus_each: int = 1

    def variables(self, rank: int, size: int, environ: Mapping[str, str]) -> dict[str, str]:
        """What worker `rank` of `size` workers of this machine has in its environment to see its devices only."""
        if self.kind == "gpu":
            return self._gpu_variables(rank, size, environ)
        if self.kind == "as found" and (size == 1 or _has_tpu()):
            return {}
        # Where nobody said "cpu", what the shell says is what the user wants.
        devices = _number(environ, "UNISONO_CPU_DEVICES", self.cpus_each) if self.kind == "as found" else self.cpus_each
        threads = max(num_cpu_threads(devices), _number(environ, "NPROC", 1))
        return {"JAX_PLATFORMS": "cpu", "UNISONO_CPU_DEVICES": str(devices), "NPROC": str(threads)}

    def gpus_of(self, rank: int, size: int) -> tuple[str, ...]:
        """The GPUs of worker `rank` of `size`. Each has equally many; a rest that cannot be divided is nobody's.

        >>> Devices(kind="gpu", gpus=("0", "1", "2", "3")).gpus_of(2, 3)
        ('2',)
        """
        each = len(self.gpus) // size
        return self.gpus[rank * each : (rank + 1) * each]

    def _gpu_variables(self, rank: int, size: int, environ: Mapping[str, str]) -> dict[str, str]:
        variables = {"CUDA_VISIBLE_DEVICES": ",".join(self.gpus_of(rank, size))}
        if environ.get("JAX_PLATFORMS") == "cpu":  # left over in the shell, and against what was asked
            variables["JAX_PLATFORMS"] = ""
        return variables


def find_devices(asked: str, environ: Mapping[str, str], root: Path = Path("/"), *, strict: bool = True) -> Devices:
    """Reads `--devices`: "cpu:2", "gpu:0,1", "gpu" or "auto". Unless `strict`, GPUs that are not there are left out."""
    if match := re.fullmatch(r"cpu(?::([1-9]\d*))?", asked):
        return Devices(kind="cpu", cpus_each=int(match[1] or 1))
    gpus = visible_gpus(environ, root)
    if asked == "auto":
        return Devices(kind="gpu", gpus=tuple(gpus)) if gpus else Devices(kind="as found")
    if asked == "gpu":
        if strict and not gpus:
            raise UsageError("--devices gpu: no GPU is visible here. Use CPUs: --devices cpu:1")
        return Devices(kind="gpu", gpus=tuple(gpus))
    if not re.fullmatch(r"gpu:\d+(,\d+)*", asked):
        raise UsageError(f"--devices {asked} is not understood. Write cpu:2, gpu:0,1 or auto.")
    return Devices(kind="gpu", gpus=_chosen(asked, gpus, strict=strict))


def divide(devices: Devices, num_workers: int | Literal["auto", "gpu"]) -> int:
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


def visible_gpus(environ: Mapping[str, str], root: Path = Path("/")) -> list[str]:
    """The GPUs of this machine as `CUDA_VISIBLE_DEVICES` names them, found by files of the NVIDIA driver.

    >>> visible_gpus({"CUDA_VISIBLE_DEVICES": "4,5"}), visible_gpus({"CUDA_VISIBLE_DEVICES": "-1"})
    (['4', '5'], [])
    """
    named = named_gpus(environ)
    if named is not None:
        return named
    folders = list((root / "proc/driver/nvidia/gpus").glob("*"))
    nodes = [node for node in (root / "dev").glob("nvidia[0-9]*") if node.name[6:].isdecimal()]
    return [str(number) for number in range(len(folders) or len(nodes))]


def _chosen(asked: str, gpus: list[str], *, strict: bool) -> tuple[str, ...]:
    """The GPUs of "gpu:0,1": places in the list of visible ones, as everywhere in CUDA."""
    places = [int(place) for place in asked.removeprefix("gpu:").split(",")]
    repeated = sorted({place for place in places if places.count(place) > 1})
    if repeated:
        raise UsageError(f"--devices {asked} names GPU {repeated[0]} twice. Name each once.")
    if not gpus:  # none was found, but the driver may show them elsewhere (WSL, Jetson): JAX will tell
        return tuple(str(place) for place in places)
    missing = [place for place in places if place >= len(gpus)]
    if missing and strict:
        raise UsageError(
            f"--devices {asked}: there is no GPU {missing[0]}. Visible are {len(gpus)} ({', '.join(gpus)}), "
            f"so write gpu:{','.join(str(place) for place in range(len(gpus)))} for all of them."
        )
    return tuple(gpus[place] for place in places if place < len(gpus))


def _has_tpu(root: Path = Path("/")) -> bool:
    return any((root / "dev").glob("accel[0-9]*")) or any((root / "dev/vfio").glob("[0-9]*"))


def _number(environ: Mapping[str, str], name: str, default: int) -> int:
    text = environ.get(name, "")
    return int(text) if text.isdecimal() and int(text) > 0 else default
