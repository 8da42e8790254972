"""`tf.experimental.numpy.random`: NumPy's names for the random numbers of `tf.random`."""

from __future__ import annotations

from typing import Any

from unisono.tf import random as tf_random
from unisono.tf._missing import explain_missing_names as _explain_missing_names


def seed(s: int) -> None:
    """Sets the seed, as `tf.random.set_seed`."""
    tf_random.set_seed(s)


def randn(*args: int) -> Any:
    """Normally distributed numbers of the shape ``args``."""
    return tf_random.normal(args)


def standard_normal(size: Any = None) -> Any:
    """Normally distributed numbers."""
    return tf_random.normal(_shape(size))


def normal(loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    """Normally distributed numbers with this mean and standard deviation."""
    return tf_random.normal(_shape(size), loc, scale)


def rand(*size: int) -> Any:
    """Numbers between 0 and 1 of the shape ``size``."""
    return tf_random.uniform(size)


def random(size: Any = None) -> Any:
    """Numbers between 0 and 1."""
    return tf_random.uniform(_shape(size))


def uniform(low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
    """Numbers between ``low`` and ``high``."""
    return tf_random.uniform(_shape(size), low, high)


def randint(low: Any, high: Any = None, size: Any = None, dtype: Any = "int32") -> Any:
    """Integers from ``low`` to ``high``, without the latter; from 0 to ``low`` if ``high`` is None."""
    low, high = (0, low) if high is None else (low, high)
    return tf_random.uniform(_shape(size), low, high, dtype)


def poisson(lam: Any = 1.0, size: Any = None) -> Any:
    """Poisson distributed numbers."""
    return tf_random.poisson(_shape(size), lam)


def _shape(size: Any) -> tuple[Any, ...]:
    if size is None:
        return ()
    return (size,) if isinstance(size, int) else tuple(size)


__getattr__ = _explain_missing_names("tf.experimental.numpy.random")
