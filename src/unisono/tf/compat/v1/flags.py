"""`tf.compat.v1.flags`: the flags of the package absl, which Keras requires."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

from absl import flags as _absl

_OLD_NAMES: Final = {"flag_name": "name", "default_value": "default", "docstring": "help"}


def _with_old_names(define: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(define)
    def call(*args: Any, **kwargs: Any) -> Any:
        return define(*args, **{_OLD_NAMES.get(key, key): value for key, value in kwargs.items()})

    return call


DEFINE_bool = _with_old_names(_absl.DEFINE_bool)
DEFINE_boolean = _with_old_names(_absl.DEFINE_boolean)
DEFINE_float = _with_old_names(_absl.DEFINE_float)
DEFINE_integer = _with_old_names(_absl.DEFINE_integer)
DEFINE_string = _with_old_names(_absl.DEFINE_string)


def __getattr__(name: str) -> Any:
    return getattr(_absl, name)
