"""What a job asks Ray for: bundles of CPUs, GPUs or TPUs, one for each worker."""

from __future__ import annotations

from ray.train import ScalingConfig

from unisono_launch.engines.ray._devices import RayDevices
from unisono_launch.launch import SizeRange, UsageError


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
