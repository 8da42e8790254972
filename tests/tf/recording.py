"""Tests that are small programs: their result is compared with the recorded result of TensorFlow.

`python -m tests.tf.record`, with a Python that has TensorFlow, runs them with TensorFlow and writes `recorded.json`.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).with_name("recorded.json")
NARROW = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}


def recorded(program: Callable[[], Any] | None = None, *, tolerance: float = 1e-5) -> Any:
    """Decorates a test whose result must equal TensorFlow's to ``tolerance``; 64-bit dtypes may have 32 bits."""
    if program is None:
        return functools.partial(recorded, tolerance=tolerance)

    @functools.wraps(program)
    def test() -> None:
        assert_same(to_json(program()), _load_recordings()[recording_key(program)], tolerance, program.__name__)

    test.is_recorded = True  # type: ignore[attr-defined]
    return test


def recording_key(program: Callable[..., Any]) -> str:
    return f"{Path(inspect.getfile(program)).stem}::{program.__name__}"


def random_numbers(*shape: int, seed: int = 0) -> Any:
    """Returns normally distributed numbers that depend only on the seed."""
    return np.random.RandomState(seed).standard_normal(shape).astype(np.float32)


def to_json(value: Any) -> Any:
    """Converts the result of a program to JSON values."""
    if isinstance(value, dict):
        return {str(key): to_json(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(each) for each in value]
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, bytes):
        return value.decode("latin-1")
    array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    if array.dtype.kind in "OSU":
        texts = [each if isinstance(each, str) else each.decode("latin-1") for each in array.reshape(-1).tolist()]
        return {"dtype": "text", "shape": list(array.shape), "values": texts}
    kind = array.dtype.name
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag], -1)
    plain = array.astype(np.float32) if kind == "bfloat16" else array
    return {"dtype": kind, "shape": list(array.shape), "values": _round_floats(plain.reshape(-1))}


def assert_same(found: Any, expected: Any, tolerance: float, where: str) -> None:
    """Raises AssertionError unless both are equal to ``tolerance``."""
    if isinstance(expected, dict) and set(expected) == {"dtype", "shape", "values"}:
        assert set(found) == set(expected), f"{where}: {found} instead of an array"
        assert found["shape"] == expected["shape"], where
        narrow = NARROW.get(expected["dtype"], expected["dtype"])
        assert found["dtype"] in (expected["dtype"], narrow), f"{where}: {found['dtype']}, expected {expected['dtype']}"
        if expected["dtype"] == "text":
            assert found["values"] == expected["values"], where
        else:
            np.testing.assert_allclose(found["values"], expected["values"], tolerance, tolerance, err_msg=where)
    elif isinstance(expected, dict):
        assert found.keys() == expected.keys(), where
        for key in expected:
            assert_same(found[key], expected[key], tolerance, f"{where}[{key!r}]")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for index, pair in enumerate(zip(found, expected, strict=True)):
            assert_same(*pair, tolerance, f"{where}[{index}]")
    elif isinstance(expected, float):
        np.testing.assert_allclose(found, expected, tolerance, tolerance, err_msg=where)
    else:
        assert found == expected, where


def _round_floats(flat: Any) -> list[Any]:
    return [float(f"{each:.7g}") for each in flat.tolist()] if flat.dtype.kind == "f" else flat.tolist()


@functools.cache
def _load_recordings() -> Any:
    return json.loads(FILE.read_text())
