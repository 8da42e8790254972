"""What a job asks Ray for: bundles of CPUs, GPUs or TPUs, one for each worker."""

from __future__ import annotations

from ray.train import ScalingConfig
from ray.util.tpu import get_tpu_worker_resources

from unisono_launch.engines.ray._devices import RayDevices
from unisono_launch.launch import SizeRange, UsageError


def scaling_config(devices: RayDevices, workers: SizeRange) -> ScalingConfig:
    """What Ray Train takes; raises :class:`UsageError` if it cannot be."""
    number = workers.least if workers.least == workers.most else (workers.least, workers.most)
    if devices.kind == "gpu":  # close to each other: PACK, Ray's default
        return ScalingConfig(num_workers=number, use_gpu=True, resources_per_worker={"CPU": 1, "GPU": devices.count})
    if devices.kind == "cpu":
        return ScalingConfig(
            num_workers=number, resources_per_worker={"CPU": devices.count}, placement_strategy="SPREAD"
        )
    if devices.topology is None:
        return ScalingConfig(num_workers=number, use_tpu=True, resources_per_worker={"TPU": devices.count})
    return _slice(devices, workers)


def _slice(devices: RayDevices, workers: SizeRange) -> ScalingConfig:
    """One worker for each machine of a TPU slice."""
    try:
        num_machines, resources = get_tpu_worker_resources(devices.topology, devices.accelerator_type)
    except Exception as error:  # of several kinds, for what Ray does not know
        raise UsageError(
            f"Ray knows no slice of {devices.accelerator_type} with topology {devices.topology}: {error}"
        ) from None
    if (workers.least, workers.most) != (num_machines, num_machines):
        raise UsageError(
            f"A slice of {devices.accelerator_type} with topology {devices.topology} has {num_machines} machines, and "
            f"a job has one slice. Write -n {num_machines}"
        )
    return ScalingConfig(
        num_workers=num_machines,
        use_tpu=True,
        topology=devices.topology,
        accelerator_type=devices.accelerator_type,
        resources_per_worker=resources,
    )
