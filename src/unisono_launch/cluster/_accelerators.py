"""How many GPUs this process can see, found without starting anything."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

# The NVIDIA driver has one folder in here for each GPU.
_DRIVER: Final = Path("/proc/driver/nvidia/gpus")


def local_accelerators(environ: Mapping[str, str]) -> dict[str, int]:
    """The accelerators of this process by kind, such as `{"GPU": 2}`. Without any: `{}`.

    JAX is asked only after it has joined a group: asking it earlier would start it, and who has started cannot join
    any more. Before that `CUDA_VISIBLE_DEVICES` counts, and without it the NVIDIA driver's list in `/proc`. Other
    makers' GPUs are thus seen only after joining.
    """
    jax = sys.modules.get("jax")
    if jax is not None and jax.distributed.is_initialized():
        platforms = [device.platform for device in jax.local_devices()]
        return dict(Counter("TPU" if name == "tpu" else "GPU" for name in platforms if name != "cpu"))
    gpus = visible_gpus(environ)
    return {"GPU": len(gpus)} if gpus else {}


def visible_gpus(environ: Mapping[str, str], driver: Path = _DRIVER) -> list[str]:
    """The GPUs of this process, as `CUDA_VISIBLE_DEVICES` names them.

    >>> visible_gpus({"CUDA_VISIBLE_DEVICES": "4,5"}), visible_gpus({"CUDA_VISIBLE_DEVICES": "-1"})
    (['4', '5'], [])
    """
    named = named_gpus(environ)
    return [str(index) for index, _ in enumerate(driver.glob("*"))] if named is None else named


def named_gpus(environ: Mapping[str, str]) -> list[str] | None:
    """The GPUs that `CUDA_VISIBLE_DEVICES` names; None if it is not set."""
    chosen = environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is None:
        return None
    names: list[str] = []
    for name in chosen.split(","):
        # CUDA's rule: the list ends at the first entry that is none. SLURM writes NoDevFiles where there is no GPU.
        if not name.strip() or name.strip().startswith("-") or name.strip() == "NoDevFiles":
            break
        names.append(name.strip())
    return names
