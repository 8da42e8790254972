"""Python inside of compiled functions and of the maps of datasets: `tf.py_function`, `tf.numpy_function`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.experimental import io_callback

from unisono._src.data.dataset import TensorSpec
from unisono._src.data.dataset._trace import is_tracing
from unisono.tf._dtypes import as_dtype, string, to_jax_dtype
from unisono.tf._tensors import as_array, convert_to_tensor, to_host_tensor

IN_A_MAP = "{name} calls Python, so the map runs on the host, element by element."

TEXT = """{name} inside a compiled function: the result is text, which devices do not have. Call it outside, or in the
map of a dataset."""

WRONG_SHAPE = """{name}: result {place} has the shape {found}, and {expected} was expected. Inside a compiled function
shapes are known before: give them, Tout=tf.TensorSpec({found}, {dtype})."""


def numpy_function(func: Callable[..., Any], inp: Any, Tout: Any, stateful: bool = True, name: Any = None) -> Any:
    """Calls ``func`` with NumPy's arrays, and makes tensors of what it returns.

    Inside a compiled function it is called every time the function runs, and ``Tout`` says what it returns: a dtype
    for a single number, a `tf.TensorSpec` for an array, or a list of these. Gradients do not pass.

    Args:
        func: a function of NumPy arrays.
        inp: the tensors that it is called with.
        Tout: the dtype of the result, or a list of them.
        stateful: False if it may be called less often than the function runs.
        name: accepted, without effect.
    """

    def called(*tensors: Any) -> Any:
        return func(*(convert_to_tensor(tensor).numpy() for tensor in tensors))

    return _called("tf.numpy_function", called, inp, Tout, stateful)


def py_function(func: Callable[..., Any], inp: Any, Tout: Any, name: Any = None) -> Any:
    """Calls ``func`` with tensors that have numbers, and makes tensors of what it returns.

    Inside a compiled function it is called every time the function runs, and ``Tout`` says what it returns: a dtype
    for a single number, a `tf.TensorSpec` for an array, or a list of these.

    Args:
        func: a function of tensors.
        inp: the tensors that it is called with.
        Tout: the dtype of the result, or a list of them.
        name: accepted, without effect.
    """
    return _called("tf.py_function", func, inp, Tout, True)


def _called(name: str, func: Callable[..., Any], inp: Any, outputs: Any, stateful: bool) -> Any:
    tensors = [convert_to_tensor(each) for each in (inp if isinstance(inp, list | tuple) else [inp])]
    many = isinstance(outputs, list | tuple)
    specs = list(outputs) if many else [outputs]
    if not any(isinstance(tensor, jax.core.Tracer) for tensor in tensors):
        results = _results(name, func(*tensors), specs, many)
        made = [_made(each, spec) for each, spec in zip(results, specs, strict=True)]
        return made if many else made[0] if made else None
    if is_tracing():
        raise NotImplementedError(IN_A_MAP.format(name=name))
    structs = [_struct(name, spec) for spec in specs]

    def on_host_arrays(*arrays: Any) -> Any:
        given = [to_host_tensor(array) for array in arrays]
        found = _results(name, func(*given), specs, many)
        return [_fitting(name, place, *pair) for place, pair in enumerate(zip(found, structs, strict=True))]

    tensors = [jax.lax.stop_gradient(tensor) for tensor in tensors]
    run = io_callback if stateful else jax.pure_callback
    flat = list(run(on_host_arrays, structs, *tensors))
    return flat if many else flat[0]


def _results(name: str, returned: Any, specs: list[Any], many: bool) -> list[Any]:
    if not specs:
        return []
    results = list(returned) if many and isinstance(returned, list | tuple) else [returned]
    if len(results) != len(specs):
        raise ValueError(f"{name}: Tout names {len(specs)} results, and the function returned {len(results)}.")
    return results


def _made(value: Any, spec: Any) -> Any:
    dtype = as_dtype(spec.dtype if isinstance(spec, TensorSpec) else spec)
    if dtype == string:
        return convert_to_tensor(value, dtype)
    return as_array(value, dtype)


def _struct(name: str, spec: Any) -> Any:
    dtype = as_dtype(spec.dtype if isinstance(spec, TensorSpec) else spec)
    if dtype == string:
        raise NotImplementedError(TEXT.format(name=name))
    shape = tuple(spec.shape) if isinstance(spec, TensorSpec) else ()
    return jax.ShapeDtypeStruct(shape, to_jax_dtype(dtype))


def _fitting(name: str, place: int, value: Any, struct: Any) -> Any:
    array = np.asarray(value, struct.dtype)
    if array.shape != struct.shape:
        dtype = as_dtype(struct.dtype)
        raise ValueError(
            WRONG_SHAPE.format(name=name, place=place, found=array.shape, expected=struct.shape, dtype=repr(dtype))
        )
    return array
