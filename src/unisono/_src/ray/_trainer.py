"""`unisono.ray.Trainer`: a trainer of Ray Train whose workers train together by Unisono's strategies."""

from __future__ import annotations

import contextlib
import copy
import os
import signal
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final

import ray
from ray.train import DataConfig, Result, RunConfig, ScalingConfig
from ray.train.v2.api.data_parallel_trainer import DataParallelTrainer

from unisono._src.processes import PreemptionNotice
from unisono._src.ray._worker_loop import watching, wrap_train_loop
from unisono_launch.engines.ray._backend import UnisonoConfig
from unisono_launch.engines.ray._stop_flag import start_stop_flag

_POLL_SECONDS: Final = 0.2


class Trainer(DataParallelTrainer):
    """Runs a training function in workers of Ray Train.

    In the function `MultiWorkerMirroredStrategy()` spans the devices of all workers. Ray places the workers, starts
    them again after a failure (`FailureConfig(max_failures=…)`), and changes their number if `ScalingConfig` gives a
    range.

    If a node is going to be taken away, or this process receives SIGTERM, a `fit(resume=True)` in the function saves
    after the same step on all workers. Ray then starts the workers elsewhere; after SIGTERM, this process exits with
    code 75. To continue that run, create a trainer with the same name and storage in `run_config`.

    Args:
        train_loop_per_worker: the function, with `train_loop_config` as its argument if it has one.
        train_loop_config: what is passed to the function.
        scaling_config: how many workers, and which resources each of them has.
        run_config: name and storage of the run. `UNISONO_RUN_DIR` is the folder of that name there.
        datasets: Ray Datasets, which the function gets by `ray.train.get_dataset_shard(name)`; `Dataset.from_ray`
            takes the result.
        dataset_config: how Ray divides the datasets; by default in an order that is the same in every pass, so that
            a run can be resumed within an epoch.
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
        dataset_config: DataConfig | None = None,
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
            dataset_config=dataset_config or (_ordered_data() if datasets else None),
            **kwargs,
        )
        self._train_loop = train_loop_per_worker
        self._run_dir = _run_dir(run_config)

    def fit(self) -> Result:
        """Runs the function in all workers; returns what Ray Train knows of the run. Raises what its `fit` raises."""
        stop_flag = start_stop_flag()
        self.train_loop_per_worker = wrap_train_loop(self._train_loop, stop_flag)
        with PreemptionNotice() as notice:
            with _passing_on(notice, stop_flag):
                result = super().fit()
            if notice.received and ray.get(stop_flag.is_saved.remote()):
                notice.exit_for_restart(self._run_dir or "Ray's storage")
        return result


def _passing_on(notice: PreemptionNotice, stop_flag: Any) -> contextlib.AbstractContextManager[None]:
    """The main thread waits for Ray, so another one asks the workers to stop. If their training cannot save, this
    process ends as without this handler: by a second signal, which counts some seconds after the first."""

    def watch(ended: threading.Event) -> None:
        while not ended.wait(_POLL_SECONDS):
            if notice.received:
                ray.get(stop_flag.request.remote())
                break
        while not ended.wait(_POLL_SECONDS):
            if ray.get(stop_flag.is_ignored.remote()):
                os.kill(os.getpid(), signal.SIGTERM)

    return watching(watch, "unisono-ray-stop")


def _ordered_data() -> DataConfig:
    from ray.data import DataContext  # half a second that only users of Ray Data pay

    options = copy.deepcopy(DataContext.get_current().execution_options)
    options.preserve_order = True
    return DataConfig(execution_options=options)


def _devices_of(scaling_config: ScalingConfig) -> str:
    if scaling_config.use_tpu:
        return "tpu"
    return "gpu" if scaling_config.use_gpu else "cpu:1"


def _run_dir(run_config: RunConfig) -> str | None:
    if run_config.storage_filesystem is not None:  # its path is of no use without it
        return None
    return f"{str(run_config.storage_path).rstrip('/')}/{run_config.name}"
