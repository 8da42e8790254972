"""What the callbacks of a `fit` need, as far as it decides how many steps may run in one call.

Checked against Keras 3.15.1: default hooks carry `utils.is_default`; `LambdaCallback` puts user functions on
the instance; `ModelCheckpoint`, `BackupAndRestore`, `OrbaxCheckpoint` and `TensorBoard` keep an integer
frequency in `save_freq` or `update_freq`, and those that save count in `_batches_seen_since_last_saving`.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import keras
from keras.src import tree, utils
from keras.src.callbacks.callback_list import CallbackList as _KerasCallbackList
from keras.src.utils.python_utils import pythonify_logs

from unisono._src import hooks
from unisono._src.processes import processes

_HOOKS = {
    "train": ("on_batch_begin", "on_batch_end", "on_train_batch_begin", "on_train_batch_end"),
    "test": ("on_test_batch_begin", "on_test_batch_end"),
    "predict": ("on_predict_batch_begin", "on_predict_batch_end"),
}


# Callbacks of Keras that save every `save_freq` batches.
_SAVING = (keras.callbacks.BackupAndRestore, keras.callbacks.ModelCheckpoint, keras.callbacks.OrbaxCheckpoint)

_LOG_WRITERS = (keras.callbacks.CSVLogger, keras.callbacks.TensorBoard)

OWN_BACKUP = """{kind} is a subclass of Keras's BackupAndRestore, which every worker would write into the same files.
Use unisono.callbacks.BackupAndRestore, or fit(resume="runs/NAME")."""


def check_callback_schedules() -> None:
    """Checks that Keras's callbacks count batches under the names that are read here."""
    why = "a call of several steps ends where a callback saves or writes"
    for kind in _SAVING:
        hooks.require(kind, "_batches_seen_since_last_saving", expects="instance attribute", why=why)
        hooks.require(kind, "save_freq", expects="instance attribute", why=why)
    hooks.require(keras.callbacks.TensorBoard, "update_freq", expects="instance attribute", why=why)
    hooks.require(_KerasCallbackList, "_executor", expects="instance attribute", why="its threads end after an error")
    for kind in _HOOKS:
        why = "whether batch hooks run in threads"
        hooks.require(_KerasCallbackList, f"_async_{kind}", expects="instance attribute", why=why)
    hooks.require(_KerasCallbackList, "_flush_futures", expects="(self)", why="callbacks have seen all steps so far")


class CallbackList(_KerasCallbackList):
    """Keras's list; ``close`` ends its threads when training fails."""

    def close(self) -> None:
        """Stops the thread pool if an exception left it running. Safe to call twice."""
        executor: Any = self._executor
        if executor is not None:
            executor.shutdown(wait=True, cancel_futures=True)


def make_callback_list(
    callbacks: Any, model: Any, *, verbose: Any, epochs: int, steps: int | None, history: bool = False
) -> Any:
    """The callbacks of one call, with Keras's history and progress bar added; a `CallbackList` is used as it is.

    Of several processes only the chief shows a bar and writes logs.
    """
    if isinstance(callbacks, _KerasCallbackList):
        return callbacks
    if processes().count > 1:
        callbacks = _for_worker(callbacks)
        verbose = verbose if processes().is_chief else 0
    return CallbackList(
        callbacks,
        add_history=history,
        add_progbar=verbose != 0,
        model=model,
        verbose=verbose,
        epochs=epochs,
        steps=steps,
    )


def _for_worker(callbacks: Any) -> list[Any]:
    callbacks = list(tree.flatten(callbacks)) if callbacks else []
    for callback in callbacks:
        if isinstance(callback, keras.callbacks.BackupAndRestore):
            raise NotImplementedError(OWN_BACKUP.format(kind=type(callback).__name__))
    if processes().is_chief:
        return list(callbacks)
    return [callback for callback in callbacks if not _writes_logs(callback)]


def _writes_logs(callback: Any) -> bool:
    """Whether it would write on every worker; Unisono's callbacks write on the chief only."""
    return isinstance(callback, _LOG_WRITERS) and not type(callback).__module__.startswith(
        "unisono._src.training.callbacks."
    )


@contextlib.contextmanager
def close_on_error(callbacks: Any) -> Iterator[None]:
    """Ends the threads of our list when an exception passes; a list that the user made is left alone."""
    try:
        yield
    except BaseException:
        if isinstance(callbacks, CallbackList):
            callbacks.close()
        raise


def wait_for_batch_hooks(callbacks: Any) -> None:
    """Waits for batch hooks that Keras runs in threads: after it, callbacks have seen all steps so far."""
    callbacks._flush_futures()


def pythonify(logs: Any) -> dict[str, Any]:
    """Logs as a flat dict of Python floats."""
    result: dict[str, Any] = pythonify_logs(logs)
    return result


@dataclass(frozen=True)
class BatchHooks:
    """What to call before a call's first step and after its last.

    Attributes:
        waits_for_logs: whether ``end`` fetches the logs before it returns, and so waits for the step.
    """

    begin: Callable[[int], None]
    end: Callable[[int, Any], None]
    waits_for_logs: bool = False


def batch_hooks(callbacks: Any, kind: str) -> BatchHooks:
    """The batch hooks of all callbacks; no-ops if none has any, since fetching unused logs takes time."""
    if any(not utils.is_default(getattr(callback, hook)) for callback in callbacks.callbacks for hook in _HOOKS[kind]):
        return BatchHooks(
            getattr(callbacks, f"on_{kind}_batch_begin"),
            getattr(callbacks, f"on_{kind}_batch_end"),
            waits_for_logs=not getattr(callbacks, f"_async_{kind}"),
        )
    return BatchHooks(lambda step: None, lambda step, logs: None)


def needs_every_batch(callbacks: Iterable[Any], kind: str) -> bool:
    """Whether some callback that is not Keras's own overrides a batch hook of this kind."""
    return any(_is_users(callback, hook) for callback in callbacks for hook in _HOOKS[kind])


@dataclass(frozen=True)
class EveryNSteps:
    """Steps at which something acts: every ``every`` steps, ``seen`` of which had passed at step 0."""

    every: int
    seen: int = 0

    def steps_left(self, done: int) -> int:
        """How many steps may run up to and including the next such step."""
        return self.every - (self.seen + done) % self.every


@dataclass(frozen=True)
class AtStep:
    """One step at which something acts."""

    step: int

    def steps_left(self, done: int) -> int:
        """How many steps may run up to and including it."""
        return self.step - done if done < self.step else sys.maxsize


def call_end_steps(callbacks: Iterable[Any], done: int = 0) -> Sequence[EveryNSteps | AtStep]:
    """The steps at which a call has to end, for a run of which ``done`` steps were done before."""
    call_ends_at: list[EveryNSteps | AtStep] = []
    for callback in callbacks:
        since_saving = callback._batches_seen_since_last_saving if isinstance(callback, _SAVING) else done
        for name, seen in (("save_freq", since_saving - done), ("update_freq", 0)):
            value = getattr(callback, name, None)
            if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                call_ends_at.append(EveryNSteps(value, seen))
        call_ends_at += [AtStep(step) for step in getattr(callback, "_call_ends", ()) if step > 0]
    return call_ends_at


def _is_users(callback: Any, hook: str) -> bool:
    function = getattr(callback, hook)
    if utils.is_default(function):
        return False
    module = getattr(getattr(function, "__func__", function), "__module__", "") or ""
    return not (module == "keras" or module.startswith(("keras.src.", "unisono._src.training.callbacks.")))
