"""Hook: what the callbacks of a `fit` ask for, as far as it decides how many steps may run between calls.

Checked against Keras 3.15.1: default hooks carry `utils.is_default`; `LambdaCallback` puts user functions on
the instance; `ModelCheckpoint`, `BackupAndRestore`, `OrbaxCheckpoint` and `TensorBoard` keep an integer
frequency in `save_freq` or `update_freq`, and those that save count in `_batches_seen_since_last_saving`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import keras
from keras.src import tree, utils
from keras.src.callbacks.callback_list import CallbackList as _KerasCallbackList
from keras.src.utils.python_utils import pythonify_logs

from unisono.runtime import processes

_HOOKS = {
    "train": ("on_batch_begin", "on_batch_end", "on_train_batch_begin", "on_train_batch_end"),
    "test": ("on_test_batch_begin", "on_test_batch_end"),
    "predict": ("on_predict_batch_begin", "on_predict_batch_end"),
}


_LOG_WRITERS = (keras.callbacks.CSVLogger, keras.callbacks.TensorBoard)

NO_BACKUP = """BackupAndRestore over several workers is not there yet. Save with ModelCheckpoint, and load the weights
on every worker before `fit`."""


class CallbackList(_KerasCallbackList):
    """Keras's list; ``close`` ends its threads when training did not reach its end."""

    def close(self) -> None:
        """Stops the thread pool if an exception left it running. Safe to call twice."""
        executor: Any = self._executor
        if executor is not None:
            executor.shutdown(wait=True, cancel_futures=True)


def callback_list(
    callbacks: Any, model: Any, *, verbose: Any, epochs: int, steps: int | None, history: bool = False
) -> Any:
    """The callbacks of one call, with Keras's history and progress bar added; a ready list is taken as it is.

    Of several processes only the chief shows a bar and writes logs.
    """
    if isinstance(callbacks, _KerasCallbackList):
        return callbacks
    if processes().number > 1:
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
    if any(isinstance(callback, keras.callbacks.BackupAndRestore) for callback in callbacks):
        raise NotImplementedError(NO_BACKUP)
    if processes().is_chief:
        return list(callbacks)
    return [callback for callback in callbacks if not isinstance(callback, _LOG_WRITERS)]


@contextlib.contextmanager
def closing(callbacks: Any) -> Iterator[None]:
    """Ends the threads of our own list when an exception passes; a user's list is the user's to end."""
    try:
        yield
    except BaseException:
        if isinstance(callbacks, CallbackList):
            callbacks.close()
        raise


def pythonify(logs: Any) -> dict[str, Any]:
    """Logs as a flat dict of Python floats."""
    result: dict[str, Any] = pythonify_logs(logs)
    return result


@dataclass(frozen=True)
class BatchHooks:
    """What to call before a call's first step and after its last."""

    begin: Callable[[int], None]
    end: Callable[[int, Any], None]


def batch_hooks(callbacks: Any, kind: str) -> BatchHooks:
    """The batch hooks of all callbacks; nothing at all if none has any, since fetching logs in vain takes time."""
    if any(not utils.is_default(getattr(callback, hook)) for callback in callbacks.callbacks for hook in _HOOKS[kind]):
        return BatchHooks(getattr(callbacks, f"on_{kind}_batch_begin"), getattr(callbacks, f"on_{kind}_batch_end"))
    return BatchHooks(lambda step: None, lambda step, logs: None)


def wants_every_batch(callbacks: Iterable[Any], kind: str) -> bool:
    """Whether some callback that is not Keras's own overrides a batch hook of this kind."""
    return any(_is_users(callback, hook) for callback in callbacks for hook in _HOOKS[kind])


@dataclass(frozen=True)
class StepGrid:
    """Steps at which a callback acts: every ``every`` steps, ``seen`` of which had passed when `fit` began."""

    every: int
    seen: int = 0

    def steps_left(self, done: int) -> int:
        """How many steps may run before the next one on the grid has."""
        return self.every - (self.seen + done) % self.every


def step_grids(callbacks: Iterable[Any]) -> Sequence[StepGrid]:
    """The grids on which a call has to end."""
    grids = []
    for callback in callbacks:
        seen = int(getattr(callback, "_batches_seen_since_last_saving", 0))
        for name in ("save_freq", "update_freq"):
            value = getattr(callback, name, None)
            if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                grids.append(StepGrid(value, seen))
    return grids


def _is_users(callback: Any, hook: str) -> bool:
    function = getattr(callback, hook)
    if utils.is_default(function):
        return False
    module = getattr(getattr(function, "__func__", function), "__module__", "") or ""
    return not (module == "keras" or module.startswith("keras.src."))
