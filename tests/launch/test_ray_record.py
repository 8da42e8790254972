"""What the driver of a job on Ray makes of the messages of its supervisors. Needs no Ray."""

from __future__ import annotations

import importlib
import queue
import signal
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unisono_launch.engines.ray._channel import (
    AttemptBegan,
    AttemptEnded,
    JobChannel,
    Message,
    PlannedRestart,
    SetupFailed,
)
from unisono_launch.engines.ray._job_record import JobRecord
from unisono_launch.launch import AttemptResult, Screen, WorkerOutcome, report_to_json

HOSTS = ("hosta", "hostb")


class RecordingScreen(Screen):
    """Keeps what is shown."""

    live = False

    def __init__(self) -> None:
        self.messages: list[str] = []
        self.lines: list[tuple[int, bytes]] = []

    def print_line(self, rank: int, stream: int, text: bytes) -> None:
        self.lines.append((rank, text))

    def print_message(self, text: str, style: str = "bold") -> None:
        self.messages.append(text)

    def print_raw(self, stream: int, data: bytes) -> None: ...

    def paint_bar(self, rank: int, text: bytes) -> None: ...

    def leave_bar(self) -> None: ...


@pytest.fixture
def screen() -> RecordingScreen:
    return RecordingScreen()


def new_record(screen: Screen, folder: Path, restarts: int = 0, living: set[str] | None = None) -> JobRecord:
    return JobRecord(screen, folder, restarts, lambda: {"a", "b"} if living is None else living)


def began(attempt: int = 0) -> list[Message]:
    return [Message(attempt, rank, AttemptBegan(HOSTS, node)) for rank, node in enumerate("ab")]


def ended(rank: int, code: int, *, attempt: int = 0, planned: PlannedRestart | None = None, **details: Any) -> Message:
    # Reports have the age of an end, so ends less than a millisecond apart could change their order on the way.
    outcome = WorkerOutcome(rank=rank, code=code, ended_at=time.monotonic() - 10 + rank, **details)
    result = AttemptResult(outcomes=(outcome,), signal=None, began=0.0, ended=1.0, reached={})
    return Message(attempt, rank, AttemptEnded(report_to_json(result), planned))


def test_the_worker_that_its_peers_followed_is_the_cause(screen: RecordingScreen, tmp_path: Path) -> None:
    record = new_record(screen, tmp_path, restarts=2)
    record.add([*began(), ended(0, 69), ended(1, -9)])
    assert screen.messages[-1] == (
        "unisono: worker 1 on hostb was killed by SIGKILL. Ray restarts all workers: attempt 1, 1 restart left."
    )
    record.add([*began(1), ended(0, 1, attempt=1), ended(1, 69, attempt=1)])
    assert record.is_placing
    record.add([*began(2), ended(0, 3, attempt=2), ended(1, 69, attempt=2)])
    assert "attempt 3" not in screen.messages[-1]
    assert record.finish_after_failure() == 3
    assert screen.messages[-1].startswith("unisono: worker 0 on hosta failed with exit code 3.\n  Its peers: worker 1")


def test_workers_of_a_dead_node_are_lost(screen: RecordingScreen, tmp_path: Path) -> None:
    record = new_record(screen, tmp_path, restarts=1, living={"a"})
    record.add(began())
    record.add(began(1))  # Ray has started all again, and neither has reported its end
    assert "unisono: worker 1 on hostb was lost with its node. Ray restarts all workers" in screen.messages[-2]
    assert "2 workers on hosta, hostb" in screen.messages[-1]


def test_a_ray_worker_that_is_lost_alone_is_the_cause(screen: RecordingScreen, tmp_path: Path) -> None:
    record = new_record(screen, tmp_path)
    record.add([*began(), ended(0, 69)])
    assert record.finish_after_failure() == 69
    assert screen.messages[-1].startswith("unisono: worker 1 on hostb was lost with its Ray worker.")


@pytest.mark.parametrize("planned", ["drained", "resized"])
def test_a_planned_restart_is_not_counted(planned: PlannedRestart, screen: RecordingScreen, tmp_path: Path) -> None:
    record = new_record(screen, tmp_path, restarts=1)
    record.add([*began(), *(ended(rank, 75, planned=planned, stop_requested=True) for rank in (0, 1))])
    assert screen.messages[-1] == "unisono: Ray restarts all workers: attempt 1."
    assert record.is_running  # as far as the user is concerned
    record.add([*began(1), ended(0, 69, attempt=1), ended(1, -9, attempt=1)])
    assert "attempt 2, 0 restarts left" in screen.messages[-1]


def test_a_worker_that_has_saved_uses_up_no_restart(screen: RecordingScreen, tmp_path: Path) -> None:
    record = new_record(screen, tmp_path, restarts=1)
    record.add([*began(), ended(0, 75), ended(1, 75)])
    assert screen.messages[-1] == (
        "unisono: worker 0 on hosta asked to be restarted (exit code 75). Ray restarts all workers: attempt 1."
    )
    record.add([*began(1), ended(0, -9, attempt=1), ended(1, 69, attempt=1)])
    assert screen.messages[-1].endswith("attempt 2, 0 restarts left.")


