"""Reads arrays of a checkpoint without the objects that were saved: `tf.train.load_checkpoint` and related ones."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final, TypeVar

import numpy as np

from unisono._src.state.checkpoint import latest_checkpoint, names_by_attributes
from unisono._src.state.store import is_committed, load
from unisono.tf._dtypes import DType, as_dtype
from unisono.tf.errors import NotFoundError

_TENSORFLOW_SUFFIX: Final = "/.ATTRIBUTES/VARIABLE_VALUE"

_Value = TypeVar("_Value")

NOT_A_CHECKPOINT = "{path!r} is neither a checkpoint nor a folder with checkpoints."
NO_SUCH_TENSOR = "There is no {name!r} in the checkpoint {path!r}. Expected one of: {known}."


class _ByName(dict[str, _Value]):
    """What there is by Unisono's names, and is found by TensorFlow's as well."""

    def __init__(self, stored_name: Callable[[str], str], values: dict[str, _Value]) -> None:
        super().__init__(values)
        self._stored_name = stored_name

    def __missing__(self, name: str) -> _Value:
        stored_name = self._stored_name(name)
        if stored_name == name:
            raise KeyError(name)
        return self[stored_name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and dict.__contains__(self, self._stored_name(name))

    def get(self, name: str, default: Any = None) -> Any:
        return dict.get(self, self._stored_name(name), default)

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


class CheckpointReader:
    """The arrays of a checkpoint, by name. Names are Unisono's: "net/dense/kernel".

    Methods, and the dicts that they return, also accept TensorFlow's: "net/l1/kernel/.ATTRIBUTES/VARIABLE_VALUE".
    """

    def __init__(self, path: str) -> None:
        stored = load(path)
        self._path, self._arrays = path, stored.arrays
        self._names = names_by_attributes(stored.state)

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """The shape of each array."""
        return _ByName(self._stored_name, {name: list(array.shape) for name, array in self._arrays.items()})

    def get_variable_to_dtype_map(self) -> dict[str, DType]:
        """The dtype of each array."""
        return _ByName(self._stored_name, {name: as_dtype(array.dtype) for name, array in self._arrays.items()})

    def has_tensor(self, name: str) -> bool:
        """Whether there is an array of that name."""
        return self._stored_name(name) in self._arrays

    def get_tensor(self, name: str) -> np.ndarray[Any, Any]:
        """The array of that name."""
        stored_name = self._stored_name(name)
        if stored_name not in self._arrays:
            known = ", ".join(self._arrays) or "nothing"
            raise NotFoundError(None, None, NO_SUCH_TENSOR.format(name=name, path=self._path, known=known))
        return np.asarray(self._arrays[stored_name])

    def debug_string(self) -> str:
        """A line for each array: name, dtype and shape."""
        lines = [f"{name} ({array.dtype}) {list(array.shape)}" for name, array in self._arrays.items()]
        return "\n".join(lines)

    def _stored_name(self, name: str) -> str:
        path = name.removesuffix(_TENSORFLOW_SUFFIX)
        return name if name in self._arrays else self._names.get(path, path)


def load_checkpoint(ckpt_dir_or_file: str | os.PathLike[str]) -> CheckpointReader:
    """A reader of a checkpoint, or of the newest one in a folder."""
    path = os.fspath(ckpt_dir_or_file)
    found = path if is_committed(path) else latest_checkpoint(path)
    if found is None:
        raise NotFoundError(None, None, NOT_A_CHECKPOINT.format(path=path))
    return CheckpointReader(found)


def list_variables(ckpt_dir_or_file: str | os.PathLike[str]) -> list[tuple[str, list[int]]]:
    """Names and shapes, sorted by name."""
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def load_variable(ckpt_dir_or_file: str | os.PathLike[str], name: str) -> np.ndarray[Any, Any]:
    """One array of a checkpoint."""
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))
