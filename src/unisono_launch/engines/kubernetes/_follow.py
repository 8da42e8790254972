"""Follows a job in the cluster: the output of worker 0's pod, until the job is done or has failed."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from typing import Any, Final

from unisono_launch.engines.kubernetes._kubectl import Kubectl, KubectlError
from unisono_launch.launch import ExitCode, StopRequestedError, exit_code_after, stop_signals_raised

_POLL_SECONDS: Final = 2.0
_MAX_ERRORS: Final = 30  # in a row: a minute without an answer

# How a JobSet and a TrainJob say that they are done.
_DONE: Final = ("Completed", "Complete")


def follow(kubectl: Kubectl, target: str) -> int:
    """Shows the output of each pod of worker 0 until `target` (KIND/NAME) has ended; returns the exit code.

    That is 0, or the code of the first pod that has failed. Ctrl-C, and a signal that asks this process to end, end the
    following and not the job.
    """
    try:
        with stop_signals_raised():
            return _follow(kubectl, target, _POLL_SECONDS)
    except KubectlError as error:
        print(f"unisono: the job can no longer be followed: {error}\n{_hint(kubectl, target)}", file=sys.stderr)
        return ExitCode.LAUNCHER
    except StopRequestedError as stop:
        print(f"\nunisono: {target} continues.\n{_hint(kubectl, target)}", file=sys.stderr)
        return exit_code_after(stop.number, [])


def _follow(kubectl: Kubectl, target: str, poll_seconds: float) -> int:
    selector = f"jobset.sigs.k8s.io/jobset-name={target.partition('/')[2]}"
    logs = _PodLogs(kubectl)
    num_errors = 0
    while True:
        try:
            job = kubectl.get(target)
            pods = kubectl.get("pods", "--selector", selector)["items"]
            num_errors = 0
        except KubectlError:
            num_errors += 1
            if num_errors == _MAX_ERRORS:
                raise
            time.sleep(poll_seconds)
            continue
        for pod in _find_chiefs(pods):
            logs.show(pod)
        ending = _find_ending(job)
        if ending is not None:
            return _report(kubectl, target, ending, pods)
        time.sleep(poll_seconds)


class _PodLogs:
    """The output of pods, each shown once."""

    def __init__(self, kubectl: Kubectl) -> None:
        self._kubectl = kubectl
        self._shown: set[tuple[str, int]] = set()
        self._ended: set[tuple[str, int]] = set()
        """Those whose stream has ended without an error. It was the whole output if the container has terminated."""
        self._breaks: dict[tuple[str, int], list[float]] = {}
        """When the connection to a pod broke: load balancers end connections that carry nothing for minutes."""
        self._state = ""

    def show(self, pod: Any) -> None:
        """Shows the output of a pod until its container ends, or why it has none yet."""
        name, status = pod["metadata"]["name"], pod["status"]
        restarts = sum(container.get("restartCount", 0) for container in status.get("containerStatuses", []))
        start = (name, restarts)  # the container of a pod may be restarted in place
        if start in self._shown:
            return
        if status.get("phase") not in ("Running", "Succeeded", "Failed"):
            reason = _why_pending(pod)
            if reason and self._state != (state := f"{name}: {reason}"):
                print(f"unisono: {state}", file=sys.stderr)
                self._state = state
            return
        breaks = self._breaks.setdefault(start, [])
        if start in self._ended and _has_terminated(status):
            self._shown.add(start)
            return
        # By the seconds that have passed, not by the time, since the clock of the node may differ.
        since = [f"--since={math.ceil(time.monotonic() - breaks[-1])}s"] if breaks else []
        if self._kubectl.stream_logs(name, *since):
            self._ended.add(start)  # to kubectl that is also the end of a connection that was closed in good order
        breaks.append(time.monotonic())
        if len(breaks) >= _MAX_ERRORS and breaks[-1] - breaks[-_MAX_ERRORS] < _MAX_ERRORS * 2 * _POLL_SECONDS:
            self._shown.add(start)  # its output cannot be had


def _has_terminated(status: Any) -> bool:
    """Whether a container that was running no longer does. "waiting": Kubernetes is about to restart it in the pod."""
    states = (container.get("state", {}) for container in status.get("containerStatuses", []))
    return status.get("phase") in ("Succeeded", "Failed") or any("running" not in state for state in states)


def _find_chiefs(pods: list[Any]) -> list[Any]:
    """The pods of worker 0, one for each start of the job, the oldest first."""
    index = "batch.kubernetes.io/job-completion-index"
    chiefs = [pod for pod in pods if pod["metadata"].get("annotations", {}).get(index) == "0"]
    return sorted(chiefs, key=lambda pod: str(pod["metadata"].get("creationTimestamp", "")))


def _why_pending(pod: Any) -> str:
    """What the pod waits for, as Kubernetes says it; empty where it does not."""
    for status in pod["status"].get("containerStatuses", []):
        waiting = status.get("state", {}).get("waiting")
        if waiting:
            return ": ".join(filter(None, (waiting.get("reason"), waiting.get("message"))))
    for condition in pod["status"].get("conditions", []):
        if condition["type"] == "PodScheduled" and condition["status"] != "True":
            return ": ".join(filter(None, (condition.get("reason"), condition.get("message"))))
    return ""


def _find_ending(job: Any) -> Any:
    """The condition that says how the job has ended; None while it has not."""
    for condition in job.get("status", {}).get("conditions", []):
        if condition["status"] == "True" and condition["type"] in (*_DONE, "Failed"):
            return condition
    return None


def _report(kubectl: Kubectl, target: str, ending: Any, pods: list[Any]) -> int:
    if ending["type"] in _DONE:
        print(f"unisono: {target} is done.", file=sys.stderr)
        return ExitCode.DONE
    print(f"unisono: {target} has failed: {ending.get('reason')}: {ending.get('message')}", file=sys.stderr)
    first = min(_failures(pods), default=None)  # the cause before those that lost a peer
    if first is None:
        return ExitCode.FAILED
    _, _, name, code = first
    print(f"  The first pod that failed, with exit code {code}: {kubectl.quote('logs', name)}", file=sys.stderr)
    return code


def _failures(pods: list[Any]) -> Iterator[tuple[bool, str, str, int]]:
    """Of each container that has failed: whether because of a lost peer, when, in which pod, with which code."""
    for pod in pods:
        for status in pod["status"].get("containerStatuses", []):
            terminated = status.get("state", {}).get("terminated") or {}
            code = int(terminated.get("exitCode", 0))
            if code:
                yield code == ExitCode.LOST, str(terminated.get("finishedAt", "")), pod["metadata"]["name"], code


def _hint(kubectl: Kubectl, target: str) -> str:
    selector = f"jobset.sigs.k8s.io/jobset-name={target.partition('/')[2]}"
    return (
        f"  Its output: {kubectl.quote('logs', '--follow', '--prefix', '--selector', selector)}\n"
        f"  To end it: {kubectl.quote('delete', target)}"
    )
