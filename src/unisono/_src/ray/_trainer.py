"""`unisono.ray.Trainer`: a trainer of Ray Train whose workers train together by Unisono's strategies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ray.train import RunConfig, ScalingConfig
from ray.train.v2.api.data_parallel_trainer import DataParallelTrainer

from unisono_launch.engines.ray._backend import UnisonoConfig


class Trainer(DataParallelTrainer):
    """Runs a training function in workers of Ray Train.

    In the function `MultiWorkerMirroredStrategy()` spans the devices of all workers. Ray places the workers, starts
    them again after a failure (`FailureConfig(max_failures=…)`), and changes their number if `ScalingConfig` gives a
    range.

    Args:
        train_loop_per_worker: the function, with `train_loop_config` as its argument if it has one.
        train_loop_config: what is passed to the function.
        scaling_config: how many workers, and which resources each of them has.
        run_config: name and storage of the run. `UNISONO_RUN_DIR` is the folder of that name there.
        datasets: Ray Datasets, which the function gets by `ray.train.get_dataset_shard(name)`.
        devices: of each worker; "cpu:2" for two CPU devices. By default GPUs or TPUs if `scaling_config` asks for
            them, else one CPU device.
        kwargs: all else that `DataParallelTrainer` takes.
    """

    def __init__(
        self,
        train_loop_per_worker: Callable[..., Any],
        *,
        train_loop_config: Mapping[str, Any] | None = None,
        scaling_config: ScalingConfig | None = None,
        run_config: RunConfig | None = None,
        datasets: Mapping[str, Any] | None = None,
        devices: str | None = None,
        **kwargs: Any,
    ) -> None:
        scaling_config = scaling_config or ScalingConfig()
        run_config = run_config or RunConfig()
        super().__init__(
            train_loop_per_worker,
            train_loop_config=None if train_loop_config is None else dict(train_loop_config),
            backend_config=UnisonoConfig(devices=devices or _devices_of(scaling_config), run_dir=_run_dir(run_config)),
            scaling_config=scaling_config,
            run_config=run_config,
            datasets=None if datasets is None else dict(datasets),
            **kwargs,
        )


def _devices_of(scaling_config: ScalingConfig) -> str:
    if scaling_config.use_tpu:
        return "tpu"
    return "gpu" if scaling_config.use_gpu else "cpu:1"


def _run_dir(run_config: RunConfig) -> str | None:
    if run_config.storage_filesystem is not None:  # its path is of no use without it
        return None
    return f"{str(run_config.storage_path).rstrip('/')}/{run_config.name}"
