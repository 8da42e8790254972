"""Objects by name that are saved and restored together, as `tf.train.Checkpoint` does it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import jax
import keras

from unisono._src.processes import run_on_chief
from unisono._src.state.checkpoint._across_processes import load_on_chief
from unisono._src.state.checkpoint._attributes import ATTRIBUTES, variable_names_by_attribute
from unisono._src.state.checkpoint._counter import SaveCounter
from unisono._src.state.checkpoint._restore import apply_snapshot
from unisono._src.state.checkpoint._shapes import build_from_shapes, collect_build_shapes
from unisono._src.state.checkpoint._snapshot import Snapshot, take_snapshot
from unisono._src.state.checkpoint._status import LoadStatus, NothingRestored
from unisono._src.state.checkpoint._tree import Group, leaves
from unisono._src.state.store import JSON, LoadedCheckpoint, commit, load

_COUNTER: Final = "save_counter"
_SHAPES: Final = "shapes"

RESERVED = """Checkpoint: {name!r} cannot be the name of an object, since Checkpoint has that itself. Choose another."""


@dataclass
class Restores:
    """What was restored into a checkpoint: the folder of the last time, and how often."""

    folder: Path | None = None
    number: int = 0


class Checkpoint(Group):
    """Models, optimizers, metrics, iterators and values that are saved together and found again.

    Each object has a name, and is an attribute of that name. Numbers and other values are exchanged when they are
    restored; all else is changed in place. A model counts with its seeds, its metrics, and the optimizer it was
    compiled with.

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

    With several processes all have to call `save`, `write`, `restore` and `read`. The chief writes and reads; the
    others need no access to the disk.

    Args:
        root: an object without a name of its own, as a model; it is stored as "root".
        **objects: objects by name.
    """

    def __init__(self, root: Any = None, **objects: Any) -> None:
        object.__setattr__(self, "_objects", {})
        object.__setattr__(self, "_counter", SaveCounter())
        object.__setattr__(self, "_restored", Restores())
        if root is not None:
            self.root = root
        for name, thing in objects.items():
            setattr(self, name, thing)

    _counter: SaveCounter
    _restored: Restores

    @property
    def save_counter(self) -> SaveCounter:
        """How often it was saved. Stored with the rest."""
        return self._counter

    def save(self, file_prefix: str | os.PathLike[str], options: Any = None) -> str:
        """Saves into the folder ``{file_prefix}-{n}``, where n counts the saves; returns it.

        ``options`` is accepted for scripts written for TensorFlow: there is nothing to choose.
        """
        number = int(self._counter.assign_add(1))
        return self.write(f"{os.fspath(file_prefix)}-{number}", options)

    def write(self, file_prefix: str | os.PathLike[str], options: Any = None) -> str:
        """Saves into the folder of exactly that name, and counts nothing; returns it."""
        del options
        path, taken = os.fspath(file_prefix), self._snapshot()
        run_on_chief(lambda: commit_snapshot(Path(path), taken, int(self._counter)))
        return path

    def restore(
        self, save_path: str | os.PathLike[str] | None, options: Any = None, *, strict: bool | None = None
    ) -> LoadStatus:
        """Restores from the folder that `save` returned; None, as from `latest_checkpoint`, does nothing.

        Args:
            save_path: the folder. Of several processes the chief's counts.
            options: see `save`.
            strict: None: an object without a value is an error, and for values without an object there is a warning,
                unless the result is told `expect_partial()`. True: both are errors. False: neither.
        """
        del options
        return self._restore(save_path, strict, with_counter=True)

    def read(self, save_path: str | os.PathLike[str], options: Any = None, *, strict: bool | None = None) -> LoadStatus:
        """The same for what `write` wrote: `save_counter` stays what it is."""
        del options
        return self._restore(save_path, strict, with_counter=False)

    def __getattr__(self, name: str) -> Any:
        objects = self.__dict__.get("_objects", {})
        if name not in objects:
            known = ", ".join(objects) or "nothing"
            raise AttributeError(f"Checkpoint has no object {name!r}; it has {known}.")
        return objects[name]

    def __setattr__(self, name: str, thing: Any) -> None:
        if name.startswith("_") or hasattr(type(self), name):
            raise AttributeError(RESERVED.format(name=name))
        for _ in leaves(thing, name):  # raises for what cannot be stored, here and not at the first save
            pass
        self._objects[name] = thing

    def __delattr__(self, name: str) -> None:
        getattr(self, name)
        self._objects.pop(name, None)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._objects]

    def __repr__(self) -> str:
        return f"Checkpoint({', '.join(f'{name}={type(thing).__name__}' for name, thing in self._objects.items())})"

    def _snapshot(self, **more: JSON) -> Snapshot:
        """All that is to be written. ``more`` is what others remember in the same file."""
        taken = take_snapshot(self._objects)
        found = {_SHAPES: collect_build_shapes(self._objects), ATTRIBUTES: variable_names_by_attribute(self._objects)}
        return Snapshot(taken.arrays, {**taken.state, _COUNTER: int(self._counter), **found, **more})

    def _restore(self, path: str | os.PathLike[str] | None, strict: bool | None, *, with_counter: bool) -> LoadStatus:
        stored = load_on_chief(lambda: None if path is None else load(Path(path)))
        if stored is None:
            return NothingRestored()
        return self._restore_from(stored, strict, with_counter=with_counter)

    def _restore_from(self, stored: LoadedCheckpoint, strict: bool | None, *, with_counter: bool = True) -> LoadStatus:
        state = stored.state if isinstance(stored.state, dict) else {}
        build_from_shapes(self._objects, state.get(_SHAPES))
        status = apply_snapshot(self._objects, stored, strict)
        number = state.get(_COUNTER)
        if with_counter and isinstance(number, int):
            self._counter.assign(number)
        self._restored.folder = stored.folder
        self._restored.number += 1
        return status


def commit_snapshot(folder: Path, taken: Snapshot, step: int, info: dict[str, str] | None = None) -> None:
    """Writes a snapshot, with the versions of what made it."""
    versions = {"jax": jax.__version__, "keras": keras.__version__}
    commit(folder, arrays=taken.arrays, state=taken.state, step=step, info={**versions, **(info or {})})
