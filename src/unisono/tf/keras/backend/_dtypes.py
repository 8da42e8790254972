"""Dtypes by name; None is the one that Keras computes with."""

from __future__ import annotations

from typing import Any

import keras


def dtype_name(dtype: Any) -> str:
    """The name that Keras knows the dtype by."""
    name: str = keras.backend.standardize_dtype(dtype)
    return name


def float_name(dtype: Any) -> str:
    """The same; of None, `floatx()`."""
    name: str = keras.config.floatx() if dtype is None else dtype_name(dtype)
    return name
