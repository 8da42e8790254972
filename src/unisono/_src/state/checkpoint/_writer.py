"""Writing snapshots with all processes of a job, in a thread while training continues.

What every process has whole is written by the chief alone. Of state that is sharded over processes each process writes
its pieces, into one folder that all of them see; the chief completes the checkpoint when all parts are there. Threads
exchange nothing but files: collectives are run by the main threads, in the same order on all processes.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any, Final, final

import jax
import keras

from unisono._src.processes import all_gather_json, processes, run_on_chief
from unisono._src.state.checkpoint._snapshot import Snapshot
from unisono._src.state.store import (
    BackgroundWriter,
    CheckpointError,
    Location,
    StagedParts,
    commit,
    is_staged,
    to_location,
    write_part,
)

# Network file systems show new names on other machines after up to half a minute.
_VISIBLE_SECONDS: Final = 60.0
# How long a process that failed waits for the parts of others, which may have failed too.
_GRACE_SECONDS: Final = 5.0

NOT_SHARED = """{name} does not see the folder {path!r}, which {chief} has made.
The state is sharded over processes, and each of them writes its own part of a checkpoint: they need one folder, on a
file system that all of them share, or the URL of a bucket. Choose such a folder."""


def commit_snapshot(folder: Location, snapshot: Snapshot, step: int, info: dict[str, str] | None = None) -> None:
    """Writes a snapshot that this process has whole, with the versions of JAX and Keras."""
    commit(folder, arrays=snapshot.arrays, state=snapshot.state, step=step, info=_with_versions(info))


@final
class CheckpointWriter:
    """Writes snapshots, one at a time. All processes have to call `start`, `write` and `wait`.

    Args:
        during: a context in which the chief writes; to measure it, for example.
    """

    def __init__(self, during: Callable[[], Any] = contextlib.nullcontext) -> None:
        self._during = during
        self._writer = BackgroundWriter()
        self._in_parts = False
        self._staged: StagedParts | None = None
        self._part_done = threading.Event()
        self._error: Exception | None = None

    def start(
        self,
        snapshot: Snapshot,
        step: int,
        choose_folder: Callable[[], Location],
        *,
        info: dict[str, str] | None = None,
        after: Callable[[], None] = lambda: None,
    ) -> None:
        """Writes in a thread, when `wait` has returned on all processes.

        Args:
            snapshot: what is written; it must not change any more.
            step: of the checkpoint.
            choose_folder: called on the chief, where it may still change the state in ``snapshot``.
            info: is added to the versions of libraries.
            after: called on the chief when the checkpoint is complete, in the thread.
        """
        job = self._prepare(snapshot, step, choose_folder, info, after)
        if job is not None:
            self._writer.start(job)

    def write(
        self,
        snapshot: Snapshot,
        step: int,
        choose_folder: Callable[[], Location],
        *,
        info: dict[str, str] | None = None,
        after: Callable[[], None] = lambda: None,
    ) -> None:
        """The same, complete when it returns on any process. What goes wrong on one is raised on all."""
        job = self._prepare(snapshot, step, choose_folder, info, after)
        if self._in_parts:
            assert job is not None, "every process has a part"
            self._writer.start(job)
            self.wait()
        else:
            run_on_chief(job or _do_nothing)

    @property
    def busy(self) -> bool:
        """Whether this process is writing."""
        return self._writer.busy

    def has_failed(self) -> bool:
        """Whether the last write of this process is known to have failed. `wait` raises its error."""
        try:
            self._writer.check()
        except Exception as error:
            self._error = error
        return self._error is not None

    def wait(self) -> None:
        """Waits until what is being written is on the disk. What went wrong on one process is raised on all."""
        if self._in_parts:
            self._wait_for_parts()
        run_on_chief(self._settle)

    def close(self) -> None:
        """The same for this process, which has failed: without the others, and with little patience for their parts."""
        if self._staged is not None and self._writer.busy:
            self._part_done.wait()
            if not self._writer.is_done_within(_GRACE_SECONDS):
                self._staged.abandon()
        self._settle()

    def _prepare(
        self,
        snapshot: Snapshot,
        step: int,
        choose_folder: Callable[[], Location],
        info: dict[str, str] | None,
        after: Callable[[], None],
    ) -> Callable[[], None] | None:
        """What this process has to do for it; None if it is nothing."""
        self._in_parts, self._staged = snapshot.in_parts, None
        if self._in_parts:
            return self._prepare_parts(snapshot, step, choose_folder, info, after)
        if not processes().is_chief:
            return None

        def write() -> None:
            with self._during():
                commit_snapshot(choose_folder(), snapshot, step, info)
                after()

        return write

    def _prepare_parts(
        self,
        snapshot: Snapshot,
        step: int,
        choose_folder: Callable[[], Location],
        info: dict[str, str] | None,
        after: Callable[[], None],
    ) -> Callable[[], None]:
        self._part_done = done = threading.Event()

        def stage() -> str:
            self._staged = StagedParts(choose_folder(), processes().names)
            return str(self._staged.path)

        path = to_location(run_on_chief(stage))
        staged = self._staged
        with contextlib.ExitStack() as if_not_seen:
            if staged is not None:
                if_not_seen.callback(staged.close)
            _raise_on_all(_check_visible(path))
            if_not_seen.pop_all()

        def write() -> None:
            try:
                write_part(path, processes().index, processes().count, snapshot.arrays)
            finally:
                done.set()
            if staged is not None:
                with self._during():
                    staged.commit(arrays=snapshot.arrays, state=snapshot.state, step=step, info=_with_versions(info))
                    after()

        return write

    def _wait_for_parts(self) -> None:
        """Waits until every process has written its part. An error of one is raised on all, and ends the chief's wait
        for the part that will not come."""
        if processes().is_chief:
            self._part_done.wait()
        else:
            self._writer.is_done_within(None)
        try:
            _raise_on_all(self._error if self.has_failed() else None)
        except Exception:
            if self._staged is not None:
                self._staged.abandon()
            with contextlib.suppress(Exception):  # of the wait that has just been ended
                self._settle()
            raise

    def _settle(self) -> None:
        error, self._error = self._error, None
        try:
            if error is not None:
                raise error
            self._writer.wait()
        except BaseException:
            if self._staged is not None:
                self._staged.close()
            raise


def _raise_on_all(failure: Exception | None) -> None:
    """Raises on every process if one of them has a failure: its own, or what the first one has to say."""
    failures = all_gather_json(failure and f"{type(failure).__name__}: {failure}")
    if failure is not None:
        raise failure
    for name, text in zip(processes().names, failures, strict=True):
        if text is not None:
            raise RuntimeError(f"{name} failed with {text}")


def _check_visible(path: Location) -> Exception | None:
    """Waits until this process sees what the chief has begun. What went wrong is returned, and raised on all."""
    deadline = time.monotonic() + _VISIBLE_SECONDS
    try:
        while not is_staged(path):
            if time.monotonic() >= deadline:
                names = processes().names
                return CheckpointError(NOT_SHARED.format(name=names[processes().index], path=str(path), chief=names[0]))
            time.sleep(0.1)
    except Exception as error:  # of a store that this process cannot reach
        return error
    return None


def _with_versions(info: dict[str, str] | None) -> dict[str, str]:
    return {"jax": jax.__version__, "keras": keras.__version__, **(info or {})}


def _do_nothing() -> None:
    """What a process does that has nothing to write."""
