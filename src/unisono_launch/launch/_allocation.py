"""How many workers this machine has in the next attempt, and on which devices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from unisono_launch.launch._devices import MachineDevices, count_workers, find_devices
from unisono_launch.launch._options import LaunchOptions, SizeRange, UsageError


class WorkerAllocator:
    """The workers of this machine. Their number may change with `-n MIN:MAX`.

    Then devices are looked for before every attempt. As many workers start as there are GPUs, at most MAX; each gets
    the largest equal number of GPUs, and what is left over stays idle. A worker that is lost permanently leaves with
    its GPUs.
    """

    def __init__(self, options: LaunchOptions, environ: Mapping[str, str], root: Path = Path("/")) -> None:
        self._options = options
        self._environ = environ
        self._root = root
        self._devices = find_devices(options.devices, environ, root)
        self._num_lost = 0
        self._lost_gpus: set[str] = set()
        if isinstance(options.num_workers, SizeRange):
            self._allocate_within(options.num_workers)  # raises now, before anything is started
        else:
            self._num_workers = count_workers(self._devices, options.num_workers)

    def allocate(self) -> tuple[MachineDevices, int]:
        """The devices for the next attempt, and how many workers share them; raises :class:`UsageError`."""
        wanted = self._options.num_workers
        if not isinstance(wanted, SizeRange):
            return self._devices, self._num_workers
        found = find_devices(self._options.devices, self._environ, self._root, strict=False)
        if self._devices.kind == "gpu" and found.kind != "gpu":  # not one is left, and CPUs were never asked for
            found = replace(self._devices, gpus=())
        if found != self._devices:  # the numbers refer to different GPUs now
            self._devices, self._num_lost = found, 0
            self._lost_gpus.clear()
        return self._allocate_within(wanted)

    def exclude(self, local_rank: int, devices: MachineDevices, num_workers: int) -> bool:
        """Leaves a worker out of the next attempts; False if the number of workers is fixed."""
        if not isinstance(self._options.num_workers, SizeRange):
            return False
        self._num_lost += 1
        self._lost_gpus.update(devices.gpus_of(local_rank, num_workers))
        return True

    def _allocate_within(self, wanted: SizeRange) -> tuple[MachineDevices, int]:
        devices = replace(self._devices, gpus=tuple(gpu for gpu in self._devices.gpus if gpu not in self._lost_gpus))
        num_workers = wanted.most - self._num_lost
        if devices.kind == "gpu":
            num_workers = min(num_workers, len(devices.gpus))
        if num_workers < wanted.least:
            gpus = f" with {len(devices.gpus)} GPUs" if devices.kind == "gpu" else ""
            lost = f", {self._num_lost} lost permanently" if self._num_lost else ""
            raise UsageError(
                f"{num_workers} worker{'' if num_workers == 1 else 's'} can start here{gpus}{lost}, and -n {wanted} "
                f"needs at least {wanted.least}. To make do with fewer: -n {max(1, num_workers)}:{wanted.most}"
            )
        return devices, num_workers
