"""Indices as vectors: "one_hot", "multi_hot", "count" and "tf_idf"."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

MODES: Final = ("int", "one_hot", "multi_hot", "count", "tf_idf")

_OLD_NAMES: Final = {"binary": "multi_hot", "tf-idf": "tf_idf"}

UNKNOWN_MODE = "output_mode={mode!r} is not known. Known are: {known}."


def checked_mode(mode: Any, known: tuple[str, ...] = MODES) -> str:
    """The mode by its present name."""
    mode = _OLD_NAMES.get(mode, mode)
    if mode not in known:
        raise ValueError(UNKNOWN_MODE.format(mode=mode, known=", ".join(known)))
    return str(mode)


def encoded(xp: Any, indices: Any, mode: str, depth: int, weights: Any = None) -> Any:
    """Indices as vectors of ``depth``; negative ones count for nothing. ``xp`` is NumPy or `jax.numpy`."""
    if mode == "one_hot" and (indices.ndim == 0 or indices.shape[-1] != 1):
        indices = indices[..., None]
    if indices.ndim == 0:
        indices = indices[None]
    hits = (indices[..., None] == xp.arange(depth)).sum(-2)
    if mode in ("one_hot", "multi_hot"):
        hits = (hits > 0).astype("int32")
    return hits.astype("float32") * weights if mode == "tf_idf" else hits


def encoded_shape(shape: Any, mode: str, depth: int) -> tuple[int | None, ...]:
    """The shape of what :func:`encoded` gives."""
    shape = list(shape)
    if mode == "int":
        return tuple(shape)
    if not shape:
        return (depth,)
    kept = shape if mode == "one_hot" and shape[-1] != 1 else shape[:-1]
    return (*kept, depth)


def rows_of(data: Any) -> Any:
    """Documents in data of any shape: rows; single tokens are one document."""
    array = np.asarray(data)
    return array.reshape(1, -1) if array.ndim < 2 else array.reshape(-1, array.shape[-1])
