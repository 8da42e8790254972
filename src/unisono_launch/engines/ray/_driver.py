"""The driver of `unisono run --on ray`: starts a Ray Train run, shows what its supervisors send, decides the exit code.

Ray's own output, about 60 lines for each failure, is not shown: that of the driver is in logs/ray.log, the rest in
Ray's logs.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import ray
import ray.train
from ray.train.v2.api.data_parallel_trainer import DataParallelTrainer
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from unisono_launch.engines.ray._arguments import RayOptions
from unisono_launch.engines.ray._backend import UnisonoConfig
from unisono_launch.engines.ray._channel import JobChannel
from unisono_launch.engines.ray._devices import describe_resources
from unisono_launch.engines.ray._job_record import JobRecord
from unisono_launch.engines.ray._resize_callback import SaveBeforeResize
from unisono_launch.engines.ray._resources import scaling_config
from unisono_launch.engines.ray._supervise import SupervisedJob, supervise
from unisono_launch.launch import (
    STOP_SIGNALS,
    Events,
    ExitCode,
    Machines,
    SignalReceived,
    TerminalScreen,
    UsageError,
    make_run_folder,
    shorten_path,
    signals_as_events,
)

# What steers the training; the rest of the environment is the node's, as for all programs on Ray.
_FORWARDED: Final = ("JAX_", "KERAS_", "NCCL_", "TF_CPP_", "UNISONO_", "XLA_")
_POLL_SECONDS: Final = 0.2
_START_SECONDS: Final = 30.0  # after which the user is told that Ray has not started the workers yet
_LEAVE_SECONDS: Final = 30.0  # for Ray to end a run whose workers have ended
_ABANDON_SECONDS: Final = 2.0  # for Ray to end a run that has no workers yet


class RayDriver:
    """One job on a Ray cluster."""

    def __init__(self, options: RayOptions, environ: Mapping[str, str]) -> None:
        self._options = options
        self._environ = environ
        self._screen = TerminalScreen(environ)
        self._events: Events = queue.SimpleQueue()
        self._signals: list[signal.Signals] = []
        self._error: BaseException | None = None

    def run(self) -> int:
        """Runs the job; returns the exit code."""
        machine = Machines(rank=0, hosts=("driver",), master_address="", master_port=None, source="Ray")
        run_dir = make_run_folder(self._options.job, machine)
        with _python_output_in(run_dir / "logs" / "ray.log"), _connected(self._options.address):
            self._record = JobRecord(self._screen, run_dir, self._options.job.restarts, _living_nodes)
            devices = self._options.devices.on_cluster(ray.cluster_resources())
            self._scaling = scaling_config(devices, self._options.workers)
            self._announce(shorten_path(run_dir))
            self._channel = _start_channel()
            trainer = self._make_trainer(devices.of_worker, str(run_dir))
            with signals_as_events(self._events):  # after ray.init, which installs its own
                return self._follow(threading.Thread(target=self._fit, args=(trainer,), daemon=True))

    def _make_trainer(self, devices: str, run_dir: str) -> DataParallelTrainer:
        job = self._options.job
        supervised = SupervisedJob(
            channel=self._channel,
            options=job,
            folder=os.getcwd(),
            run_dir=run_dir,
            environment={name: text for name, text in self._environ.items() if name.startswith(_FORWARDED)},
            live=self._screen.live,
        )
        return DataParallelTrainer(
            supervise,
            train_loop_config={"job": supervised},
            backend_config=UnisonoConfig(
                devices=devices, run_dir=run_dir, as_tensorflow=job.as_tensorflow, sharded=job.sharded
            ),
            scaling_config=self._scaling,
            run_config=ray.train.RunConfig(
                name="ray",
                storage_path=run_dir,
                failure_config=ray.train.FailureConfig(max_failures=job.restarts),
                callbacks=[SaveBeforeResize(self._channel, 2 * job.grace)],
            ),
        )

    def _announce(self, run_dir: str) -> None:
        address, num_nodes = ray.get_runtime_context().gcs_address, len(_living_nodes())
        self._screen.print_message(
            f"unisono: Ray at {address}: {num_nodes} node{'' if num_nodes == 1 else 's'}, "
            f"{describe_resources(ray.cluster_resources())}. Workers: {self._options.job.num_workers}, each with "
            f"{describe_resources(self._scaling._resources_per_worker_not_none)}. Files: {run_dir}",
            style="dim",
        )

    def _fit(self, trainer: DataParallelTrainer) -> None:
        # Not in the main thread, where Ray would install its own handler of SIGINT.
        try:
            trainer.fit()
        except BaseException as error:
            self._error = error

    def _follow(self, run: threading.Thread) -> int:
        """Shows what supervisors send, and passes on signals, until Ray has ended the run."""
        run.start()
        waiting_since = time.monotonic()
        deadline = float("inf")
        while run.is_alive() and time.monotonic() < deadline:
            self._record.add(ray.get(self._channel.collect.remote()))
            if self._record.setup_error is not None and not self._signals:
                self._stop(signal.SIGTERM)
                deadline = time.monotonic() + self._seconds_to_stop()
            if self._record.is_running:
                waiting_since = time.monotonic()
            elif not self._signals and time.monotonic() - waiting_since > _START_SECONDS:
                self._report_waiting()
                waiting_since = time.monotonic() + _START_SECONDS
            for number in self._new_stop_signals():
                is_second = bool(self._signals)
                self._stop(number)
                if not is_second:
                    deadline = time.monotonic() + self._seconds_to_stop()
                elif number == signal.SIGINT:  # the user does not want to wait
                    deadline = 0.0
        self._record.add(ray.get(self._channel.collect.remote()))
        return self._finish()

    def _new_stop_signals(self) -> Iterator[signal.Signals]:
        """Waits a moment for signals."""
        with contextlib.suppress(queue.Empty):
            event = self._events.get(timeout=_POLL_SECONDS)
            if isinstance(event, SignalReceived) and event.number in STOP_SIGNALS:
                yield event.number
            elif isinstance(event, SignalReceived):
                self._channel.send_signal.remote(event.number)

    def _seconds_to_stop(self) -> float:
        """After which Ray ends what is left, by SIGKILL."""
        return _ABANDON_SECONDS if self._record.is_placing else 2 * self._options.job.grace + _LEAVE_SECONDS

    def _stop(self, number: signal.Signals) -> None:
        self._signals.append(number)
        ray.get(self._channel.send_signal.remote(number))

    def _report_waiting(self) -> None:
        free = describe_resources(ray.available_resources()) or "none"
        self._screen.print_message(
            f"unisono: Ray has not started the workers yet: at least {self._options.workers.least} with "
            f"{describe_resources(self._scaling._resources_per_worker_not_none)} each. "
            f"Free are {free}, of {describe_resources(ray.cluster_resources())}. `ray status` shows more."
        )

    def _finish(self) -> int:
        if self._record.setup_error is not None:
            raise UsageError(self._record.setup_error)
        if self._signals:
            return self._record.finish_after_signal(self._signals[0])
        if self._error is None:
            return ExitCode.DONE
        code = self._record.finish_after_failure()
        if code is None:  # no worker was started, or Ray itself failed
            self._screen.print_message(f"unisono: Ray ended the job: {self._error}", style="red")
            return ExitCode.LAUNCHER
        return code


@contextlib.contextmanager
def _python_output_in(path: Path) -> Iterator[None]:
    """What Ray prints in this process goes to a file: threads of it print whole logs when a node dies.

    The screen writes to the descriptors, and is not affected.
    """
    path.parent.mkdir(exist_ok=True)
    with path.open("a") as file, contextlib.redirect_stdout(file), contextlib.redirect_stderr(file):
        yield


@contextlib.contextmanager
def _connected(address: str | None) -> Iterator[None]:
    """Connects to the cluster; raises :class:`UsageError`. At the end Ray ends all that the driver has started."""
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.WARNING, configure_logging=True)
    except (ConnectionError, ValueError) as error:
        raise UsageError(
            f"There is no Ray cluster at {address or os.environ.get('RAY_ADDRESS')}: {error}. "
            "Start one (ray start --head), or name another: --address HOST:6379"
        ) from None
    try:
        yield
    finally:
        ray.shutdown()


def _start_channel() -> Any:
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    return ray.remote(num_cpus=0, scheduling_strategy=here)(JobChannel).remote()


def _living_nodes() -> set[str]:
    return {node["NodeID"] for node in ray.nodes() if node["Alive"]}
