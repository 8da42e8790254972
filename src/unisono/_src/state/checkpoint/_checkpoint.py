"""`Checkpoint`: objects by name that are saved and restored together, as with `tf.train.Checkpoint`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Final

from unisono._src.state.checkpoint._across_processes import load_via_chief
from unisono._src.state.checkpoint._attributes import ATTRIBUTES, variable_names_by_attribute
from unisono._src.state.checkpoint._counter import SaveCounter
from unisono._src.state.checkpoint._restore import apply_snapshot
from unisono._src.state.checkpoint._shapes import SHAPES, build_from_shapes, collect_build_shapes
from unisono._src.state.checkpoint._snapshot import Snapshot, take_snapshot
from unisono._src.state.checkpoint._status import LoadStatus, NothingRestored
from unisono._src.state.checkpoint._tree import Group, leaves
from unisono._src.state.checkpoint._writer import CheckpointWriter
from unisono._src.state.store import JSON, LoadedCheckpoint, Location, open_checkpoint, to_location

_COUNTER: Final = "save_counter"

RESERVED = """Checkpoint: {name!r} cannot be the name of an object: Checkpoint has such an attribute. Choose another."""


@dataclass
class RestoreHistory:
    """The folder that was restored last, and how many were."""

    folder: Location | None = None
    count: int = 0


class Checkpoint(Group):
    """Models, optimizers, metrics, iterators and values that are saved and restored together.

    Each object has a name and is available as an attribute with that name. Numbers and other values are replaced when
    they are restored; everything else is changed in place. A model includes its seeds, its metrics, and the optimizer
    it was compiled with.

    >>> import tempfile, keras
    >>> model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    >>> checkpoint = Checkpoint(model=model, epoch=0)
    >>> checkpoint.epoch = 7
    >>> path = checkpoint.save(tempfile.mkdtemp() + "/ckpt")
    >>> path.endswith("/ckpt-1")
    True
    >>> again = Checkpoint(model=keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)]), epoch=0)
    >>> _ = again.restore(path).assert_consumed()
    >>> again.epoch, int(again.save_counter)
    (7, 1)

    With several processes, all have to call `save`, `write`, `restore` and `read`. The chief writes and reads; the
    other workers do not need access to the disk, unless the state is sharded over processes.

    Args:
        root: an object without a name, such as a model; it is stored as "root".
        **objects: objects by name.
    """

    def __init__(self, root: Any = None, **objects: Any) -> None:
        object.__setattr__(self, "_objects", {})
        object.__setattr__(self, "_counter", SaveCounter())
        object.__setattr__(self, "_restored", RestoreHistory())
        if root is not None:
            self.root = root
        for name, value in objects.items():
            setattr(self, name, value)

    _counter: SaveCounter
    _restored: RestoreHistory

    @property
    def save_counter(self) -> SaveCounter:
        """How often it was saved. Stored with the rest."""
        return self._counter

    def save(self, file_prefix: str | os.PathLike[str], options: Any = None) -> str:
        """Saves into the folder ``{file_prefix}-{n}``, where n counts the calls; returns it.

        ``options`` is accepted for scripts written for TensorFlow: there is nothing to choose.
        """
        number = int(self._counter.assign_add(1))
        return self.write(f"{os.fspath(file_prefix)}-{number}", options)

    def write(self, file_prefix: str | os.PathLike[str], options: Any = None) -> str:
        """Saves into the folder of exactly that name, and counts nothing; returns it."""
        del options
        path, folder = os.fspath(file_prefix), to_location(file_prefix)
        CheckpointWriter().write(self._snapshot(), int(self._counter), lambda: folder)
        return path

    def restore(
        self, save_path: str | os.PathLike[str] | None, options: Any = None, *, strict: bool | None = None
    ) -> LoadStatus:
        """Restores from the folder that `save` returned; None, as from `latest_checkpoint`, does nothing.

        Args:
            save_path: the folder. Of several processes the chief's is used.
            options: see `save`.
            strict: None: an object without a value is an error, and for values without an object there is a warning,
                unless `expect_partial()` is called on the result. True: both are errors. False: neither.
        """
        del options
        return self._restore(save_path, strict, with_counter=True)

    def read(self, save_path: str | os.PathLike[str], options: Any = None, *, strict: bool | None = None) -> LoadStatus:
        """Like `restore`, for files written by `write`: `save_counter` does not change."""
        del options
        return self._restore(save_path, strict, with_counter=False)

    def __getattr__(self, name: str) -> Any:
        objects = self.__dict__.get("_objects", {})
        if name not in objects:
            known = ", ".join(objects) or "nothing"
            raise AttributeError(f"Checkpoint has no object {name!r}; it has {known}.")
        return objects[name]

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_") or hasattr(type(self), name):
            raise AttributeError(RESERVED.format(name=name))
        for _ in leaves(value, name):  # raises for what cannot be stored, here and not when it is saved
            pass
        self._objects[name] = value

    def __delattr__(self, name: str) -> None:
        getattr(self, name)
        self._objects.pop(name, None)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._objects]

    def __repr__(self) -> str:
        return f"Checkpoint({', '.join(f'{name}={type(value).__name__}' for name, value in self._objects.items())})"

    def _snapshot(self, **more: JSON) -> Snapshot:
        """Everything that is written. ``more`` is added to the state by the caller, such as a manager."""
        snapshot = take_snapshot(self._objects)
        found = {SHAPES: collect_build_shapes(self._objects), ATTRIBUTES: variable_names_by_attribute(self._objects)}
        return Snapshot(snapshot.arrays, {**snapshot.state, _COUNTER: int(self._counter), **found, **more})

    def _restore(self, path: str | os.PathLike[str] | None, strict: bool | None, *, with_counter: bool) -> LoadStatus:
        if path is not None:
            to_location(path)  # raises on every process if the package for this URL is missing
        loaded = load_via_chief(lambda: None if path is None else open_checkpoint(path))
        if loaded is None:
            return NothingRestored()
        return self._restore_from(loaded, strict, with_counter=with_counter)

    def _restore_from(self, loaded: LoadedCheckpoint, strict: bool | None, *, with_counter: bool = True) -> LoadStatus:
        state = loaded.state if isinstance(loaded.state, dict) else {}
        build_from_shapes(self._objects, state.get(SHAPES))
        status = apply_snapshot(self._objects, loaded, strict)
        number = state.get(_COUNTER)
        if with_counter and isinstance(number, int):
            self._counter.assign(number)
        self._restored.folder = loaded.folder
        self._restored.count += 1
        return status
