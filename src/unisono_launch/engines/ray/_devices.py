"""`--devices` of `unisono run --on ray`: what each worker asks Ray for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from unisono_launch.launch import UsageError


@dataclass(frozen=True, kw_only=True)
class RayDevices:
    """`--devices`: what each worker asks Ray for.

    >>> RayDevices.parse("gpu:2")
    RayDevices(kind='gpu', count=2, accelerator_type=None, topology=None)
    """

    kind: Literal["cpu", "gpu", "tpu", "auto"]
    count: int = 1
    accelerator_type: str | None = None
    """Of a TPU slice: "TPU-V6E", as Ray calls it."""
    topology: str | None = None
    """Of a TPU slice: "4x4"."""

    def on_cluster(self, resources: Mapping[str, float]) -> RayDevices:
        """What "auto" means on a cluster with these resources."""
        if self.kind != "auto":
            return self
        return RayDevices(kind="gpu" if resources.get("GPU", 0) >= 1 else "cpu")

    @property
    def of_worker(self) -> str:
        """For `UnisonoConfig`: Ray has divided GPUs and TPUs, and CPU devices are the worker's own."""
        return f"cpu:{self.count}" if self.kind == "cpu" else self.kind

    @classmethod
    def parse(cls, text: str) -> RayDevices:
        """Reads cpu:K, gpu:K, tpu:K, tpu:GENERATION:TOPOLOGY or auto; raises :class:`UsageError`."""
        if text == "auto":
            return cls(kind="auto")
        if match := re.fullmatch(r"(cpu|gpu|tpu)(?::([1-9]\d*))?", text):
            kind: Literal["cpu", "gpu", "tpu"] = match[1]  # type: ignore[assignment]
            return cls(kind=kind, count=int(match[2] or 1))
        if match := re.fullmatch(r"tpu:(v\d+[a-z]*):(\d+x\d+(?:x\d+)?)", text, re.IGNORECASE):
            return cls(kind="tpu", accelerator_type=f"TPU-{match[1].upper()}", topology=match[2])
        if text.startswith("gpu:"):
            raise UsageError(f"--devices {text}: Ray chooses the GPUs. Say how many each worker needs, as in gpu:1.")
        raise UsageError(f"--devices {text} is not a choice of devices. Write cpu:2, gpu:1 or tpu:v6e:4x4.")


def describe_resources(resources: Mapping[str, float]) -> str:
    """The processors among Ray's resources, in words.

    >>> describe_resources({"CPU": 8.0, "GPU": 1.0, "memory": 1e9})
    '8 CPUs, 1 GPU'
    """
    counts = {name: resources[name] for name in ("CPU", "GPU", "TPU") if resources.get(name)}
    return ", ".join(f"{count:g} {name}{'' if count == 1 else 's'}" for name, count in counts.items())
