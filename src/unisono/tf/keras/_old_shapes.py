"""The shape of a model's input, given to its first layer: `input_shape=(4,)`, `batch_input_shape=(1, None, 4)`."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any, Final

import keras

# Keras 3 takes the first two and says that Input is nicer, which a script that ran for years need not be told.
_ARGUMENTS: Final = ("input_shape", "input_dim", "batch_input_shape", "input_length")

_ATTRIBUTE: Final = "_unisono_batch_input_shape"


def take_old_shapes() -> None:
    """Puts them onto Keras's classes."""
    keras.Layer.__init__ = _taking_shapes(keras.Layer.__init__)
    keras.Sequential.add = _with_size_of_batch(keras.Sequential.add)


def _taking_shapes(original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        old = {name: kwargs.pop(name) for name in _ARGUMENTS if kwargs.get(name) is not None}
        if not old:
            original(self, *args, **kwargs)
            return
        size, *shape = _batch_shape(**old, batch_size=kwargs.pop("batch_size", None))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Do not pass an `input_shape`", UserWarning)
            original(self, *args, **kwargs, input_shape=tuple(shape))
        if size is not None:
            object.__setattr__(self, _ATTRIBUTE, (size, *shape))

    init.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]  # Keras reads it
    return init


def _batch_shape(
    input_shape: Any = None,
    input_dim: int | None = None,
    batch_input_shape: Any = None,
    input_length: int | None = None,
    batch_size: int | None = None,
) -> tuple[int | None, ...]:
    if batch_input_shape is not None:
        return tuple(batch_input_shape)
    if input_shape is not None:
        return (batch_size, *((input_shape,) if isinstance(input_shape, int) else input_shape))
    return (batch_size, input_dim) if input_length is None else (batch_size, input_length, input_dim)


def _with_size_of_batch(original: Callable[..., None]) -> Callable[..., None]:
    """Keras 3 looks for a shape without the batch, which layers that keep a state from batch to batch need to know."""

    @functools.wraps(original)
    def add(self: Any, layer: Any, rebuild: bool = True) -> None:
        shape = getattr(layer, _ATTRIBUTE, None)
        if shape is not None and not self._layers:
            original(self, keras.layers.InputLayer(batch_shape=shape))
        original(self, layer, rebuild)

    return add
