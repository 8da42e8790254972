"""Layers called as in Keras 2, with `training` and `mask` by position: `self.dropout(x, training)`."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Final

import keras

_BY_NAME: Final = ("training", "mask")


def take_positions() -> None:
    """Keras 3 takes nothing but tensors by position. Puts what else comes so under its name."""
    original = keras.Layer.__call__

    @functools.wraps(original)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        named: dict[str, Any] = {}
        if len(args) > 1 and hasattr(self, "_call_signature"):  # else Keras says that `super().__init__()` is missing
            args, named = _divided(args, self._call_signature)
        return original(self, *args, **named, **kwargs)

    keras.Layer.__call__ = call


def _divided(args: tuple[Any, ...], signature: inspect.Signature) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments that stay, and those from the first one on that Keras would refuse, by name.

    All stay if one of them has no name in the signature of `call`.
    """
    names = [name for name, each in signature.parameters.items() if each.kind is each.POSITIONAL_OR_KEYWORD]
    if len(args) > len(names):
        return args, {}
    first = next((place for place in range(1, len(args)) if _is_to_be_named(names[place], args[place])), len(args))
    return args[:first], dict(zip(names[first:], args[first:], strict=False))


def _is_to_be_named(name: str, value: Any) -> bool:
    return name in _BY_NAME or isinstance(value, bool | int | float | str)
