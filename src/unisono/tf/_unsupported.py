"""Classes and functions of TensorFlow that are refused in one sentence, when they are called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn


class _UnsupportedClass(type):
    """The class of classes that can be named and asked about, and not made."""

    sentence: str

    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(cls.sentence)

    def __getattr__(cls, name: str) -> NoReturn:
        raise AttributeError(name if name.startswith("__") else cls.sentence)


def unsupported_class(name: str, sentence: str) -> Any:
    """A class for `isinstance`, of which nothing is an instance; making one is a NotImplementedError.

    >>> Session = unsupported_class("tf.Session", "There are no sessions. Call functions.")
    >>> isinstance(3, Session)
    False
    >>> Session()
    Traceback (most recent call last):
    NotImplementedError: tf.Session: There are no sessions. Call functions.
    """
    members = {"sentence": f"{name}: {sentence}", "__doc__": f"Not supported. {sentence}", "__module__": __name__}
    return _UnsupportedClass(name.rpartition(".")[2], (), members)


def unsupported_function(name: str, sentence: str) -> Callable[..., NoReturn]:
    """A function that raises NotImplementedError."""

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"{name}: {sentence}")

    refuse.__name__ = refuse.__qualname__ = name.rpartition(".")[2]
    refuse.__doc__ = f"Not supported. {sentence}"
    return refuse
