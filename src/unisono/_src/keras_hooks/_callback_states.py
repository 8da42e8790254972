"""What Keras's own callbacks remember, so that a resumed run decides as if it had never stopped.

Checked against Keras 3.15.1: the attributes below are all that these callbacks carry from one hook to the next.
`on_train_begin` resets those of `EarlyStopping`, `ReduceLROnPlateau`, `CSVLogger` and `History`, hence states are
restored after it. `_set_monitor_op` finds out whether less or more is better. `TerminateOnNaN`,
`LearningRateScheduler`, `ProgbarLogger`, `RemoteMonitor` and `LambdaCallback` carry nothing. `TensorBoard` keeps its
profiled steps in `_start_batch` and `_stop_batch`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NoReturn

import keras
import numpy as np

from unisono._src import hooks
from unisono._src.keras_hooks._callback_values import (
    ARRAYS,
    COUNT,
    EPOCHS,
    FLAG,
    HISTORY,
    NAMES,
    NUMBERS,
    Arrays,
    ValueKind,
    decode_value,
    encode_value,
)
from unisono._src.keras_hooks._csv_file import cut_epochs, cut_file, file_size
from unisono._src.state.store import JSON

# What each class remembers, and of which kind it is: nothing else is restored from a checkpoint.
_DECLARED: Final[dict[type, dict[str, ValueKind]]] = {
    keras.callbacks.EarlyStopping: {
        "wait": COUNT,
        "stopped_epoch": COUNT,
        "best": NUMBERS,
        "best_epoch": COUNT,
        "best_weights": ARRAYS,
    },
    keras.callbacks.ReduceLROnPlateau: {"best": NUMBERS, "wait": COUNT, "cooldown_counter": COUNT},
    keras.callbacks.ModelCheckpoint: {
        "best": NUMBERS,
        "_batches_seen_since_last_saving": COUNT,
        "_last_batch_seen": COUNT,
    },
    keras.callbacks.CSVLogger: {"keys": NAMES},
    keras.callbacks.History: {"epoch": EPOCHS, "history": HISTORY},
    keras.callbacks.SwapEMAWeights: {"_ema_weights_in_model": FLAG},
}

# What the state of a user-defined callback consists of, apart from texts.
_DATA: Final = (bool | int | float, dict, list | tuple)

OTHER_CALLBACK = """The checkpoint has the state of a callback {saved} where `fit` now has {present}. Pass the callbacks
in the order in which they were when it was written, or begin again in another folder."""

REFUSED = """The checkpoint has {found!r:.200} as {name!r} of the callback {callback}, which {expected}.
Nothing was restored. A callback of this class did not write this: use a checkpoint of your own, or begin again in
another folder."""


def check_callbacks() -> None:
    """Checks that Keras's callbacks keep what they remember under the names that are saved."""
    why = "a resumed run restores what the callback remembers"
    for kind, declared in _DECLARED.items():
        for name in declared:
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
    present = [name for name in _declared(callback) if name in vars(callback)]  # some are set in `on_train_begin`
    if present:
        state["attributes"] = {name: encode_value(getattr(callback, name), name, arrays) for name in present}
    if _has_direction(callback):
        state["has_direction"] = True
    if isinstance(callback, keras.callbacks.CSVLogger):
        state["file_size"] = file_size(callback.filename)
    if _has_own_state(callback):
        state["own"] = callback.get_state()
    return ({"callback": type(callback).__name__, **state}, arrays) if state else None