def test_without_restarts_a_worker_that_has_saved_ends_the_job(screen: RecordingScreen, tmp_path: Path) -> None:
    record = new_record(screen, tmp_path)
    record.add([*began(), ended(0, 75), ended(1, 75)])
    assert record.finish_after_failure() == 75


@pytest.mark.parametrize(
    ("number", "codes", "code"),
    [
        (signal.SIGTERM, (75, 75), 75),
        (signal.SIGTERM, (0, 75), 75),
        (signal.SIGTERM, (-15, -15), 143),
        (signal.SIGINT, (1, 1), 130),
        (signal.SIGINT, (75, 75), 130),
    ],
)
def test_the_exit_code_after_a_signal(
    number: signal.Signals, codes: tuple[int, int], code: int, screen: RecordingScreen, tmp_path: Path
) -> None:
    record = new_record(screen, tmp_path)
    record.add([*began(), *(ended(rank, each, stop_requested=True) for rank, each in enumerate(codes))])
    assert record.finish_after_signal(number) == code
    assert screen.messages[-1] == f"unisono: ended by {number.name}."


def test_a_signal_before_any_worker_has_started(screen: RecordingScreen, tmp_path: Path) -> None:
    assert new_record(screen, tmp_path).finish_after_signal(signal.SIGTERM) == 143


def test_a_worker_that_failed_before_the_signal_is_reported(screen: RecordingScreen, tmp_path: Path) -> None:
    record = new_record(screen, tmp_path)
    record.add([*began(), ended(0, 1), ended(1, 69)])
    assert record.finish_after_signal(signal.SIGTERM) == 1
    assert "worker 0 on hosta failed with exit code 1" in screen.messages[-1]


def test_what_every_supervisor_says_is_shown_once(screen: RecordingScreen, tmp_path: Path) -> None:
    record = new_record(screen, tmp_path)
    said = [Message(0, rank, ("print_message", ("unisono: SIGTERM.", "bold"))) for rank in (0, 1)]
    printed = [Message(0, rank, ("print_line", (rank, 1, b"epoch 1"))) for rank in (0, 1)]
    record.add([*began(), *said, *printed])
    assert screen.messages.count("unisono: SIGTERM.") == 1
    assert screen.lines == [(0, b"epoch 1"), (1, b"epoch 1")]


def test_a_node_without_the_folder_ends_the_job(screen: RecordingScreen, tmp_path: Path) -> None:
    record = new_record(screen, tmp_path)
    record.add([*began(), Message(0, 1, SetupFailed("hostb has no folder /here"))])
    assert record.setup_error == "hostb has no folder /here"


def test_supervisors_hear_of_signals_and_of_the_end_elsewhere() -> None:
    channel = JobChannel()
    channel.send_signal(signal.SIGUSR1)
    assert not channel.exchange(0, 0, []).stop_requested
    channel.send_signal(signal.SIGTERM)
    assert channel.exchange(0, 0, []).stop_requested
    assert channel.exchange(0, 1, [ended(1, 75).content], "preempted").num_ended == 1
    assert channel.exchange(0, 2, [], "failed").ending == "failed"
    assert channel.exchange(0, 1, [], "preempted").ending == "failed"
    orders = channel.exchange(0, 0, [])
    assert (orders.signals, orders.ending, orders.num_ended) == ((signal.SIGUSR1, signal.SIGTERM), "failed", 1)
    assert channel.exchange(1, 0, []).ending is None
    assert len(channel.collect()) == 1
    assert channel.collect() == []


def test_workers_can_save_before_their_number_changes() -> None:
    channel = JobChannel()
    assert channel.announce_resize() == 0  # before the first attempt
    assert not channel.exchange(0, 0, []).is_resized
    channel.exchange(0, 1, [])
    assert channel.announce_resize() == 2
    assert channel.exchange(0, 0, [ended(0, 75).content]).is_resized
    assert channel.announce_resize() == 1
    channel.exchange(0, 1, [ended(1, 75).content])
    assert channel.announce_resize() == 0
    assert not channel.exchange(1, 0, []).is_resized


def test_a_channel_that_the_driver_does_not_empty_says_that_it_is_full() -> None:
    """The driver's terminal may be paused for hours."""
    channel, line = JobChannel(), ("print_line", (0, 1, b"x"))
    assert not channel.exchange(0, 0, [line] * 9_999).is_full
    assert channel.exchange(0, 1, [line]).is_full
    assert len(channel.collect()) == 10_000
    assert not channel.exchange(0, 0, []).is_full


def test_a_supervisor_keeps_its_lines_while_the_channel_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray is replaced: calls of the actor are calls of an object here."""
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(get=lambda answer: answer))
    name = "unisono_launch.engines.ray._channel_client"
    monkeypatch.delitem(sys.modules, name, raising=False)
    client_module: Any = importlib.import_module(name)
    del sys.modules[name]
    channel, line = JobChannel(), ("print_line", (0, 1, b"x"))
    handle = SimpleNamespace(exchange=SimpleNamespace(remote=channel.exchange))
    channel.exchange(0, 1, [line] * 10_000)
    with client_module.ChannelClient(handle, 0, 0, queue.SimpleQueue(), lambda: None) as client:
        for _ in range(5):
            client.send(line)
        client._exchange()
        assert len(channel.collect()) == 10_000
    assert len(channel.collect()) == 5, "the last lines are sent when the attempt ends"
