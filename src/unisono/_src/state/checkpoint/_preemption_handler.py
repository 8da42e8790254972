"""`PreemptionCheckpointHandler` for custom loops: after a notice all workers save after the same step, and exit."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Self, TypeVar, final

from unisono._src.processes import Consensus, PreemptionNotice, processes, request_preemption
from unisono._src.state.checkpoint._checkpoint import Checkpoint
from unisono._src.state.checkpoint._counter import SaveCounter
from unisono._src.state.checkpoint._manager import CheckpointManager

_T = TypeVar("_T")

_PREEMPTED: Final = 1
_TIME_IS_UP: Final = 2
_POLL_SECONDS: Final = 1.0

NO_DIRECTORY = """PreemptionCheckpointHandler: a Checkpoint has no folder to save to. Name it:
PreemptionCheckpointHandler(resolver, checkpoint, checkpoint_dir), or pass a CheckpointManager."""


@dataclass(frozen=True)
class TerminationConfig:
    """How a platform announces a preemption, and how the process exits.

    Attributes:
        termination_watcher_fn: called about once a second in a thread; True announces a preemption. SIGTERM and
            `request_preemption` always do.
        exit_fn: called when the checkpoint is written; by default the process exits with code 75, which asks
            `unisono run` for a restart.
        grace_period: how many seconds training continues after the notice, before it saves and exits.
        save_fn: called to save, instead of the manager; gets the arguments of `save_checkpoint_if_preempted`.
    """

    termination_watcher_fn: Callable[[], bool] | None = None
    exit_fn: Callable[[], Any] | None = None
    grace_period: float | None = None
    save_fn: Callable[..., Any] | None = None


@final
class PreemptionCheckpointHandler:
    """Runs the steps of a custom loop, and saves and exits after one of them if any worker is preempted.

    The constructor restores the newest intact checkpoint, so a restarted process resumes.

    ```python
    with unisono.checkpoint.PreemptionCheckpointHandler(resolver, manager) as handler:
        for step in range(handler.total_run_calls, num_steps):
            handler.run(train_step, next(iterator))
    ```

    After the block, or after `close()`, SIGTERM ends the process as usual.

    With several processes, all have to create a handler and call it for the same steps.

    Args:
        cluster_resolver: accepted for scripts written for TensorFlow; the processes know each other already.
        checkpoint_or_checkpoint_manager: the checkpoint or the manager that saves.
        checkpoint_dir: the folder, for a Checkpoint.
        termination_config: how the platform announces a preemption, and how to exit.
    """

    def __init__(
        self,
        cluster_resolver: Any,
        checkpoint_or_checkpoint_manager: Checkpoint | CheckpointManager,
        checkpoint_dir: str | os.PathLike[str] | None = None,
        termination_config: TerminationConfig | None = None,
    ) -> None:
        del cluster_resolver
        self._config = termination_config or TerminationConfig()
        self._manager = _manager(checkpoint_or_checkpoint_manager, checkpoint_dir)
        self._calls = SaveCounter()
        self._manager.checkpoint.total_run_calls = self._calls
        self._manager.restore_or_initialize()
        self._consensus = Consensus()
        self._deadline: float | None = None
        self._has_exited = False
        self._error: Exception | None = None
        self._notice = PreemptionNotice()
        self._notice.__enter__()
        self._ended = threading.Event()
        if self._config.termination_watcher_fn is not None:
            threading.Thread(target=self._watch, name="unisono-termination", daemon=True).start()

    @property
    def total_run_calls(self) -> int:
        """How often `run` was called, in this process and in those that it resumed from."""
        return int(self._calls)

    def run(self, distributed_train_function: Callable[..., _T], *args: Any, **kwargs: Any) -> _T:
        """Calls the function and returns its result, unless this is the call after which the process exits."""
        result = distributed_train_function(*args, **kwargs)
        self._calls.assign_add(1)
        self.save_checkpoint_if_preempted()
        return result

    @contextlib.contextmanager
    def watch_preemption_scope(self) -> Iterator[None]:
        """The same for a block: saves and exits at its end if a worker was preempted."""
        yield
        self._calls.assign_add(1)
        self.save_checkpoint_if_preempted()

    def save_checkpoint_if_preempted(self, *args: Any, **kwargs: Any) -> None:
        """Saves and exits if a worker was preempted. All of them have to call it after the same steps."""
        if self._error is not None:
            raise RuntimeError("termination_watcher_fn failed, so a preemption would not be noticed.") from self._error
        if self._has_exited:
            return
        flags = _PREEMPTED if self._notice.received else 0
        if self._deadline is not None and processes().is_chief and time.monotonic() >= self._deadline:
            flags |= _TIME_IS_UP
        voted = self._consensus.vote(flags) or 0
        grace = self._config.grace_period or 0.0
        if voted & _PREEMPTED and self._deadline is None:
            self._deadline = time.monotonic() + grace
        if voted & _TIME_IS_UP or (voted & _PREEMPTED and not grace):
            self._save_and_exit(*args, **kwargs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stops listening: SIGTERM ends the process as usual again."""
        self._ended.set()
        self._notice.__exit__()

    def _save_and_exit(self, *args: Any, **kwargs: Any) -> None:
        self._has_exited = True
        reason = self._notice.mark_handled()
        self._ended.set()
        try:  # a second signal at once must not end the process before it has saved
            if self._config.save_fn is not None:
                self._config.save_fn(*args, **kwargs)
            else:
                self._manager.save(check_interval=False)
            self._manager.wait()
        finally:
            self._notice.mark_handled()  # a signal meanwhile: the process is leaving already
            self.close()
        if self._config.exit_fn is not None:
            self._config.exit_fn()
        else:
            self._notice.exit_for_restart(self._manager.directory, reason)

    def _watch(self) -> None:
        watcher = self._config.termination_watcher_fn
        assert watcher is not None, "the thread is started for it"
        while not self._ended.wait(_POLL_SECONDS):
            try:
                preempted = watcher()
            except Exception as error:  # raised by the next step, in the thread of the caller
                self._error = error
                return
            if preempted and not self._ended.is_set():
                request_preemption("termination_watcher_fn announced a preemption")
                return


def _manager(given: Any, directory: str | os.PathLike[str] | None) -> CheckpointManager:
    if isinstance(given, CheckpointManager):
        return given
    if isinstance(given, Checkpoint):
        if directory is None:
            raise ValueError(NO_DIRECTORY)
        return CheckpointManager(given, directory, max_to_keep=1)
    raise TypeError(
        f"PreemptionCheckpointHandler: expected a Checkpoint or a CheckpointManager, got {type(given).__name__}."
    )
