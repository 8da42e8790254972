"""A function for arguments of one signature: what `get_concrete_function` returns, and what is saved of a function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import jax
import keras
import numpy as np

from unisono._src.data.dataset import TensorSpec
from unisono._src.data.plans import CompositeSpec
from unisono._src.replicas.values import PerReplica, flatten_with_none
from unisono._src.tracing.functions._arguments import Arguments
from unisono._src.tracing.functions._errors import argument_error

OTHER_ARGUMENT = """The argument {argument!r} does not fit the signature that this concrete function was made for.
  expected: {expected}
  got:      {found}
Call the function itself, which is traced for every signature, or get_concrete_function with these arguments."""


_MISSING_NAMES: Final = {
    "graph": "it is compiled by XLA and has no graph. jax.make_jaxpr(function)(*arguments) shows the program.",
    "function_type": "use structured_input_signature, or pretty_printed_signature().",
    "inference_fn": "call the concrete function itself.",
    "inputs": "use structured_input_signature.",
    "outputs": "call the function, or use structured_outputs of a signature from tf.saved_model.load.",
    "captured_inputs": "variables are read when it is called; tf.Module finds those of an object.",
}
"""What to use in place of TensorFlow's names that exist for graphs."""


@dataclass(frozen=True, eq=False)
class SpecializedFunction:
    """Calls the function, with arguments of this signature.

    Attributes:
        function: the function.
        args: its positional arguments, with a `TensorSpec` for each array. Values per replica are PerReplica with a
            `TensorSpec` inside.
        kwargs: its keyword arguments.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    @classmethod
    def from_arguments(cls, function: Callable[..., Any], arguments: Arguments) -> SpecializedFunction:
        """The function for arguments of the signature that these have."""
        specs = [TensorSpec(tuple(array.shape), array.dtype) for array in arguments.arrays]
        return cls(function, *arguments.unflatten(specs))

    @property
    def structured_input_signature(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments."""
        return self.args, self.kwargs

    def pretty_printed_signature(self) -> str:
        """The name of the function and its arguments, as text."""
        name = getattr(self.function, "__name__", "function")
        named = [f"{key}={value!r}" for key, value in self.kwargs.items()]
        return f"{name}({', '.join([*map(repr, self.args), *named])})"

    __str__ = pretty_printed_signature

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function. Arguments that are not arrays may be left out: they are part of the signature.

        Positional arguments are then those of the parameters for arrays.
        """
        parameters = inspect.signature(getattr(self.function, "python_function", self.function))
        declarations = parameters.bind(*self.args, **self.kwargs).arguments
        bound = _bind_given(parameters, declarations, args, kwargs)
        for name, declared in declarations.items():
            if name in bound.arguments:
                self._check(name, declared, bound.arguments[name])
            elif not has_specs(declared):
                bound.arguments[name] = declared
        return self.function(*bound.args, **bound.kwargs)

    def __getattr__(self, name: str) -> Any:
        if name in _MISSING_NAMES:
            raise AttributeError(f"A concrete function has no attribute {name!r}: {_MISSING_NAMES[name]}")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _check(self, name: str, declared: Any, given: Any) -> None:
        """Raises `argument_error` for another structure, shape, dtype or Python value than that of the signature."""
        tree: Any
        leaves, tree = jax.tree.flatten(declared, is_leaf=lambda leaf: not isinstance(leaf, dict | list | tuple))
        try:
            pairs = list(zip(leaves, tree.flatten_up_to(given), strict=True))
        except ValueError:
            pairs = [(declared, given)]
        for expected, found in pairs:
            if not _is_accepted(expected, found):
                what = TensorSpec(found.shape, found.dtype) if hasattr(found, "dtype") else repr(found)
                raise argument_error.current(OTHER_ARGUMENT.format(argument=name, expected=expected, found=what))


def _bind_given(
    parameters: inspect.Signature, declarations: Mapping[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> inspect.BoundArguments:
    """The arguments by parameter. If one for an array would be missing, positional ones are those for arrays."""
    for_arrays = [name for name, declared in declarations.items() if _holds_arrays(declared)]
    try:
        bound = parameters.bind_partial(*args, **kwargs)
    except TypeError:  # twice the same one: f(x, model=model)
        bound = None
    if bound is not None and all(name in bound.arguments for name in for_arrays):
        return bound
    positional = [name for name in for_arrays if name not in kwargs][: len(args)]
    kinds = {parameters.parameters[name].kind for name in positional}
    if len(positional) < len(args) or inspect.Parameter.VAR_POSITIONAL in kinds:
        return parameters.bind_partial(*args, **kwargs)
    given = {**dict(zip(positional, args, strict=True)), **parameters.bind_partial(**kwargs).arguments}
    return inspect.BoundArguments(parameters, {name: given[name] for name in parameters.parameters if name in given})


def _holds_arrays(declared: Any) -> bool:
    return has_specs(declared) or any(isinstance(leaf, np.ndarray) for leaf in jax.tree.leaves(declared))


def _is_accepted(expected: Any, found: Any) -> bool:
    if isinstance(expected, np.ndarray):  # text stays on the host: any text of this shape
        found = found if hasattr(found, "dtype") else np.asarray(found)
        return _device_dtype(expected.dtype) == _device_dtype(found.dtype) and tuple(expected.shape) == found.shape
    if not isinstance(expected, TensorSpec):
        return expected is found or not isinstance(expected, bool | int | float | str) or bool(expected == found)
    if isinstance(found, PerReplica) or not hasattr(found, "dtype") or not hasattr(found, "shape"):
        return True  # Python numbers and lists have no dtype
    dtypes = {_device_dtype(each.dtype) for each in (expected, found)}
    if len(dtypes) > 1 or getattr(expected.shape, "rank", 0) is None:
        return len(dtypes) == 1
    sizes = tuple(found.shape)
    return len(sizes) == len(expected.shape) and all(
        size in (None, actual) for size, actual in zip(expected.shape, sizes, strict=True)
    )


def _device_dtype(dtype: Any) -> str:
    """The dtype of the array on a device: 32 bits for 64, unless JAX has those. Text stays on the host, as it is."""
    if getattr(dtype, "kind", None) in ("O", "S", "U") or dtype == "string":
        return "string"
    return str(jax.dtypes.canonicalize_dtype(keras.backend.standardize_dtype(dtype)))


def has_specs(arguments: Any) -> bool:
    """Whether a `TensorSpec`, or the spec of a ragged or sparse tensor, is among the arguments."""
    return any(isinstance(leaf, TensorSpec | CompositeSpec) for leaf in flatten_with_none(arguments)[0])