def check_callback_state(callback: Any, state: JSON, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
    """Raises a ValueError if ``state`` is not one that a callback of this class has written. Changes nothing.

    Attributes have to be declared, and of the declared kind. The state that a user-defined `set_state` gets may not
    hold attributes of the callback that its `get_state` does not return, nor a text where that returns a number.
    """
    name = type(callback).__name__
    if not isinstance(state, dict) or not isinstance(state.get("callback"), str):
        _refuse(callback, "state", state, "has a dict there")
    if state["callback"] != name:
        raise ValueError(OTHER_CALLBACK.format(saved=state["callback"], present=name))
    parts = {
        "callback": True,
        "attributes": bool(_declared(callback)),
        "has_direction": hasattr(callback, "_set_monitor_op"),
        "file_size": isinstance(callback, keras.callbacks.CSVLogger),
        "own": _has_own_state(callback),
    }
    for part, found in state.items():
        if not parts.get(part):
            _refuse(callback, part, found, "has no such state")
    if type(state.get("has_direction", True)) is not bool:
        _refuse(callback, "has_direction", state["has_direction"], "has True or False there")
    size = state.get("file_size")
    if size is not None and (type(size) is not int or size < 0):
        _refuse(callback, "file_size", size, "has a number of bytes there")
    _decode_attributes(callback, state, arrays)
    if "own" in state:
        _check_own_state(callback, state["own"])


def restore_callback_state(callback: Any, state: JSON, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
    """Makes ``callback`` remember what :func:`get_callback_state` gave. To be called after `on_train_begin`."""
    check_callback_state(callback, state, arrays)
    for name, value in _decode_attributes(callback, state, arrays).items():
        setattr(callback, name, value)
    if state.get("has_direction") and not _has_direction(callback):
        callback._set_monitor_op()
    if state.get("file_size") is not None:
        cut_file(callback.filename, state["file_size"])
        callback.append_header = not file_size(callback.filename)
    if "own" in state:
        callback.set_state(state["own"])


def prepare_for_resume(callback: Any, epoch: int, step: int) -> None:
    """To be called before `on_train_begin` of a run that resumes in ``epoch``, after ``step`` steps.

    Files are added to, not replaced, and what they hold about this epoch and later ones is cut. A callback that has a
    method `prepare_for_resume(epoch, step)` is called.
    """
    if isinstance(callback, keras.callbacks.CSVLogger) and not callback.append:
        cut_epochs(callback.filename, callback.sep, epoch)
        callback.append = True
    prepare = getattr(callback, "prepare_for_resume", None)
    if prepare is not None:
        prepare(epoch, step)


def profiled_batches(callback: Any) -> tuple[int, int]:
    """The first and the last step that Keras's TensorBoard is to profile; 0 for none."""
    return callback._start_batch, callback._stop_batch


def _declared(callback: Any) -> dict[str, ValueKind]:
    """What callbacks of its class remember. :func:`check_callbacks` knows them all."""
    declared = [names for kind, names in _DECLARED.items() if isinstance(callback, kind)]
    return {name: kind for names in declared for name, kind in names.items()}


def _decode_attributes(
    callback: Any, state: dict[str, JSON], arrays: Mapping[str, np.ndarray[Any, Any]]
) -> dict[str, Any]:
    declared, found = _declared(callback), state.get("attributes", {})
    if not isinstance(found, dict):
        _refuse(callback, "attributes", found, "has a dict there")
    decoded = {}
    for name, encoded in found.items():
        if name not in declared:
            _refuse(callback, name, encoded, f"restores only {', '.join(declared)}")
        try:
            decoded[name] = decode_value(encoded, arrays)
        except ValueError as error:
            _refuse(callback, name, encoded, f"has {declared[name].description} there ({error})")
        if not declared[name].admits(decoded[name]):
            _refuse(callback, name, decoded[name], f"has {declared[name].description} there")
    return decoded


def _check_own_state(callback: Any, found: JSON) -> None:
    """Compares with what `get_state` returns now: a `set_state` may store every name that it is given."""
    present = callback.get_state()
    if not isinstance(present, dict) or not isinstance(found, dict):
        _check_type(callback, "state", present, found)
        return
    for name, value in found.items():
        if name in present:
            _check_type(callback, name, present[name], value)
        elif hasattr(callback, name):
            before = getattr(callback, name)
            is_data = before is None or isinstance(before, _DATA)
            if isinstance(value, str) or not is_data or hasattr(keras.callbacks.Callback(), name):
                _refuse(callback, name, value, "has an attribute of that name, which its get_state does not return")
            _check_type(callback, name, before, value)


def _check_type(callback: Any, name: str, present: Any, found: JSON) -> None:
    """Refuses a text in the place of a number or a container, and the reverse. None may become anything."""
    if present is None or found is None:
        return
    kind = next((kind for kind in (str, *_DATA) if isinstance(present, kind)), object)
    if not isinstance(found, kind):
        _refuse(callback, name, found, f"has {present!r:.80} there at its start")


def _refuse(callback: Any, name: str, found: Any, expected: str) -> NoReturn:
    raise ValueError(REFUSED.format(found=found, name=name, callback=type(callback).__name__, expected=expected))


def _has_direction(callback: Any) -> bool:
    return getattr(callback, "monitor_op", None) is not None and hasattr(callback, "_set_monitor_op")


def _has_own_state(callback: Any) -> bool:
    return hasattr(callback, "get_state") and hasattr(callback, "set_state")
