"""How many workers this machine has in the next attempt, and on which devices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from unisono_launch.launch._devices import Devices, divide, find_devices
from unisono_launch.launch._options import Options, Span, UsageError


class TooFewError(UsageError):
    """Less is left than the job was said to need at least."""


class Workforce:
    """The workers of this machine. Their number changes where it may: `-n MIN:MAX`.

    Then devices are looked for before every attempt. As many workers start as there are GPUs, at most MAX; each gets
    the largest equal number of GPUs, and what is left over stays idle. A worker that is lost for good leaves with its
    GPUs.
    """

    def __init__(self, options: Options, environ: Mapping[str, str], root: Path = Path("/")) -> None:
        self._options = options
        self._environ = environ
        self._root = root
        self._found = find_devices(options.devices, environ, root)
        self._num_lost = 0
        self._lost_gpus: set[str] = set()
        if isinstance(options.num_workers, Span):
            self._divided(options.num_workers)  # raises now, before anything is started
        else:
            self._size = divide(self._found, options.num_workers)

    def muster(self) -> tuple[Devices, int]:
        """The devices for the next attempt, and how many workers share them; raises :class:`TooFewError`."""
        span = self._options.num_workers
        if not isinstance(span, Span):
            return self._found, self._size
        found = find_devices(self._options.devices, self._environ, self._root, strict=False)
        if self._found.kind == "gpu" and found.kind != "gpu":  # not one is left, and CPUs were never asked for
            found = replace(self._found, gpus=())
        if found != self._found:  # numbers of GPUs mean others now
            self._found, self._num_lost = found, 0
            self._lost_gpus.clear()
        return self._divided(span)

    def lose(self, rank: int, devices: Devices, size: int) -> bool:
        """Goes on without a worker, the one of number `rank` on this machine; whether that is possible at all."""
        if not isinstance(self._options.num_workers, Span):
            return False
        self._num_lost += 1
        self._lost_gpus.update(devices.gpus_of(rank, size))
        return True

    def _divided(self, span: Span) -> tuple[Devices, int]:
        devices = replace(self._found, gpus=tuple(gpu for gpu in self._found.gpus if gpu not in self._lost_gpus))
        size = span.most - self._num_lost
        if devices.kind == "gpu":
            size = min(size, len(devices.gpus))
        if size < span.least:
            gpus = f" with {len(devices.gpus)} GPUs" if devices.kind == "gpu" else ""
            lost = f", {self._num_lost} lost for good" if self._num_lost else ""
            raise TooFewError(
                f"{size} worker{'' if size == 1 else 's'} can start here{gpus}{lost}, and -n {span} wants at least "
                f"{span.least}. To make do with less: -n {max(1, size)}:{span.most}"
            )
        return devices, size
