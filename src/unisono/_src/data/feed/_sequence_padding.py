"""Batches of many shapes: each shape compiles a program. They are padded where that is exact, else there is a
warning."""

from __future__ import annotations

from typing import Any, Final

import jax
import keras
import numpy as np

from unisono._src.core import warn_user
from unisono._src.data.plans import State
from unisono._src.devices import SequencePadding
from unisono._src.keras_hooks import ExactPadding, RaggedRows, fold_ragged_rows, unfold_ragged_rows, unpack
from unisono._src.processes import processes

# Data of one or two lengths stays as it is; the last batch of a pass has a shape of its own.
_MAX_UNPADDED: Final = 2
_MANY_SHAPES: Final = 8

MANY_SHAPES = """There were batches of {number} shapes so far, and every shape compiles a program: {shapes}, ...
Pad sequences to a few lengths: dataset.padded_batch(batch_size, padded_shapes=...), or
dataset.bucket_by_sequence_length(..., pad_to_bucket_boundary=True), or keras.utils.pad_sequences(x, maxlen=...).
They are not padded automatically: {why_not}."""

_OTHER_STRUCTURE: Final = "the inputs in a batch do not have the structure and the dims that the model declares"


class SequencePadder:
    """The shapes of the batches of one feed, and how they are padded.

    Args:
        padding: how the model's inputs may be padded; or why they may not.
        lengths: what `unisono.config.set_sequence_padding` set.
        state: that of an earlier run that is resumed: its first lengths were not padded, and are not now.
    """

    def __init__(self, padding: ExactPadding | str, lengths: SequencePadding, state: State = None) -> None:
        if lengths == "off":
            padding = 'unisono.config.set_sequence_padding("off") was called'
        self._padding, self._lengths = padding, lengths
        self._why_not = padding if isinstance(padding, str) else None
        self._unpadded: list[list[int]] = [list(each) for each in state or []]
        self._shapes: dict[tuple[tuple[int, ...], ...], None] = {}

    def get_state(self) -> State:
        """The lengths that are not padded, for a position."""
        return list(self._unpadded)

    def pad(self, batch: Any) -> Any:
        """The batch with padded inputs; the same object if it stays as it is."""
        if isinstance(self._padding, str):
            return batch
        x = fold_ragged_rows(unpack(batch)[0])
        found = self._matching_leaves(x, self._padding)
        if found is None:
            self._why_not = _OTHER_STRUCTURE
            return batch
        lengths = [_rows_of(leaf).shape[1] for leaf, value in found if value is not None]
        if lengths not in self._unpadded and len(self._unpadded) < _MAX_UNPADDED:
            self._unpadded.append(lengths)
        if lengths in self._unpadded:
            return batch
        leaves = [leaf if value is None else _pad(leaf, value, self._lengths) for leaf, value in found]
        x = unfold_ragged_rows(keras.tree.pack_sequence_as(x, leaves))
        return (x, *batch[1:]) if isinstance(batch, tuple) else x

    def record(self, spec: Any) -> None:
        """A program runs on batches of these shapes. Warns once if there are many of them."""
        shapes = tuple(leaf.shape for leaf in jax.tree.leaves(spec))
        if shapes in self._shapes or len(self._shapes) == _MANY_SHAPES:
            return
        self._shapes[shapes] = None
        if len(self._shapes) == _MANY_SHAPES and self._why_not is not None and processes().is_chief:
            first = ", ".join(str(shapes[0]) for shapes in self._shapes)
            warn_user(MANY_SHAPES.format(number=_MANY_SHAPES, shapes=first, why_not=self._why_not))

    def _matching_leaves(self, x: Any, padding: ExactPadding) -> list[tuple[Any, float | None]] | None:
        """The arrays of ``x`` with their padding values; None if ``x`` is not what the model declares."""
        try:
            keras.tree.assert_same_structure(x, padding.structure)
        except (ValueError, TypeError):
            if len(padding.values) != 1 or keras.tree.is_nested(x):
                return None
        leaves = keras.tree.flatten(x)
        if tuple(isinstance(leaf, RaggedRows) for leaf in leaves) != padding.are_ragged:
            return None
        found = list(zip(leaves, padding.values, strict=True))
        return found if all(value is None or np.ndim(_rows_of(leaf)) > 1 for leaf, value in found) else None


def padded_length(length: int, lengths: SequencePadding) -> int:
    """What a sequence of ``length`` is padded to.

    >>> [padded_length(length, "auto") for length in (1, 8, 9, 32, 33, 49, 65, 97, 200)]
    [8, 8, 16, 32, 48, 64, 96, 128, 256]
    >>> [padded_length(length, (50, 100)) for length in (10, 51, 101)]
    [50, 100, 200]
    """
    if isinstance(lengths, tuple):
        return next((each for each in lengths if each >= length), -(-length // lengths[-1]) * lengths[-1])
    if length <= 32:
        return max(8, -(-length // 8) * 8)
    power = 1 << (length - 1).bit_length()  # the next power of two; three quarters of it, if that is enough
    return 3 * power // 4 if length <= 3 * power // 4 else power


def _rows_of(leaf: Any) -> Any:
    return leaf.rows if isinstance(leaf, RaggedRows) else leaf


def _pad(leaf: Any, value: float, lengths: SequencePadding) -> Any:
    if isinstance(leaf, RaggedRows):
        return RaggedRows(_pad(leaf.rows, value, lengths), leaf.lengths)
    missing = padded_length(leaf.shape[1], lengths) - leaf.shape[1]
    widths = [(0, 0), (0, missing), *[(0, 0)] * (np.ndim(leaf) - 2)]
    return np.pad(np.asarray(leaf), widths, constant_values=value)
