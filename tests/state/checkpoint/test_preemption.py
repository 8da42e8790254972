"""Leaving in time, in one process; tests/faults does it with several."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keras
import pytest

from unisono._src.processes import Preempted, PreemptionNotice, is_preemption_handled
from unisono.checkpoint import (
    Checkpoint,
    CheckpointManager,
    PreemptionCheckpointHandler,
    TerminationConfig,
    request_preemption,
)


@pytest.fixture
def variable() -> Any:
    return keras.Variable(0.0)


def loop(handler: PreemptionCheckpointHandler, variable: Any, steps: int, *, notice_step: int | None = None) -> None:
    def step() -> None:
        variable.assign_add(1.0)
        if handler.total_run_calls == notice_step:
            os.kill(os.getpid(), signal.SIGTERM)

    for _ in range(handler.total_run_calls, steps):
        handler.run(step)


def test_a_loop_that_receives_sigterm_saves_and_exits_with_75(variable: Any, tmp_path: Path) -> None:
    handler = PreemptionCheckpointHandler(None, Checkpoint(variable=variable), tmp_path / "ckpt")
    with pytest.raises(Preempted) as left:
        loop(handler, variable, 10, notice_step=3)
    assert left.value.code == 75
    assert float(variable) == handler.total_run_calls == 4

    again = keras.Variable(0.0)
    handler = PreemptionCheckpointHandler(None, Checkpoint(variable=again), tmp_path / "ckpt")
    assert handler.total_run_calls == 4
    loop(handler, again, 10)
    handler.close()
    assert float(again) == 10, "no step was lost, and none was run twice"


@pytest.mark.parametrize("first", ["signal", "request"])
def test_a_signal_while_it_saves_does_not_cost_the_checkpoint(first: str, variable: Any, tmp_path: Path) -> None:
    received: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: received.append(number))
    try:
        manager = CheckpointManager(Checkpoint(variable=variable), tmp_path / "ckpt", max_to_keep=1)

        def save() -> None:
            os.kill(os.getpid(), signal.SIGTERM)
            manager.save(check_interval=False)

        handler = PreemptionCheckpointHandler(None, manager, termination_config=TerminationConfig(save_fn=save))
        if first == "request":
            request_preemption()
        with pytest.raises(Preempted):
            loop(handler, variable, 10, notice_step=0 if first == "signal" else None)
        assert received == []
        assert len(manager.checkpoints) == 1
        os.kill(os.getpid(), signal.SIGTERM)
        assert received == [signal.SIGTERM], "it listens no more"
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_manager_serves_too(variable: Any, tmp_path: Path) -> None:
    manager = CheckpointManager(Checkpoint(variable=variable), tmp_path / "ckpt", max_to_keep=3)
    handler = PreemptionCheckpointHandler(None, manager)
    with pytest.raises(Preempted):
        loop(handler, variable, 10, notice_step=0)
    assert [os.path.basename(path) for path in manager.checkpoints] == ["ckpt-1"]


@pytest.mark.slow
def test_a_notice_of_the_platform_counts_as_well(variable: Any, tmp_path: Path) -> None:
    asked = threading.Event()

    def soon() -> bool:
        asked.set()
        return True

    config = TerminationConfig(termination_watcher_fn=soon)
    handler = PreemptionCheckpointHandler(None, Checkpoint(variable=variable), tmp_path / "ckpt", config)
    with pytest.raises(Preempted):
        loop(handler, variable, 10**9)
    assert asked.is_set()


def test_training_continues_for_the_grace_period(variable: Any, tmp_path: Path) -> None:
    config = TerminationConfig(grace_period=0.3)
    handler = PreemptionCheckpointHandler(None, Checkpoint(variable=variable), tmp_path / "ckpt", config)
    with pytest.raises(Preempted):
        loop(handler, variable, 10**9, notice_step=0)
    assert handler.total_run_calls > 1


def test_the_user_may_save_and_exit_in_another_way(variable: Any, tmp_path: Path) -> None:
    done: list[str] = []
    config = TerminationConfig(exit_fn=lambda: done.append("left"), save_fn=lambda: done.append("saved"))
    handler = PreemptionCheckpointHandler(None, Checkpoint(variable=variable), tmp_path / "ckpt", config)
    handler.run(lambda: os.kill(os.getpid(), signal.SIGTERM))
    assert done == ["saved", "left"]


def test_a_scope_leaves_at_its_end(variable: Any, tmp_path: Path) -> None:
    handler = PreemptionCheckpointHandler(None, Checkpoint(variable=variable), tmp_path / "ckpt")
    variable.assign(5.0)
    with pytest.raises(Preempted), handler.watch_preemption_scope():
        os.kill(os.getpid(), signal.SIGTERM)
    again = keras.Variable(0.0)
    PreemptionCheckpointHandler(None, Checkpoint(variable=again), tmp_path / "ckpt").close()
    assert float(again) == 5


def test_a_checkpoint_without_a_folder_is_refused(variable: Any) -> None:
    with pytest.raises(ValueError, match="no folder to save to"):
        PreemptionCheckpointHandler(None, Checkpoint(variable=variable))


@pytest.fixture
def received() -> Iterator[list[int]]:
    """The signals that reach the handler that was there before."""
    numbers: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: numbers.append(number))
    yield numbers
    signal.signal(signal.SIGTERM, before)


def test_a_second_signal_goes_where_it_went_before(received: list[int]) -> None:
    with PreemptionNotice(grace_seconds=0.0) as notice:
        os.kill(os.getpid(), signal.SIGTERM)
        assert notice.received
        assert received == []
        os.kill(os.getpid(), signal.SIGTERM)
        assert received == [signal.SIGTERM]
        notice.mark_handled()


def test_a_signal_that_comes_twice_at_once_counts_once(received: list[int]) -> None:
    with PreemptionNotice() as notice:
        for _ in range(3):
            os.kill(os.getpid(), signal.SIGTERM)
        notice.mark_handled()
    assert received == []


def test_a_signal_that_was_not_handled_is_not_lost(received: list[int]) -> None:
    with PreemptionNotice():
        os.kill(os.getpid(), signal.SIGTERM)
    assert received == [signal.SIGTERM]


def test_a_request_of_another_thread_ends_a_loop_outside_of_the_main_thread(
    variable: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ended: list[BaseException] = []
    has_begun = threading.Event()

    def step() -> None:
        variable.assign_add(1.0)
        has_begun.set()

    def train() -> None:
        with PreemptionCheckpointHandler(None, Checkpoint(variable=variable), tmp_path / "ckpt") as handler:
            try:
                while True:
                    handler.run(step)
            except Preempted as error:
                ended.append(error)

    thread = threading.Thread(target=train)
    thread.start()
    assert has_begun.wait(60)
    request_preemption("the node drains")
    thread.join(60)
    assert [type(error) for error in ended] == [Preempted]
    assert f"the node drains; everything is saved in {tmp_path / 'ckpt'}" in capsys.readouterr().err

    again = keras.Variable(0.0)
    with PreemptionCheckpointHandler(None, Checkpoint(variable=again), tmp_path / "ckpt") as handler:
        assert handler.total_run_calls == float(again) == float(variable)
        handler.run(lambda: None)  # one request ends one loop


def test_it_is_known_whether_a_notice_would_be_handled(variable: Any, tmp_path: Path) -> None:
    assert not is_preemption_handled()
    with PreemptionCheckpointHandler(None, Checkpoint(variable=variable), tmp_path / "ckpt") as handler:
        assert is_preemption_handled()
        handler.close()
        assert not is_preemption_handled()


def test_a_request_before_the_loop_counts(variable: Any, tmp_path: Path) -> None:
    request_preemption()
    with PreemptionNotice() as notice:
        assert notice.received, "a request that nobody handled stays"
    handler = PreemptionCheckpointHandler(None, Checkpoint(variable=variable), tmp_path / "ckpt")
    with pytest.raises(Preempted):
        loop(handler, variable, 10)
    assert handler.total_run_calls == 1
    with PreemptionNotice() as notice:
        assert not notice.received
