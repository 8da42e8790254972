"""`tf.py_function` and `tf.numpy_function`: Python inside compiled functions and dataset maps."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.experimental import io_callback

from unisono._src import jax_hooks, keras_hooks
from unisono._src.data.dataset import TensorSpec
from unisono._src.data.dataset._trace import is_tracing
from unisono.tf._dtypes import as_dtype, string, to_jax_dtype
from unisono.tf._shape import TensorShape
from unisono.tf._tensors import as_array, convert_to_tensor, to_host_tensor

IN_A_MAP = "{name} calls Python, so the map runs on the host, element by element."

NO_SHAPE = "the shape of what {name} returns is not given, as in Tout=tf.TensorSpec(shape, dtype)"

NEEDS_GRADIENT = "a gradient goes through tf.py_function"

NO_GRADIENT = """A gradient goes through tf.py_function, which has none on several replicas and in the steps of `fit`,
where the function cannot run on the host. Write it with functions of `tf`, or give it a gradient: tf.custom_gradient.
If it needs none, use tf.numpy_function, or pass tf.stop_gradient(x) to tf.py_function."""

TEXT_RESULT = """{name} inside a compiled function: the result is text, and text stays on the host. Call it outside, or
in the map of a dataset."""

WRONG_SHAPE = """{name}: result {index} has the shape {found}. Expected {expected}. Inside a compiled function the shape
is needed before the call: Tout=tf.TensorSpec({found}, {dtype})."""


def numpy_function(
    func: Callable[..., Any] | None = None, inp: Any = None, Tout: Any = None, stateful: bool = True, name: Any = None
) -> Any:
    """Calls ``func`` with NumPy arrays, and converts what it returns to tensors.

    Inside a compiled function it is called every time the function runs, and ``Tout`` describes its result: a
    `tf.TensorSpec`, or a list of these. It has no gradient. With dtypes alone the function runs on the host; where that
    is impossible, on several replicas and in `fit`, a dtype means a single number.

    Without ``inp`` it is a decorator: `@tf.numpy_function(Tout=tf.float32)`.

    Args:
        func: a function of NumPy arrays.
        inp: the tensors that it is called with.
        Tout: the dtype of the result, or a list of them.
        stateful: False if JAX may skip or repeat calls.
        name: accepted, without effect.
    """

    if inp is None or func is None:
        return _decorate(functools.partial(numpy_function, Tout=Tout, stateful=stateful), func)

    def call_with_numpy(*tensors: Any) -> Any:
        return func(*(convert_to_tensor(tensor).numpy() for tensor in tensors))

    return _call_python("tf.numpy_function", call_with_numpy, inp, Tout, stateful, has_gradient=False)


def py_function(func: Callable[..., Any] | None = None, inp: Any = None, Tout: Any = None, name: Any = None) -> Any:
    """Calls ``func`` with concrete tensors, and converts what it returns to tensors.

    Inside a compiled function it is called every time the function runs, and ``Tout`` describes its result, as in
    :func:`numpy_function`. If a gradient goes through it, the function runs on the host; where that is impossible, on
    several replicas and in `fit`, that is an error.

    Without ``inp`` it is a decorator: `@tf.py_function(Tout=tf.float32)`.

    Args:
        func: a function of tensors.
        inp: the tensors that it is called with.
        Tout: the dtype of the result, or a list of them.
        name: accepted, without effect.
    """
    if inp is None or func is None:
        return _decorate(functools.partial(py_function, Tout=Tout), func)
    return _call_python("tf.py_function", func, inp, Tout, stateful=True, has_gradient=True)


def _decorate(call: Callable[..., Any], func: Callable[..., Any] | None) -> Any:
    """A function that calls ``func`` through ``call`` with the tensors that it is given; without ``func`` a decorator
    that makes one."""

    def decorate(decorated: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(decorated)
        def call_with_tensors(*tensors: Any) -> Any:
            return call(decorated, inp=tensors)

        return call_with_tensors

    return decorate if func is None else decorate(func)


def _call_python(
    name: str, func: Callable[..., Any], inp: Any, outputs: Any, stateful: bool, has_gradient: bool
) -> Any:
    tensors = [convert_to_tensor(each) for each in (inp if isinstance(inp, list | tuple) else [inp])]
    is_sequence = isinstance(outputs, list | tuple)
    specs = list(outputs) if is_sequence else [] if outputs is None else [outputs]
    if not any(isinstance(tensor, jax.core.Tracer) for tensor in tensors):
        results = _check_results(name, func(*tensors), specs, is_sequence)
        tensors_out = [_to_tensor(each, spec) for each, spec in zip(results, specs, strict=True)]
        return tensors_out if is_sequence else tensors_out[0] if tensors_out else None
    if is_tracing():
        raise NotImplementedError(IN_A_MAP.format(name=name))
    if not all(isinstance(spec, TensorSpec) and TensorShape(spec.shape).is_fully_defined() for spec in specs):
        keras_hooks.run_on_host_if_possible(NO_SHAPE.format(name=name))
    structs = [_result_struct(name, spec) for spec in specs]

    def call_with_host_tensors(*arrays: Any) -> Any:
        given = [to_host_tensor(array) for array in arrays]
        found = _check_results(name, func(*given), specs, is_sequence)
        return [_check_shape(name, index, *pair) for index, pair in enumerate(zip(found, structs, strict=True))]

    run = io_callback if stateful else jax.pure_callback
    flat = list(run(call_with_host_tensors, structs, *map(jax.lax.stop_gradient, tensors)))
    if has_gradient:
        flat = [jax_hooks.refuse_gradient(result, tensors, _refuse_gradient) for result in flat]
    return flat if is_sequence else flat[0] if flat else None


def _refuse_gradient() -> Exception:
    keras_hooks.run_on_host_if_possible(NEEDS_GRADIENT)
    return NotImplementedError(NO_GRADIENT)


def _check_results(name: str, returned: Any, specs: list[Any], is_sequence: bool) -> list[Any]:
    if not specs:
        return []
    results = list(returned) if is_sequence and isinstance(returned, list | tuple) else [returned]
    if len(results) != len(specs):
        raise ValueError(f"{name}: the function returned {len(results)} results. Expected {len(specs)}, as in Tout.")
    return results


def _to_tensor(value: Any, spec: Any) -> Any:
    dtype = as_dtype(spec.dtype if isinstance(spec, TensorSpec) else spec)
    if dtype == string:
        return convert_to_tensor(value, dtype)
    return as_array(value, dtype)


def _result_struct(name: str, spec: Any) -> Any:
    dtype = as_dtype(spec.dtype if isinstance(spec, TensorSpec) else spec)
    if dtype == string:
        raise NotImplementedError(TEXT_RESULT.format(name=name))
    shape = tuple(spec.shape) if isinstance(spec, TensorSpec) else ()
    return jax.ShapeDtypeStruct(shape, to_jax_dtype(dtype))


def _check_shape(name: str, index: int, value: Any, struct: Any) -> Any:
    array = np.asarray(value, struct.dtype)
    if array.shape != struct.shape:
        dtype = as_dtype(struct.dtype)
        raise ValueError(
            WRONG_SHAPE.format(name=name, index=index, found=array.shape, expected=struct.shape, dtype=repr(dtype))
        )
    return array
