"""The decorators of every function of the namespace: `name=` is accepted, KerasTensors add it to a functional model."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, Final, ParamSpec, TypeVar

import jax
import keras
import numpy as np

from unisono._src import jax_hooks
from unisono.tf._argument_error import to_argument_error
from unisono.tf._composite import CompositeTensor, handler_for
from unisono.tf._dtypes import DType, as_dtype
from unisono.tf._selected_rows import SelectedRows, apply_to_selected
from unisono.tf._tensors import HostTensor, to_host_tensor

_P = ParamSpec("_P")
_R = TypeVar("_R")

_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {}
_PLAIN_TYPES: Final = frozenset({bool, int, float, str, type(None)})
_MAX_FOLDED_SIZE: Final = 64  # numbers: shapes are that small, images are not

UNKNOWN_FUNCTION = """The model uses the function {name!r} of unisono.tf, which this version does not have."""


def op(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Makes ``function`` an operation of the namespace.

    - `name=` is accepted and dropped.
    - With a KerasTensor among its arguments, also inside lists and dicts, the call becomes an operation of the
      functional model under construction.
    - With a ragged or sparse tensor among its arguments, the function that `_composite.py` has for it is called.
    - A TypeError or a ValueError is a `tf.errors.InvalidArgumentError` as well.
    - Inside a compiled function, operations on known integers such as `tf.shape(x)` are folded: their result is known
      too, and can be used as a shape.
    """
    return _make_op(function, folds=True)


def define_op(name: str, compute: Callable[_P, _R], doc: str) -> Callable[_P, _R]:
    """:func:`op` for a single expression: gives the lambda ``compute`` a name and a docstring."""
    compute.__name__ = compute.__qualname__ = name
    compute.__doc__ = doc
    return op(compute)


