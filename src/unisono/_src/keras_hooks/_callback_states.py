"""What Keras's own callbacks remember, so that a resumed run decides as if it had never stopped.

Checked against Keras 3.15.1: the attributes below are all that these callbacks carry from one hook to the next.
`on_train_begin` resets those of `EarlyStopping`, `ReduceLROnPlateau`, `CSVLogger` and `History`, hence states are
restored after it. `_set_monitor_op` finds out whether less or more is better. `TerminateOnNaN`,
`LearningRateScheduler`, `ProgbarLogger`, `RemoteMonitor` and `LambdaCallback` carry nothing. `TensorBoard` keeps its
profiled steps in `_start_batch` and `_stop_batch`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

import keras
import numpy as np

from unisono._src import hooks
from unisono._src.state.store import JSON, staged_file

Arrays = dict[str, np.ndarray[Any, Any]]

_KEPT: Final[dict[type, tuple[str, ...]]] = {
    keras.callbacks.EarlyStopping: ("wait", "stopped_epoch", "best", "best_epoch", "best_weights"),
    keras.callbacks.ReduceLROnPlateau: ("best", "wait", "cooldown_counter"),
    keras.callbacks.ModelCheckpoint: ("best", "_batches_seen_since_last_saving", "_last_batch_seen"),
    keras.callbacks.CSVLogger: ("keys",),
    keras.callbacks.History: ("epoch", "history"),
    keras.callbacks.SwapEMAWeights: ("_ema_weights_in_model",),
}

# Python's numbers hold every bit of these.
_NUMBERS: Final = frozenset(
    ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]
)

OTHER_CALLBACK = """The checkpoint has the state of a callback {saved} where `fit` now has {present}. Pass the callbacks
in the order in which they were when it was written, or begin again in another folder."""


def check_callbacks() -> None:
    """Checks that Keras's callbacks keep what they remember under the names that are saved."""
    why = "a resumed run restores what the callback remembers"
    for kind, names in _KEPT.items():
        for name in names:
            hooks.require(kind, name, expects="instance attribute", why=why)
    for kind in (keras.callbacks.EarlyStopping, keras.callbacks.ReduceLROnPlateau, keras.callbacks.ModelCheckpoint):
        hooks.require(kind, "_set_monitor_op", expects="(self)", why=why)
        hooks.require(kind, "monitor_op", expects="instance attribute", why=why)
    for name in ("append", "append_header", "filename", "sep"):
        hooks.require(keras.callbacks.CSVLogger, name, expects="instance attribute", why=why)
    for name in ("_start_batch", "_stop_batch"):
        hooks.require(
            keras.callbacks.TensorBoard, name, expects="instance attribute", why="our TensorBoard profiles these steps"
        )


def get_callback_state(callback: Any) -> tuple[JSON, Arrays] | None:
    """What ``callback`` remembers: a JSON value, and arrays. None if it remembers nothing.

    For Keras's own callbacks and subclasses of them, and for every callback with `get_state` and `set_state`. Arrays
    are copies.
    """
    state: dict[str, JSON] = {}
    arrays: Arrays = {}
    kept = _kept(callback)
    if kept:
        state["attributes"] = {name: _encode(getattr(callback, name), name, arrays) for name in kept}
    if _has_direction(callback):
        state["has_direction"] = True
    if isinstance(callback, keras.callbacks.CSVLogger):
        state["file_size"] = _size(callback.filename)
    if _has_own_state(callback):
        state["own"] = callback.get_state()
    return ({"callback": type(callback).__name__, **state}, arrays) if state else None


