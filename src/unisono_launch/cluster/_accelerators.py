"""How many GPUs this process can see, found without starting anything."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_GOOGLE: Final = "0x1ae0"  # its number among the makers of PCI devices


def local_accelerators(environ: Mapping[str, str]) -> dict[str, int]:
    """The accelerators of this process by kind, such as `{"GPU": 2}`. Without any: `{}`.

    JAX is asked only after it has joined a job: asking it earlier would start it, and a process in which JAX has
    started cannot join any more. Before that :func:`visible_gpus` counts. Other makers' GPUs are thus seen only after
    joining.
    """
    jax = sys.modules.get("jax")
    if jax is not None and jax.distributed.is_initialized():
        platforms = [device.platform for device in jax.local_devices()]
        return dict(Counter("TPU" if name == "tpu" else "GPU" for name in platforms if name != "cpu"))
    gpus = visible_gpus(environ)
    return {"GPU": len(gpus)} if gpus else {}


def visible_gpus(environ: Mapping[str, str], root: Path = Path("/")) -> list[str]:
    """The GPUs of this process as `CUDA_VISIBLE_DEVICES` names them, else those that the NVIDIA driver has files for.

    The driver has a folder in `/proc/driver/nvidia/gpus` for each GPU. Where a container hides `/proc/driver`, the
    device files `/dev/nvidia0`, `/dev/nvidia1` … are counted.

    >>> visible_gpus({"CUDA_VISIBLE_DEVICES": "4,5"}), visible_gpus({"CUDA_VISIBLE_DEVICES": "-1"})
    (['4', '5'], [])
    """
    chosen = environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is None:
        return [str(number) for number in range(num_driver_gpus(root))]
    names: list[str] = []
    for name in chosen.split(","):
        # CUDA's rule: the list ends at the first entry that is none. SLURM writes NoDevFiles where there is no GPU.
        if not name.strip() or name.strip().startswith("-") or name.strip() == "NoDevFiles":
            break
        names.append(name.strip())
    return names


def num_driver_gpus(root: Path = Path("/")) -> int:
    """How many GPUs the NVIDIA driver has on this machine, whatever `CUDA_VISIBLE_DEVICES` says."""
    folders = list((root / "proc/driver/nvidia/gpus").glob("*"))
    device_files = [file for file in (root / "dev").glob("nvidia[0-9]*") if file.name[6:].isdecimal()]
    return len(folders) or len(device_files)


def has_uncounted_gpus(root: Path = Path("/")) -> bool:
    """Whether this machine may have GPUs that are not counted here: those of WSL, of a Jetson, or AMD's."""
    return any((root / "dev" / name).exists() for name in ("dxg", "nvhost-gpu", "nvgpu", "kfd"))


def has_tpu_files(root: Path = Path("/")) -> bool:
    """Whether this machine has the device files of a TPU: `/dev/accel0` …, of newer kinds `/dev/vfio/0` …

    Devices that are passed through to virtual machines have the latter too, so the vendor of one has to be Google.
    """
    if any((root / "dev").glob("accel[0-9]*")):
        return True
    vendors = (root / "sys/bus/pci/devices").glob("*/vendor")
    return any((root / "dev/vfio").glob("[0-9]*")) and any(file.read_text().strip() == _GOOGLE for file in vendors)
