"""Stand-ins for unsupported classes and functions of TensorFlow: calling one raises an error with advice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn


class _UnsupportedClass(type):
    """The metaclass of classes that exist for `isinstance` and cannot be instantiated."""

    advice: str

    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(cls.advice)

    def __getattr__(cls, name: str) -> NoReturn:
        raise AttributeError(name if name.startswith("__") else cls.advice)


def unsupported_class(name: str, advice: str) -> Any:
    """Creates a class without instances, for `isinstance`; calling it raises NotImplementedError.

    >>> Session = unsupported_class("tf.Session", "There are no sessions. Call functions.")
    >>> isinstance(3, Session)
    False
    >>> Session()
    Traceback (most recent call last):
    NotImplementedError: tf.Session: There are no sessions. Call functions.
    """
    members = {"advice": f"{name}: {advice}", "__doc__": f"Not supported. {advice}", "__module__": __name__}
    return _UnsupportedClass(name.rpartition(".")[2], (), members)


def unsupported_function(name: str, advice: str) -> Callable[..., NoReturn]:
    """Creates a function that raises NotImplementedError."""

    def raise_unsupported(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"{name}: {advice}")

    raise_unsupported.__name__ = raise_unsupported.__qualname__ = name.rpartition(".")[2]
    raise_unsupported.__doc__ = f"Not supported. {advice}"
    return raise_unsupported