def restore_callback_state(callback: Any, state: JSON, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
    """Makes ``callback`` remember what :func:`callback_state` gave. To be called after `on_train_begin`."""
    if state["callback"] != type(callback).__name__:
        raise ValueError(OTHER_CALLBACK.format(saved=state["callback"], present=type(callback).__name__))
    for name, value in state.get("attributes", {}).items():
        setattr(callback, name, _decode(value, arrays))
    if state.get("has_direction") and not _has_direction(callback):
        callback._set_monitor_op()
    if state.get("file_size") is not None:
        _cut(callback.filename, state["file_size"])
        callback.append_header = not _size(callback.filename)
    if "own" in state:
        callback.set_state(state["own"])


def prepare_for_resume(callback: Any, epoch: int, step: int) -> None:
    """To be called before `on_train_begin` of a run that resumes in ``epoch``, after ``step`` steps.

    Files are added to, not replaced, and what they hold about this epoch and later ones is cut. A callback that has a
    method `prepare_for_resume(epoch, step)` is called.
    """
    if isinstance(callback, keras.callbacks.CSVLogger) and not callback.append:
        _cut_epochs(callback.filename, callback.sep, epoch)
        callback.append = True
    prepare = getattr(callback, "prepare_for_resume", None)
    if prepare is not None:
        prepare(epoch, step)


def profiled_batches(callback: Any) -> tuple[int, int]:
    """The first and the last step that Keras's TensorBoard is to profile; 0 for none."""
    return callback._start_batch, callback._stop_batch


def _kept(callback: Any) -> list[str]:
    """The names of what it carries now; some are set in `on_train_begin`. :func:`check_callbacks` knows them all."""
    names = [name for kind, names in _KEPT.items() if isinstance(callback, kind) for name in names]
    return [name for name in names if name in vars(callback)]


def _has_direction(callback: Any) -> bool:
    return getattr(callback, "monitor_op", None) is not None and hasattr(callback, "_set_monitor_op")


def _has_own_state(callback: Any) -> bool:
    return hasattr(callback, "get_state") and hasattr(callback, "set_state")


def _encode(value: Any, name: str, arrays: Arrays) -> JSON:
    """``value`` as JSON. What is tagged keeps its type and all its bits."""
    if value is None or isinstance(value, str) or type(value) in (bool, int, float):
        return value
    if isinstance(value, dict):
        return {"dict": [[key, _encode(item, f"{name}/{key}", arrays)] for key, item in value.items()]}
    if isinstance(value, list | tuple):
        items = [_encode(item, f"{name}/{index}", arrays) for index, item in enumerate(value)]
        return {type(value).__name__ if type(value) is tuple else "list": items}
    if isinstance(value, np.generic) and value.dtype.name in _NUMBERS:
        return {"scalar": [value.dtype.name, value.item()]}
    arrays[name] = np.array(value)  # a copy; JAX's arrays too
    return {"array": name}


def _decode(value: JSON, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Any:
    if not isinstance(value, dict):
        return value
    (kind, content), *_ = value.items()
    if kind == "dict":
        return {key: _decode(item, arrays) for key, item in content}
    if kind in ("list", "tuple"):
        items = [_decode(item, arrays) for item in content]
        return tuple(items) if kind == "tuple" else items
    if kind == "scalar":
        dtype, number = content
        return np.dtype(dtype).type(number)
    return np.array(arrays[content])


def _size(path: str) -> int | None:
    return os.path.getsize(path) if os.path.exists(path) else None


def _cut(path: str, size: int) -> None:
    if (_size(path) or 0) > size:
        os.truncate(path, size)


def _cut_epochs(path: str, separator: str, epoch: int) -> None:
    """Leaves the header and the rows of epochs before ``epoch``. An incomplete row is cut too."""
    if not os.path.exists(path):
        return
    with open(path, "rb") as file:
        lines = file.read().splitlines(keepends=True)
    header, rows = [line for line in lines[:1] if line.endswith(b"\n")], lines[1:]
    kept = header + [row for row in rows if _epoch_of(row, separator) < epoch]
    if len(kept) < len(lines):
        with staged_file(path) as temporary:
            temporary.write_bytes(b"".join(kept))


def _epoch_of(row: bytes, separator: str) -> float:
    first = row.split(separator.encode())[0]
    return int(first) if row.endswith(b"\n") and first.isdigit() else float("inf")
