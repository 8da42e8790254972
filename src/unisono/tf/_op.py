"""What every function of the namespace carries: `name=` is accepted, and a KerasTensor makes it part of a model."""

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
from unisono.tf._dtypes import DType
from unisono.tf._tensors import HostTensor, to_host_tensor

_P = ParamSpec("_P")
_R = TypeVar("_R")

_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {}
_PLAIN_TYPES: Final = frozenset({bool, int, float, str, type(None)})
_MAX_FOLDED_SIZE: Final = 64  # numbers: shapes are that small, images are not

UNKNOWN_FUNCTION = """The model applies {name!r} of unisono.tf, and there is none of that name in this version."""


def op(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Makes ``function`` one of the namespace.

    - `name=` is accepted and dropped.
    - With a KerasTensor among its arguments, also inside of lists and dicts, the call becomes an operation of the
      functional model that is being made.
    - A TypeError or a ValueError is a `tf.errors.InvalidArgumentError` as well.
    - Inside a compiled function, whole numbers that are known there, such as `tf.shape(x)`, are computed with at once:
      the result is known too, and may be a shape.
    """
    return _make_op(function, folds=True)


def op_without_folding(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """:func:`op` for functions that make large arrays of small arguments, or other numbers each time."""
    return _make_op(function, folds=False)


def _make_op(function: Callable[_P, _R], folds: bool) -> Callable[_P, _R]:
    key = public_name(function)
    if key in _FUNCTIONS:
        raise ValueError(f"Two functions are called {key!r}.")
    signature = inspect.signature(function)
    most = _most_positional(signature)

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        kwargs.pop("name", None)
        if most is not None and len(args) == most + 1 and isinstance(args[-1], str | None):
            args = args[:-1]
        try:
            if not kwargs and all(map(_is_plain, args)):  # as nearly always; every microsecond counts line by line
                return function(*args, **kwargs)
            symbolic, known = _inspect_arguments((args, kwargs))
            if symbolic:
                return TensorFunction(key)(*_to_serializable(args), **_to_serializable(kwargs))
            if known and folds and not jax_hooks.is_evaluating():
                with jax.ensure_compile_time_eval():
                    return jax.tree.map(_keep_on_host, function(*args, **kwargs))
            return function(*args, **kwargs)
        except (TypeError, ValueError) as error:
            if type(error) not in (TypeError, ValueError):  # one that says more, as those of JAX about traced values
                raise
            raise to_argument_error(error) from None

    called.__signature__ = _with_name(signature)  # type: ignore[attr-defined]
    _FUNCTIONS[key] = called
    return called


def public_name(function: Callable[..., Any]) -> str:
    """The name by which a saved model knows a function: that of its public module and its own."""
    parts = [part for part in function.__module__.split(".")[2:] if not part.startswith("_")]
    return ".".join([*parts, function.__name__])


@keras.saving.register_keras_serializable(package="unisono")
class TensorFunction(keras.Operation):
    """A function of the namespace as an operation of a functional model.

    Args:
        function: its name without "tf.".
        name: the operation's name. If None, one that fits.
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
        """The symbolic result. Keras would trace the numbers in lists, too, which are axes and shapes."""
        leaves, tree = jax.tree.flatten((args, kwargs), is_leaf=lambda leaf: leaf is None)
        places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, keras.KerasTensor)]

        def of_tensors(*tensors: Any) -> Any:
            given = list(leaves)
            for place, tensor in zip(places, tensors, strict=True):
                given[place] = tensor
            inner_args, inner_kwargs = jax.tree.unflatten(tree, given)
            return self.call(*inner_args, **inner_kwargs)

        return _TensorOperation(of_tensors, self.name).infer(*(leaves[place] for place in places))

    def get_config(self) -> dict[str, Any]:
        """What a saved model keeps of it."""
        return {"function": self._function, "name": self.name}


class _TensorOperation(keras.Operation):
    """A function of tensors alone, of which Keras infers the result."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        super().__init__(name=name)
        self.call = function

    def infer(self, *tensors: Any) -> Any:
        return super().compute_output_spec(*tensors)


def _is_plain(value: Any) -> bool:
    """Whether it is an array of JAX, or a number or text of Python: nothing to look at."""
    return type(value) in _PLAIN_TYPES or isinstance(value, jax.Array)


def _inspect_arguments(values: Any) -> tuple[bool, bool]:
    """Whether there is a KerasTensor; whether there are known whole numbers of the host, and no array beside them."""
    symbolic = host = other = False
    for leaf in _leaves(values):
        if isinstance(leaf, HostTensor | np.integer | np.bool_):
            small = leaf.dtype.kind in "iub" and leaf.size <= _MAX_FOLDED_SIZE
            host, other = host or small, other or not small
        elif isinstance(leaf, keras.KerasTensor):
            symbolic = True
        elif isinstance(leaf, jax.Array | keras.Variable | np.ndarray):
            other = True
    return symbolic, host and not other


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
    """What Keras can save of the arguments: dtypes by name, everything else as it is."""
    if isinstance(value, DType):
        return value.name
    if isinstance(value, dict):
        return {key: _to_serializable(each) for key, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(_to_serializable, value))
    return value


def _keep_on_host(leaf: Any) -> Any:
    return to_host_tensor(leaf) if isinstance(leaf, jax.Array) else leaf


def _most_positional(signature: inspect.Signature) -> int | None:
    kinds = [parameter.kind for parameter in signature.parameters.values()]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return None
    return sum(kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for kind in kinds)


def _with_name(signature: inspect.Signature) -> inspect.Signature:
    name = inspect.Parameter("name", inspect.Parameter.KEYWORD_ONLY, default=None)
    parameters = list(signature.parameters.values())
    at_end = parameters and parameters[-1].kind is inspect.Parameter.VAR_KEYWORD
    parameters.insert(len(parameters) - 1 if at_end else len(parameters), name)
    return signature.replace(parameters=parameters)
