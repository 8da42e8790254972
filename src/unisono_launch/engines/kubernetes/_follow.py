"""Follows a job in the cluster: the output of worker 0's pod, until the job is done or has failed."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
from collections.abc import Iterator
from typing import Any, Final

from unisono_launch.engines.kubernetes._kubectl import Kubectl, KubectlError
from unisono_launch.launch import ExitCode, StopRequestedError, exit_code_after, stop_signals_raised

_POLL_SECONDS: Final = 2.0
_MAX_ERRORS: Final = 30  # in a row: a minute without an answer

# A line as `kubectl logs --timestamps` gives it: the second, the rest of the time, the text.
_TIMED_LINE: Final = re.compile(rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\S*) (.*)", re.DOTALL)

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
            logs.show_unfinished()
            return _report(kubectl, target, ending, pods)
        time.sleep(poll_seconds)


class _PodLogs:
    """The output of pods, each shown once."""

    def __init__(self, kubectl: Kubectl) -> None:
        self._kubectl = kubectl
        self._shown: set[tuple[str, int]] = set()
        self._lines: dict[str, _Lines] = {}
        self._starts: dict[str, tuple[str, int]] = {}
        self._breaks: dict[tuple[str, int], list[float]] = {}
        """When the connection to a pod ended: load balancers end those that carry nothing for minutes."""
        self._state = ""

    def show(self, pod: Any) -> None:
        """Shows the output of a pod until its container ends, or why it has none yet."""
        name, status = pod["metadata"]["name"], pod["status"]
        container = _main_container(pod)
        states = [state for state in status.get("containerStatuses", []) if state["name"] == container]
        start = (name, sum(state.get("restartCount", 0) for state in states))  # it may be restarted in place
        if start in self._shown:
            return
        if status.get("phase") not in ("Running", "Succeeded", "Failed"):
            reason = _why_pending(pod)
            if reason and self._state != (state := f"{name}: {reason}"):
                print(f"unisono: {state}", file=sys.stderr)
                self._state = state
            return
        is_running = status["phase"] == "Running" and all("running" in state.get("state", {}) for state in states)
        lines, breaks = self._lines.setdefault(name, _Lines()), self._breaks.setdefault(start, [])
        if self._starts.setdefault(name, start) != start:  # what it printed last before it was restarted
            lines.show_unfinished()
            self._starts[name] = start
        has_ended = self._kubectl.stream_logs(name, "--container", container, *lines.since, show=lines.show)
        # To kubectl, a connection that was closed in good order has ended too. It was the whole output only if the
        # container was not running before ("waiting": Kubernetes is about to restart it in the pod).
        if has_ended and not is_running:
            lines.show_unfinished()
            self._shown.add(start)
        breaks.append(time.monotonic())
        if len(breaks) >= _MAX_ERRORS and breaks[-1] - breaks[-_MAX_ERRORS] < _MAX_ERRORS * 2 * _POLL_SECONDS:
            self._shown.add(start)  # its output cannot be had

    def show_unfinished(self) -> None:
        """The job has ended: shows the ends of outputs that are not whole lines."""
        for lines in self._lines.values():
            lines.show_unfinished()


class _Lines:
    """The output of a pod, each line shown once although it may arrive again."""

    def __init__(self) -> None:
        self.since: list[str] = []
        """The flag with which kubectl continues: from the second of the last line on."""
        self._second = b""
        self._shown: set[bytes] = set()  # of that second
        self._unfinished = b""

    def show(self, line: bytes) -> None:
        """Shows a line unless it was shown before. One without an end may have been cut off, and arrive whole later."""
        timed = _TIMED_LINE.fullmatch(line)
        if timed is not None and not line.endswith(b"\n"):
            self._unfinished = timed[3]
            return
        if timed is None:  # of the node itself: "unable to retrieve container logs"
            _write(line)
        elif line not in self._shown:
            second, rest, text = timed.groups()
            if second > self._second:  # standard output and standard error may overtake each other
                self._second, self._shown = second, set()
                self.since = [f"--since-time={(second + rest).decode()}"]
            self._shown.add(line)
            self._unfinished = b""
            _write(text)

    def show_unfinished(self) -> None:
        """Shows the end of the output, if it is not a whole line."""
        _write(self._unfinished)
        self._unfinished = b""


def _write(data: bytes) -> None:
    with contextlib.suppress(BrokenPipeError):  # `| head`: the code of the job is still wanted
        while data:
            data = data[os.write(sys.stdout.fileno(), data) :]


def _main_container(pod: Any) -> str:
    """The container whose output `kubectl logs` shows; others are sidecars."""
    named = pod["metadata"].get("annotations", {}).get("kubectl.kubernetes.io/default-container")
    return str(named or pod["spec"]["containers"][0]["name"])


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
