"""What runs in each worker of Ray Train: the supervisor of `unisono run`, for one attempt and one worker.

The script runs in a process below the Ray worker, so its main thread, signals and exit codes are those of
`unisono run`. Ray Train ends its workers by SIGKILL; the process below then ends by the means of `LocalProcesses`.
"""

from __future__ import annotations

import os
import queue
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import ray
from ray.exceptions import RayActorError
from ray.train.v2._internal.execution.context import get_train_context

from unisono_launch.engines.ray._backend import plan_of_this_worker
from unisono_launch.engines.ray._channel import AttemptBegan, AttemptEnded, SetupFailed
from unisono_launch.engines.ray._channel_client import ChannelClient, RelayScreen
from unisono_launch.launch import (
    AttemptPlan,
    AttemptResult,
    Events,
    ExitCode,
    LauncherContext,
    LaunchOptions,
    LocalProcesses,
    UsageError,
    WorkerAllocator,
    find_cause,
    report_to_json,
    run_attempt,
)

_END_SECONDS: Final = 10.0  # in which peers end after a failure, besides the grace that they get


@dataclass(frozen=True, kw_only=True)
class SupervisedJob:
    """What the driver gives to every supervisor."""

    channel: Any
    """The handle of the `JobChannel`."""
    options: LaunchOptions
    folder: str
    """The driver's current folder, in which the script runs."""
    run_dir: str
    environment: Mapping[str, str]
    """Variables of the driver that the script gets too."""
    live: bool
    """Whether the driver's screen shows progress bars."""


class AttemptFailedError(RuntimeError):
    """What Ray Train gets to know of a failure. The driver has the report."""


def supervise(config: Mapping[str, Any]) -> None:
    """`train_loop_per_worker`: runs one worker until it ends. Returns if Ray should not start it again."""
    job: SupervisedJob = config["job"]
    plan = replace(plan_of_this_worker(), run_dir=Path(job.run_dir))
    rank = plan.machines.rank
    events: Events = queue.SimpleQueue()
    with ChannelClient(job.channel, plan.attempt, rank, events, lambda: _drain_notice(plan)) as client:
        if client.orders.stop_requested:
            return
        client.send(AttemptBegan(plan.machines.hosts, ray.get_runtime_context().get_node_id()))
        try:
            context = _make_context(job, plan, events, RelayScreen(client.send, live=job.live and rank == 0))
            with context.starter:
                result = run_attempt(context, plan, client.notify_ending)
        except UsageError as error:
            client.send(SetupFailed(str(error)))
            client.wait_for_stop()
            return
        client.send(AttemptEnded(report_to_json(result), client.planned))
        if any(outcome.code for outcome in result.outcomes):
            _leave_after_failure(client, job, plan, result)


def _make_context(job: SupervisedJob, plan: AttemptPlan, events: Events, screen: RelayScreen) -> LauncherContext:
    if not os.path.isdir(job.folder):
        raise UsageError(
            f"{plan.machines.hosts[plan.machines.rank]} has no folder {job.folder}, where the command was started. "
            "Start it in a folder that all nodes share, or let Ray copy it: ray job submit --working-dir . -- …"
        )
    if not os.path.isdir(job.run_dir):
        raise UsageError(
            f"{plan.machines.hosts[plan.machines.rank]} does not see {job.run_dir}, the folder of the run. "
            "Name one on a file system that all nodes share: --run-dir DIR"
        )
    os.chdir(job.folder)  # Ray Train has changed to a folder of its own
    environ = {**os.environ, **job.environment}
    return LauncherContext(
        options=replace(job.options),  # checks again: the script must be on this node too
        environ=environ,
        machines=plan.machines,
        allocator=WorkerAllocator(replace(job.options, num_workers=1, devices="auto"), environ),
        # The kernel ties the life of the processes to this thread, which lasts as long as the training function.
        starter=LocalProcesses(environ),
        run_dir=plan.run_dir,
        screen=screen,
        events=events,
    )


def _leave_after_failure(client: ChannelClient, job: SupervisedJob, plan: AttemptPlan, result: AttemptResult) -> None:
    """Raises, so that Ray restarts all workers; returns if the driver was asked to stop."""
    # Ray ends all workers at the first exception, and the reports of those that are not done would be lost.
    client.wait_for_peers(plan.num_workers, 2 * job.options.grace + _END_SECONDS)
    if client.planned == "resized":
        client.wait_for_stop()  # Ray is about to end this process
    if client.orders.stop_requested:
        return
    cause = find_cause(result.outcomes)
    what = "asked to stop" if cause is None else f"worker {cause.rank} {cause.what}"
    has_saved = cause is not None and cause.code == ExitCode.PREEMPTED and client.orders.ending != "failed"
    if client.planned == "drained" or (has_saved and job.options.restarts):
        # The error of a worker on a node that was taken away. Ray does not count it; any other one, it would.
        raise RayActorError(error_msg=what, preempted=True)
    raise AttemptFailedError(what)


def _drain_notice(plan: AttemptPlan) -> str | None:
    # Not ray.train.get_preemption_info(): it waits until every worker has called it.
    info = get_train_context().preemption_context.preemption_info
    if info is None:
        return None
    names = plan.machines.worker_names(1)
    return f"unisono: Ray takes away the node of {', '.join(names[rank] for rank in info.preempted_ranks)}."
