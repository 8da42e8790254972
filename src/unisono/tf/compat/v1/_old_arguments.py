"""Functions of TensorFlow 2 that have other names of arguments, or another order of them, in TensorFlow 1."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Final

TWO_NAMES = "{function}: {old}= and {new}= are two names of one argument. Pass only {new}=."

_REDUCTION: Final = {"keep_dims": "keepdims", "reduction_indices": "axis"}


def with_old_names(function: Callable[..., Any], drops: str = "", **new_names: str) -> Callable[..., Any]:
    """The function with more names of arguments.

    >>> with_old_names(lambda x, axis=0: axis, dim="axis")(1, dim=3)
    3

    Args:
        function: the function of TensorFlow 2.
        drops: arguments that have no effect.
        **new_names: the name in ``function`` for each old name.
    """
    dropped = drops.split()

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        for old, new in new_names.items():
            value = kwargs.pop(old, None)
            if value is not None:
                if kwargs.get(new) is not None:
                    raise ValueError(TWO_NAMES.format(function=function.__name__, old=old, new=new))
                kwargs[new] = value
        for name in dropped:
            kwargs.pop(name, None)
        return function(*args, **{key: value for key, value in kwargs.items() if value is not None})

    signature = inspect.signature(function)
    keyword = inspect.Parameter.KEYWORD_ONLY
    more = [inspect.Parameter(name, keyword, default=None) for name in (*new_names, *dropped)]
    parameters = [*signature.parameters.values(), *(each for each in more if each.name not in signature.parameters)]
    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return call


def reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    """A reduction that also takes `keep_dims=` and `reduction_indices=`."""
    return with_old_names(function, **_REDUCTION)
