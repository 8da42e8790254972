"""The driver of `unisono run --on ray`: starts a Ray Train run, shows what its supervisors send, decides the exit code.

Ray's own output, about 60 lines for each failure, is not shown: that of the driver is in logs/ray.log, the rest in
Ray's logs.
"""

from __future__ import annotations

import contextlib
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

from unisono_launch._install_command import install_command
from unisono_launch.connection import SECRET_VARIABLE
from unisono_launch.engines.ray._arguments import RayOptions
from unisono_launch.engines.ray._backend import UnisonoConfig
from unisono_launch.engines.ray._channel import JobChannel
from unisono_launch.engines.ray._connect import connected, python_output_in
from unisono_launch.engines.ray._devices import describe_resources
from unisono_launch.engines.ray._job_record import JobRecord
from unisono_launch.engines.ray._resize_callback import SaveBeforeResize
from unisono_launch.engines.ray._resources import scaling_config
from unisono_launch.engines.ray._supervise import SupervisedJob, supervise
from unisono_launch.launch import (
    STOP_SIGNALS,
    BackgroundScreen,
    Event,
    Events,
    ExitCode,
    Machines,
    Screen,
    SignalReceived,
    TerminalScreen,
    UsageError,
    make_run_folder,
    shorten_path,
    signals_as_events,
)

# What steers the training; the rest of the environment is the node's, as for all programs on Ray.
_FORWARDED: Final = ("JAX_", "KERAS_", "NCCL_", "TF_CPP_", "UNISONO_", "XLA_")
# The first is the choice of --devices; the second goes by `UnisonoConfig`, which keeps it off Ray's dashboard.
_NOT_FORWARDED: Final = ("JAX_PLATFORMS", SECRET_VARIABLE)
_POLL_SECONDS: Final = 0.2
_START_SECONDS: Final = 30.0  # after which a message says that Ray has not started the workers yet
_LEAVE_SECONDS: Final = 30.0  # for Ray to end a run whose workers have ended
_ABANDON_SECONDS: Final = 2.0  # for Ray to end a run that has no workers yet


def run_job(options: RayOptions, environ: Mapping[str, str]) -> int:
    """Runs a job on a Ray cluster; returns the exit code."""
    machine = Machines(rank=0, hosts=("driver",), master_address="", master_port=None, source="Ray")
    run_dir = make_run_folder(options.job, machine)
    log = run_dir / "logs" / "ray.log"
    with python_output_in(log), connected(options.address):
        screen, events = BackgroundScreen(TerminalScreen(environ), run_dir / "logs"), queue.SimpleQueue[Event]()
        try:
            return _Driver(options, environ, run_dir, log, screen, events).run()
        finally:
            screen.close(events)


class _Driver:
    """One job, while it is connected to a cluster."""

    def __init__(
        self,
        options: RayOptions,
        environ: Mapping[str, str],
        run_dir: Path,
        log: Path,
        screen: Screen,
        events: Events,
    ) -> None:
        self._options = options
        self._environ = environ
        self._run_dir = run_dir
        self._log = log
        self._screen = screen
        self._record = JobRecord(self._screen, run_dir, options.job.restarts, _living_nodes)
        self._devices = options.devices.on_cluster(ray.cluster_resources())
        self._scaling = scaling_config(self._devices, options.workers)
        self._channel = _start_channel()
        self._events = events
        self._signals: list[signal.Signals] = []
        self._error: BaseException | None = None
        self._reported_waiting = ""

    def run(self) -> int:
        """Runs the job; returns the exit code."""
        self._announce()
        run = threading.Thread(target=self._fit, args=(self._make_trainer(),), daemon=True)
        with signals_as_events(self._events):  # after ray.init, which installs its own
            try:
                return self._follow(run)
            except ray.exceptions.RayError as error:  # of the channel, which is on this node: all else is lost too
                why = self._explain(str(error))
                self._screen.print_message(f"unisono: the Ray cluster is lost. {why}", style="red")
                return ExitCode.LOST

    def _make_trainer(self) -> DataParallelTrainer:
        job, run_dir = self._options.job, str(self._run_dir)
        supervised = SupervisedJob(
            channel=self._channel,
            options=job,
            folder=os.getcwd(),
            run_dir=run_dir,
            environment={
                name: text
                for name, text in self._environ.items()
                if name.startswith(_FORWARDED) and name not in _NOT_FORWARDED
            },
            live=self._screen.live,
        )
        return DataParallelTrainer(
            supervise,
            train_loop_config={"job": supervised},
            backend_config=UnisonoConfig(
                devices=self._devices.of_worker, run_dir=run_dir, as_tensorflow=job.as_tensorflow, sharded=job.sharded
            ),
            scaling_config=self._scaling,
            run_config=ray.train.RunConfig(
                name="ray",
                storage_path=run_dir,
                failure_config=ray.train.FailureConfig(max_failures=job.restarts),
                callbacks=[SaveBeforeResize(self._channel, 2 * job.grace)],
            ),
        )

    def _announce(self) -> None:
        address, num_nodes = ray.get_runtime_context().gcs_address, len(_living_nodes())
        self._screen.print_message(
            f"unisono: Ray at {address}: {num_nodes} node{'' if num_nodes == 1 else 's'}, "
            f"{describe_resources(ray.cluster_resources())}. Workers: {self._options.job.num_workers}, each with "
            f"{describe_resources(self._scaling._resources_per_worker_not_none)}. Files: {shorten_path(self._run_dir)}",
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
        message = (
            f"unisono: Ray has not started the workers yet: at least {self._options.workers.least} with "
            f"{describe_resources(self._scaling._resources_per_worker_not_none)} each. The cluster has "
            f"{describe_resources(ray.cluster_resources())}; free: {free}. The job waits until there is room; "
            "nodes can be added to the cluster meanwhile. Ctrl-C ends it. `ray status` shows more."
        )
        if message != self._reported_waiting:
            self._screen.print_message(message)
            self._reported_waiting = message

    def _finish(self) -> int:
        if self._record.setup_error is not None:
            raise UsageError(self._record.setup_error)
        if self._signals:
            return self._record.finish_after_signal(self._signals[0])
        if self._error is None:
            return ExitCode.DONE
        code = self._record.finish_after_failure()
        if code is None:  # no worker was started, or Ray itself failed
            self._screen.print_message(f"unisono: {self._explain(str(self._error))}", style="red")
            return ExitCode.LAUNCHER
        return code

    def _explain(self, error: str) -> str:
        """What ended the job where no worker did; Ray's text can have many pages."""
        with self._log.open("a") as log:
            log.write(error + "\n")
        if "No module named 'unisono" in error:
            return f"A node of the cluster has no Unisono. Install it on all of them, as here: {install_command('ray')}"
        last = [line.strip() for line in error.splitlines() if line.strip()][-1:]
        return f"Ray ended the job: {''.join(last)}\n  All of it: {shorten_path(self._log)}"


def _start_channel() -> Any:
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    return ray.remote(num_cpus=0, scheduling_strategy=here)(JobChannel).remote()


def _living_nodes() -> set[str]:
    return {node["NodeID"] for node in ray.nodes() if node["Alive"]}
