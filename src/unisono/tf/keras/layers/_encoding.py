"""The output modes of lookup layers: indices as "one_hot", "multi_hot", "count" or "tf_idf" vectors."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

MODES: Final = ("int", "one_hot", "multi_hot", "count", "tf_idf")

_OLD_NAMES: Final = {"binary": "multi_hot", "tf-idf": "tf_idf"}

UNKNOWN_MODE = "output_mode is {mode!r}. Expected one of: {known}."


def check_mode(mode: Any, known: tuple[str, ...] = MODES) -> str:
    """Checks a mode, and replaces an old name with the current one."""
    mode = _OLD_NAMES.get(mode, mode)
    if mode not in known:
        raise ValueError(UNKNOWN_MODE.format(mode=mode, known=", ".join(known)))
    return str(mode)


def encode(xp: Any, indices: Any, mode: str, depth: int, weights: Any = None) -> Any:
    """Encodes indices as vectors of length ``depth``; negative ones are ignored. ``xp`` is NumPy or `jax.numpy`."""
    if mode == "one_hot" and (indices.ndim == 0 or indices.shape[-1] != 1):
        indices = indices[..., None]
    if indices.ndim == 0:
        indices = indices[None]
    counts = (indices[..., None] == xp.arange(depth)).sum(-2)
    if mode in ("one_hot", "multi_hot"):
        counts = (counts > 0).astype("int32")
    return counts.astype("float32") * weights if mode == "tf_idf" else counts


def encode_shape(shape: Any, mode: str, depth: int) -> tuple[int | None, ...]:
    """The shape of the result of :func:`encode`."""
    shape = list(shape)
    if mode == "int":
        return tuple(shape)
    if not shape:
        return (depth,)
    outer = shape if mode == "one_hot" and shape[-1] != 1 else shape[:-1]
    return (*outer, depth)


def to_rows(data: Any) -> Any:
    """Reshapes data to rows, one for each document; a vector of tokens is one document."""
    array = np.asarray(data)
    return array.reshape(1, -1) if array.ndim < 2 else array.reshape(-1, array.shape[-1])
