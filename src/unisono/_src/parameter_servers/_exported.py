"""Programs that travel: serialized StableHLO, made by `jax.export`. No Python code does."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.export

NOT_EXPORTABLE = """{function} cannot be sent to workers: {reason}
Workers and parameter servers run compiled programs only. What calls back into Python (tf.py_function, tf.print,
jax.debug.print, pure_callback) belongs into the dataset or into the chief's loop."""


@dataclass(frozen=True)
class ExportedProgram:
    """A program as bytes, known by their hash."""

    key: str
    data: bytes


def export_program(function: Callable[..., Any], arguments: Sequence[Any], platform: str, name: str) -> ExportedProgram:
    """``function`` for arguments of these shapes and dtypes, compiled where it runs.

    Args:
        function: takes lists of arrays.
        arguments: a list of shapes and dtypes for each of its arguments.
        platform: "cpu", "cuda", "rocm" or "tpu".
        name: what errors call it.
    """
    try:
        data = bytes(jax.export.export(jax.jit(function), platforms=[platform])(*arguments).serialize())
    except (NotImplementedError, ValueError) as error:
        raise ValueError(NOT_EXPORTABLE.format(function=name, reason=str(error).splitlines()[0])) from error
    return ExportedProgram(hashlib.sha256(data).hexdigest(), data)


def load_program(data: bytes) -> Callable[..., Any]:
    """The program, to be called with arrays on a device of its platform."""
    return jax.jit(jax.export.deserialize(bytearray(data)).call)


def platform_of(device: Any) -> str:
    """What `jax.export` calls the platform of a device."""
    if device.platform != "gpu":
        return str(device.platform)
    return "rocm" if "rocm" in device.client.platform_version.lower() else "cuda"
