"""What a job asks Ray for: bundles of CPUs, GPUs or TPUs, one for each worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ray.train import ScalingConfig

from unisono_launch.engines.ray._arguments import RayDevices
from unisono_launch.launch import SizeRange, UsageError


def choose_devices(devices: RayDevices, cluster: Mapping[str, float]) -> RayDevices:
    """What "auto" means on this cluster."""
    if devices.kind != "auto":
        return devices
    return replace(devices, kind="gpu" if cluster.get("GPU", 0) >= 1 else "cpu")


def scaling_config(devices: RayDevices, workers: SizeRange) -> ScalingConfig:
    """What Ray Train takes; raises :class:`UsageError` if it cannot be."""
    number = workers.least if workers.least == workers.most else (workers.least, workers.most)
    try:
        if devices.kind == "tpu":
            return ScalingConfig(
                num_workers=number,
                use_tpu=True,
                topology=devices.topology,
                accelerator_type=devices.accelerator_type,
                resources_per_worker=None if devices.topology else {"TPU": devices.count},
            )
        if devices.kind == "gpu":  # close to each other: PACK, Ray's default
            return ScalingConfig(
                num_workers=number, use_gpu=True, resources_per_worker={"CPU": 1, "GPU": devices.count}
            )
        return ScalingConfig(
            num_workers=number, resources_per_worker={"CPU": devices.count}, placement_strategy="SPREAD"
        )
    except ValueError as error:
        raise UsageError(f"Ray refuses -n {workers} with these devices: {error}") from None


def describe_resources(resources: Mapping[str, float]) -> str:
    """The processors among Ray's resources, in words.

    >>> describe_resources({"CPU": 8.0, "GPU": 1.0, "memory": 1e9})
    '8 CPUs, 1 GPU'
    """
    counts = {name: resources[name] for name in ("CPU", "GPU", "TPU") if resources.get(name)}
    return ", ".join(f"{count:g} {name}{'' if count == 1 else 's'}" for name, count in counts.items())