def op_without_folding(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """:func:`op` for functions that create large arrays from small arguments, or random numbers."""
    return _make_op(function, folds=False)


def _make_op(function: Callable[_P, _R], folds: bool) -> Callable[_P, _R]:
    key = public_name(function)
    if key in _FUNCTIONS:
        raise ValueError(f"There are two functions named {key!r}.")
    signature = inspect.signature(function)
    max_positional = _max_positional(signature)

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        kwargs.pop("name", None)
        if max_positional is not None and len(args) == max_positional + 1 and isinstance(args[-1], str | None):
            args = args[:-1]
        try:
            if not kwargs and all(map(_is_plain, args)):  # the usual case; every microsecond counts in eager code
                return function(*args, **kwargs)
            symbolic, known, special = _inspect_arguments((args, kwargs))
            if isinstance(special, SelectedRows):
                return apply_to_selected(key, function, args, kwargs)
            if symbolic:
                return TensorFunction(key)(*_to_serializable(args), **_to_serializable(kwargs))
            if special is not None:
                return handler_for(special, key)(*args, **kwargs)
            if known and folds and not jax_hooks.is_evaluating():
                with jax.ensure_compile_time_eval():
                    return jax.tree.map(_keep_on_host, function(*args, **kwargs))
            return function(*args, **kwargs)
        except (TypeError, ValueError) as error:
            if type(error) not in (TypeError, ValueError):  # a subclass, such as JAX's error about traced values
                raise
            raise to_argument_error(error) from None

    wrapper.__signature__ = _add_name_parameter(signature)  # type: ignore[attr-defined]
    _FUNCTIONS[key] = wrapper
    return wrapper


def public_name(function: Callable[..., Any]) -> str:
    """The name of a function in a saved model: its public module and its own name."""
    parts = [part for part in function.__module__.split(".")[2:] if not part.startswith("_")]
    return ".".join([*parts, function.__name__])


@keras.saving.register_keras_serializable(package="unisono")
class TensorFunction(keras.Operation):
    """A function of the namespace as an operation of a functional model.

    Args:
        function: its name without "tf.".
        name: the operation's name; if None, a unique one.
    """

    def __init__(self, function: str, name: str | None = None) -> None:
        if function not in _FUNCTIONS:
            raise ValueError(UNKNOWN_FUNCTION.format(name=function))
        prefix = "tf_" + function.replace(".", "_")
        super().__init__(name=name or f"{prefix}_{keras.backend.get_uid(prefix)}")
        self._function = function

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """The function's result."""
        return _FUNCTIONS[self._function](*args, **kwargs)

    def compute_output_spec(self, *args: Any, **kwargs: Any) -> Any:
        """The symbolic result. Keras would also trace numbers in lists, which are axes and shapes."""
        leaves, tree = jax.tree.flatten((args, kwargs), is_leaf=lambda leaf: leaf is None)
        indices = [index for index, leaf in enumerate(leaves) if isinstance(leaf, keras.KerasTensor)]

        def call_with(*tensors: Any) -> Any:
            given = list(leaves)
            for index, tensor in zip(indices, tensors, strict=True):
                given[index] = tensor
            inner_args, inner_kwargs = jax.tree.unflatten(tree, given)
            return self.call(*inner_args, **inner_kwargs)

        return _TensorOperation(call_with, self.name).infer(*(leaves[index] for index in indices))

    def get_config(self) -> dict[str, Any]:
        """The configuration that a saved model stores."""
        return {"function": self._function, "name": self.name}


class _TensorOperation(keras.Operation):
    """A function of tensors alone, so that Keras can infer the result."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        super().__init__(name=name)
        self.call = function

    def infer(self, *tensors: Any) -> Any:
        return super().compute_output_spec(*tensors)


def _is_plain(value: Any) -> bool:
    """Whether it is a JAX array or a Python scalar, which needs no inspection."""
    return type(value) in _PLAIN_TYPES or isinstance(value, jax.Array)


def call_op(name: str, *args: Any, **kwargs: Any) -> Any:
    """Calls a function of the namespace by its name without "tf."; for methods of tensors, such as `__add__`."""
    return _FUNCTIONS[name](*args, **kwargs)


def binary_operators(name: str) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    """An operator of a class of tensors and its reflected form, which call a function of the namespace."""
    return lambda self, other: call_op(name, self, other), lambda self, other: call_op(name, other, self)


def get_op(name: str) -> Callable[..., Any]:
    """The function of the namespace with this name without "tf."."""
    return _FUNCTIONS[name]


def _inspect_arguments(values: Any) -> tuple[bool, bool, CompositeTensor | SelectedRows | None]:
    """Whether there is a KerasTensor; whether there are known integers on the host and no other array; the first
    ragged or sparse tensor or selected rows."""
    symbolic = host = other = False
    special: CompositeTensor | SelectedRows | None = None
    for leaf in _leaves(values):
        if isinstance(leaf, HostTensor | np.integer | np.bool_):
            small = leaf.dtype.kind in "iub" and leaf.size <= _MAX_FOLDED_SIZE
            host, other = host or small, other or not small
        elif isinstance(leaf, keras.KerasTensor):
            symbolic = True
        elif isinstance(leaf, jax.Array | keras.Variable | np.ndarray):
            other = True
        elif isinstance(leaf, CompositeTensor | SelectedRows) and special is None:
            special = leaf
    return symbolic, host and not other, special


def _leaves(value: Any) -> Iterable[Any]:
    if isinstance(value, list | tuple):
        for each in value:
            yield from _leaves(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _leaves(each)
    else:
        yield value


def _to_serializable(value: Any) -> Any:
    """The arguments as Keras can save them: dtypes by name, everything else unchanged."""
    if isinstance(value, DType):
        return as_dtype(value).name
    if isinstance(value, dict):
        return {key: _to_serializable(each) for key, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(_to_serializable, value))
    return value


def _keep_on_host(leaf: Any) -> Any:
    return to_host_tensor(leaf) if isinstance(leaf, jax.Array) else leaf


def _max_positional(signature: inspect.Signature) -> int | None:
    kinds = [parameter.kind for parameter in signature.parameters.values()]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return None
    return sum(kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for kind in kinds)


def _add_name_parameter(signature: inspect.Signature) -> inspect.Signature:
    name = inspect.Parameter("name", inspect.Parameter.KEYWORD_ONLY, default=None)
    parameters = list(signature.parameters.values())
    at_end = parameters and parameters[-1].kind is inspect.Parameter.VAR_KEYWORD
    parameters.insert(len(parameters) - 1 if at_end else len(parameters), name)
    return signature.replace(parameters=parameters)
